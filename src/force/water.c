// Drag, thrust and buoyancy; see water.h.
#include "force/water.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"

// ---- curves --------------------------------------------------------------------------------

// Bernstein polynomials and their derivatives of degree 3 and 2.
static void cubic_basis(double s, double b[4], double db[4]) {
    double r = 1 - s;
    const double value[4] = {r * r * r, 3 * s * r * r, 3 * s * s * r, s * s * s};
    const double slope[4] = {-3 * r * r, 3 * r * r - 6 * s * r, 6 * s * r - 3 * s * s, 3 * s * s};
    memcpy(b, value, sizeof value);
    memcpy(db, slope, sizeof slope);
}

static void quadratic_basis(double s, double b[3], double db[3]) {
    double r = 1 - s;
    const double value[3] = {r * r, 2 * s * r, s * s};
    const double slope[3] = {-2 * r, 2 * r - 2 * s, 2 * s};
    memcpy(b, value, sizeof value);
    memcpy(db, slope, sizeof slope);
}

static double combine(const double* weight, const double* basis, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += weight[i] * basis[i];
    return sum;
}

// w(sin phi) and its derivative.
static double facing(double sine, bool two_sided, double* slope) {
    double s = sine * sine;
    *slope = two_sided ? 0 : 15 * (1 - s) * (1 - s) / 16;
    return two_sided ? 1 : 0.5 + sine * (15 - 10 * s + 3 * s * s) / 16;
}

// Wet fraction at a depth below the surface: H, its derivative and its integral from the dry side.
typedef struct wetness {
    double value, slope, integral;
} wetness;

static wetness wet_at(const ct_water* water, double depth) {
    if (isnan(water->level)) return (wetness){.value = 1};
    double t = depth / water->layer + 0.5;
    if (t <= 0) return (wetness){0};
    if (t >= 1) return (wetness){.value = 1, .integral = depth};
    double r = t * (1 - t);
    return (wetness){.value = t * t * t * (10 - 15 * t + 6 * t * t),
                     .slope = 30 * r * r / water->layer,
                     .integral = water->layer * t * t * t * t * (2.5 - 3 * t + t * t)};
}

static double depth_of(const ct_water* water, double height) {
    return isnan(water->level) ? 0 : water->level - height;
}

// ---- a face --------------------------------------------------------------------------------

typedef struct look {       // what K depends on
    ct_vec3 edge[2], n, e;  // two edges from corner 0; normal; current minus mean velocity
    double area, m, sine;
    wetness wet;
} look;

static ct_vec3 mean_of(const double* field, const int* node) {
    ct_vec3 sum =
        ct_vec3_add(ct_vec3_load(field + 3 * (size_t)node[0]), ct_vec3_load(field + 3 * (size_t)node[1]));
    return ct_vec3_scale(1.0 / 3, ct_vec3_add(sum, ct_vec3_load(field + 3 * (size_t)node[2])));
}

static void add_thirds(double* field, const int* node, double scale, ct_vec3 value) {
    for (int k = 0; k < 3; k++) {
        double* at = field + 3 * (size_t)node[k];
        ct_vec3_store(at, ct_vec3_axpy(ct_vec3_load(at), scale / 3, value));
    }
}

// False where the face has no area.
static bool look_at(const ct_water* water, const int* node, const double* x, const double* v, look* l) {
    ct_vec3 corner = ct_vec3_load(x + 3 * (size_t)node[0]);
    for (int k = 0; k < 2; k++) l->edge[k] = ct_vec3_sub(ct_vec3_load(x + 3 * (size_t)node[k + 1]), corner);
    ct_vec3 normal = ct_vec3_scale(0.5, ct_vec3_cross(l->edge[0], l->edge[1]));
    l->area = ct_vec3_norm(normal);
    if (!(l->area > 0)) return false;
    l->n = ct_vec3_scale(1 / l->area, normal);
    l->e = ct_vec3_sub(ct_vec3_load(water->current), mean_of(v, node));
    l->m = sqrt(ct_vec3_dot(l->e, l->e) + water->slow * water->slow);
    l->sine = -ct_vec3_dot(l->e, l->n) / l->m;
    double center[3];
    ct_vec3_store(center, mean_of(x, node));
    l->wet = wet_at(water, depth_of(water, center[water->up]));
    return true;
}

ct_status ct_water_work_create(ct_water_work** out, const ct_water* water) {
    *out = NULL;
    ct_water_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    work->face = ct_alloc((size_t)water->nface, sizeof *work->face);
    if (!work->face) {
        ct_water_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_water_work_free(ct_water_work* work) {
    if (!work) return;
    ct_free(work->face);
    ct_free(work);
}

// Mean over the corners of p = a x_n + b x_{n-1}.
static ct_vec3 mean_history(const ct_family_step* step, const int* node) {
    ct_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = ct_vec3_axpy(ct_vec3_scale(step->rate.a, ct_vec3_load(step->x_n + 3 * (size_t)node[k])),
                            step->rate.b, ct_vec3_load(step->x_nm1 + 3 * (size_t)node[k]));
    for (int k = 0; step->npast > 1 && k < 3; k++)
        p[k] = ct_vec3_axpy(p[k], step->rate.e, ct_vec3_load(step->x_nm2 + 3 * (size_t)node[k]));
    return ct_vec3_scale(1.0 / 3, ct_vec3_add(ct_vec3_add(p[0], p[1]), p[2]));
}

static bool look_from(const ct_water* water, const int* node, const ct_family_step* step, look* l) {
    return look_at(water, node, step->x_look ? step->x_look : step->x_n,
                   step->v_look ? step->v_look : step->v_n, l);
}

void ct_water_begin(const ct_water* water, ct_water_work* work, const ct_family_step* step) {
    for (int f = 0; f < water->nface; f++) {
        const int* node = water->face + 3 * (size_t)f;
        ct_water_face* face = &work->face[f];
        look l;
        memset(face, 0, sizeof *face);
        ct_vec3_store(face->history, mean_history(step, node));
        if (!look_from(water, node, step, &l)) continue;
        double cubic[4], quadratic[3], unused[4], slope, s = l.sine * l.sine;
        cubic_basis(s, cubic, unused);
        quadratic_basis(s, quadratic, unused);
        double strength =
            0.5 * water->density * l.area * l.m * l.wet.value * facing(l.sine, water->two_sided[f], &slope);
        face->drag = strength * combine(water->drag, cubic, CT_WATER_DRAG);
        face->thrust = strength * combine(water->thrust, quadratic, CT_WATER_THRUST);
        ct_vec3_store(face->normal, l.n);
    }
}

// K e
static ct_vec3 resist(const ct_water_face* face, ct_vec3 e) {
    ct_vec3 n = ct_vec3_load(face->normal);
    return ct_vec3_axpy(ct_vec3_scale(face->drag, e), face->thrust * ct_vec3_dot(n, e), n);
}

// Current minus the mean velocity at the end of the step.
static ct_vec3 end_flow(const ct_water* water, const ct_water_work* work, int f, double c, const double* x) {
    ct_vec3 mean = ct_vec3_scale(c, mean_of(x, water->face + 3 * (size_t)f));
    ct_vec3 u = ct_vec3_axpy(mean, -1, ct_vec3_load(work->face[f].history));
    return ct_vec3_sub(ct_vec3_load(water->current), u);
}

// ---- buoyancy ------------------------------------------------------------------------------

static bool floats(const ct_water* water) { return water->buoyancy && !isnan(water->level); }

static double float_gradient(const ct_water* water, const double* x, double* f) {
    double gravity = water->gravity[water->up], potential = 0;
    for (int v = 0; v < water->nvert; v++) {
        double mass = water->density * water->volume[v];
        size_t i = 3 * (size_t)v + (size_t)water->up;
        if (mass == 0) continue;
        wetness wet = wet_at(water, depth_of(water, x[i]));
        f[i] += mass * gravity * wet.value;
        potential -= mass * gravity * wet.integral;
    }
    return potential;
}

static void float_product(const ct_water* water, const double* x, const double* dx, double* out) {
    double gravity = water->gravity[water->up];
    for (int v = 0; v < water->nvert; v++) {
        size_t i = 3 * (size_t)v + (size_t)water->up;
        if (water->volume[v] > 0)
            out[i] -= water->density * water->volume[v] * gravity *
                      wet_at(water, depth_of(water, x[i])).slope * dx[i];
    }
}

static void float_vjp(const ct_water* water, const double* x, const double* lam, const ct_sums* sums) {
    double gravity = water->gravity[water->up];
    for (int v = 0; v < water->nvert; v++) {
        size_t i = 3 * (size_t)v + (size_t)water->up;
        if (water->volume[v] == 0) continue;
        double share = lam[i] * water->volume[v] * wet_at(water, depth_of(water, x[i])).value;
        ct_sums_add(sums, CT_QUANTITY_WATER_DENSITY, 0, -share * gravity);
        ct_sums_add(sums, CT_QUANTITY_GRAVITY, water->up, -share * water->density);
        ct_sums_add(sums, CT_SUM_VOLUME, v, -share / water->volume[v] * water->density * gravity);
    }
}

void ct_water_buoyancy(const ct_water* water, double* force) {
    if (!water || !water->buoyancy || floats(water)) return;
    for (int v = 0; v < water->nvert; v++)
        for (int a = 0; a < 3; a++)
            force[3 * (size_t)v + (size_t)a] -= water->density * water->volume[v] * water->gravity[a];
}

double ct_water_displaced_weight(const ct_water* water) {
    double sum = 0;
    if (!water || !water->buoyancy) return 0;
    for (int v = 0; v < water->nvert; v++) sum += water->volume[v] * water->volume[v];
    return water->density * ct_vec3_norm(ct_vec3_load(water->gravity)) * sqrt(sum);
}

void ct_water_buoyancy_vjp(const ct_water* water, const double* force_bar, const ct_sums* sums) {
    if (!water || !water->buoyancy || floats(water)) return;
    for (int v = 0; v < water->nvert; v++)
        for (int a = 0; a < 3; a++) {
            double share = water->volume[v] * force_bar[3 * (size_t)v + (size_t)a];
            ct_sums_add(sums, CT_QUANTITY_WATER_DENSITY, 0, -share * water->gravity[a]);
            ct_sums_add(sums, CT_QUANTITY_GRAVITY, a, -share * water->density);
            ct_sums_add(sums, CT_SUM_VOLUME, v,
                        -force_bar[3 * (size_t)v + (size_t)a] * water->density * water->gravity[a]);
        }
}

// ---- the step ------------------------------------------------------------------------------

double ct_water_gradient(const ct_water* water, const ct_water_work* work, const ct_family_step* step,
                         const double* x, double* f) {
    double potential = 0;
    for (int i = 0; i < water->nface; i++) {
        ct_vec3 e = end_flow(water, work, i, step->rate.c, x), force = resist(&work->face[i], e);
        add_thirds(f, water->face + 3 * (size_t)i, -1, force);
        potential += step->rate.c > 0 ? ct_vec3_dot(e, force)
                                      : -ct_vec3_dot(mean_of(x, water->face + 3 * (size_t)i), force);
    }
    if (step->rate.c > 0) potential /= 2 * step->rate.c;
    return floats(water) ? potential + float_gradient(water, x, f) : potential;
}

void ct_water_product(const ct_water* water, const ct_water_work* work, const ct_family_step* step,
                      const double* x, const double* dx, double* out) {
    for (int f = 0; f < water->nface; f++) {
        const int* node = water->face + 3 * (size_t)f;
        add_thirds(out, node, step->rate.c, resist(&work->face[f], mean_of(dx, node)));
    }
    if (floats(water)) float_product(water, x, dx, out);
}

// ---- reverse -------------------------------------------------------------------------------

// dn = (I - n n^T) da / A, dA = n.da with a = A n = 1/2 edge0 x edge1.
static void reverse_area(const look* l, const int* node, ct_vec3 n_bar, double area_bar, double* x_bar) {
    double along = area_bar - ct_vec3_dot(l->n, n_bar) / l->area;
    ct_vec3 a_bar = ct_vec3_axpy(ct_vec3_scale(1 / l->area, n_bar), along, l->n);
    ct_vec3 first = ct_vec3_scale(0.5, ct_vec3_cross(l->edge[1], a_bar));
    ct_vec3 second = ct_vec3_scale(0.5, ct_vec3_cross(a_bar, l->edge[0]));
    ct_vec3 corner[3] = {ct_vec3_scale(-1, ct_vec3_add(first, second)), first, second};
    for (int k = 0; k < 3; k++) {
        double* at = x_bar + 3 * (size_t)node[k];
        ct_vec3_store(at, ct_vec3_add(ct_vec3_load(at), corner[k]));
    }
}

// What changes with the face's look: J = g w (Cd y + Q z), with y = lam.e and z = (lam.n)(n.e), lam and e at
// the end of the step. Returns dJ/d(flow at the start).
static ct_vec3 reverse_look(const ct_water* water, const look* l, int f, ct_vec3 lam, ct_vec3 e,
                            double* x_n_bar, const ct_sums* sums) {
    const int* node = water->face + 3 * (size_t)f;
    double cubic[4], cubic_slope[4], quadratic[3], quadratic_slope[3], w_slope, s = l->sine * l->sine;
    cubic_basis(s, cubic, cubic_slope);
    quadratic_basis(s, quadratic, quadratic_slope);
    double w = facing(l->sine, water->two_sided[f], &w_slope);
    double lam_n = ct_vec3_dot(lam, l->n), n_e = ct_vec3_dot(l->n, e), y = ct_vec3_dot(lam, e),
           z = lam_n * n_e;
    double Q = combine(water->thrust, quadratic, CT_WATER_THRUST),
           inner = combine(water->drag, cubic, CT_WATER_DRAG) * y + Q * z;
    double inner_slope = combine(water->drag, cubic_slope, CT_WATER_DRAG) * y +
                         combine(water->thrust, quadratic_slope, CT_WATER_THRUST) * z;
    double dry = 0.5 * water->density * l->area * l->m, g = dry * l->wet.value, J = g * w * inner;
    double sine_bar = g * (w_slope * inner + 2 * l->sine * w * inner_slope), m_bar = J / l->m;

    ct_vec3 n_bar = ct_vec3_scale(g * w * Q, ct_vec3_axpy(ct_vec3_scale(n_e, lam), lam_n, e));
    n_bar = ct_vec3_axpy(n_bar, -sine_bar / l->m, l->e);
    reverse_area(l, node, n_bar, J / l->area, x_n_bar);
    for (int k = 0; k < 3; k++)
        x_n_bar[3 * (size_t)node[k] + (size_t)water->up] -= dry * w * inner * l->wet.slope / 3;

    ct_sums_add(sums, CT_QUANTITY_WATER_DENSITY, 0, J / water->density);
    for (int k = 0; k < CT_WATER_DRAG; k++)
        ct_sums_add(sums, CT_QUANTITY_WATER_DRAG, k, g * w * y * cubic[k]);
    for (int k = 0; k < CT_WATER_THRUST; k++)
        ct_sums_add(sums, CT_QUANTITY_WATER_THRUST, k, g * w * z * quadratic[k]);
    return ct_vec3_axpy(ct_vec3_scale(-sine_bar / l->m, l->n), (m_bar - sine_bar * l->sine / l->m) / l->m,
                        l->e);
}

void ct_water_vjp(const ct_water* water, const ct_water_work* work, const ct_family_step* step,
                  const double* x, const double* lam, const ct_family_bar* bar) {
    double* current_bar = bar->sums->of[CT_QUANTITY_WATER_CURRENT];
    double* x_look = bar->x_look ? bar->x_look : bar->x_n;
    double* v_look = bar->v_look ? bar->v_look : bar->v_n;
    for (int f = 0; f < water->nface; f++) {
        const int* node = water->face + 3 * (size_t)f;
        look l;
        if (!look_from(water, node, step, &l)) continue;
        ct_vec3 mean_lam = mean_of(lam, node), e = end_flow(water, work, f, step->rate.c, x),
                end_bar = resist(&work->face[f], mean_lam);
        ct_vec3 start_bar = reverse_look(water, &l, f, mean_lam, e, x_look, bar->sums);
        add_thirds(v_look, node, -1, start_bar);
        add_thirds(bar->x_n, node, step->rate.a, end_bar);
        add_thirds(bar->x_nm1, node, step->rate.b, end_bar);
        if (step->npast > 1) add_thirds(bar->x_nm2, node, step->rate.e, end_bar);
        if (current_bar)
            ct_vec3_store(current_bar,
                          ct_vec3_add(ct_vec3_load(current_bar), ct_vec3_add(start_bar, end_bar)));
    }
    if (floats(water)) float_vjp(water, x, lam, bar->sums);
}

// ---- along a direction ---------------------------------------------------------------------

// What drag, thrust and normal of a face change by with the places and velocities that it is looked at with.
typedef struct turn {
    double drag, thrust;
    ct_vec3 n;
} turn;

static turn change_look(const ct_water* water, const look* l, int f, const double* x_dot,
                        const double* v_dot) {
    const int* node = water->face + 3 * (size_t)f;
    ct_vec3 corner = ct_vec3_load(x_dot + 3 * (size_t)node[0]),
            first = ct_vec3_sub(ct_vec3_load(x_dot + 3 * (size_t)node[1]), corner),
            second = ct_vec3_sub(ct_vec3_load(x_dot + 3 * (size_t)node[2]), corner);
    ct_vec3 a =
        ct_vec3_scale(0.5, ct_vec3_add(ct_vec3_cross(first, l->edge[1]), ct_vec3_cross(l->edge[0], second)));
    double area = ct_vec3_dot(l->n, a), mean[3];
    ct_vec3 n = ct_vec3_scale(1 / l->area, ct_vec3_axpy(a, -area, l->n)),
            e = ct_vec3_scale(-1, mean_of(v_dot, node));
    ct_vec3_store(mean, mean_of(x_dot, node));
    double m = ct_vec3_dot(l->e, e) / l->m, wet = -l->wet.slope * mean[water->up];
    double sine = -(ct_vec3_dot(e, l->n) + ct_vec3_dot(l->e, n) + l->sine * m) / l->m;

    double cubic[4], cubic_slope[4], quadratic[3], quadratic_slope[3], w_slope, s = l->sine * l->sine;
    cubic_basis(s, cubic, cubic_slope);
    quadratic_basis(s, quadratic, quadratic_slope);
    double w = facing(l->sine, water->two_sided[f], &w_slope), half = 0.5 * water->density;
    double strength = half * l->area * l->m * l->wet.value * w;
    double change = half * ((area * l->m + l->area * m) * l->wet.value * w + l->area * l->m * wet * w +
                            l->area * l->m * l->wet.value * w_slope * sine);
    double s_change = 2 * l->sine * sine;
    return (turn){.drag = change * combine(water->drag, cubic, CT_WATER_DRAG) +
                          strength * s_change * combine(water->drag, cubic_slope, CT_WATER_DRAG),
                  .thrust = change * combine(water->thrust, quadratic, CT_WATER_THRUST) +
                            strength * s_change * combine(water->thrust, quadratic_slope, CT_WATER_THRUST),
                  .n = n};
}

static void jvp(const void* self, void* own, const ct_family_step* step, const double* x,
                const ct_family_dot* dot, double* out) {
    const ct_water* water = self;
    const ct_water_work* work = own;
    for (int f = 0; f < water->nface; f++) {
        const int* node = water->face + 3 * (size_t)f;
        look l;
        if (!look_from(water, node, step, &l)) continue;
        ct_vec3 e = end_flow(water, work, f, step->rate.c, x);
        ct_vec3 p = ct_vec3_axpy(ct_vec3_scale(step->rate.a, mean_of(dot->x_n, node)), step->rate.b,
                                 mean_of(dot->x_nm1, node));
        if (step->npast > 1) p = ct_vec3_axpy(p, step->rate.e, mean_of(dot->x_nm2, node));
        turn d = change_look(water, &l, f, dot->x_n, dot->v_n);
        double n_e = ct_vec3_dot(l.n, e), thrust = work->face[f].thrust;
        ct_vec3 force = ct_vec3_axpy(resist(&work->face[f], p), d.drag, e);
        force = ct_vec3_axpy(force, d.thrust * n_e + thrust * ct_vec3_dot(d.n, e), l.n);
        add_thirds(out, node, 1, ct_vec3_axpy(force, thrust * n_e, d.n));
    }
}

// ---- as a family ---------------------------------------------------------------------------

static ct_status create_work(void** work, const void* self) {
    ct_water_work* own;
    ct_status status = ct_water_work_create(&own, self);
    *work = own;
    return status;
}
static void free_work(void* work) { ct_water_work_free(work); }

static void begin(const void* self, void* work, const ct_family_step* step) {
    ct_water_begin(self, work, step);
}

static double gradient(const void* self, void* work, const ct_family_step* step, const double* x, double* f) {
    return ct_water_gradient(self, work, step, x, f);
}

static void product(const void* self, void* work, const ct_family_step* step, const double* x,
                    const double* dx, double* out) {
    ct_water_product(self, work, step, x, dx, out);
}

static void vjp(const void* self, void* work, const ct_family_step* step, const double* x, const double* lam,
                const ct_family_bar* bar) {
    ct_water_vjp(self, work, step, x, lam, bar);
}

const ct_family ct_water_family = {.name = "water",
                                   .create_work = create_work,
                                   .free_work = free_work,
                                   .begin = begin,
                                   .gradient = gradient,
                                   .product = product,
                                   .vjp = vjp,
                                   .jvp = jvp};
