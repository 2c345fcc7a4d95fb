// Contacts of one (sub-)step; see contact.h.
#include "contact/contact.h"

#include <math.h>
#include <string.h>

#include "math/mat3.h"
#include "math/quat.h"

const double ct_contact_eps_share = 2e-7;

// ---- memory --------------------------------------------------------------------------------

ct_status ct_contact_work_create(ct_contact_work** out, const ct_collision* collision) {
    *out = NULL;
    ct_contact_work* contact = ct_alloc(1, sizeof *contact);
    if (!contact) return CT_OUT_OF_MEMORY;
    size_t nvert = (size_t)collision->nvert, ncollider = (size_t)collision->ncollider;
    contact->nvert = collision->nvert;
    contact->motion = ct_arena_alloc(&contact->arena, ncollider, sizeof *contact->motion);
    contact->moves = ct_arena_alloc(&contact->arena, ncollider, 1);
    contact->nodal = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->shift = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->uses = ct_arena_alloc(&contact->arena, nvert, sizeof(int));
    ct_status status = contact->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK) status = ct_detect_create(&contact->detect, collision);
    if (status != CT_OK) {
        ct_contact_work_free(contact);
        return status;
    }
    for (int k = 0; k < collision->ncollider; k++)
        contact->margin = fmax(contact->margin, 2 * collision->collider[k].thickness);
    *out = contact;
    return CT_OK;
}

void ct_contact_work_free(ct_contact_work* contact) {
    if (!contact) return;
    ct_detect_free(contact->detect);
    ct_pairs_free(&contact->near);
    ct_pairs_free(&contact->hits);
    ct_pairs_free(&contact->known);
    ct_free(contact->touch);
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

void ct_contact_begin(const ct_collision* collision, ct_contact_work* contact, const double* x_start,
                      double time, double h, double rate) {
    contact->x_start = x_start;
    contact->revision++;
    contact->rate = fmax(rate, 1 / h);
    contact->count = 0;
    memset(contact->moves, 0, (size_t)collision->ncollider);
    for (int i = 0; i < collision->nplane; i++) {
        const ct_plane* plane = &collision->plane[i];
        ct_obstacle_motion* motion = &contact->motion[plane->collider];
        rigid_motion(&plane->motion, time, time + h, motion);
        ct_plane_pose(plane, time + h, motion->point, motion->normal);
        motion->radius = 0;
        contact->moves[plane->collider] = 1;
    }
    for (int k = 0; k < collision->ncollider; k++) {
        const ct_collider* collider = &collision->collider[k];
        if (!(collider->radius > 0) || !collider->motion) continue;
        ct_obstacle_motion* motion = &contact->motion[k];
        rigid_motion(collider->motion, time, time + h, motion);
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

// ---- touches -------------------------------------------------------------------------------

static int node_count(const ct_pair* pair) {
    int count = 0;
    while (count < 4 && pair->node[count] >= 0) count++;
    return count;
}

static bool same_pair(const ct_pair* a, const ct_pair* b) {
    return a->type == b->type && a->plane == b->plane && memcmp(a->node, b->node, sizeof a->node) == 0;
}

static void project_to_cone(double mu, const double n[3], double F[3]) {
    double normal = F[0] * n[0] + F[1] * n[1] + F[2] * n[2], size = 0, T[3];
    for (int a = 0; a < 3; a++) T[a] = F[a] - normal * n[a], size += T[a] * T[a];
    size = sqrt(size);
    if (normal < 0) normal = 0;
    double keep = size > mu * normal ? mu * normal / size : 1;
    for (int a = 0; a < 3; a++) F[a] = normal * n[a] + keep * T[a];
}

// Forces to begin with: a vertex' last contact force, shared by its touches.
static void warm_start(ct_contact_work* contact, size_t first, const double* force) {
    for (size_t i = first; i < contact->count; i++) contact->uses[contact->touch[i].is.pair.node[0]] = 0;
    for (size_t i = first; i < contact->count; i++)
        if (contact->touch[i].is.pair.type != CT_CONTACT_TYPE_EDGE_EDGE)
            contact->uses[contact->touch[i].is.pair.node[0]]++;
    for (size_t i = first; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->is.pair.type == CT_CONTACT_TYPE_EDGE_EDGE) continue;
        int v = touch->is.pair.node[0];
        for (int a = 0; a < 3; a++) touch->is.force[a] = force[3 * v + a] / contact->uses[v];
        project_to_cone(touch->is.pair.friction, touch->at.n, touch->is.force);
    }
}

// How far the touch gives way.
static double compliance_of(const ct_collision* collision, const ct_contact_work* contact,
                            const ct_touch* touch) {
    double sum = 0;
    for (int k = 0; k < touch->at.count; k++)
        sum += ct_softness_node(&collision->softness, touch->is.pair.node[k], contact->rate);
    return sum;
}

// Compliance only where touches share nodes that move.
static void set_compliance(const ct_collision* collision, ct_contact_work* contact) {
    for (size_t i = 0; i < contact->count; i++)
        for (int k = 0; k < contact->touch[i].at.count; k++)
            contact->uses[contact->touch[i].is.pair.node[k]] = 0;
    for (size_t i = 0; i < contact->count; i++)
        for (int k = 0; k < contact->touch[i].at.count; k++)
            contact->uses[contact->touch[i].is.pair.node[k]]++;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        bool shared = false;
        for (int k = 0; k < touch->at.count; k++) {
            int v = touch->is.pair.node[k];
            bool moves = collision->node_rigid[v] != CT_RIGID_DRIVEN;
            shared = shared || (moves && (contact->uses[v] > 1 || collision->node_rigid[v] >= 0));
        }
        touch->is.eps = shared ? ct_contact_eps_share * compliance_of(collision, contact, touch) : 0;
    }
}

static void set_scale(const ct_collision* collision, const ct_contact_work* contact, ct_touch* touch) {
    double compliance = compliance_of(collision, contact, touch);
    touch->scale = compliance > 0 ? 1 / compliance : 1;
}

ct_status ct_contact_add(const ct_collision* collision, ct_contact_work* contact, const ct_pairs* pairs,
                         const double* force_start) {
    size_t first = contact->count;
    contact->revision++;
    if (!ct_reserve((void**)&contact->touch, &contact->capacity, first + pairs->count,
                    sizeof *contact->touch))
        return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < pairs->count; i++) {
        bool known = false;
        for (size_t k = 0; k < first && !known; k++)
            known = same_pair(&contact->touch[k].is.pair, &pairs->item[i]);
        if (known) continue;
        ct_touch* touch = &contact->touch[contact->count++];
        memset(touch, 0, sizeof *touch);
        touch->is.pair = pairs->item[i];
        touch->slot = -1;
        ct_contact_geometry_at(&touch->is.pair, motion_of(contact, &touch->is.pair), contact->x_start,
                               contact->x_start, false, &touch->at);
        touch->at.count = node_count(&touch->is.pair);
        set_scale(collision, contact, touch);
    }
    if (force_start) warm_start(contact, first, force_start);
    set_compliance(collision, contact);
    return CT_OK;
}

ct_status ct_contact_restore(const ct_collision* collision, ct_contact_work* contact,
                             const ct_touch_record* record, size_t count) {
    if (!ct_reserve((void**)&contact->touch, &contact->capacity, count, sizeof *contact->touch))
        return CT_OUT_OF_MEMORY;
    contact->count = count;
    for (size_t i = 0; i < count; i++) {
        ct_touch* touch = &contact->touch[i];
        memset(touch, 0, sizeof *touch);
        touch->is = record[i];
        touch->at.count = node_count(&touch->is.pair);
        set_scale(collision, contact, touch);
    }
    return CT_OK;
}

void ct_contact_place(ct_contact_work* contact, const double* x, bool derivatives) {
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        ct_contact_geometry_at(&touch->is.pair, motion_of(contact, &touch->is.pair), contact->x_start, x,
                               derivatives, &touch->at);
    }
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

int ct_contact_classify(ct_contact_work* contact) {
    int changed = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        ct_contact_set set = ct_touch_set(touch);
        changed += set != touch->is.set;
        touch->is.set = set;
    }
    return changed;
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
        if (room > 0 && !ct_touch_away(touch)) depth = fmax(depth, -touch->at.gap / room);
    }
    return depth;
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
