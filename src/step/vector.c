// States as vectors; see vector.h.
#include "step/vector.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/quat.h"

static const double unit_already = 1e-12;  // off 1, of the square of a quaternion: as it comes from a state

static const char* const names[] = {
#define CT_STATE_NAME(id, name, doc) name,
    CT_STATE_LIST(CT_STATE_NAME)
#undef CT_STATE_NAME
};

const char* ct_state_part_name(ct_state_part part) {
    return part >= 0 && part < CT_STATE_PARTS ? names[part] : NULL;
}

static size_t part_size(const ct_model* model, ct_state_part part) {
    size_t nodes = 3 * (size_t)model->nvert, coordinates = (size_t)model->tree.ncoordinate,
           colliders = (size_t)model->collision.ncollider, room = ct_state_anchor_room(model);
    switch (part) {
    case CT_STATE_POSITION:
    case CT_STATE_VELOCITY:
    case CT_STATE_POSITION_BEFORE:
    case CT_STATE_VELOCITY_BEFORE: return nodes;
    case CT_STATE_COORDINATE:
    case CT_STATE_COORDINATE_BEFORE: return coordinates;
    case CT_STATE_ACTUATION: return (size_t)model->actuators.size;
    case CT_STATE_MOUNT: return 7 * (size_t)model->inputs.nmount;
    case CT_STATE_ANCHOR: return 3 * room;
    case CT_STATE_GROWTH: return room ? colliders : 0;
    default: return 0;
    }
}

size_t ct_model_state_first(const ct_model* model, ct_state_part part) {
    size_t first = 0;
    for (int i = 0; i < (int)part && i < CT_STATE_PARTS; i++) first += part_size(model, (ct_state_part)i);
    return first;
}

// Where a part is in the state; NULL: anchors, which lie apart.
static double* part_of(const ct_state* state, ct_state_part part) {
    switch (part) {
    case CT_STATE_POSITION: return state->x;
    case CT_STATE_VELOCITY: return state->v;
    case CT_STATE_POSITION_BEFORE: return state->x_previous;
    case CT_STATE_VELOCITY_BEFORE: return state->v_previous;
    case CT_STATE_COORDINATE: return state->q;
    case CT_STATE_COORDINATE_BEFORE: return state->q_previous;
    case CT_STATE_ACTUATION: return state->actuation;
    case CT_STATE_MOUNT: return state->mount;
    case CT_STATE_GROWTH: return state->growth;
    default: return NULL;
    }
}

ct_status ct_state_get_vector(const ct_model* model, const ct_state* state, double* vector) {
    CT_NEED(NULL, model, state);
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    for (int i = 0; i < CT_STATE_PARTS; i++) {
        size_t size = part_size(model, (ct_state_part)i);
        if (i == CT_STATE_ANCHOR) {
            memset(vector, 0, size * sizeof(double));
            for (int k = 0; k < (int)state->header->nanchor; k++)
                memcpy(vector + 3 * (size_t)k, state->anchor[k].force, 3 * sizeof(double));
        } else if (size) memcpy(vector, part_of(state, (ct_state_part)i), size * sizeof(double));
        vector += size;
    }
    return CT_OK;
}

// ---- where quaternions are -----------------------------------------------------------------

// A stretch of a part: numbers that are their own tangents, or a quaternion.
typedef void (*visit_stretch)(bool quaternion, int number, int tangent, int count, void* user);

// Coordinates of the joints; `tangent` counts joint rates.
static void visit_joints(const ct_tree* tree, visit_stretch visit, void* user) {
    for (int k = 0; k < tree->nlink; k++) {
        const ct_joint_type* type = tree->type[k];
        int number = tree->coordinate[k], tangent = tree->dof[k];
        int plain = type->spatial ? type->ntranslation : type->ndof;
        visit(false, number, tangent, plain, user);
        if (type->spatial) visit(true, number + plain, tangent + plain, 4, user);
    }
}

// Poses, 7 numbers with 6 tangents each.
static void visit_poses(int first, int count, visit_stretch visit, void* user) {
    for (int i = 0; i < count; i++) {
        visit(false, first + 7 * i, 6 * i, 3, user);
        visit(true, first + 7 * i + 3, 6 * i + 3, 4, user);
    }
}

static void make_unit(bool quaternion, int number, int tangent, int count, void* user) {
    double* q = (double*)user + number;
    if (!quaternion) return;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (fabs(square - 1) <= unit_already) return;
    ct_quat unit = ct_quat_normalise(ct_quat_load(q));
    q[0] = unit.w, q[1] = unit.x, q[2] = unit.y, q[3] = unit.z;
}

static void make_units(const ct_model* model, double* q) {
    visit_joints(&model->tree, make_unit, q);
    visit_poses(model->tree.root_coordinate, model->tree.nroot, make_unit, q);
}

ct_status ct_state_set_vector(const ct_model* model, ct_state* state, const double* vector) {
    CT_NEED(NULL, model, state);
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    size_t total = ct_model_state_first(model, CT_STATE_PARTS);
    for (size_t i = 0; i < total; i++)
        if (!isfinite(vector[i])) return CT_BAD_ARGUMENT;
    for (int i = 0; i < CT_STATE_PARTS; i++) {
        size_t size = part_size(model, (ct_state_part)i);
        if (i == CT_STATE_ANCHOR)
            for (int k = 0; k < (int)state->header->nanchor; k++)
                memcpy(state->anchor[k].force, vector + 3 * (size_t)k, 3 * sizeof(double));
        else if (size) memcpy(part_of(state, (ct_state_part)i), vector, size * sizeof(double));
        vector += size;
    }
    make_units(model, state->q);
    make_units(model, state->q_previous);
    visit_poses(0, model->inputs.nmount, make_unit, state->mount);
    state->header->settled = CT_SETTLED_NOT;
    return CT_OK;
}

// ---- adjoints ------------------------------------------------------------------------------

ct_adjoint_state ct_vector_adjoint(const ct_model* model, ct_arena* arena) {
    size_t nodes = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof,
           ncollider = (size_t)model->collision.ncollider;
    return (ct_adjoint_state){
        .x = ct_arena_alloc(arena, nodes, sizeof(double)),
        .v = ct_arena_alloc(arena, nodes, sizeof(double)),
        .x_previous = ct_arena_alloc(arena, nodes, sizeof(double)),
        .v_previous = ct_arena_alloc(arena, nodes, sizeof(double)),
        .q = ct_arena_alloc(arena, ndof, sizeof(double)),
        .q_previous = ct_arena_alloc(arena, ndof, sizeof(double)),
        .actuation = ct_arena_alloc(arena, (size_t)model->actuators.size, sizeof(double)),
        .mount = ct_arena_alloc(arena, 6 * (size_t)model->inputs.nmount, sizeof(double)),
        .root = ct_arena_alloc(arena, 6 * (size_t)model->tree.nroot, sizeof(double)),
        .root_previous = ct_arena_alloc(arena, 6 * (size_t)model->tree.nroot, sizeof(double)),
        .growth = ct_arena_alloc(arena, ncollider, sizeof(double)),
        .anchor = ct_arena_alloc(arena, 3 * ct_state_anchor_room(model), sizeof(double))};
}

// Between the adjoint, or a change, of numbers with quaternions and that of their tangents.
typedef struct passage {
    const double* q;  // the numbers themselves
    double* tangent;
    double* number;
    double weight;  // of the E_i: 1 or 4
} passage;

// dQ/dr_i
static void directions(const double* q, double E[3][4]) {
    for (int i = 0; i < 3; i++) {
        ct_quat e = {0, i == 0, i == 1, i == 2}, d = ct_quat_multiply(e, ct_quat_load(q));
        E[i][0] = 0.5 * d.w, E[i][1] = 0.5 * d.x, E[i][2] = 0.5 * d.y, E[i][3] = 0.5 * d.z;
    }
}

static void add_tangent(bool quaternion, int number, int tangent, int count, void* user) {
    const passage* p = user;
    if (!quaternion) {
        for (int i = 0; i < count; i++) p->tangent[tangent + i] += p->number[number + i];
        return;
    }
    double E[3][4];
    directions(p->q + number, E);
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 4; a++) p->tangent[tangent + i] += p->weight * E[i][a] * p->number[number + a];
}

static void set_number(bool quaternion, int number, int tangent, int count, void* user) {
    const passage* p = user;
    if (!quaternion) {
        for (int i = 0; i < count; i++) p->number[number + i] = p->tangent[tangent + i];
        return;
    }
    double E[3][4];
    directions(p->q + number, E);
    for (int a = 0; a < 4; a++) {
        p->number[number + a] = 0;
        for (int i = 0; i < 3; i++) p->number[number + a] += p->weight * p->tangent[tangent + i] * E[i][a];
    }
}

// The vector's parts that consist of coordinates.
static void pass_coordinates(const ct_model* model, const ct_state* state, const ct_adjoint_state* bar,
                             double* vector, double weight, visit_stretch pass) {
    const ct_tree* tree = &model->tree;
    double *now = vector + ct_model_state_first(model, CT_STATE_COORDINATE),
           *before = vector + ct_model_state_first(model, CT_STATE_COORDINATE_BEFORE),
           *mount = vector + ct_model_state_first(model, CT_STATE_MOUNT);
    visit_joints(tree, pass, &(passage){state->q, bar->q, now, weight});
    visit_joints(tree, pass, &(passage){state->q_previous, bar->q_previous, before, weight});
    visit_poses(tree->root_coordinate, tree->nroot, pass, &(passage){state->q, bar->root, now, weight});
    visit_poses(tree->root_coordinate, tree->nroot, pass,
                &(passage){state->q_previous, bar->root_previous, before, weight});
    visit_poses(0, model->inputs.nmount, pass, &(passage){state->mount, bar->mount, mount, weight});
}

// The parts that are their own tangents, each with how many of its numbers count.
typedef struct plain {
    ct_state_part part;
    double* bar;
    size_t count;
} plain;
enum { PLAIN = 7 };

static void plain_parts(const ct_model* model, const ct_state* state, const ct_adjoint_state* bar,
                        plain out[PLAIN]) {
    const plain parts[PLAIN] = {{CT_STATE_POSITION, bar->x, 0},
                                {CT_STATE_VELOCITY, bar->v, 0},
                                {CT_STATE_POSITION_BEFORE, bar->x_previous, 0},
                                {CT_STATE_VELOCITY_BEFORE, bar->v_previous, 0},
                                {CT_STATE_ACTUATION, bar->actuation, 0},
                                {CT_STATE_ANCHOR, bar->anchor, 0},
                                {CT_STATE_GROWTH, bar->growth, 0}};
    for (int i = 0; i < PLAIN; i++) {
        out[i] = parts[i];
        out[i].count = parts[i].part == CT_STATE_ANCHOR ? 3 * (size_t)state->header->nanchor
                                                        : part_size(model, parts[i].part);
    }
}

static void add_parts(const ct_model* model, const ct_state* state, const double* vector, double weight,
                      ct_adjoint_state* bar) {
    plain parts[PLAIN];
    plain_parts(model, state, bar, parts);
    for (int i = 0; i < PLAIN; i++) {
        const double* from = vector + ct_model_state_first(model, parts[i].part);
        for (size_t k = 0; k < parts[i].count; k++) parts[i].bar[k] += from[k];
    }
    pass_coordinates(model, state, bar, (double*)vector, weight, add_tangent);
}

static void set_parts(const ct_model* model, const ct_state* state, const ct_adjoint_state* bar,
                      double weight, double* vector) {
    plain parts[PLAIN];
    memset(vector, 0, ct_model_state_first(model, CT_STATE_PARTS) * sizeof(double));
    plain_parts(model, state, bar, parts);
    for (int i = 0; i < PLAIN; i++)
        memcpy(vector + ct_model_state_first(model, parts[i].part), parts[i].bar,
               parts[i].count * sizeof(double));
    pass_coordinates(model, state, bar, vector, weight, set_number);
}

void ct_vector_to_adjoint(const ct_model* model, const ct_state* state, const double* vector_bar,
                          ct_adjoint_state* bar) {
    add_parts(model, state, vector_bar, 1, bar);
}

void ct_vector_from_adjoint(const ct_model* model, const ct_state* state, const ct_adjoint_state* bar,
                            double* vector_bar) {
    set_parts(model, state, bar, 4, vector_bar);
}

void ct_vector_to_tangent(const ct_model* model, const ct_state* state, const double* vector_dot,
                          ct_adjoint_state* dot) {
    add_parts(model, state, vector_dot, 4, dot);
}

void ct_vector_from_tangent(const ct_model* model, const ct_state* state, const ct_adjoint_state* dot,
                            double* vector_dot) {
    set_parts(model, state, dot, 1, vector_dot);
}
