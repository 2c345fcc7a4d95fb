// Bending of sheets against theory, on meshes with diagonals of every kind: surfaces of constant curvature,
// plates, cantilevers, a strip that sags as the elastica, shells; clamped edges and free ones.
#include "force/sheet.h"
#include "math/vecn.h"
#include "repeat.h"
#include "sheet_meshes.h"
#include "slope.h"
#include "sparse/scalar_factor.h"

typedef struct plate {
    ct_mesh* mesh;
    ct_sheet* sheet;
    ct_sheet_work* work;
    int* unknown;  // nvert, -1: held
    int nfree;
} plate;

typedef struct plate_def {
    double young, poisson, thickness;
    double grain[3], warp, weft;  // factors of D_11 and D_22, 0: 1
    const unsigned char *driven, *clamped;
} plate_def;

static plate make_plate(ct_mesh* mesh, const plate_def* def) {
    const size_t ntri = (size_t)mesh->ntri;
    const double E = def->young, nu = def->poisson, t = def->thickness,
                 D0 = E * t * t * t / (12 * (1 - nu * nu));
    const double p = def->warp > 0 ? def->warp : 1, q = def->weft > 0 ? def->weft : 1;
    plate out = {.mesh = mesh};
    unsigned char* energy = calloc(ntri, 1);
    double *mu = calloc(ntri, 8), *lambda = calloc(ntri, 8), *D = calloc(4 * ntri, 8),
           *grain = calloc(3 * ntri, 8);
    for (size_t e = 0; e < ntri; e++) {
        energy[e] = CT_ENERGY_STVK;
        mu[e] = t * E / (2 * (1 + nu)), lambda[e] = t * E * nu / (1 - nu * nu);
        D[4 * e] = p * D0, D[4 * e + 1] = q * D0, D[4 * e + 2] = nu * sqrt(p * q) * D0,
              D[4 * e + 3] = 0.5 * (1 - nu) * D0;
        memcpy(grain + 3 * e, def->grain, sizeof def->grain);
    }
    const ct_sheet_def sheet = {.nvert = mesh->nvert,
                                .ntri = mesh->ntri,
                                .rest = mesh->x,
                                .tri = mesh->tri,
                                .energy = energy,
                                .grain = grain,
                                .parameters = {.mu = mu, .lambda = lambda, .rigidity = D},
                                .driven = def->driven,
                                .clamped = def->clamped};
    must(ct_sheet_create(&out.sheet, &sheet), NULL);
    must(ct_sheet_work_create(&out.work, out.sheet), NULL);
    // kernels read one number more
    mesh->x = realloc(mesh->x, (3 * (size_t)mesh->nvert + 1) * sizeof *mesh->x);
    ct_sheet_begin_step(out.sheet, out.work, 0, 0, mesh->x, 0, NULL);
    out.unknown = calloc((size_t)mesh->nvert, sizeof(int));
    for (int v = 0; v < mesh->nvert; v++) out.unknown[v] = def->driven && def->driven[v] ? -1 : out.nfree++;
    free(energy), free(mu), free(lambda), free(D), free(grain);
    return out;
}

static void free_plate(plate* p) {
    ct_sheet_work_free(p->work);
    ct_sheet_free(p->sheet);
    ct_mesh_free(p->mesh);
    free(p->unknown);
}

// ---- surfaces of constant curvature --------------------------------------------------------

// The edge between corners k and k + 1 of triangle t has no other triangle.
static bool is_border(const ct_mesh* mesh, int t, int k) {
    const int a = mesh->tri[3 * t + k], b = mesh->tri[3 * t + (k + 1) % 3];
    int count = 0;
    for (int i = 0; i < 3 * mesh->ntri; i++) {
        const int c = mesh->tri[i], d = mesh->tri[i - i % 3 + (i + 1) % 3];
        count += (a == c && b == d) || (a == d && b == c);
    }
    return count == 1;
}

// Curvatures of all triangles without a free edge, against those of z = k_xx x^2/2 + k_yy y^2/2 + k_xy x y;
// sign: -1 where a triangle faces down, and its second axis back.
static double patch_error(const plate* p, const double k[3], const double* sign) {
    const ct_mesh* mesh = p->mesh;
    double *x = calloc(3 * (size_t)mesh->nvert + 1, sizeof(double)), worst = 0;
    for (int v = 0; v < mesh->nvert; v++) {
        const double X = mesh->x[3 * v], Y = mesh->x[3 * v + 1];
        x[3 * v] = X, x[3 * v + 1] = Y;
        x[3 * v + 2] = 0.5 * (k[0] * X * X + k[1] * Y * Y) + k[2] * X * Y;
    }
    int inner = 0;
    for (int t = 0; t < mesh->ntri; t++) {
        double kappa[3];
        if (is_border(mesh, t, 0) || is_border(mesh, t, 1) || is_border(mesh, t, 2)) continue;
        ct_sheet_curvature_at(p->sheet, t, x, kappa);
        for (int i = 0; i < 3; i++)
            worst = fmax(worst, fabs((i < 2 ? sign[t] : 1) * kappa[i] - (i < 2 ? 1 : 2) * k[i]) / 1e-6);
        inner++;
    }
    assert_true(inner > mesh->ntri / 2);
    free(x);
    return worst;
}

static void constant_curvature_is_exact_on_any_mesh(void** state) {
    const double a = 1e-6,
                 curve[4][3] = {
                     {a, 0, 0}, {a * 0.75, a * 0.25, a * sqrt(0.1875)}, {a / 2, a / 2, a / 2}, {0, 0, a}};
    for (int kind = 0; kind < NMESH; kind++)
        for (int flipped = 0; flipped < 2; flipped++) {
            ct_mesh* mesh = flat_mesh(kind, 1, 0.8, 6, 5);
            double* sign = calloc((size_t)mesh->ntri, sizeof(double));
            for (int t = 0; t < mesh->ntri; t++) {
                sign[t] = flipped && t % 3 == 0 ? -1 : 1;
                if (sign[t] > 0) continue;
                const int swap = mesh->tri[3 * t];
                mesh->tri[3 * t] = mesh->tri[3 * t + 1], mesh->tri[3 * t + 1] = swap;
            }
            plate p = make_plate(mesh, &(plate_def){.young = 1, .thickness = 1, .grain = {1, 0, 0}});
            for (int c = 0; c < 4; c++) {
                const double got[3] = {curve[c][0], curve[c][1], curve[c][2]};
                assert_true(patch_error(&p, got, sign) < 1e-10);
            }
            free(sign);
            free_plate(&p);
        }
}

// ---- plates, by the linear theory ----------------------------------------------------------

// Columns of the Hessian at x, for the unknowns of some axes (from `axis` on), numbered naxis unknown + axis.
// Each is a 1x1 block, in entry (0,0); entries far below the diagonal are left out.
static ct_block_matrix hessian(const plate* p, const double* x, int axis, int naxis, bool foreseen,
                               ct_arena* arena) {
    const int n = naxis * p->nfree, nvert = p->mesh->nvert;
    double *column = calloc((size_t)n * (size_t)n, sizeof(double)),
           *d = calloc(3 * (size_t)nvert + 1, sizeof(double)),
           *Hd = calloc(3 * (size_t)nvert + 1, sizeof(double));
    ct_sheet_linearise(p->sheet, p->work, x, foreseen);
    size_t pairs = 0;
    for (int v = 0; v < nvert; v++)
        for (int a = 0; p->unknown[v] >= 0 && a < naxis; a++) {
            double* own = column + (size_t)n * (size_t)(naxis * p->unknown[v] + a);
            d[3 * v + axis + a] = 1;
            memset(Hd, 0, 3 * (size_t)nvert * sizeof(double));
            ct_sheet_product(p->sheet, p->work, d, Hd);
            d[3 * v + axis + a] = 0;
            for (int i = 0; i < naxis * nvert; i++)
                if (p->unknown[i / naxis] >= 0)
                    own[naxis * p->unknown[i / naxis] + i % naxis] = Hd[3 * (i / naxis) + axis + i % naxis];
            for (int i = 0; i < n; i++) pairs += own[i] != 0;
        }
    int* nodes = malloc(2 * pairs * sizeof(int));
    size_t at = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (column[(size_t)n * (size_t)j + (size_t)i] != 0) nodes[at++] = i, nodes[at++] = j;
    ct_block_matrix matrix;
    must(ct_block_matrix_create(&matrix, arena, n, (int)pairs, 2, nodes), NULL);
    for (int j = 0; j < n; j++)
        for (int k = matrix.start[j]; k < matrix.start[j + 1]; k++)
            matrix.value[9 * k] = column[(size_t)n * (size_t)j + (size_t)matrix.row[k]];
    free(column), free(d), free(Hd), free(nodes);
    return matrix;
}

// Deflections w (3 nfree, the first of three) under a uniform load q.
static double* deflections(const plate* p, double q) {
    ct_arena arena = {0};
    const ct_block_matrix matrix = hessian(p, p->mesh->x, 2, 1, false, &arena);
    ct_scalar_factor* factor;
    ct_scalar_work* work;
    double* w = calloc(3 * (size_t)p->nfree, sizeof(double));
    for (int i = 0; i < 3 * p->mesh->ntri; i++)
        if (p->unknown[p->mesh->tri[i]] >= 0)
            w[3 * p->unknown[p->mesh->tri[i]]] += q * ct_sheet_area(p->sheet)[i / 3] / 3;
    must(ct_scalar_factor_create(&factor, &matrix), NULL);
    must(ct_scalar_work_create(&work, factor), NULL);
    ct_scalar_factor_solve(factor, work, w, w);
    ct_scalar_work_free(work);
    ct_scalar_factor_free(factor);
    ct_arena_free(&arena);
    return w;
}

// Largest deflection of a square plate, its border held and clamped or not, times D/(q a^4).
static double square_plate(int kind, int n, double nu, bool clamped) {
    ct_mesh* mesh = flat_mesh(kind, 1, 1, n, n);
    unsigned char* border = calloc((size_t)mesh->nvert, 1);
    for (int v = 0; v < mesh->nvert; v++)
        for (int i = 0; i < 2; i++)
            border[v] = border[v] || mesh->x[3 * v + i] < 1e-9 || mesh->x[3 * v + i] > 1 - 1e-9;
    plate p = make_plate(mesh, &(plate_def){.young = 12 * (1 - nu * nu),
                                            .poisson = nu,
                                            .thickness = 1,
                                            .driven = border,
                                            .clamped = clamped ? border : NULL});
    double *w = deflections(&p, 1), most = 0;
    for (int i = 0; i < p.nfree; i++) most = fmax(most, w[3 * i]);
    free(w), free(border);
    free_plate(&p);
    return most;
}

static void square_plates_converge_to_kirchhoffs(void** state) {
    for (int kind = 0; kind < REPEAT(NMESH, 1); kind++) {
        const int n = kind == CROSSED ? 28 : 40;
        const double c = square_plate(kind, n, 0.3, true) / 0.0012653,
                     s = square_plate(kind, n, 0.3, false) / 0.0040624;
        const double coarse = square_plate(kind, n / 2, 0.3, true) / 0.0012653;
        assert_true(fabs(c - 1) < 0.01);
        assert_true(fabs(s - 1) < 0.01);
        assert_true(fabs(coarse - 1) > 3 * fabs(c - 1));
    }
}

// ---- large deflections ---------------------------------------------------------------------

// A Newton step against the load f (3 nvert), with the stress foreseen; returns the largest motion.
static double newton(const plate* p, const double* f, double* x) {
    ct_arena arena = {0};
    const ct_block_matrix matrix = hessian(p, x, 0, 3, true, &arena);
    const size_t n = 3 * (size_t)p->nfree, size = 3 * (size_t)p->mesh->nvert;
    double *force = calloc(size + 1, sizeof(double)), *b = calloc(3 * n, sizeof(double)),
           *dx = calloc(size + 1, sizeof(double)), most = 0;
    ct_scalar_factor* factor;
    ct_scalar_work* work;
    ct_sheet_gradient(p->sheet, p->work, x, force);
    for (int i = 0; i < 3 * p->mesh->nvert; i++)
        if (p->unknown[i / 3] >= 0) b[3 * (3 * p->unknown[i / 3] + i % 3)] = f[i] - force[i];
    must(ct_scalar_factor_create(&factor, &matrix), NULL);
    must(ct_scalar_work_create(&work, factor), NULL);
    ct_scalar_factor_solve(factor, work, b, b);
    for (int i = 0; i < 3 * p->mesh->nvert; i++) {
        if (p->unknown[i / 3] >= 0) dx[i] = b[3 * (3 * p->unknown[i / 3] + i % 3)];
        x[i] += dx[i];
        most = fmax(most, fabs(dx[i]));
    }
    ct_sheet_foresee(p->sheet, p->work, 1, dx);
    ct_scalar_work_free(work);
    ct_scalar_factor_free(factor);
    ct_arena_free(&arena);
    free(force), free(b), free(dx);
    return most;
}

// Sag of the end of a strip that is clamped at x = 0, over its length; weight: w L^3/D.
static double strip_sag(int kind, int n, double weight) {
    const double L = 0.2, t = 2e-3 * L, E = 1e6, D = E * t * t * t / 12, w = weight * D / (L * L * L);
    const int ny = n / 10;
    ct_mesh* mesh = flat_mesh(kind, L, L * ny / n, n, ny);
    unsigned char* held = calloc((size_t)mesh->nvert, 1);
    for (int v = 0; v < mesh->nvert; v++) held[v] = mesh->x[3 * v] < 1e-9;
    plate p = make_plate(mesh, &(plate_def){.young = E, .thickness = t, .driven = held, .clamped = held});
    const size_t size = 3 * (size_t)mesh->nvert;
    double *x = calloc(size + 1, sizeof(double)), *f = calloc(size, sizeof(double)), sag = 0, move = 1;
    memcpy(x, mesh->x, size * sizeof(double));
    ct_sheet_foresee_start(p.sheet, p.work, x);
    for (int load = 1; load <= 4; load++) {
        memset(f, 0, size * sizeof(double));
        for (int i = 0; i < 3 * mesh->ntri; i++)
            f[3 * mesh->tri[i] + 2] -= load / 4.0 * w * ct_sheet_area(p.sheet)[i / 3] / 3;
        move = 1;
        for (int i = 0; i < 30 && move > (load < 4 ? 1e-3 : 1e-9) * L; i++) move = newton(&p, f, x);
    }
    assert_true(move <= 1e-9 * L);
    int count = 0;
    for (int v = 0; v < mesh->nvert; v++)
        if (mesh->x[3 * v] > L - 1e-9) sag -= x[3 * v + 2], count++;
    free(x), free(f), free(held);
    free_plate(&p);
    return sag / count / L;
}

// w L^3/D = 4.709: 0.4767 L.
static void a_strip_of_cloth_sags_as_the_elastica(void** state) {
    for (int kind = 0; kind < REPEAT(NMESH, 1); kind++)
        assert_true(fabs(strip_sag(kind, 40, 4.709) / 0.4767 - 1) < 0.01);
}

// ---- shells, threads, curl -----------------------------------------------------------------

// A quarter of a circle of radius 1, clamped at its foot, pulled at its end towards the centre by a line
// force of 1: pi/4 R^3/D by the theory of curved beams. The mesh rolled up is the rest shape.
static double quarter_circle(int kind, int n) {
    const double t = 0.02, E = 12 / (t * t * t), width = 0.2;
    ct_mesh* mesh = flat_mesh(kind, M_PI / 2, width, n, n / 10 * 2);
    unsigned char* held = calloc((size_t)mesh->nvert, 1);
    const size_t size = 3 * (size_t)mesh->nvert;
    double *x = calloc(size + 1, sizeof(double)), *f = calloc(size, sizeof(double)), *kept, end = 0, line = 0;
    kept = malloc(size * sizeof(double));
    memcpy(kept, mesh->x, size * sizeof(double));
    for (int v = 0; v < mesh->nvert; v++) {
        const double s = mesh->x[3 * v];
        held[v] = s < 1e-9;
        mesh->x[3 * v] = sin(s), mesh->x[3 * v + 2] = 1 - cos(s);
    }
    plate p = make_plate(mesh, &(plate_def){.young = E, .thickness = t, .driven = held, .clamped = held});
    memcpy(x, mesh->x, size * sizeof(double));
    const double small = 1e-6;
    for (int v = 0; v < mesh->nvert; v++) {
        const double y = kept[3 * v + 1];
        if (kept[3 * v] < M_PI / 2 - 1e-9) continue;
        f[3 * v] = -small * (y < 1e-9 || y > width - 1e-9 ? 0.5 : 1);
        line -= f[3 * v];
    }
    for (int v = 0; v < mesh->nvert; v++) f[3 * v] *= small * width / line;
    ct_sheet_foresee_start(p.sheet, p.work, x);
    for (int i = 0; i < 4; i++) newton(&p, f, x);
    int count = 0;
    for (int v = 0; v < mesh->nvert; v++)
        if (kept[3 * v] > M_PI / 2 - 1e-9) end += mesh->x[3 * v] - x[3 * v], count++;
    free(x), free(f), free(kept), free(held);
    free_plate(&p);
    return end / count / small / (M_PI / 4);
}

static void a_curved_rest_shape_bends_like_a_shell(void** state) {
    for (int kind = 0; kind < REPEAT(NMESH, 1); kind++) {
        if (kind == UNSTRUCTURED) continue;  // its nodes at the end have no equal shares of the load
        assert_true(fabs(quarter_circle(kind, 40) - 1) < 0.002);
    }
}

// Plates in cylindrical bending about y: q L^4/(8 D_11) for a cantilever whose threads lie along or across
// it. Two rows of held nodes clamp as the border's slope does.
static double cantilever(const double grain[3], bool rows) {
    const double length = 1, slack = rows ? 1.0 / 20 : 0;
    ct_mesh* mesh = flat_mesh(ALTERNATING, length + slack, 0.2, rows ? 21 : 20, 4);
    unsigned char* held = calloc((size_t)mesh->nvert, 1);
    for (int v = 0; v < mesh->nvert; v++) held[v] = mesh->x[3 * v] < slack + 1e-9;
    plate p = make_plate(mesh, &(plate_def){.young = 12,
                                            .thickness = 1,
                                            .grain = {grain[0], grain[1], grain[2]},
                                            .warp = 3,
                                            .weft = 0.5,
                                            .driven = held,
                                            .clamped = rows ? NULL : held});
    double *w = deflections(&p, 8), most = 0;
    for (int i = 0; i < p.nfree; i++) most = fmax(most, w[3 * i]);
    free(w), free(held);
    free_plate(&p);
    return most;
}

static void threads_make_a_sheet_stiffer_along_them(void** state) {
    for (int rows = 0; rows < 2; rows++) {
        assert_true(fabs(3 * cantilever((double[]){1, 0, 0}, rows) - 1) < 0.01);
        assert_true(fabs(0.5 * cantilever((double[]){0, 1, 0}, rows) - 1) < 0.01);
    }
}

// A strip that curls by itself becomes an arc of its natural curvature, without energy.
static void natural_curvature_curls_a_strip_to_an_arc(void** state) {
    const double L = 0.2, t = 2e-3 * L, kappa = 5;
    ct_mesh* mesh = flat_mesh(DIAGONAL, L, L / 10, 40, 4);
    unsigned char* held = calloc((size_t)mesh->nvert, 1);
    double *natural = calloc(3 * (size_t)mesh->ntri, sizeof(double)),
           *f = calloc(3 * (size_t)mesh->nvert, sizeof(double)),
           *x = calloc(3 * (size_t)mesh->nvert + 1, sizeof(double));
    for (int v = 0; v < mesh->nvert; v++) held[v] = mesh->x[3 * v] < 1e-9;
    memcpy(x, mesh->x, 3 * (size_t)mesh->nvert * sizeof(double));
    plate p = make_plate(
        mesh,
        &(plate_def){.young = 1e6, .thickness = t, .grain = {1, 0, 0}, .driven = held, .clamped = held});
    for (int step = 1; step <= 10; step++) {
        for (int e = 0; e < mesh->ntri; e++) natural[3 * e] = kappa * step / 10;
        ct_sheet_set_parameters(p.sheet, &(ct_sheet_parameters){.natural = natural});
        if (step == 1) ct_sheet_foresee_start(p.sheet, p.work, x);
        for (int i = 0; i < 8; i++) newton(&p, f, x);
    }
    double worst = 0;
    for (int v = 0; v < mesh->nvert; v++) {
        const double s = mesh->x[3 * v];
        worst = fmax(worst,
                     hypot(x[3 * v] - sin(kappa * s) / kappa, x[3 * v + 2] - (1 - cos(kappa * s)) / kappa));
    }
    assert_true(worst < 1e-4 * L);
    free(held), free(natural), free(f), free(x);
    free_plate(&p);
}

// The preconditioner's bending is that of the sheet but for a factor.
static void the_assembled_matrix_bends_about_as_easily(void** state) {
    const double curve[4][3] = {{1, 0, 0}, {0.75, 0.25, sqrt(0.1875)}, {0.5, 0.5, 0.5}, {0, 0, 1}};
    for (int kind = 0; kind < REPEAT(NMESH, 1); kind++) {
        plate p = make_plate(flat_mesh(kind, 1, 1, 8, 8),
                             &(plate_def){.young = 12, .poisson = 0.3, .thickness = 1e-3});
        const size_t size = 3 * (size_t)p.mesh->nvert;
        double *d = calloc(size + 1, sizeof(double)), *Hd = calloc(size + 1, sizeof(double)),
               *Ad = calloc(size, sizeof(double));
        int nhinge, count = 0;
        const int* hinge = ct_sheet_hinges(p.sheet, &nhinge);
        int* nodes = malloc(4 * (size_t)(nhinge + p.mesh->ntri) * sizeof(int));
        for (int i = 0; i < 4 * nhinge; i++) nodes[count++] = hinge[i];
        for (int i = 0; i < 4 * p.mesh->ntri; i++)
            nodes[count++] = i % 4 < 3 ? p.mesh->tri[3 * (i / 4) + i % 4] : -1;
        ct_arena arena = {0};
        ct_block_matrix A;
        must(ct_block_matrix_create(&A, &arena, p.nfree, count / 4, 4, nodes), NULL);
        ct_sheet_assemble(p.sheet, p.work, NULL, false, p.unknown, &A);
        ct_sheet_linearise(p.sheet, p.work, p.mesh->x, false);
        for (int c = 0; c < 4; c++) {
            for (int v = 0; v < p.mesh->nvert; v++) {
                const double X = p.mesh->x[3 * v], Y = p.mesh->x[3 * v + 1];
                d[3 * v + 2] = 0.5 * (curve[c][0] * X * X + curve[c][1] * Y * Y) + curve[c][2] * X * Y;
            }
            memset(Hd, 0, size * sizeof(double));
            ct_sheet_product(p.sheet, p.work, d, Hd);
            ct_block_matrix_multiply(&A, d, Ad);
            const double ratio = ct_vecn_dot(d, Ad, (int)size) / ct_vecn_dot(d, Hd, (int)size);
            assert_true(ratio > 0.9 && ratio < 4);
        }
        ct_arena_free(&arena);
        free(nodes), free(d), free(Hd), free(Ad);
        free_plate(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_curvature_is_exact_on_any_mesh),
        cmocka_unit_test(square_plates_converge_to_kirchhoffs),
        cmocka_unit_test(a_strip_of_cloth_sags_as_the_elastica),
        cmocka_unit_test(a_curved_rest_shape_bends_like_a_shell),
        cmocka_unit_test(threads_make_a_sheet_stiffer_along_them),
        cmocka_unit_test(natural_curvature_curls_a_strip_to_an_arc),
        cmocka_unit_test(the_assembled_matrix_bends_about_as_easily),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
