// Scenes of contact that are hard for a solver: points on points, ridges along and across ridges, cracks,
// fast and folded bodies.
//
// Soft bodies of 1e5 Pa and 1000 kg/m^3 under gravity along -y, friction 0.5, h = 5 ms, unless said
// otherwise. Lengths in m.
#ifndef CT_TESTS_DEGENERATE_SCENES_H
#define CT_TESTS_DEGENERATE_SCENES_H

#include "build.h"
#include "unit.h"

static inline ct_settings degenerate_settings(double time_step) {
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0;
    settings.gravity[1] = -9.81;
    settings.time_step = time_step;
    settings.tolerance = 1e-8;
    settings.threads = 1;
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    settings.contact.friction = 0.5;
    return settings;
}

static inline ct_material soft(double young, double damping) {
    ct_material material = ct_material_default();
    material.young = young;
    material.poisson = 0.4;
    material.density = 1000;
    material.damping_stiffness = damping;
    return material;
}

// ---- meshes ------------------------------------------------------------------------------------

static inline void add_tet(const double* x, int* tet, int* ntet, int a, int b, int c, int d) {
    double e[3][3];
    for (int i = 0; i < 3; i++)
        e[0][i] = x[3 * b + i] - x[3 * a + i], e[1][i] = x[3 * c + i] - x[3 * a + i],
        e[2][i] = x[3 * d + i] - x[3 * a + i];
    double volume = e[2][0] * (e[0][1] * e[1][2] - e[0][2] * e[1][1]) +
                    e[2][1] * (e[0][2] * e[1][0] - e[0][0] * e[1][2]) +
                    e[2][2] * (e[0][0] * e[1][1] - e[0][1] * e[1][0]);
    int node[4] = {a, volume > 0 ? b : c, volume > 0 ? c : b, d};
    memcpy(tet + 4 * *ntet, node, sizeof node);
    (*ntet)++;
}

// Three tets of a prism with corners a and b = a + shift; neighbours agree on the diagonals where a is
// ascending.
static inline void add_prism(const double* x, int* tet, int* ntet, const int a[3], const int b[3]) {
    add_tet(x, tet, ntet, a[0], a[1], a[2], b[2]);
    add_tet(x, tet, ntet, a[0], a[1], b[1], b[2]);
    add_tet(x, tet, ntet, a[0], b[0], b[1], b[2]);
}

// A spike with a triangular base of circumradius `radius` in y = 0 and its point at (0, height, 0), in
// `layers` slices.
static inline ct_mesh* spike_mesh(double radius, double height, int layers) {
    double x[3 * 64];
    int tet[4 * 64], ntet = 0, top = 3 * layers;
    assert_true(layers <= 20);
    for (int j = 0; j < layers; j++) {
        for (int k = 0; k < 3; k++) {
            double r = radius * (1 - (double)j / layers), angle = 2 * M_PI * k / 3 + 0.2;
            double p[3] = {r * cos(angle), height * j / layers, r * sin(angle)};
            memcpy(x + 3 * (3 * j + k), p, sizeof p);
        }
    }
    x[3 * top] = x[3 * top + 2] = 0, x[3 * top + 1] = height;
    for (int j = 0; j + 1 < layers; j++) {
        int a[3] = {3 * j, 3 * j + 1, 3 * j + 2}, b[3] = {3 * j + 3, 3 * j + 4, 3 * j + 5};
        add_prism(x, tet, &ntet, a, b);
    }
    add_tet(x, tet, &ntet, top - 3, top - 2, top - 1, top);
    ct_mesh* mesh = NULL;
    must(ct_mesh_create(&mesh, top + 1, x, ntet, tet, 0, NULL, NULL), NULL);
    return mesh;
}

// A wedge along x, centred, with its base of width 2 half in y = 0 and its ridge at y = height, in `pieces`
// slices.
static inline ct_mesh* wedge_mesh(double half, double height, double length, int pieces) {
    // Cross section: a triangle with the middles of its sides.
    const double section[6][2] = {
        {-half, 0}, {0, 0}, {half, 0}, {-half / 2, height / 2}, {half / 2, height / 2}, {0, height}};
    const int part[4][3] = {{0, 1, 3}, {1, 3, 4}, {1, 2, 4}, {3, 4, 5}};
    double x[3 * 6 * 17];
    int tet[4 * 12 * 16], ntet = 0;
    assert_true(pieces <= 16);
    for (int j = 0; j <= pieces; j++) {
        for (int k = 0; k < 6; k++) {
            double p[3] = {length * ((double)j / pieces - 0.5), section[k][1], section[k][0]};
            memcpy(x + 3 * (6 * j + k), p, sizeof p);
        }
    }
    for (int j = 0; j < pieces; j++) {
        for (int t = 0; t < 4; t++) {
            int a[3], b[3];
            for (int k = 0; k < 3; k++) a[k] = 6 * j + part[t][k], b[k] = a[k] + 6;
            add_prism(x, tet, &ntet, a, b);
        }
    }
    ct_mesh* mesh = NULL;
    must(ct_mesh_create(&mesh, 6 * (pieces + 1), x, ntet, tet, 0, NULL, NULL), NULL);
    return mesh;
}

// A block along x, centred, 2 half wide and `height` high, with a V-shaped crack of the given width and depth
// along the middle of its top.
static inline ct_mesh* crack_mesh(double half, double height, double opening, double depth, double length,
                                  int pieces) {
    const double size[3] = {length, height, 2 * half};
    const int cells[3] = {pieces, 2, 4};
    ct_mesh *box = NULL, *mesh = NULL;
    must(ct_mesh_box(&box, size, cells, NULL), NULL);
    double* x = malloc(3 * (size_t)box->nvert * sizeof(double));
    assert_non_null(x);
    for (int v = 0; v < box->nvert; v++) {
        const double* from = box->x + 3 * v;
        double across = from[2] / half - 1;  // -1, -1/2, 0, 1/2, 1
        bool middle = fabs(across) < 0.1, lip = fabs(fabs(across) - 0.5) < 0.1;
        x[3 * v] = from[0] - length / 2;
        x[3 * v + 1] = from[1] * (middle ? 1 - depth / height : 1);
        x[3 * v + 2] = lip && from[1] > 0.75 * height ? copysign(opening / 2, across) : across * half;
    }
    must(ct_mesh_create(&mesh, box->nvert, x, box->ntet, box->tet, 0, NULL, NULL), NULL);
    free(x);
    ct_mesh_free(box);
    return mesh;
}

// ---- bodies ------------------------------------------------------------------------------------

typedef struct placed {
    double turn[4];  // unit quaternion
    double at[3];
    double velocity[3];
} placed;

// Frees the mesh.
static inline int add_mesh(ct_scene* scene, ct_mesh* mesh, const ct_material* material, placed where) {
    ct_error error = {0};
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material = *material;
    if (where.turn[0] != 0 || where.turn[1] != 0 || where.turn[2] != 0 || where.turn[3] != 0)
        memcpy(def.rotate, where.turn, sizeof def.rotate);
    memcpy(def.translate, where.at, sizeof def.translate);
    memcpy(def.velocity, where.velocity, sizeof def.velocity);
    def.contact_thickness = 2e-4;
    int body = -1;
    must(ct_scene_add_body(scene, &def, &body, &error), &error);
    ct_mesh_free(mesh);
    return body;
}

static inline void drive_box(ct_scene* scene, int body, const double lower[3], const double upper[3],
                             const ct_motion* motion) {
    ct_error error = {0};
    ct_selector selector = {.kind = CT_SELECT_BOX, .body = body};
    memcpy(selector.a, lower, sizeof selector.a);
    memcpy(selector.b, upper, sizeof selector.b);
    int *nodes = NULL, count = 0;
    must(ct_scene_select(scene, &selector, &nodes, &count, &error), &error);
    ct_motion still = {0};
    must(ct_scene_drive(scene, nodes, count, motion ? motion : &still, &error), &error);
    ct_free(nodes);
}

static inline void pin_below(ct_scene* scene, int body, double height) {
    drive_box(scene, body, (double[3]){-1e3, -1e3, -1e3}, (double[3]){1e3, height + 1e-9, 1e3}, NULL);
}

static inline void add_ground(ct_scene* scene, double height) {
    ct_error error = {0};
    ct_obstacle_def def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_PLANE;
    def.center[0] = def.center[2] = 0, def.center[1] = height;
    def.normal[0] = def.normal[2] = 0, def.normal[1] = 1;
    must(ct_scene_add_obstacle(scene, &def, NULL, &error), &error);
}

static const double upside_down[4] = {0, 1, 0, 0};  // half a turn about x
// the same, then a quarter about y
static const double upside_down_across[4] = {0, M_SQRT1_2, 0, M_SQRT1_2};

// ---- degenerate pairs: a pinned body and one that falls on it ------------------------------------------

typedef enum sharp { SPIKE, WEDGE, CRACK } sharp;

static inline ct_mesh* sharp_mesh(sharp kind) {
    if (kind == SPIKE) return spike_mesh(0.05, 0.1, 3);
    if (kind == WEDGE) return wedge_mesh(0.04, 0.08, 0.2, 4);
    return crack_mesh(0.08, 0.1, 0.06, 0.06, 0.2, 4);
}

static inline double sharp_height(sharp kind) { return kind == WEDGE ? 0.08 : 0.1; }

// The upper body hangs `shift` beside the middle of the lower one, 2 mm above it (in a crack: above its
// ground).
static inline ct_scene* degenerate_pair(sharp lower, sharp upper, bool across, double shift) {
    ct_settings settings = degenerate_settings(0.005);
    settings.duration = 0.8;
    ct_scene* scene = new_scene(&settings);
    ct_material material = soft(1e5, 0.002);
    int body = add_mesh(scene, sharp_mesh(lower), &material, (placed){.at = {0, 0, 0}});
    placed above = {.at = {shift, sharp_height(lower) + sharp_height(upper) + 0.002, 0}};
    if (lower == CRACK) above.at[1] -= 0.05;
    memcpy(above.turn, across ? upside_down_across : upside_down, sizeof above.turn);
    add_mesh(scene, sharp_mesh(upper), &material, above);
    pin_below(scene, body, 0);
    add_ground(scene, -0.001);
    return scene;
}

// Point pressed against point: the base of the upper spike is driven down by 3 cm and held.
static inline ct_scene* pressed_spikes(void) {
    ct_settings settings = degenerate_settings(0.005);
    settings.duration = 0.8;
    ct_scene* scene = new_scene(&settings);
    ct_material material = soft(1e5, 0.002);
    int lower = add_mesh(scene, sharp_mesh(SPIKE), &material, (placed){.at = {0, 0, 0}});
    placed above = {.at = {0, 0.202, 0}};
    memcpy(above.turn, upside_down, sizeof above.turn);
    int upper = add_mesh(scene, sharp_mesh(SPIKE), &material, above);
    pin_below(scene, lower, 0);
    const ct_keyframe key[2] = {{.time = 0}, {.time = 0.3, .translate = {0, -0.03, 0}}};
    drive_box(scene, upper, (double[3]){-1, 0.2019, -1}, (double[3]){1, 1, 1},
              &(ct_motion){.key = key, .nkey = 2, .smooth = true});
    return scene;
}

// Two bars with a ridge, the lower one clamped at its ends, the upper one lying across it, four times as
// heavy as gravity makes it. Their ridges meet in the middle of edges, far from every node.
static inline ct_scene* crossed_bars(double load) {
    ct_settings settings = degenerate_settings(0.005);
    settings.duration = 0.8;
    settings.gravity[1] *= load;
    ct_scene* scene = new_scene(&settings);
    ct_material material = soft(1e5, 0.005);
    material.energy = CT_ENERGY_COROTATED;  // when it tips over depends on it
    int lower = add_mesh(scene, wedge_mesh(0.04, 0.06, 0.3, 5), &material, (placed){.at = {0, 0, 0}});
    placed above = {.at = {0, 0.121, 0}};
    memcpy(above.turn, upside_down_across, sizeof above.turn);
    add_mesh(scene, wedge_mesh(0.04, 0.06, 0.3, 5), &material, above);
    drive_box(scene, lower, (double[3]){-1, -1, -1}, (double[3]){-0.149, 1, 1}, NULL);
    drive_box(scene, lower, (double[3]){0.149, -1, -1}, (double[3]){1, 1, 1}, NULL);
    return scene;
}

// ---- fast, folded, stacked --------------------------------------------------------------------------

// A ball of 4 cm at `speed` against a plate of 2 cm that is clamped at two ends, at h = 10 ms: at 100 m/s it
// moves by 1 m a step.
static inline ct_scene* bullet(double speed) {
    ct_settings settings = degenerate_settings(0.01);
    settings.duration = 0.2;
    ct_scene* scene = new_scene(&settings);
    ct_material plate = soft(1e6, 0.002), lead = soft(1e7, 0.001);
    lead.density = 2000;
    ct_mesh *box = NULL, *ball = NULL;
    must(ct_mesh_box(&box, (double[3]){0.4, 0.02, 0.2}, (int[3]){10, 1, 5}, NULL), NULL);
    must(ct_mesh_sphere(&ball, 0.02, 0.016, NULL), NULL);
    int lower = add_mesh(scene, box, &plate, (placed){.at = {-0.2, -0.02, -0.1}});
    add_mesh(scene, ball, &lead, (placed){.at = {0.013, 0.1, 0.007}, .velocity = {0, -speed, 0}});
    drive_box(scene, lower, (double[3]){-1, -1, -1}, (double[3]){-0.19, 1, 1}, NULL);
    drive_box(scene, lower, (double[3]){0.19, -1, -1}, (double[3]){1, 1, 1}, NULL);
    return scene;
}

// A strip (or a sheet) along x whose far end is carried over its clamped one and let down: it comes to lie on
// itself.
static inline ct_scene* folded(bool sheet) {
    ct_settings settings = degenerate_settings(0.01);
    settings.duration = 1.2;
    ct_scene* scene = new_scene(&settings);
    ct_material material = soft(sheet ? 1e6 : 1e5, 0.01);
    material.thickness = 0.002;
    material.damping_mass = 1;
    ct_mesh* mesh = NULL;
    placed where = {.at = {0, 0, -0.03}};
    if (sheet) {
        must(ct_mesh_sheet(&mesh, (double[2]){0.3, 0.06}, (int[2]){20, 4}, NULL), NULL);
        where = (placed){.turn = {M_SQRT1_2, M_SQRT1_2, 0, 0}, .at = {0, 0, -0.03}};
    } else {
        must(ct_mesh_box(&mesh, (double[3]){0.3, 0.006, 0.06}, (int[3]){20, 1, 2}, NULL), NULL);
    }
    int body = add_mesh(scene, mesh, &material, where);
    drive_box(scene, body, (double[3]){-1, -1, -1}, (double[3]){0.016, 1, 1}, NULL);
    const ct_keyframe key[3] = {
        {.time = 0},
        {.time = 0.5, .translate = {0, 0.08, 0}, .rotate = {0, 0, M_PI}},
        {.time = 0.8, .translate = {0, sheet ? -0.030 : -0.0195, 0}, .rotate = {0, 0, M_PI - 0.25}}};
    drive_box(scene, body, (double[3]){0.284, -1, -1}, (double[3]){1, 1, 1},
              &(ct_motion){.key = key, .nkey = 3, .center = {0.16, 0, 0}, .smooth = true});
    add_ground(scene, -0.001);
    return scene;
}

// Ten blocks on the ground; offset: each turned and moved against the one below, so that no mesh lines match.
static inline ct_scene* stack(int count, bool offset) {
    ct_settings settings = degenerate_settings(0.01);
    settings.duration = 0.5;
    ct_scene* scene = new_scene(&settings);
    ct_material material = soft(3e6, 0.002);  // of 3e5 Pa, 1 m of it buckles under its weight
    for (int k = 0; k < count; k++) {
        ct_mesh* box = NULL;
        must(ct_mesh_box(&box, (double[3]){0.1, 0.1, 0.1}, (int[3]){2, 2, 2}, NULL), NULL);
        double angle = offset && k % 2 ? 0.2 : 0, slide = offset ? 0.008 * (k % 3 - 1) : 0, c = cos(angle),
               s = sin(angle);
        placed where = {.turn = {cos(angle / 2), 0, sin(angle / 2), 0},
                        .at = {slide - 0.05 * (c + s), 3e-4 + k * (0.1 + 6e-4), slide / 2 - 0.05 * (c - s)}};
        add_mesh(scene, box, &material, where);
    }
    add_ground(scene, 0);
    return scene;
}

static inline ct_scene* scene_file(const char* name) {
    char path[512];
    ct_scene* scene = NULL;
    ct_error error = {0};
    snprintf(path, sizeof path, "%s/scenes/%s.json", CT_SOURCE_DIR, name);
    must(ct_scene_load(&scene, path, &error), &error);
    return scene;
}

#endif
