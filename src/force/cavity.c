// Closed surfaces under pressure; see cavity.h.
#include "force/cavity.h"

#include "force/family.h"
#include "math/vec3.h"
#include "shape/closed_surface.h"

struct ct_cavity {
    ct_arena arena;
    int ncavity;
    int* start;   // ncavity + 1
    int* tri;     // 3 start[ncavity]
    int* number;  // ncavity
};

// ---- creation

ct_status ct_cavity_create(ct_cavity** out, const ct_cavity_surfaces* def) {
    *out = NULL;
    ct_cavity* cavity = ct_alloc(1, sizeof *cavity);
    if (!cavity) return CT_OUT_OF_MEMORY;
    cavity->ncavity = def->ncavity;
    cavity->start = ct_arena_copy(&cavity->arena, def->start, (size_t)def->ncavity + 1, sizeof(int));
    cavity->tri = ct_arena_copy(&cavity->arena, def->tri, 3 * (size_t)def->start[def->ncavity], sizeof(int));
    cavity->number = ct_arena_alloc(&cavity->arena, (size_t)def->ncavity, sizeof(int));
    ct_status status = cavity->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    for (int k = 0; status == CT_OK && k < def->ncavity; k++)
        cavity->number[k] = def->number ? def->number[k] : k;
    for (int k = 0; status == CT_OK && k < def->ncavity; k++)
        status = ct_surface_check_closed(def->tri + 3 * def->start[k], def->start[k + 1] - def->start[k]);
    if (status != CT_OK) {
        ct_cavity_free(cavity);
        return status;
    }
    *out = cavity;
    return CT_OK;
}

void ct_cavity_free(ct_cavity* cavity) {
    if (!cavity) return;
    ct_arena_free(&cavity->arena);
    ct_free(cavity);
}

// ---- sums over triangles

typedef struct corners {
    ct_vec3 a, b, c;
} corners;

static corners corners_of(const int* v, const double* x, ct_vec3 o) {
    return (corners){ct_vec3_sub(ct_vec3_load(x + 3 * v[0]), o), ct_vec3_sub(ct_vec3_load(x + 3 * v[1]), o),
                     ct_vec3_sub(ct_vec3_load(x + 3 * v[2]), o)};
}

static ct_vec3 origin_of(const ct_cavity* cavity, int k, const double* x) {
    return ct_vec3_load(x + 3 * cavity->tri[3 * cavity->start[k]]);
}

static double volume_of(const ct_cavity* cavity, int k, const double* x) {
    return ct_surface_volume(cavity->tri + 3 * cavity->start[k], cavity->start[k + 1] - cavity->start[k], x);
}

// out += s (a, b, c) at the corners
static void scatter(const int* v, double s, ct_vec3 a, ct_vec3 b, ct_vec3 c, double* out) {
    const ct_vec3 add[3] = {a, b, c};
    for (int j = 0; j < 3; j++)
        ct_vec3_store(out + 3 * v[j], ct_vec3_axpy(ct_vec3_load(out + 3 * v[j]), s, add[j]));
}

void ct_cavity_volume(const ct_cavity* cavity, const double* x, double* volume) {
    for (int k = 0; k < cavity->ncavity; k++) volume[k] = volume_of(cavity, k, x);
}

// f += s dV/dx of cavity k
static void add_volume_gradient(const ct_cavity* cavity, int k, double s, const double* x, double* f) {
    const ct_vec3 o = origin_of(cavity, k, x);
    for (int t = cavity->start[k]; t < cavity->start[k + 1]; t++) {
        const int* v = cavity->tri + 3 * t;
        const corners q = corners_of(v, x, o);
        scatter(v, s / 6, ct_vec3_cross(q.b, q.c), ct_vec3_cross(q.c, q.a), ct_vec3_cross(q.a, q.b), f);
    }
}

double ct_cavity_gradient(const ct_cavity* cavity, const double* pressure, const double* x, double* f) {
    double energy = 0;
    for (int k = 0; k < cavity->ncavity; k++) {
        const double p = pressure[cavity->number[k]];
        energy -= p * volume_of(cavity, k, x);
        if (f) add_volume_gradient(cavity, k, -p, x, f);
    }
    return energy;
}

// a x db + da x b
static ct_vec3 cross_derivative(ct_vec3 a, ct_vec3 b, ct_vec3 da, ct_vec3 db) {
    return ct_vec3_add(ct_vec3_cross(a, db), ct_vec3_cross(da, b));
}

void ct_cavity_product(const ct_cavity* cavity, const double* pressure, const double* x, const double* dx,
                       double* out) {
    for (int k = 0; k < cavity->ncavity; k++) {
        const double p = pressure[cavity->number[k]];
        const ct_vec3 o = origin_of(cavity, k, x), still = {0, 0, 0};
        for (int t = cavity->start[k]; p != 0 && t < cavity->start[k + 1]; t++) {
            const int* v = cavity->tri + 3 * t;
            const corners q = corners_of(v, x, o), d = corners_of(v, dx, still);
            scatter(v, -p / 6, cross_derivative(q.b, q.c, d.b, d.c), cross_derivative(q.c, q.a, d.c, d.a),
                    cross_derivative(q.a, q.b, d.a, d.b), out);
        }
    }
}

// lam . dV/dx
static double volume_change(const ct_cavity* cavity, int k, const double* x, const double* lam) {
    const ct_vec3 o = origin_of(cavity, k, x), still = {0, 0, 0};
    double sum = 0;
    for (int t = cavity->start[k]; t < cavity->start[k + 1]; t++) {
        const int* v = cavity->tri + 3 * t;
        const corners p = corners_of(v, x, o), d = corners_of(v, lam, still);
        sum += ct_vec3_dot(d.a, ct_vec3_cross(p.b, p.c)) + ct_vec3_dot(d.b, ct_vec3_cross(p.c, p.a)) +
               ct_vec3_dot(d.c, ct_vec3_cross(p.a, p.b));
    }
    return sum / 6;
}

void ct_cavity_vjp(const ct_cavity* cavity, const double* x, const double* lam, double* pressure_bar) {
    for (int k = 0; k < cavity->ncavity; k++)
        pressure_bar[cavity->number[k]] += volume_change(cavity, k, x, lam);
}

// ---- as a family ---------------------------------------------------------------------------

static void free_cavities(void* self) { ct_cavity_free(self); }

static double cavities_gradient(const void* self, void* work, const ct_family_step* step, const double* x,
                                double* f) {
    return ct_cavity_gradient(self, step->actuation, x, f);
}

static void cavities_product(const void* self, void* work, const ct_family_step* step, const double* x,
                             const double* dx, double* out) {
    ct_cavity_product(self, step->actuation, x, dx, out);
}

static void cavities_vjp(const void* self, void* work, const ct_family_step* step, const double* x,
                         const double* lam, const ct_family_bar* bar) {
    ct_cavity_vjp(self, x, lam, bar->actuation);
}

static void cavities_jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                         const ct_family_dot* dot, double* out) {
    const ct_cavity* cavity = self;
    for (int k = 0; k < cavity->ncavity; k++)
        add_volume_gradient(cavity, k, dot->actuation[cavity->number[k]], x, out);
}

const ct_family ct_cavity_family = {.name = "cavities",
                                    .actuator = true,
                                    .free = free_cavities,
                                    .gradient = cavities_gradient,
                                    .product = cavities_product,
                                    .vjp = cavities_vjp,
                                    .jvp = cavities_jvp};
