// Contacts of one (sub-)step; see contact.h.
#include "contact/contact.h"

#include <math.h>
#include <string.h>

#include "contact/detect_data.h"
#include "contact/growth.h"
#include "math/mat3.h"
#include "math/quat.h"

static const double outside =
    0.1;  // of a primitive's parameters: how far feet may lie outside in a frame that is found late
static const double seen = -0.7;   // of the room between thickness and core: gaps that count as met
static const double share = 1e-3;  // of the compliance of a touch's nodes: its own
static const double across = 0.9;  // square of the sine of the angle from which edges cross, not run along

// ---- memory --------------------------------------------------------------------------------

// Of what can be crushed; infinite for what is driven.
static double extent_of(const ct_collision* collision, const ct_detect* detect, int collider) {
    const ct_bvh* nodes = detect->node_tree + collider;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
    if (collision->collider[collider].driven) return INFINITY;
    for (int i = 0; i < nodes->count; i++)
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], collision->rest[3 * nodes->item[i] + a]);
            high[a] = fmax(high[a], collision->rest[3 * nodes->item[i] + a]);
        }
    for (int a = 0; a < 3; a++) sum += (high[a] - low[a]) * (high[a] - low[a]);
    return sqrt(sum);
}

ct_status ct_contact_work_create(ct_contact_work** out, const ct_collision* collision) {
    *out = NULL;
    ct_contact_work* contact = ct_alloc(1, sizeof *contact);
    if (!contact) return CT_OUT_OF_MEMORY;
    size_t nvert = (size_t)collision->nvert, ncollider = (size_t)collision->ncollider;
    contact->nvert = collision->nvert;
    contact->motion = ct_arena_alloc(&contact->arena, ncollider, sizeof *contact->motion);
    contact->moves = ct_arena_alloc(&contact->arena, ncollider, 1);
    contact->nodal = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->growth = ct_arena_alloc(&contact->arena, ncollider, sizeof(double));
    contact->x_hat = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->shift = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->uses = ct_arena_alloc(&contact->arena, nvert, sizeof(int));
    contact->extent = ct_arena_alloc(&contact->arena, ncollider, sizeof(double));
    ct_status status = contact->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK) status = ct_detect_create(&contact->detect, collision);
    if (status != CT_OK) {
        ct_contact_work_free(contact);
        return status;
    }
    for (int k = 0; k < collision->ncollider; k++)
        contact->extent[k] = extent_of(collision, contact->detect, k);
    for (int k = 0; k < collision->ncollider; k++)
        contact->margin = fmax(contact->margin, 2 * collision->collider[k].thickness);
    contact->room = contact->margin;
    for (int k = 0; k < collision->ncollider; k++)
        if (collision->collider[k].thickness > 0)
            contact->room = fmin(contact->room, 0.5 * collision->collider[k].thickness);
    *out = contact;
    return CT_OK;
}

void ct_contact_work_free(ct_contact_work* contact) {
    if (!contact) return;
    ct_detect_free(contact->detect);
    ct_pairs_free(&contact->near);
    ct_pairs_free(&contact->hits);
    ct_free(contact->touch);
    ct_free(contact->table);
    ct_free(contact->round);
    ct_free(contact->list);
    ct_arena_free(&contact->arena);
    ct_free(contact);
}

// ---- obstacles -----------------------------------------------------------------------------

static const double still[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

// The rigid motion of a driver between two times: x at the end was at origin_start + turn (x - origin_end).
static void rigid_motion(const ct_scene_driver* driver, double start, double end,
                         ct_obstacle_motion* motion) {
    double shift0[3] = {0}, turn0[3] = {0}, shift1[3] = {0}, turn1[3] = {0};
    if (driver->nkey) {
        ct_scene_drive_vectors(driver, start, shift0, turn0);
        ct_scene_drive_vectors(driver, end, shift1, turn1);
    }
    for (int a = 0; a < 3; a++) {
        motion->origin_start[a] = driver->center[a] + shift0[a];
        motion->origin_end[a] = driver->center[a] + shift1[a];
    }
    ct_mat3 R0 = ct_quat_matrix(ct_quat_from_vector(ct_vec3_load(turn0))),
            R1 = ct_quat_matrix(ct_quat_from_vector(ct_vec3_load(turn1)));
    ct_mat3_store(motion->turn, ct_mat3_multiply(R0, ct_mat3_transpose(R1)));
}

// Where the velocities lead; driven nodes are told where they go.
static void look_ahead(const ct_collision* collision, ct_contact_work* contact,
                       const ct_contact_start* start) {
    for (int v = 0; v < collision->nvert; v++) {
        bool driven = collision->node_rigid[v] == CT_RIGID_DRIVEN;
        for (int i = 3 * v; i < 3 * v + 3; i++)
            contact->x_hat[i] = driven ? start->x_end[i] : start->x[i] + start->h * start->v[i];
    }
}

void ct_contact_begin(const ct_collision* collision, ct_contact_work* contact,
                      const ct_contact_start* start) {
    double time = start->time, end = start->time + start->h;
    contact->x_start = start->x;
    contact->revision++;
    contact->h = start->h;
    contact->rate = start->rate;
    contact->shortened = start->shortened;
    contact->past = start->past;
    contact->count = 0;
    if (contact->table) memset(contact->table, 0, contact->table_size * sizeof(int));
    look_ahead(collision, contact, start);
    contact->growth_slope = ct_growth_slope(start->elapsed);
    for (int i = 0; i < collision->ncollider; i++)
        contact->growth[i] = ct_growth_at(start->growth[i], start->elapsed);
    ct_detect_set_growth(contact->detect, contact->growth);
    memset(contact->moves, 0, (size_t)collision->ncollider);
    for (int i = 0; i < collision->nplane; i++) {
        const ct_plane* plane = &collision->plane[i];
        ct_obstacle_motion* motion = &contact->motion[plane->collider];
        rigid_motion(&plane->motion, time, end, motion);
        ct_plane_pose(plane, end, motion->point, motion->normal);
        motion->radius = 0;
        contact->moves[plane->collider] = 1;
    }
    for (int k = 0; k < collision->ncollider; k++) {
        const ct_collider* collider = &collision->collider[k];
        if (!(collider->radius > 0) || !collider->motion) continue;
        ct_obstacle_motion* motion = &contact->motion[k];
        rigid_motion(collider->motion, time, end, motion);
        motion->radius = collider->radius;
        contact->moves[k] = memcmp(motion->turn, still, sizeof still) != 0;
    }
}

static const ct_obstacle_motion* motion_of(ct_contact_work* contact, const ct_pair* pair) {
    for (int side = 0; side < 2; side++) {
        int k = side ? pair->b : pair->a;
        if (!contact->moves[k]) continue;
        contact->motion[k].side = side;
        return &contact->motion[k];
    }
    return NULL;
}

// ---- touches by pair -----------------------------------------------------------------------

static size_t hash_of(const ct_pair* pair) {
    const int word[] = {(int)pair->type, pair->plane,   pair->node[0],
                        pair->node[1],   pair->node[2], pair->node[3]};
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        hash = (hash ^ (uint64_t)(unsigned)word[i]) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 29));
}

// The place of a pair in the table, or the empty place where it belongs.
static size_t place_of(const ct_contact_work* contact, const ct_pair* pair) {
    size_t at = hash_of(pair) & (contact->table_size - 1);
    while (contact->table[at] && ct_pair_compare(&contact->touch[contact->table[at] - 1].is.pair, pair) != 0)
        at = (at + 1) & (contact->table_size - 1);
    return at;
}

// Room for the frames of all touches, should they move.
static bool reserve_round(ct_contact_work* contact) {
    if (!ct_reserve((void**)&contact->round, &contact->round_capacity, contact->capacity,
                    sizeof *contact->round))
        return false;
    for (size_t i = 0; i < contact->count; i++)
        if (contact->touch[i].round) contact->touch[i].round = &contact->round[i];
    return true;
}

static ct_status reserve_touches(ct_contact_work* contact, size_t count) {
    if (!ct_reserve((void**)&contact->touch, &contact->capacity, count, sizeof *contact->touch))
        return CT_OUT_OF_MEMORY;
    if (contact->round_capacity < contact->capacity && !reserve_round(contact)) return CT_OUT_OF_MEMORY;
    size_t size = contact->table_size ? contact->table_size : 256;
    while (size < 2 * count) size *= 2;
    if (size == contact->table_size) return CT_OK;
    if (!ct_reserve((void**)&contact->table, &contact->table_capacity, size, sizeof(int)))
        return CT_OUT_OF_MEMORY;
    contact->table_size = size;
    memset(contact->table, 0, size * sizeof(int));
    for (size_t i = 0; i < contact->count; i++)
        contact->table[place_of(contact, &contact->touch[i].is.pair)] = (int)i + 1;
    return CT_OK;
}

int ct_contact_frames(const ct_contact_work* contact, const ct_pair* pair) {
    if (!contact->table_size) return 0;
    int last = contact->table[place_of(contact, pair)];
    return last ? contact->touch[last - 1].is.cut + 1 : 0;
}

// ---- compliance ----------------------------------------------------------------------------

// How far a node gives way, m/N.
static double give_of(const ct_collision* collision, const ct_contact_work* contact, int node) {
    return ct_softness_node(&collision->softness, node, contact->rate);
}

// A node against a plane needs none, unless it is on a link, whose nodes are not independent, or on another
// plane already.
static double share_of(const ct_collision* collision, const ct_contact_work* contact, const ct_touch* touch) {
    const ct_pair* pair = &touch->is.pair;
    if (pair->type != CT_CONTACT_TYPE_PLANE || collision->node_rigid[pair->node[0]] >= 0) return share;
    for (int p = 0; p < pair->plane; p++) {
        ct_pair other = *pair;
        other.plane = p;
        if (ct_contact_frames(contact, &other)) return share;
    }
    return 0;
}

// eps, m/N: a share of the compliance of the touch's nodes.
static double compliance_of(const ct_collision* collision, const ct_contact_work* contact,
                            const ct_touch* touch) {
    double sum = 0;
    for (int k = 0; k < touch->at.count; k++)
        sum += touch->held.w[k] * touch->held.w[k] * give_of(collision, contact, touch->is.pair.node[k]);
    return share_of(collision, contact, touch) / touch->is.stiffer * sum;
}

void ct_contact_compliance_slope(const ct_collision* collision, const ct_contact_work* contact,
                                 const ct_touch* touch, double by_weight[4], double by_node[4]) {
    double part = touch->is.eps > 0 ? share / touch->is.stiffer : 0;
    for (int k = 0; k < touch->at.count; k++) {
        double w = touch->held.w[k];
        by_weight[k] = 2 * part * w * give_of(collision, contact, touch->is.pair.node[k]);
        by_node[k] = part * w * w;
    }
}

// ---- touches -------------------------------------------------------------------------------

// How far the touch gives way, for its scale.
static void set_scale(const ct_collision* collision, const ct_contact_work* contact, ct_touch* touch) {
    double sum = 0;
    for (int k = 0; k < touch->at.count; k++)
        sum += touch->at.w[k] * touch->at.w[k] * give_of(collision, contact, touch->is.pair.node[k]);
    touch->scale = sum > 0 ? 1 / sum : 1;
}

static void set_anchor(const ct_contact_work* contact, ct_touch* touch) {
    int at = touch->is.cut ? -1 : ct_anchor_find(contact->past, &touch->is.pair);
    if (at < 0) return;
    ct_anchor_project(touch->is.pair.friction, touch->at.n, contact->past.item[at].force, touch->is.anchor);
    memcpy(touch->is.force, touch->is.anchor, sizeof touch->is.force);
}

// The square of the sine of the angle between two edges, where the step begins.
static double angle_of(const ct_pair* pair, const double* x) {
    ct_vec3 p[4];
    for (int k = 0; k < 4; k++) p[k] = ct_vec3_load(x + 3 * pair->node[k]);
    ct_vec3 a = ct_vec3_sub(p[1], p[0]), b = ct_vec3_sub(p[3], p[2]), c = ct_vec3_cross(a, b);
    return ct_vec3_dot(c, c) / (ct_vec3_dot(a, a) * ct_vec3_dot(b, b));
}

// Frames of nodes with spheres and capsules move, and of edges that cross the axis of a capsule. Those of
// faces, and of edges that lie along it, are held: their feet run faster than anything moves. In shortened
// steps that holds for all edges.
static bool is_round(const ct_collision* collision, const ct_contact_work* contact, const ct_pair* pair) {
    if (!(collision->collider[pair->a].radius > 0 || collision->collider[pair->b].radius > 0)) return false;
    if (pair->type == CT_CONTACT_TYPE_VERTEX_FACE) return false;
    if (pair->type != CT_CONTACT_TYPE_EDGE_EDGE) return true;
    return !contact->shortened && angle_of(pair, contact->x_start) > across;
}

// A touch with the frame that its record tells; there is room for it.
static ct_touch* append(const ct_collision* collision, ct_contact_work* contact,
                        const ct_touch_record* record) {
    size_t index = contact->count++;
    ct_touch* touch = &contact->touch[index];
    memset(touch, 0, sizeof *touch);
    touch->is = *record;
    touch->slot = -1;
    touch->motion = motion_of(contact, &record->pair);
    ct_held_hold(&record->pair, touch->motion, contact->x_start, contact->x_hat, record->time, &touch->held);
    touch->at = touch->held;
    if (record->kind == CT_HELD_NOT || is_round(collision, contact, &record->pair))
        touch->round = &contact->round[index];
    set_scale(collision, contact, touch);
    contact->table[place_of(contact, &record->pair)] = (int)index + 1;
    return touch;
}

static void append_new(const ct_collision* collision, ct_contact_work* contact,
                       const ct_touch_record* record) {
    ct_touch* touch = append(collision, contact, record);
    touch->is.eps = compliance_of(collision, contact, touch);
    set_anchor(contact, touch);
}

ct_status ct_contact_add(const ct_collision* collision, ct_contact_work* contact, const ct_pairs* pairs,
                         double time) {
    contact->revision++;
    ct_status status = reserve_touches(contact, contact->count + pairs->count);
    for (size_t i = 0; status == CT_OK && i < pairs->count; i++) {
        if (ct_contact_frames(contact, &pairs->item[i])) continue;
        ct_touch_record record = {.pair = pairs->item[i], .kind = CT_HELD_AT, .time = time, .stiffer = 1};
        append_new(collision, contact, &record);
    }
    return status;
}

static bool has_frame(const ct_contact_work* contact, const ct_touch_record* record) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch_record* is = &contact->touch[i].is;
        if (is->kind == record->kind && is->time == record->time &&
            ct_pair_compare(&is->pair, &record->pair) == 0)
            return true;
    }
    return false;
}

// How far a frame is from telling the true gap at x; infinite: its feet are outside, or it does not see that
// they have met.
static double error_of(ct_contact_work* contact, const ct_touch_record* record, const double* x, double gap) {
    ct_held_frame frame;
    double own = -record->pair.thickness;
    if (ct_held_hold(&record->pair, motion_of(contact, &record->pair), contact->x_start, contact->x_hat,
                     record->time, &frame) > outside)
        return INFINITY;
    for (int k = 0; k < 3 * frame.count; k++)
        own += frame.w[k / 3] * frame.n[k % 3] * x[3 * record->pair.node[k / 3] + k % 3];
    return own < seen * (record->pair.thickness - record->pair.core) ? fabs(own - gap) : INFINITY;
}

// Against round obstacles the frame moves anyway, and only the weights of its compliance are held: where the
// feet lie outside least.
static bool choose_weights(ct_contact_work* contact, ct_touch_record* best) {
    const double when[] = {1, 0, 0.5};
    double least = INFINITY;
    best->kind = CT_HELD_AT;
    for (int i = 0; i < 3; i++) {
        ct_held_frame frame;
        double over = ct_held_hold(&best->pair, motion_of(contact, &best->pair), contact->x_start,
                                   contact->x_hat, when[i], &frame);
        if (!(over < least)) continue;
        least = over;
        best->time = when[i];
    }
    return least < INFINITY;
}

// The frame for a pair that has been found to meet on the way to x: of those that no touch of it has yet, the
// one that tells the gap there best; where none does, one that moves. false: there is none left.
static bool choose_frame(const ct_collision* collision, ct_contact_work* contact, const ct_pair* pair,
                         const double* x, ct_touch_record* best) {
    ct_contact_geometry at;
    double time = 0, least = INFINITY;
    if (is_round(collision, contact, pair)) return !best->cut && choose_weights(contact, best);
    bool meets = ct_held_impact(pair, contact->x_start, contact->x_hat, &time), found = false;
    ct_contact_geometry_at(pair, motion_of(contact, pair), contact->x_start, x, false, &at);
    const double when[] = {time, 1, 0, 0.5};
    for (int i = meets ? 0 : 1; i < 4; i++) {
        ct_touch_record record = *best;
        record.kind = i == 0 ? CT_HELD_IMPACT : CT_HELD_AT;
        record.time = when[i];
        if (record.cut && has_frame(contact, &record)) continue;
        double error = error_of(contact, &record, x, at.gap);
        if (!(error < least)) continue;
        least = error;
        *best = record;
        found = true;
    }
    if (found) return true;
    best->kind = CT_HELD_NOT;
    best->time = 0;
    return !(best->cut && has_frame(contact, best));
}

ct_status ct_contact_cut(const ct_collision* collision, ct_contact_work* contact, const ct_pair* pair,
                         const double* x, bool* added) {
    ct_touch_record record = {.pair = *pair, .cut = ct_contact_frames(contact, pair), .stiffer = 1};
    *added = false;
    if (record.cut >= CT_CONTACT_CUTS) return CT_OK;
    ct_status status = reserve_touches(contact, contact->count + 1);
    if (status != CT_OK) return status;
    if (pair->type == CT_CONTACT_TYPE_PLANE) record.time = 1;
    else if (!choose_frame(collision, contact, pair, x, &record)) return CT_OK;
    contact->revision++;
    append_new(collision, contact, &record);
    *added = true;
    return CT_OK;
}

ct_status ct_contact_restore(const ct_collision* collision, ct_contact_work* contact,
                             const ct_touch_record* record, size_t count) {
    ct_status status = reserve_touches(contact, count);
    for (size_t i = 0; status == CT_OK && i < count; i++) append(collision, contact, &record[i]);
    return status;
}

void ct_contact_place(ct_contact_work* contact, const double* x) {
    for (size_t i = 0; i < contact->count; i++) ct_touch_place(&contact->touch[i], contact->x_start, x);
}

void ct_contact_forces(ct_contact_work* contact) {
    memset(contact->nodal, 0, 3 * (size_t)contact->nvert * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                contact->nodal[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * touch->is.force[a];
    }
}

// ---- the law -------------------------------------------------------------------------------

void ct_contact_classify(ct_contact_work* contact) {
    for (size_t i = 0; i < contact->count; i++) contact->touch[i].is.set = ct_touch_set(&contact->touch[i]);
}

double ct_contact_natural(const ct_contact_work* contact) {
    double sum = 0;
    for (size_t i = 0; i < contact->count; i++) {
        double R[3];
        ct_touch_natural(&contact->touch[i], R);
        sum += R[0] * R[0] + R[1] * R[1] + R[2] * R[2];
    }
    return sqrt(sum);
}

double ct_contact_depth(const ct_contact_work* contact) {
    double depth = 0;
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        double room = touch->is.pair.thickness - touch->is.pair.core;
        if (room > 0) depth = fmax(depth, -touch->gap / room);
    }
    return depth;
}

bool ct_contact_stiffen(ct_contact_work* contact, double depth) {
    bool any = false;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        double room = touch->is.pair.thickness - touch->is.pair.core;
        if (!(touch->is.eps > 0) || !(-touch->gap > depth * room)) continue;
        if (touch->is.stiffer > 1e4) continue;
        double less = 2;  // the force stays about the same
        while (less < 64 && -touch->gap > less * depth * room) less *= 2;
        touch->is.stiffer *= less;
        touch->is.eps /= less;
        any = true;
    }
    return any;
}

// ---- linearisation -------------------------------------------------------------------------

int ct_contact_linearise(ct_contact_work* contact) {
    int slots = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        touch->slot = touch->is.set == CT_CONTACT_SET_OPEN ? -1 : slots++;
        if (touch->slot >= 0) ct_touch_linearise(touch);
    }
    return slots;
}

void ct_contact_product(const ct_contact_work* contact, const double* dx, const double* dF, double* out_nodes,
                        double* out_rows) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        if (touch->slot >= 0)
            ct_touch_product(touch, dx, dF + 3 * touch->slot, out_nodes, out_rows + 3 * touch->slot);
    }
}

void ct_contact_product_transposed(const ct_contact_work* contact, const double* lam, const double* lam_F,
                                   double* out_nodes, double* out_F) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        if (touch->slot >= 0)
            ct_touch_transposed(touch, lam, lam_F + 3 * touch->slot, out_nodes, out_F + 3 * touch->slot);
    }
}
