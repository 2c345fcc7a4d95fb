// Cables through eyelets; see cable.h.
#include "force/cable.h"

#include <math.h>
#include <string.h>

#include "force/family.h"
#include "math/vec3.h"

#define SHORTEST 1e-12  // m, of a piece, where its length divides

struct ct_cable {
    ct_arena arena;
    int ncable, nowner;
    int* start;
    ct_cable_eyelet* eyelet;
    int *number, *owner;
    bool* held;
    double *width, *stiffness;
};

// ---- creation

ct_status ct_cable_create(ct_cable** out, const ct_cable_lines* def) {
    *out = NULL;
    ct_cable* cable = ct_alloc(1, sizeof *cable);
    if (!cable) return CT_OUT_OF_MEMORY;
    ct_arena* arena = &cable->arena;
    const size_t n = (size_t)def->ncable;
    cable->ncable = def->ncable;
    cable->nowner = def->nowner;
    cable->start = ct_arena_copy(arena, def->start, n + 1, sizeof(int));
    cable->eyelet = ct_arena_copy(arena, def->eyelet, (size_t)def->start[n], sizeof *def->eyelet);
    cable->number = ct_arena_copy(arena, def->number, n, sizeof(int));
    cable->owner = ct_arena_copy(arena, def->owner, n, sizeof(int));
    cable->held = ct_arena_copy(arena, def->held, n, sizeof(bool));
    cable->width = ct_arena_copy(arena, def->width, n, sizeof(double));
    cable->stiffness = ct_arena_copy(arena, def->stiffness, (size_t)def->nowner, sizeof(double));
    if (arena->failed) {
        ct_cable_free(cable);
        return CT_OUT_OF_MEMORY;
    }
    *out = cable;
    return CT_OK;
}

void ct_cable_free(ct_cable* cable) {
    if (!cable) return;
    ct_arena_free(&cable->arena);
    ct_free(cable);
}

void ct_cable_set_stiffness(ct_cable* cable, const double* stiffness) {
    memcpy(cable->stiffness, stiffness, (size_t)cable->nowner * sizeof(double));
}

// ---- eyelets and pieces

// sum_j w_j x_j: of directions, the change of the eyelet's place.
static ct_vec3 mean_of(const ct_cable_eyelet* e, const double* x) {
    ct_vec3 sum = {0, 0, 0};
    for (int j = 0; j < e->count; j++)
        sum = ct_vec3_axpy(sum, e->weight[j], ct_vec3_load(x + 3 * (size_t)e->node[j]));
    return sum;
}

static ct_vec3 place_of(const ct_cable_eyelet* e, const double* x) {
    return ct_vec3_add(ct_vec3_load(e->offset), mean_of(e, x));
}

static void add_force(const ct_cable_eyelet* e, double scale, ct_vec3 force, double* f) {
    for (int j = 0; j < e->count; j++) {
        double* at = f + 3 * (size_t)e->node[j];
        ct_vec3_store(at, ct_vec3_axpy(ct_vec3_load(at), scale * e->weight[j], force));
    }
}

typedef struct piece {
    ct_vec3 u;
    double length;
} piece;

// Between the eyelets e and e + 1.
static piece piece_of(const ct_cable_eyelet* e, const double* x) {
    const ct_vec3 d = ct_vec3_sub(place_of(e + 1, x), place_of(e, x));
    const double length = ct_vec3_norm(d);
    return (piece){ct_vec3_scale(1 / fmax(length, SHORTEST), d), length};
}

static double length_of(const ct_cable* cable, int k, const double* x) {
    double sum = 0;
    for (int i = cable->start[k]; i + 1 < cable->start[k + 1]; i++)
        sum += piece_of(&cable->eyelet[i], x).length;
    return sum;
}

// lam . dl/dx
static double length_change(const ct_cable* cable, int k, const double* x, const double* lam) {
    double sum = 0;
    for (int i = cable->start[k]; i + 1 < cable->start[k + 1]; i++) {
        const ct_cable_eyelet* e = &cable->eyelet[i];
        sum += ct_vec3_dot(piece_of(e, x).u, ct_vec3_sub(mean_of(e + 1, lam), mean_of(e, lam)));
    }
    return sum;
}

// ---- the law

typedef struct pull {
    double energy;     // J
    double tension;    // t, N
    double stiffness;  // k g'', N/m
    double share;      // g', m: dt/dk
} pull;

static pull pull_of(const ct_cable* cable, int k, double number, double length) {
    if (!cable->held[k]) return (pull){.energy = number * length, .tension = number};
    const double stiffness = cable->stiffness[cable->owner[k]], w = cable->width[k], s = length - number;
    if (s <= 0) return (pull){0};
    const bool taut = s >= w;
    const double share = taut ? s - w / 2 : s * s / (2 * w);
    const double energy = taut ? s * s / 2 - w * s / 2 + w * w / 6 : s * s * s / (6 * w);
    return (pull){stiffness * energy, stiffness * share, taut ? stiffness : stiffness * s / w, share};
}

void ct_cable_place(const ct_cable_eyelet* eyelet, const double* x, double point[3]) {
    ct_vec3_store(point, place_of(eyelet, x));
}

void ct_cable_measure(const ct_cable* cable, int k, const double* actuation, const double* x, double* length,
                      double* tension, double* points) {
    const double now = length_of(cable, k, x);
    if (length) *length = now;
    if (tension) *tension = pull_of(cable, k, actuation[cable->number[k]], now).tension;
    for (int i = cable->start[k]; points && i < cable->start[k + 1]; i++, points += 3)
        ct_cable_place(&cable->eyelet[i], x, points);
}

double ct_cable_shortest(const ct_cable* cable, int k, const double* x, int* piece) {
    double shortest = INFINITY;
    *piece = 0;
    for (int i = cable->start[k]; i + 1 < cable->start[k + 1]; i++) {
        const double length = piece_of(&cable->eyelet[i], x).length;
        if (length >= shortest) continue;
        shortest = length;
        *piece = i - cable->start[k];
    }
    return shortest / length_of(cable, k, x);
}

double ct_cable_gradient(const ct_cable* cable, const double* actuation, const double* x, double* f) {
    double energy = 0;
    for (int k = 0; k < cable->ncable; k++) {
        const pull p = pull_of(cable, k, actuation[cable->number[k]], length_of(cable, k, x));
        energy += p.energy;
        for (int i = cable->start[k]; f && p.tension != 0 && i + 1 < cable->start[k + 1]; i++) {
            const ct_cable_eyelet* e = &cable->eyelet[i];
            const ct_vec3 u = piece_of(e, x).u;
            add_force(e, -p.tension, u, f);
            add_force(e + 1, p.tension, u, f);
        }
    }
    return energy;
}

void ct_cable_product(const ct_cable* cable, const double* actuation, const double* x, const double* dx,
                      double* out) {
    for (int k = 0; k < cable->ncable; k++) {
        const pull p = pull_of(cable, k, actuation[cable->number[k]], length_of(cable, k, x));
        if (p.tension == 0) continue;
        const double along = p.stiffness != 0 ? p.stiffness * length_change(cable, k, x, dx) : 0;
        for (int i = cable->start[k]; i + 1 < cable->start[k + 1]; i++) {
            const ct_cable_eyelet* e = &cable->eyelet[i];
            const piece q = piece_of(e, x);
            const ct_vec3 d = ct_vec3_sub(mean_of(e + 1, dx), mean_of(e, dx));
            const double across = p.tension / fmax(q.length, SHORTEST);
            // t (I - u u^T)/|d| dd + k g'' (dl . dx) u
            const ct_vec3 force =
                ct_vec3_axpy(ct_vec3_scale(across, d), along - across * ct_vec3_dot(q.u, d), q.u);
            add_force(e, -1, force, out);
            add_force(e + 1, 1, force, out);
        }
    }
}

void ct_cable_vjp(const ct_cable* cable, const double* actuation, const double* x, const double* lam,
                  double* actuation_bar, double* stiffness_bar) {
    for (int k = 0; k < cable->ncable; k++) {
        const pull p = pull_of(cable, k, actuation[cable->number[k]], length_of(cable, k, x));
        const double change = length_change(cable, k, x, lam);
        if (actuation_bar) actuation_bar[cable->number[k]] -= (cable->held[k] ? -p.stiffness : 1) * change;
        if (stiffness_bar) stiffness_bar[cable->owner[k]] -= p.share * change;
    }
}

// -(d f/d number) along a change of the numbers.
static void cables_jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                       const ct_family_dot* dot, double* out) {
    const ct_cable* cable = self;
    for (int k = 0; k < cable->ncable; k++) {
        const double number = step->actuation[cable->number[k]];
        const pull p = pull_of(cable, k, number, length_of(cable, k, x));
        const double slack = (cable->held[k] ? -p.stiffness : 1) * dot->actuation[cable->number[k]];
        for (int i = cable->start[k]; slack != 0 && i + 1 < cable->start[k + 1]; i++) {
            const ct_cable_eyelet* e = &cable->eyelet[i];
            const ct_vec3 u = piece_of(e, x).u;
            add_force(e, slack, u, out);
            add_force(e + 1, -slack, u, out);
        }
    }
}

// ---- as a family ---------------------------------------------------------------------------

static void free_cables(void* self) { ct_cable_free(self); }

static void set_cables_stiffness(void* self, const double* stiffness) {
    ct_cable_set_stiffness(self, stiffness);
}

static double cables_gradient(const void* self, void* work, const ct_family_step* step, const double* x,
                              double* f) {
    return ct_cable_gradient(self, step->actuation, x, f);
}

static void cables_product(const void* self, void* work, const ct_family_step* step, const double* x,
                           const double* dx, double* out) {
    ct_cable_product(self, step->actuation, x, dx, out);
}

static void cables_vjp(const void* self, void* work, const ct_family_step* step, const double* x,
                       const double* lam, const ct_family_bar* bar) {
    ct_cable_vjp(self, step->actuation, x, lam, bar->actuation, bar->sums->of[CT_QUANTITY_CABLE_STIFFNESS]);
}

const ct_family ct_cable_family = {.name = "cables",
                                   .actuator = true,
                                   .free = free_cables,
                                   .set_stiffness = set_cables_stiffness,
                                   .gradient = cables_gradient,
                                   .product = cables_product,
                                   .vjp = cables_vjp,
                                   .jvp = cables_jvp};
