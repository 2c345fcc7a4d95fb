// Actuators and curves of a page: what the trajectory does not hold and the model of its scene does.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/point3.h"
#include "model/model.h"
#include "optim/problem.h"
#include "out/page_content.h"

// ---- muscles ----

enum { MOST_PIECES = 6 };  // of a segment

static double tet_volume(const double* rest, const int* tet) {
    double e[3][3], c[3];
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) e[k][a] = rest[3 * tet[k + 1] + a] - rest[3 * tet[0] + a];
    for (int a = 0; a < 3; a++)
        c[a] = e[0][(a + 1) % 3] * e[1][(a + 2) % 3] - e[0][(a + 2) % 3] * e[1][(a + 1) % 3];
    return fabs(dot3(c, e[2])) / 6;
}

static void tet_center(const double* x, const int* tet, double center[3]) {
    for (int a = 0; a < 3; a++)
        center[a] = 0.25 * (x[3 * tet[0] + a] + x[3 * tet[1] + a] + x[3 * tet[2] + a] + x[3 * tet[3] + a]);
}

// The mean fibre (unit; zero where there is none) and from where to where the segment's nodes lie along it.
static void segment_axis(const ct_page_segment* s, const ct_model* model, double mean[3], double* low,
                         double* high) {
    memset(mean, 0, 3 * sizeof *mean);
    *low = INFINITY, *high = -INFINITY;
    for (int e = 0; e < s->ntet; e++)
        for (int a = 0; a < 3; a++) mean[a] += s->share[e] * s->fibre[3 * e + a];
    const double length = length3(mean);
    for (int a = 0; a < 3 && length > 0; a++) mean[a] /= length;
    for (int e = 0; e < s->ntet && length > 0; e++)
        for (int k = 0; k < 4; k++) {
            const int node = model->geometry.tet[4 * (size_t)s->tet[e] + (size_t)k];
            const double at = dot3(model->geometry.rest + 3 * (size_t)node, mean);
            *low = fmin(*low, at);
            *high = fmax(*high, at);
        }
}

// Length along the mean fibre and radius of the flesh that a segment holds.
static void segment_size(ct_page_segment* s, const ct_model* model) {
    double mean[3], volume = 0, low, high;
    for (int e = 0; e < s->ntet; e++)
        volume += tet_volume(model->geometry.rest, model->geometry.tet + 4 * (size_t)s->tet[e]);
    segment_axis(s, model, mean, &low, &high);
    s->half = high > low ? 0.5 * (high - low) : 0;
    s->radius = s->half > 0 ? 0.5 * sqrt(volume / (2 * s->half * 3.14159265358979)) : 0;
}

static bool fill_segment(ct_page_segment* s, ct_arena* arena, const ct_model* model,
                         const ct_scene_actuator* a, int number) {
    int* tet = ct_arena_alloc(arena, (size_t)a->nelement, sizeof *tet);
    double* share = ct_arena_alloc(arena, (size_t)a->nelement, sizeof *share);
    double *fibre = ct_arena_alloc(arena, 3 * (size_t)a->nelement, sizeof *fibre), sum = 0;
    if (arena->failed) return false;
    s->witness = -1;
    for (int e = 0; e < a->nelement; e++) {
        if (a->number[e] != number) continue;
        const double weight = a->weight[e];
        tet[s->ntet] = a->tet[e];
        share[s->ntet] =
            weight * tet_volume(model->geometry.rest, model->geometry.tet + 4 * (size_t)a->tet[e]);
        memcpy(fibre + 3 * s->ntet, a->direction + 3 * (size_t)e, 3 * sizeof *fibre);
        sum += share[s->ntet++];
        if (s->witness < 0 || weight > s->witness_weight) s->witness = a->tet[e], s->witness_weight = weight;
    }
    for (int e = 0; e < s->ntet && sum > 0; e++) share[e] /= sum;
    s->tet = tet;
    s->share = share;
    s->fibre = fibre;
    segment_size(s, model);
    return true;
}

// The piece of a segment between two places along its mean fibre.
static bool cut_piece(const ct_page_content* c, ct_arena* arena, const ct_page_segment* whole,
                      const double mean[3], double from, double to, ct_page_segment* out) {
    int* tet = ct_arena_alloc(arena, (size_t)whole->ntet, sizeof *tet);
    double* share = ct_arena_alloc(arena, (size_t)whole->ntet, sizeof *share);
    double *fibre = ct_arena_alloc(arena, 3 * (size_t)whole->ntet, sizeof *fibre), sum = 0, center[3];
    if (arena->failed) return false;
    *out = *whole;
    out->ntet = 0;
    for (int e = 0; e < whole->ntet; e++) {
        tet_center(c->model->geometry.rest, c->model->geometry.tet + 4 * (size_t)whole->tet[e], center);
        const double at = dot3(center, mean);
        if (at < from || at >= to) continue;
        tet[out->ntet] = whole->tet[e];
        memcpy(fibre + 3 * out->ntet, whole->fibre + 3 * e, 3 * sizeof *fibre);
        sum += share[out->ntet++] = whole->share[e];
    }
    for (int e = 0; e < out->ntet && sum > 0; e++) share[e] /= sum;
    out->tet = tet;
    out->share = share;
    out->fibre = fibre;
    if (out->ntet) segment_size(out, c->model);
    out->half = 0.5 * (to - from);
    out->radius = whole->radius;
    return out->ntet && sum > 0;
}

// A slender segment bends with its flesh: pieces of it are shown as one curve. False: out of memory.
static bool add_segment(ct_page_content* c, const ct_page_segment* whole) {
    double mean[3], low, high;
    int count = (int)fmin(MOST_PIECES, fmin(whole->half / (2 * whole->radius), whole->ntet / 12.0));
    segment_axis(whole, c->model, mean, &low, &high);
    bool good = count > 1;
    for (int k = 0; k < count && good; k++) {
        ct_page_segment* piece = &c->segment[c->nsegment + k];
        const double step = (high - low) / count;
        good = cut_piece(c, &c->arena, whole, mean, low + k * step, low + (k + 1) * step, piece);
        piece->chain = c->nchain;
    }
    if (!good) {
        c->segment[c->nsegment] = *whole;
        c->segment[c->nsegment++].chain = -1;
    } else c->nsegment += count, c->nchain++;
    return !c->arena.failed;
}

static bool find_muscles(ct_page_content* c) {
    const ct_actuators* all = &c->model->actuators;
    int most = 0;
    for (int k = 0; k < all->count; k++)
        if (all->list[k].kind == CT_ACTUATOR_MUSCLE) most += all->list[k].size;
    c->segment = ct_arena_alloc(&c->arena, MOST_PIECES * (size_t)most, sizeof *c->segment);
    if (c->arena.failed) return false;
    for (int k = 0; k < all->count; k++) {
        const ct_scene_actuator* a = &all->list[k];
        for (int i = 0; a->kind == CT_ACTUATOR_MUSCLE && i < a->size; i++) {
            ct_page_segment s = {.actuator = k, .number = all->first[k] + i};
            if (!fill_segment(&s, &c->arena, c->model, a, i)) return false;
            if (s.ntet && s.half > 0 && !add_segment(c, &s)) return false;
        }
    }
    return true;
}

// ---- chambers ----

typedef struct face {
    int node[3], sorted[3], tet;
} face;

static int compare_faces(const void* a, const void* b) {
    const face *f = a, *g = b;
    for (int k = 0; k < 3; k++)
        if (f->sorted[k] != g->sorted[k]) return f->sorted[k] < g->sorted[k] ? -1 : 1;
    return 0;
}

static face make_face(const int* tet, int omit, int index) {
    static const int corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    face f = {.tet = index};
    for (int k = 0; k < 3; k++) f.node[k] = f.sorted[k] = tet[corner[omit][k]];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2 - k; i++)
            if (f.sorted[i] > f.sorted[i + 1]) {
                int swap = f.sorted[i];
                f.sorted[i] = f.sorted[i + 1];
                f.sorted[i + 1] = swap;
            }
    return f;
}

// Faces that one cell has alone: the surface of all chambers together.
static bool find_chambers(ct_page_content* c) {
    const ct_actuators* all = &c->model->actuators;
    size_t ntet = (size_t)c->model->ntet, count = 0, kept = 0;
    unsigned char* cell = ct_arena_alloc(&c->arena, ntet, 1);
    if (!cell) return false;
    for (int k = 0; k < all->count; k++)
        for (int e = 0; all->list[k].kind == CT_ACTUATOR_CHAMBER && e < all->list[k].nelement; e++)
            count += !cell[all->list[k].tet[e]], cell[all->list[k].tet[e]] = 1;
    face* list = ct_alloc(4 * count, sizeof *list);
    if (!list) return false;
    count = 0;
    for (size_t t = 0; t < ntet; t++)
        for (int k = 0; cell[t] && k < 4; k++)
            list[count++] = make_face(c->model->geometry.tet + 4 * t, k, (int)t);
    if (count) qsort(list, count, sizeof *list, compare_faces);
    for (size_t i = 0; i < count; i++) {
        bool twin = (i && !compare_faces(&list[i - 1], &list[i])) ||
                    (i + 1 < count && !compare_faces(&list[i], &list[i + 1]));
        if (!twin) list[kept++] = list[i];
    }
    c->chamber = ct_arena_alloc(&c->arena, 3 * kept, sizeof *c->chamber);
    c->chamber_tet = ct_arena_alloc(&c->arena, kept, sizeof *c->chamber_tet);
    for (size_t i = 0; i < kept && !c->arena.failed; i++) {
        memcpy(c->chamber + 3 * i, list[i].node, sizeof list[i].node);
        c->chamber_tet[i] = list[i].tet;
    }
    c->nchamber = (int)kept;
    ct_free(list);
    return !c->arena.failed;
}

// ---- curves ----

static const struct {
    const char *group, *name, *unit;
} measures[] = {{"energy", "kinetic", "J"},  {"energy", "elastic", "J"},   {"energy", "gravitational", "J"},
                {"energy", "total", "J"},    {"momentum", "x", "kg m/s"},  {"momentum", "y", "kg m/s"},
                {"momentum", "z", "kg m/s"}, {"centre of mass", "x", "m"}, {"centre of mass", "y", "m"},
                {"centre of mass", "z", "m"}};
enum { MEASURES = sizeof measures / sizeof measures[0] };

static bool find_curves(ct_page_content* c) {
    int ncontrol = ct_model_control_size(c->model);
    c->curve = ct_arena_alloc(&c->arena, MEASURES + 1 + (size_t)ncontrol, sizeof *c->curve);
    c->control = ct_arena_alloc(&c->arena, (size_t)ncontrol, sizeof *c->control);
    if (c->arena.failed) return false;
    for (int k = 0; k < MEASURES; k++) {
        c->curve[c->ncurve] = (ct_page_curve){.group = measures[k].group, .unit = measures[k].unit};
        snprintf(c->curve[c->ncurve++].name, sizeof c->curve->name, "%s", measures[k].name);
    }
    if (c->problem) {
        c->curve[c->ncurve] = (ct_page_curve){.group = "loss", .unit = ""};
        snprintf(c->curve[c->ncurve++].name, sizeof c->curve->name, "of the state");
    }
    for (int k = 0; k < ct_model_control_count(c->model); k++) {
        ct_control_info info = ct_model_control_info(c->model, k);
        for (int i = 0; i < info.count; i++) {
            c->curve[c->ncurve] = (ct_page_curve){.group = "controls", .unit = ""};
            if (info.count == 1) snprintf(c->curve[c->ncurve].name, sizeof c->curve->name, "%s", info.name);
            else snprintf(c->curve[c->ncurve].name, sizeof c->curve->name, "%s[%d]", info.name, i);
            c->ncurve++;
        }
    }
    c->ncontrol = ncontrol;
    return true;
}

void ct_page_measure(const ct_page_content* c, const ct_state* state, double time, int64_t step,
                     const double* control, double* values) {
    if (!c->ncurve) return;
    ct_measure m = ct_state_measure(c->model, state);
    double first[MEASURES] = {
        m.kinetic,     m.elastic,     m.gravitational, m.kinetic + m.elastic + m.gravitational,
        m.momentum[0], m.momentum[1], m.momentum[2],   m.center[0],
        m.center[1],   m.center[2]};
    memcpy(values, first, sizeof first);
    values += MEASURES;
    if (c->problem) {
        int steps = ct_problem_steps(c->problem);
        if (ct_problem_state(c->problem, step < steps ? (int)step : steps, state, values, NULL))
            *values = NAN;
        values++;
    }
    if (control) memcpy(values, control, (size_t)c->ncontrol * sizeof *values);
    else  // of the step that led here
        ct_model_control_values(c->model, fmax(0, time - c->model->settings.time_step), values);
}

bool ct_page_find_actors(ct_page_content* c) {
    if (!c->model) return true;
    return find_muscles(c) && find_chambers(c) && find_curves(c);
}

// ---- the same motion? ----

// The two states that a file ends with, the later one second.
static bool last_states(const ct_trajectory* file, uint8_t* bytes) {
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    bool good = true;
    for (int k = 0; k < 2 && good; k++)
        good =
            ct_hdf_get_rows(file->state_array, H5T_NATIVE_UINT8, file->state_size,
                            (size_t)(file->info.nframe - 2 + k) % 2, 1, bytes + (size_t)k * file->state_size);
    ct_hdf_leave(&guard);
    return good;
}

static bool steps_agree(const ct_model* model, ct_work* work, ct_state* from, const ct_state* to) {
    size_t n = 3 * (size_t)model->nvert;
    double way = 0, miss = 0, size = 0;
    const double *x = ct_state_positions(from), *y = ct_state_positions(to);
    for (size_t i = 0; i < n; i++) way = fmax(way, fabs(y[i] - x[i])), size = fmax(size, fabs(y[i]));
    int64_t last = ct_state_step_index(to);
    for (int k = 0; k < 64 && ct_state_step_index(from) < last; k++)
        if (ct_step(model, work, from, NULL, NULL)) return false;
    if (ct_state_step_index(from) != last) return false;
    for (size_t i = 0; i < n; i++) miss = fmax(miss, fabs(y[i] - x[i]));
    return miss <= 1e-3 * way + 1e-9 * size;
}

bool ct_page_repeats(const ct_trajectory* file, const ct_model* model) {
    ct_state *from = NULL, *to = NULL;
    ct_work* work = NULL;
    size_t size = file->state_size;
    if (file->info.nframe < 2 || !size) return file->info.nframe == 1;
    uint8_t* bytes = ct_alloc(2 * size, 1);
    bool good = bytes && last_states(file, bytes) && !ct_state_create(&from, model, NULL) &&
                !ct_state_create(&to, model, NULL) && !ct_work_create(&work, model, 0, NULL) &&
                !ct_state_restore(from, bytes, size) && !ct_state_restore(to, bytes + size, size) &&
                steps_agree(model, work, from, to);
    ct_work_free(work);
    ct_state_free(from);
    ct_state_free(to);
    ct_free(bytes);
    return good;
}
