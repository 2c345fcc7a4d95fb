// Contacts of one (sub-)step; see contact.h.
#include "step/contact.h"

#include <math.h>
#include <string.h>

#include "contact/friction.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "step/compliance.h"
#include "step/external.h"

// of the primitives' parameters: with its feet so far outside, a touch is open
static const double away = 0.25;
static const double shared_compliance = 2e-7;  // of a touch's own, where touches share nodes

// ---- memory --------------------------------------------------------------------------------

ct_status ct_contact_work_create(ct_contact_work** out, const ct_model* model) {
    *out = NULL;
    ct_contact_work* contact = ct_alloc(1, sizeof *contact);
    if (!contact) return CT_OUT_OF_MEMORY;
    size_t nvert = (size_t)model->nvert, ncollider = (size_t)model->collision.ncollider;
    contact->motion = ct_arena_alloc(&contact->arena, ncollider, sizeof *contact->motion);
    contact->moves = ct_arena_alloc(&contact->arena, ncollider, 1);
    contact->nodal = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->shift = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->force = ct_arena_alloc(&contact->arena, 3 * nvert, sizeof(double));
    contact->uses = ct_arena_alloc(&contact->arena, nvert, sizeof(int));
    ct_status status = contact->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK) status = ct_detect_create(&contact->detect, &model->collision);
    if (status == CT_OK) status = ct_compliance_create(&contact->compliance, model);
    if (status == CT_OK) status = ct_friction_work_create(&contact->friction);
    if (status == CT_OK) status = ct_krylov_work_create(&contact->krylov, 0, 0);
    if (status != CT_OK) {
        ct_contact_work_free(contact);
        return status;
    }
    for (int k = 0; k < model->collision.ncollider; k++)
        contact->margin = fmax(contact->margin, 2 * model->collision.collider[k].thickness);
    *out = contact;
    return CT_OK;
}

void ct_contact_work_free(ct_contact_work* contact) {
    if (!contact) return;
    ct_detect_free(contact->detect);
    ct_compliance_free(contact->compliance);
    ct_friction_work_free(contact->friction);
    ct_krylov_work_free(contact->krylov);
    ct_pairs_free(&contact->near);
    ct_pairs_free(&contact->hits);
    ct_pairs_free(&contact->known);
    ct_free(contact->touch);
    ct_free(contact->list);
    ct_free(contact->vector);
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

void ct_contact_begin(const ct_model* model, ct_contact_work* contact, const double* x_start, double time,
                      double h) {
    const ct_collision* collision = &model->collision;
    double c = ct_model_rate(&model->settings);
    contact->x_start = x_start;
    contact->measured = 0;
    contact->shorter = fmin(1, c * c * h * h);
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

// How far the touch gives way, estimated when the model was compiled: whatever the materials are now, eps
// stays the same.
static double compliance_of(const ct_model* model, const ct_contact_work* contact, const ct_touch* touch) {
    double sum = 0;
    for (int k = 0; k < touch->at.count; k++) sum += model->collision.compliance[touch->is.pair.node[k]];
    return contact->shorter * sum;
}

// Compliance only where touches share nodes that move.
static void set_compliance(const ct_model* model, ct_contact_work* contact) {
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
            bool moves = model->row[v] >= 0 || model->tree.node_link[v] >= 0;
            shared = shared || (moves && (contact->uses[v] > 1 || model->tree.node_link[v] >= 0));
        }
        touch->is.eps = shared ? shared_compliance * compliance_of(model, contact, touch) : 0;
    }
}

void ct_touch_measure(ct_touch* touch, double compliance) {
    if (touch->measured || !(compliance > 0)) return;
    touch->measured = true;
    touch->scale = 1 / compliance;
}

static void set_scale(const ct_model* model, const ct_contact_work* contact, ct_touch* touch) {
    double compliance = compliance_of(model, contact, touch);
    touch->scale = compliance > 0 ? 1 / compliance : 1;
}

ct_status ct_contact_add(const ct_model* model, ct_contact_work* contact, const ct_pairs* pairs,
                         const double* force_start) {
    size_t first = contact->count;
    contact->measured = 0;
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
        set_scale(model, contact, touch);
    }
    if (force_start) warm_start(contact, first, force_start);
    set_compliance(model, contact);
    return CT_OK;
}

ct_status ct_contact_restore(const ct_model* model, ct_contact_work* contact, const ct_touch_record* record,
                             size_t count) {
    if (!ct_reserve((void**)&contact->touch, &contact->capacity, count, sizeof *contact->touch))
        return CT_OUT_OF_MEMORY;
    contact->count = count;
    for (size_t i = 0; i < count; i++) {
        ct_touch* touch = &contact->touch[i];
        memset(touch, 0, sizeof *touch);
        touch->is = record[i];
        touch->at.count = node_count(&touch->is.pair);
        set_scale(model, contact, touch);
    }
    return CT_OK;
}

void ct_contact_place(const ct_model* model, ct_contact_work* contact, const double* x, bool derivatives) {
    (void)model;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        ct_contact_geometry_at(&touch->is.pair, motion_of(contact, &touch->is.pair), contact->x_start, x,
                               derivatives, &touch->at);
    }
}

void ct_contact_forces(const ct_model* model, ct_contact_work* contact) {
    memset(contact->nodal, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                contact->nodal[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * touch->is.force[a];
    }
}

// ---- the law -------------------------------------------------------------------------------

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double ct_touch_overshoot(const ct_touch* touch) {
    const double* w = touch->at.w;
    switch (touch->is.pair.type) {
    case CT_CONTACT_TYPE_VERTEX_FACE: return fmax(w[1], fmax(w[2], w[3]));
    case CT_CONTACT_TYPE_EDGE_EDGE: return fmax(fmax(-w[0], -w[1]), fmax(w[2], w[3]));
    case CT_CONTACT_TYPE_POINT_EDGE: return fmax(w[1], w[2]);
    default: return 0;
    }
}

bool ct_touch_away(const ct_touch* touch) { return ct_touch_overshoot(touch) > away; }

typedef struct law {
    double normal;      // n.a
    double tangent[3];  // P a
    double size;        // |P a|
    double s[3];        // n g + P u + eps F
} law;

static law evaluate(const ct_touch* touch) {
    const double *n = touch->at.n, *F = touch->is.force, *u = touch->at.u;
    law out;
    double un = dot3(n, u), a[3];
    for (int i = 0; i < 3; i++) {
        out.s[i] = n[i] * touch->at.gap + (u[i] - un * n[i]) + touch->is.eps * F[i];
        a[i] = F[i] - touch->scale * out.s[i];
    }
    out.normal = dot3(n, a);
    for (int i = 0; i < 3; i++) out.tangent[i] = a[i] - out.normal * n[i];
    out.size = sqrt(dot3(out.tangent, out.tangent));
    return out;
}

static ct_contact_set set_of(const ct_touch* touch, const law* law) {
    double mu = touch->is.pair.friction;
    return ct_touch_away(touch) || law->normal <= 0 ? CT_CONTACT_SET_OPEN
           : law->size <= mu * law->normal          ? CT_CONTACT_SET_STICK
                                                    : CT_CONTACT_SET_SLIP;
}

int ct_contact_classify(ct_contact_work* contact) {
    int changed = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        law at = evaluate(touch);
        ct_contact_set set = set_of(touch, &at);
        changed += set != touch->is.set;
        touch->is.set = set;
    }
    return changed;
}

static void residual_of(const ct_touch* touch, const law* at, ct_contact_set set, double R[3]) {
    const double *n = touch->at.n, *F = touch->is.force;
    double FN = dot3(n, F), mu = touch->is.pair.friction;
    for (int i = 0; i < 3; i++) {
        if (set == CT_CONTACT_SET_OPEN) R[i] = F[i];
        else if (set == CT_CONTACT_SET_STICK) R[i] = touch->scale * at->s[i];
        else
            R[i] = touch->scale * n[i] * (touch->at.gap + touch->is.eps * FN) + F[i] - FN * n[i] -
                   (at->size > 0 ? mu * FN * at->tangent[i] / at->size : 0);
    }
}

void ct_contact_residual(const ct_touch* touch, double R[3]) {
    law at = evaluate(touch);
    residual_of(touch, &at, touch->is.set, R);
}

double ct_contact_natural(const ct_contact_work* contact) {
    double sum = 0;
    for (size_t i = 0; i < contact->count; i++) {
        law at = evaluate(&contact->touch[i]);
        double R[3];
        residual_of(&contact->touch[i], &at, set_of(&contact->touch[i], &at), R);
        sum += dot3(R, R);
    }
    return sqrt(sum);
}

double ct_touch_margin(const ct_touch* touch) {
    law at = evaluate(touch);
    if (ct_touch_away(touch)) return INFINITY;
    double cone = at.normal > 0 ? fabs(at.size - touch->is.pair.friction * at.normal) : INFINITY;
    return fmin(fabs(at.normal), cone);
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

// A column of dP v = -(dn (n.v) + n (dn.v)).
static void turn_projection(const double n[3], const double dn[3], const double v[3], double out[3]) {
    double along = dot3(n, v), turn = dot3(dn, v);
    for (int a = 0; a < 3; a++) out[a] = -(dn[a] * along + n[a] * turn);
}

// The column of a stick row for the changes dn, du, dg.
static void stick_column(const ct_touch* touch, const double dn[3], const double du[3], double dg,
                         double out[3]) {
    const double *n = touch->at.n, *u = touch->at.u;
    double turn[3], along = dot3(n, du);
    turn_projection(n, dn, u, turn);
    for (int a = 0; a < 3; a++)
        out[a] = touch->scale * (n[a] * dg + dn[a] * touch->at.gap + du[a] - along * n[a] + turn[a]);
}

// The same of a slip row. d(P a) = P dv + dP v with v = F - r (u + eps F), dv = -r du.
static void slip_column(const ct_touch* touch, const law* at, const double dn[3], const double du[3],
                        double dg, double out[3]) {
    const double *n = touch->at.n, *u = touch->at.u, *F = touch->is.force;
    double r = touch->scale, eps = touch->is.eps, mu = touch->is.pair.friction;
    double FN = dot3(n, F), dFN = dot3(dn, F), v[3], dv[3], turn[3], dP_F[3];
    for (int a = 0; a < 3; a++) v[a] = F[a] - r * (u[a] + eps * F[a]), dv[a] = -r * du[a];
    turn_projection(n, dn, v, turn);
    turn_projection(n, dn, F, dP_F);
    double along = dot3(n, dv), tau[3], dt[3];
    for (int a = 0; a < 3; a++) {
        tau[a] = at->tangent[a] / at->size;
        dt[a] = dv[a] - along * n[a] + turn[a];
    }
    double radial = dot3(tau, dt);
    for (int a = 0; a < 3; a++) {
        double dtau = (dt[a] - radial * tau[a]) / at->size;
        out[a] = r * (n[a] * (dg + eps * dFN) + dn[a] * (touch->at.gap + eps * FN)) + dP_F[a] -
                 mu * (dFN * tau[a] + FN * dtau);
    }
}

static void linearise_force(ct_touch* touch, const law* at) {
    const double* n = touch->at.n;
    double r = touch->scale, eps = touch->is.eps, mu = touch->is.pair.friction;
    double FN = dot3(n, touch->is.force);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double unit = i == j, P = unit - n[i] * n[j];
            if (touch->is.set == CT_CONTACT_SET_STICK) {
                touch->dF[i][j] = r * eps * unit;
                touch->D[i][j] = r * unit;
                continue;
            }
            double tau_i = at->tangent[i] / at->size, tau_j = at->tangent[j] / at->size;
            double turn = mu * FN / at->size * (P - tau_i * tau_j);
            touch->dF[i][j] = r * eps * n[i] * n[j] + P - mu * tau_i * n[j] - turn * (1 - r * eps);
            touch->D[i][j] = r * n[i] * n[j] + r * turn;
        }
}

static void linearise_touch(ct_touch* touch) {
    law at = evaluate(touch);
    const ct_contact_geometry* geometry = &touch->at;
    linearise_force(touch, &at);
    const double zero[3] = {0, 0, 0};
    for (int c = 0; c < 3 * geometry->count; c++) {
        double dn[3], du[3], start[3], out[3];
        for (int a = 0; a < 3; a++)
            dn[a] = geometry->dn[a][c], du[a] = geometry->du[a][c], start[a] = geometry->du_start[a][c];
        double dg = geometry->w[c / 3] * geometry->n[c % 3];
        if (touch->is.set == CT_CONTACT_SET_STICK) stick_column(touch, dn, du, dg, out);
        else slip_column(touch, &at, dn, du, dg, out);
        for (int a = 0; a < 3; a++) touch->dx[a][c] = out[a];
        if (touch->is.set == CT_CONTACT_SET_STICK) stick_column(touch, zero, start, 0, out);
        else slip_column(touch, &at, zero, start, 0, out);
        for (int a = 0; a < 3; a++) touch->dx_start[a][c] = out[a];
    }
}

int ct_contact_linearise(ct_contact_work* contact) {
    int slots = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        touch->slot = touch->is.set == CT_CONTACT_SET_OPEN ? -1 : slots++;
        if (touch->slot >= 0) linearise_touch(touch);
    }
    return slots;
}

void ct_contact_product(const ct_contact_work* contact, const double* dx, const double* dF, double* out_nodes,
                        double* out_rows) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        if (touch->slot < 0) continue;
        int count = touch->at.count;
        const double *f = dF + 3 * touch->slot, *F = touch->is.force;
        double local[12], dw[4] = {0}, *row = out_rows + 3 * touch->slot;
        for (int k = 0; k < count; k++)
            for (int a = 0; a < 3; a++) local[3 * k + a] = dx[3 * touch->is.pair.node[k] + a];
        for (int a = 0; a < 3; a++)
            row[a] = touch->dF[a][0] * f[0] + touch->dF[a][1] * f[1] + touch->dF[a][2] * f[2];
        for (int c = 0; c < 3 * count; c++) {
            for (int a = 0; a < 3; a++) row[a] += touch->dx[a][c] * local[c];
            for (int k = 0; k < count; k++) dw[k] += touch->at.dw[k][c] * local[c];
        }
        for (int k = 0; k < count; k++)
            for (int a = 0; a < 3; a++)
                out_nodes[3 * touch->is.pair.node[k] + a] -= touch->at.w[k] * f[a] + dw[k] * F[a];
    }
}

void ct_touch_transposed(const ct_touch* touch, const double* lam, const double* lam_F, double* out_nodes,
                         double* out_F) {
    int count = touch->at.count;
    double pull[4];  // lam_k . F
    for (int a = 0; out_F && a < 3; a++)
        out_F[a] = touch->dF[0][a] * lam_F[0] + touch->dF[1][a] * lam_F[1] + touch->dF[2][a] * lam_F[2];
    for (int k = 0; k < count; k++) {
        const double* node = lam + 3 * touch->is.pair.node[k];
        pull[k] = dot3(node, touch->is.force);
        for (int a = 0; out_F && a < 3; a++) out_F[a] -= touch->at.w[k] * node[a];
    }
    for (int c = 0; c < 3 * count; c++) {
        double sum = touch->dx[0][c] * lam_F[0] + touch->dx[1][c] * lam_F[1] + touch->dx[2][c] * lam_F[2];
        for (int k = 0; k < count; k++) sum -= touch->at.dw[k][c] * pull[k];
        out_nodes[3 * touch->is.pair.node[c / 3] + c % 3] += sum;
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

void ct_contact_friction_slope(const ct_touch* touch, double slope[3]) {
    law at = evaluate(touch);
    double FN = dot3(touch->at.n, touch->is.force);
    for (int a = 0; a < 3; a++) slope[a] = -FN * at.tangent[a] / at.size;
}
