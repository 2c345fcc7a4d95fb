// Bodies of tets of second order: what theory and CalculiX say of beams, patches, masses and surfaces, and
// gradients through every force that sees tets.
#include <sys/stat.h>
#include <unistd.h>

#include "contact_problem.h"
#include "rollout.h"
#include "shape/cell.h"

static sim open_text(const char* text) {
    ct_scene* scene = NULL;
    ct_error error = {0};
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    return start(scene, 1);
}

// ---- masses and surfaces -------------------------------------------------------------------

static void raised_boxes_keep_mass_and_surface(void** state) {
    ct_mesh *mesh = NULL, *copy = NULL;
    ct_mesh_report linear, second;
    ct_error error = {0};
    double mass[2], center[2][3], inertia[2][6];
    must(ct_mesh_box(&mesh, (double[]){0.3, 0.2, 0.1}, (int[]){3, 2, 2}, NULL), NULL);
    must(ct_mesh_check(mesh, &linear, &error), &error);
    must(ct_mesh_mass(mesh, 1000, &mass[0], center[0], inertia[0], &error), &error);
    must(ct_mesh_raise(mesh), NULL);
    must(ct_mesh_copy(&copy, mesh, NULL), NULL);
    must(ct_mesh_check(copy, &second, &error), &error);
    must(ct_mesh_mass(copy, 1000, &mass[1], center[1], inertia[1], &error), &error);
    assert_int_equal(second.surface_tri_count, 4 * linear.surface_tri_count);
    assert_true(second.closed_surface && second.component_count == 1);
    assert_true(fabs(second.volume - linear.volume) < 1e-15 && fabs(second.area - linear.area) < 1e-14);
    assert_true(fabs(mass[1] - mass[0]) < 1e-13);
    for (int i = 0; i < 6; i++) assert_true(fabs(inertia[1][i] - inertia[0][i]) < 1e-14);
    // an inverted tet is flipped with its mid-edge nodes
    const int swap = copy->tet[2];
    int* mid = copy->mid;
    copy->tet[2] = copy->tet[3], copy->tet[3] = swap;
    const int flipped[6] = {mid[0], mid[4], mid[3], mid[2], mid[1], mid[5]};
    memcpy(mid, flipped, sizeof flipped);
    assert_int_equal(ct_mesh_check(copy, NULL, &error), CT_BAD_MESH);
    assert_int_equal(ct_mesh_repair(copy), 1);
    must(ct_mesh_check(copy, NULL, &error), &error);
    assert_memory_equal(copy->mid, mesh->mid, 6 * sizeof(int));
    // an edge that bends too far is an error that names its tet
    copy->x[3 * (size_t)copy->mid[0]] += 1;
    assert_int_equal(ct_mesh_check(copy, NULL, &error), CT_BAD_MESH);
    assert_non_null(strstr(error.message, "second order"));
    ct_mesh_free(mesh);
    ct_mesh_free(copy);
}

// ---- a patch -------------------------------------------------------------------------------

static bool is_inside(const double* x) {
    for (int a = 0; a < 3; a++)
        if (x[a] < 1e-6 || x[a] > 1 - 1e-6) return false;
    return true;
}

// A unit cube whose inner corners are anywhere, its edges straight.
static ct_mesh* make_patch(void) {
    ct_mesh* mesh = NULL;
    uint64_t seed = 3;
    must(ct_mesh_box(&mesh, (double[]){1, 1, 1}, (int[]){3, 3, 3}, NULL), NULL);
    for (int v = 0; v < mesh->nvert; v++)
        for (int a = 0; is_inside(mesh->x + 3 * (size_t)v) && a < 3; a++)
            mesh->x[3 * (size_t)v + (size_t)a] += 0.08 * noise(&seed);
    must(ct_mesh_raise(mesh), NULL);
    return mesh;
}

// In a homogeneous deformation no inner node feels a force, whatever the energy.
static void no_inner_node_of_a_stretched_patch_feels_a_force(void** state) {
    static const double F[3][3] = {{1.2, 0.1, 0}, {0, 0.9, 0.15}, {0.05, 0, 1.1}};
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        ct_settings settings = ct_settings_default();
        ct_mesh* mesh = make_patch();
        ct_scene* scene = new_scene(&settings);
        ct_body_def def = ct_body_def_default();
        def.mesh = mesh;
        def.material.energy = (ct_energy)energy, def.material.poisson = 0.4;
        must(ct_scene_add_body(scene, &def, NULL, NULL), NULL);
        sim s = start(scene, 1);
        const ct_elastic* elastic = s.model->families.of[CT_FAMILY_SOLIDS];
        ct_elastic_work* work = NULL;
        must(ct_elastic_work_create(&work, elastic), NULL);
        double *x = calloc(3 * (size_t)mesh->nvert + 1, sizeof(double)),
               *f = calloc(3 * (size_t)mesh->nvert + 1, sizeof(double)), outer = 0, inner = 0;
        for (int i = 0; i < 9 * mesh->nvert; i++)
            x[i / 3] += F[i / 3 % 3][i % 3] * mesh->x[i / 9 * 3 + i % 3];
        ct_elastic_gradient(elastic, work, NULL, x, f);
        for (int i = 0; i < 3 * mesh->nvert; i++) {
            double* largest = is_inside(mesh->x + i / 3 * 3) ? &inner : &outer;
            *largest = fmax(*largest, fabs(f[i]));
        }
        if (!(inner < 1e-12 * outer)) fail_msg("an inner node feels %g of %g N", inner, outer);
        ct_elastic_work_free(work);
        free(x), free(f);
        ct_mesh_free(mesh);
        stop(&s);
    }
}

// ---- a cantilever --------------------------------------------------------------------------

// 100 x 30 x 30 mm of silicone, or of something softer, under its own weight, 10 x 3 x 3 cells.
static sim silicone(double young, double poisson) {
    ct_settings settings = ct_settings_default();
    settings.tolerance = 1e-11;
    memcpy(settings.gravity, (double[]){0, 0, -9.81}, sizeof settings.gravity);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, (double[]){0.1, 0.03, 0.03}, (int[]){10, 3, 3}, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.order = 2;
    def.material.energy = CT_ENERGY_STVK, def.material.young = young, def.material.poisson = poisson,
    def.material.density = 1070;
    must(ct_scene_add_body(scene, &def, NULL, NULL), NULL);
    ct_mesh_free(mesh);
    pin_plane(scene, 0, 0);
    return start(scene, 1);
}

// The input of CalculiX for the same tets and the same weights of the nodes.
static void write_input(const sim* s, FILE* file, double young, double poisson) {
    const double* mass = ct_model_node_mass(s->model);
    const ct_geometry* g = &s->model->geometry;
    fprintf(file, "*NODE, NSET=ALL\n");
    for (int v = 0; v < s->model->nvert; v++)
        fprintf(file, "%d, %.15g, %.15g, %.15g\n", v + 1, g->rest[3 * v], g->rest[3 * v + 1],
                g->rest[3 * v + 2]);
    fprintf(file, "*ELEMENT, TYPE=C3D10, ELSET=BODY\n");
    for (int t = 0; t < s->model->ntet; t++) {
        fprintf(file, "%d", t + 1);
        for (int a = 0; a < 10; a++)
            fprintf(file, ", %d", 1 + (a < 4 ? g->tet[4 * t + a] : g->mid[6 * t + a - 4]));
        fprintf(file, "\n");
    }
    fprintf(
        file,
        "*MATERIAL, NAME=SILICONE\n*ELASTIC\n%.17g, %.17g\n*SOLID SECTION, ELSET=BODY, MATERIAL=SILICONE\n",
        young, poisson);
    fprintf(file, "*BOUNDARY\n");
    for (int v = 0; v < s->model->nvert; v++)
        if (g->rest[3 * v] < 1e-9) fprintf(file, "%d, 1, 3\n", v + 1);
    fprintf(file,
            "*STEP, NLGEOM, INC=1000\n*STATIC\n0.1, 1.0\n*CONTROLS, PARAMETERS=FIELD\n1e-8, 1e-6\n*CLOAD\n");
    for (int v = 0; v < s->model->nvert; v++) fprintf(file, "%d, 3, %.12e\n", v + 1, -9.81 * mass[v]);
    fprintf(file, "*NODE PRINT, NSET=ALL, FREQUENCY=1000\nU\n*END STEP\n");
}

static int tip_of(const sim* s) {
    int tip = 0;
    double nearest = INFINITY;
    for (int v = 0; v < s->model->nvert; v++) {
        const double* p = s->model->geometry.rest + 3 * v;
        const double d = hypot(hypot(p[0] - 0.1, p[1] - 0.015), p[2] - 0.015);
        if (d < nearest) nearest = d, tip = v;
    }
    return tip;
}

// The last displacement of a node that CalculiX printed.
static bool read_displacement(const char* path, int node, double u[3]) {
    FILE* file = fopen(path, "r");
    char line[256];
    bool found = false;
    while (file && fgets(line, sizeof line, file)) {
        int n;
        double v[3];
        if (sscanf(line, "%d %lf %lf %lf", &n, &v[0], &v[1], &v[2]) == 4 && n == node + 1)
            memcpy(u, v, sizeof v), found = true;
    }
    if (file) fclose(file);
    return found;
}

// What CalculiX 2.20 says where it is installed.
static bool ask_calculix(const sim* s, double young, double poisson, int node, double u[3]) {
    char directory[] = "/tmp/cuttle-ccx-XXXXXX", path[64], command[128];
    if (system("command -v ccx > /dev/null 2>&1") || !mkdtemp(directory)) return false;
    snprintf(path, sizeof path, "%s/beam.inp", directory);
    FILE* file = fopen(path, "w");
    write_input(s, file, young, poisson);
    fclose(file);
    snprintf(command, sizeof command, "cd %s && OMP_NUM_THREADS=1 ccx beam > out.txt 2>&1", directory);
    bool good = system(command) == 0;
    snprintf(path, sizeof path, "%s/beam.dat", directory);
    good = good && read_displacement(path, node, u);
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (system(command)) good = false;
    return good;
}

static void silicone_sags_as_in_calculix(void** state) {
    // E, nu, and the displacement of the tip that CalculiX 2.20 prints, m; the softer ones hang by
    // 0.4 of their length
    static const double known[4][5] = {{263824, 0.3, -2.725345e-04, 1.770893e-06, -7.000088e-03},
                                       {263824, 0.499, -2.262521e-04, 3.790914e-05, -6.385432e-03},
                                       {40000, 0.3, -1.013402e-02, -1.427065e-06, -4.175832e-02},
                                       {40000, 0.499, -8.630368e-03, 2.050849e-04, -3.857946e-02}};
    for (int k = 0; k < 4; k++) {
        const double young = known[k][0], poisson = known[k][1];
        sim s = silicone(young, poisson);
        const int tip = tip_of(&s);
        ct_settle_report report;
        must(ct_settle(s.model, s.work, s.state, NULL, &report), NULL);
        double u[3];
        const double *x = ct_state_positions(s.state), *rest = s.model->geometry.rest;
        const bool asked = ask_calculix(&s, young, poisson, tip, u);
        for (int a = 0; a < 3; a++) {
            const double own = x[3 * tip + a] - rest[3 * tip + a], stored = known[k][2 + a];
            if (!(fabs(own - stored) < 1e-6 * fabs(known[k][4])) ||
                (asked && !(fabs(own - u[a]) < 1e-6 * fabs(u[2]))))
                fail_msg("E %g, nu %g: displacement %d is %.9g m, stored %.9g, CalculiX %.9g", young, poisson,
                         a, own, stored, asked ? u[a] : NAN);
        }
        stop(&s);
    }
}

// ---- a frequency ---------------------------------------------------------------------------

// Shear force and moment at the free end of a Timoshenko beam of unit length, clamped at 0, swinging with
// w(rad/s): their determinant vanishes at its frequencies. Per unit of E A and with c^2 = E/density.
static double free_end(double w, double h, double c) {
    const double I = h * h / 12, shear = 5.0 / 6 * 0.5;  // nu = 0: G = E/2
    double end[2][2];
    for (int k = 0; k < 2; k++) {
        enum { N = 2000 };
        double y[4] = {0, 0, k == 0, k == 1};  // deflection, rotation, moment, shear force
        for (int i = 0; i < N; i++) {
            double slope[4][4], at[4];
            for (int stage = 0; stage < 4; stage++) {
                const double step = stage == 0 ? 0 : stage == 3 ? 1.0 / N : 0.5 / N;
                for (int j = 0; j < 4; j++) at[j] = y[j] + (stage ? step * slope[stage - 1][j] : 0);
                slope[stage][0] = at[1] + at[3] / shear;
                slope[stage][1] = at[2] / I;
                slope[stage][2] = -at[3] - I * w * w / (c * c) * at[1];
                slope[stage][3] = -w * w / (c * c) * at[0];
            }
            for (int j = 0; j < 4; j++)
                y[j] += (slope[0][j] + 2 * slope[1][j] + 2 * slope[2][j] + slope[3][j]) / (6 * N);
        }
        end[k][0] = y[2], end[k][1] = y[3];
    }
    return end[0][0] * end[1][1] - end[0][1] * end[1][0];
}

static double timoshenko(double h, double c) {
    const double euler = 3.5160 * c * h / sqrt(12);
    double low = 0.8 * euler, high = 1.1 * euler;
    assert_true(free_end(low, h, c) * free_end(high, h, c) < 0);
    for (int i = 0; i < 50; i++) {
        const double middle = 0.5 * (low + high);
        if (free_end(low, h, c) * free_end(middle, h, c) < 0) high = middle;
        else low = middle;
    }
    return low;
}

// Lowest frequency by inverse iteration; the systems by conjugate gradients, Jacobi's diagonal as their
// matrix.
static double lowest_frequency(sim* s) {
    const ct_elastic* elastic = s->model->families.of[CT_FAMILY_SOLIDS];
    const int n = 3 * s->model->nvert;
    ct_elastic_work* work = NULL;
    must(ct_elastic_work_create(&work, elastic), NULL);
    double* v[6];
    for (int k = 0; k < 6; k++) v[k] = calloc((size_t)n + 1, sizeof(double));
    double *y = v[0], *x = v[1], *r = v[2], *p = v[3], *Kp = v[4], value = 0;
    uint64_t seed = 4;
    ct_elastic_linearise(elastic, work, NULL, s->model->geometry.rest);
    for (int i = 0; i < n; i++) y[i] = s->model->row[i / 3] >= 0 ? 1 + 0.1 * noise(&seed) : 0;
    for (int round = 0; round < 12; round++) {
        double rr = 0, norm = 0;
        for (int i = 0; i < n; i++) {
            r[i] = p[i] = s->model->row[i / 3] >= 0 ? s->model->mass[i / 3] * y[i] : 0;
            x[i] = 0, rr += r[i] * r[i];
        }
        for (const double stop = 1e-18 * rr; rr > stop;) {
            double pKp = 0, next = 0;
            ct_elastic_product(elastic, work, NULL, p, Kp);
            for (int i = 0; i < n; i++) pKp += s->model->row[i / 3] >= 0 ? p[i] * Kp[i] : 0;
            for (int i = 0; i < n; i++) {
                if (s->model->row[i / 3] < 0) continue;
                x[i] += rr / pKp * p[i], r[i] -= rr / pKp * Kp[i], next += r[i] * r[i];
            }
            for (int i = 0; i < n; i++) p[i] = r[i] + next / rr * p[i];
            rr = next;
        }
        double along = 0;
        for (int i = 0; i < n; i++) {
            const double m = s->model->mass[i / 3];
            along += m * x[i] * y[i], norm += m * x[i] * x[i];
        }
        value = along / norm;
        for (int i = 0; i < n; i++) y[i] = x[i] / sqrt(norm);
    }
    for (int k = 0; k < 6; k++) free(v[k]);
    ct_elastic_work_free(work);
    return sqrt(value);
}

static void a_cantilever_two_cells_thick_swings_as_theory_says(void** state) {
    ct_settings settings = ct_settings_default();
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, (double[]){1, 0.1, 0.1}, (int[]){20, 2, 2}, NULL), NULL);
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.order = 2;
    def.material.young = 1e6, def.material.poisson = 0, def.material.density = 1000;
    must(ct_scene_add_body(scene, &def, NULL, NULL), NULL);
    pin_plane(scene, 0, 0);
    sim s = start(scene, 1);
    const double found = lowest_frequency(&s), known = timoshenko(0.1, sqrt(1e6 / 1000));
    if (!(fabs(found / known - 1) < 0.01)) fail_msg("%g rad/s, theory %g", found, known);
    ct_mesh_free(mesh);
    stop(&s);
}

// ---- gradients -----------------------------------------------------------------------------

static void check_scene(const char* text, int nstep, double tolerance, const char* name) {
    rollout r = rollout_start(open_text(text), nstep, 0);
    for (int t = 0; t < r.ntet; t++) {
        r.value[r.first[DAMPING_MASS] + t] = 0.3 + 0.01 * (t % 5);
        r.value[r.first[DAMPING_STIFFNESS] + t] = 0.004 * (1 + t % 3);
    }
    if (!check_slices(&r, 0.02, tolerance, 2, name)) fail_msg("%s: steps were halved", name);
    rollout_stop(&r);
}

static void gradients_with_every_energy(void** state) {
    for (int energy = 0; energy < CT_ENERGY_COUNT; energy++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "{\"gravity\": [0, 0, -9.81], \"time_step\": 0.02, \"integrator\": \"%s\", \"contact\": "
            "{\"method\": \"none\"}, \"solver\": {\"tolerance\": 1e-13}, \"bodies\": [{\"box\": {\"size\": "
            "[0.3, 0.1, 0.1], \"cells\": [3, 1, 1]}, \"order\": 2, \"material\": {\"energy\": \"%s\", "
            "\"young\": 2e5, \"poisson\": 0.4, \"density\": 1000}}], \"pins\": [{\"select\": {\"box\": [[0, "
            "0, 0], [0, 1, 1]]}}]}",
            energy % 2 ? "bdf2" : "euler", ct_energy_name((ct_energy)energy));
        check_scene(text, 8, 1e-7, ct_energy_name((ct_energy)energy));
    }
}

static void gradients_with_muscles_chambers_cables_and_water(void** state) {
    check_scene(
        "{\"gravity\": [0, 0, -9.81], \"time_step\": 0.02, \"contact\": {\"method\": \"none\"}, \"solver\": "
        "{\"tolerance\": 1e-13}, \"bodies\": [{\"name\": \"arm\", \"box\": {\"size\": [0.3, 0.1, 0.1], "
        "\"cells\": "
        "[3, 1, 1]}, \"order\": 2, \"material\": {\"energy\": \"neohookean\", \"young\": 2e5, \"poisson\": "
        "0.4, "
        "\"density\": 1150}}], \"pins\": [{\"select\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}], \"water\": {}, "
        "\"muscles\": [{\"name\": \"m\", \"body\": \"arm\", \"points\": [[0, 0.05, 0.08], [0.3, 0.05, "
        "0.08]], "
        "\"radius\": 0.2, \"segments\": 2, \"stiffness\": 1e5}], \"chambers\": [{\"name\": \"c\", \"body\": "
        "\"arm\", \"stiffness\": 1e5}], \"cables\": [{\"name\": \"t\", \"eyelets\": [{\"point\": [-0.1, "
        "0.05, "
        "0.02]}, {\"body\": \"arm\", \"point\": [0.12, 0.045, 0.021]}, {\"body\": \"arm\", \"point\": [0.28, "
        "0.051, 0.019]}], \"tension\": 20}], \"controls\": [{\"name\": \"a\", \"actuator\": \"m\"}, "
        "{\"name\": "
        "\"b\", \"actuator\": \"c\"}, {\"name\": \"d\", \"actuator\": \"t\"}]}",
        8, 1e-7, "actuators");
}

static void check_problem(const char* name, const char* text, bool fresh) {
    ct_scene* scene = scene_of(text);
    compare_slices(name, scene, fresh, 1e-7);
    ct_scene_free(scene);
}

// Not with freshly built scenes, as the others: to fill the shape anew would take the most time.
static void gradients_with_air_inside(void** state) {
    check_problem("air",
                  "{'time_step': 0.01, 'duration': 0.03, 'up': 'y', 'bodies': [{'name': 'ball', "
                  "'shape': {'difference': [{'sphere': {'radius': 0.12}}, {'sphere': {'radius': "
                  "0.075}}]}, 'size': 0.035, 'order': 2, 'material': {'young': 1e5, 'poisson': 0.4}}], "
                  "'pins': [{'select': {'box': [[-1, -1, -1], [1, -0.1, 1]]}}], 'cavities': [{'name': "
                  "'air', 'seed': [0, 0, 0]}], 'controls': [{'name': 'pump', 'actuator': 'air'}], "
                  "'parameters': [{'type': 'control', 'control': 'pump', 'start': 5000}, {'type': 'young'}, "
                  "{'type': 'density'}]}",
                  false);
}

static void gradients_with_bones_and_water(void** state) {
    check_problem(
        "bones",
        "{'time_step': 0.01, 'duration': 0.04, 'up': 'y', 'water': {}, 'bodies': [{'box': "
        "{'size': [0.4, 0.1, 0.1], 'cells': [4, 1, 1]}, 'order': 2, 'material': {'young': 1e5, "
        "'poisson': 0.4}}], 'skeletons': [{'links': [{'name': 'head', 'joint': {'type': 'free', "
        "'anchor': [0.05, 0.05, 0.05], 'velocity': [0.1, 0, 0, 0, 0, 1]}, 'nodes': {'box': [[0, 0, 0], "
        "[0.1, 0.1, 0.1]]}}, {'name': 'tail', 'parent': 'head', 'joint': {'type': 'revolute', "
        "'anchor': [0.2, 0.05, 0.05], 'axis': [0, 0, 1], 'stiffness': 0.3, 'damping': 0.01}, "
        "'nodes': {'box': [[0.35, 0, 0], [0.4, 0.1, 0.1]]}}]}], 'controls': [{'name': 'flap', "
        "'torque': 'tail'}], 'parameters': [{'type': 'control', 'control': 'flap', 'start': 0.2}, "
        "{'type': 'young'}, {'type': 'density'}, {'type': 'joint_stiffness'}]}",
        true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raised_boxes_keep_mass_and_surface),
        cmocka_unit_test(no_inner_node_of_a_stretched_patch_feels_a_force),
        cmocka_unit_test(silicone_sags_as_in_calculix),
        cmocka_unit_test(a_cantilever_two_cells_thick_swings_as_theory_says),
        cmocka_unit_test(gradients_with_every_energy),
        cmocka_unit_test(gradients_with_muscles_chambers_cables_and_water),
        cmocka_unit_test(gradients_with_air_inside),
        cmocka_unit_test(gradients_with_bones_and_water),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
