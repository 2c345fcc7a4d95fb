// External forces, prescribed motion and their controls; see external.h.
#include "step/external.h"

#include <math.h>
#include <string.h>

#include "force/water.h"
#include "math/rotation.h"

// ---- forces --------------------------------------------------------------------------------

static bool acts(const ct_model* model, const ct_force_def* def, double time) {
    double slack = 1e-9 * model->settings.time_step;  // times are sums of rounded steps
    return time >= def->start - slack && time < def->stop - slack;
}

static double set_mass(const ct_model* model, const int* node, int nnode) {
    double mass = 0;
    for (int k = 0; k < nnode; k++) mass += model->mass[node[k]];
    return mass;
}

static void add_force(const ct_model* model, const int* node, int nnode, ct_force_kind kind,
                      const double vector[3], double* force) {
    double total = kind == CT_FORCE_TOTAL ? set_mass(model, node, nnode) : 1;
    for (int k = 0; k < nnode; k++) {
        double weight = kind == CT_FORCE_PER_NODE ? 1 : model->mass[node[k]] / total;
        for (int a = 0; a < 3; a++) force[3 * node[k] + a] += weight * vector[a];
    }
}

// Returns d(force . force_bar)/d vector in vector_bar (added, may be NULL) and adds that with respect to the
// masses.
static void add_force_vjp(const ct_model* model, const int* node, int nnode, ct_force_kind kind,
                          const double vector[3], const double* force_bar, double* mass_bar,
                          double* vector_bar) {
    double total = kind == CT_FORCE_TOTAL ? set_mass(model, node, nnode) : 1, power = 0;
    for (int k = 0; k < nnode; k++) {
        const double* bar = force_bar + 3 * node[k];
        double weight = kind == CT_FORCE_PER_NODE ? 1 : model->mass[node[k]] / total;
        double along = vector[0] * bar[0] + vector[1] * bar[1] + vector[2] * bar[2];
        power += weight * along;
        if (mass_bar && kind != CT_FORCE_PER_NODE) mass_bar[node[k]] += along / total;
        for (int a = 0; vector_bar && a < 3; a++) vector_bar[a] += weight * bar[a];
    }
    // the share m_i / sum m also falls when another node grows heavier
    if (mass_bar && kind == CT_FORCE_TOTAL)
        for (int k = 0; k < nnode; k++) mass_bar[node[k]] -= power / total;
}

void ct_external_forces(const ct_model* model, double time, const double* control, double* force) {
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; a < 3; a++) force[3 * v + a] = model->mass[v] * model->settings.gravity[a];
    for (int i = 0; i < model->inputs.nforce; i++) {
        const ct_scene_force* f = &model->inputs.force[i];
        if (acts(model, &f->def, time))
            add_force(model, f->node, f->nnode, f->def.kind, f->def.vector, force);
    }
    for (int i = 0; control && i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        if (c->kind == CT_CONTROL_FORCE)
            add_force(model, c->node, c->nnode, CT_FORCE_TOTAL, control + model->inputs.control_first[i],
                      force);
    }
    ct_water_buoyancy(model->families.of[CT_FAMILY_WATER], force);
}

void ct_external_forces_vjp(const ct_model* model, double time, const double* control,
                            const double* force_bar, double* mass_bar, double* gravity_bar,
                            double* control_bar) {
    const double zero[3] = {0, 0, 0};
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; model->mass[v] > 0 && a < 3; a++) {  // what is in inertia alone has no weight
            if (mass_bar) mass_bar[v] += model->settings.gravity[a] * force_bar[3 * v + a];
            if (gravity_bar) gravity_bar[a] += model->mass[v] * force_bar[3 * v + a];
        }
    for (int i = 0; i < model->inputs.nforce; i++) {
        const ct_scene_force* f = &model->inputs.force[i];
        if (acts(model, &f->def, time))
            add_force_vjp(model, f->node, f->nnode, f->def.kind, f->def.vector, force_bar, mass_bar, NULL);
    }
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        int first = model->inputs.control_first[i];
        if (c->kind == CT_CONTROL_FORCE)
            add_force_vjp(model, c->node, c->nnode, CT_FORCE_TOTAL, control ? control + first : zero,
                          force_bar, mass_bar, control_bar ? control_bar + first : NULL);
    }
}

void ct_external_forces_jvp(const ct_model* model, const double* control_dot, double* force_dot) {
    memset(force_dot, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        if (c->kind == CT_CONTROL_FORCE)
            add_force(model, c->node, c->nnode, CT_FORCE_TOTAL, control_dot + model->inputs.control_first[i],
                      force_dot);
    }
}

// ---- mounts --------------------------------------------------------------------------------

static void store_quat(ct_quat q, double* out) {
    const double values[4] = {q.w, q.x, q.y, q.z};
    memcpy(out, values, sizeof values);
}

static void add_vector(double* out, ct_vec3 v) { ct_vec3_store(out, ct_vec3_add(ct_vec3_load(out), v)); }

void ct_mounts_move(const ct_model* model, const double* before, const double* control, double* mount) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (model->inputs.mount[i] < 0) continue;
        const double zero[6] = {0}, *u = control ? control + model->inputs.control_first[i] : zero,
                     *from = before + 7 * model->inputs.mount[i];
        double* to = mount + 7 * model->inputs.mount[i];
        ct_vec3_store(to, ct_vec3_add(ct_vec3_load(from), ct_vec3_load(u)));
        store_quat(ct_quat_normalise(
                       ct_quat_multiply(ct_quat_from_vector(ct_vec3_load(u + 3)), ct_quat_load(from + 3))),
                   to + 3);
    }
}

void ct_mounts_move_vjp(const ct_model* model, const double* control, double* mount_bar,
                        double* control_bar) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (model->inputs.mount[i] < 0) continue;
        const double zero[6] = {0}, *u = control ? control + model->inputs.control_first[i] : zero;
        double *bar = mount_bar + 6 * model->inputs.mount[i],
               *u_bar = control_bar + model->inputs.control_first[i];
        ct_vec3 w = ct_vec3_load(u + 3), r_bar = ct_vec3_load(bar + 3);
        add_vector(u_bar, ct_vec3_load(bar));
        add_vector(u_bar + 3, ct_mat3_apply(ct_mat3_transpose(ct_rotation_jacobian(w)), r_bar));
        ct_vec3_store(bar + 3, ct_quat_rotate(ct_quat_conjugate(ct_quat_from_vector(w)), r_bar));
    }
}

void ct_mounts_move_jvp(const ct_model* model, const double* control, const double* control_dot,
                        double* mount_dot) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (model->inputs.mount[i] < 0) continue;
        const int first = model->inputs.control_first[i];
        const double zero[6] = {0}, *u = control ? control + first : zero, *u_dot = control_dot + first;
        double* dot = mount_dot + 6 * model->inputs.mount[i];
        ct_vec3 w = ct_vec3_load(u + 3),
                turned = ct_quat_rotate(ct_quat_from_vector(w), ct_vec3_load(dot + 3));
        add_vector(dot, ct_vec3_load(u_dot));
        ct_vec3_store(dot + 3,
                      ct_vec3_add(turned, ct_mat3_apply(ct_rotation_jacobian(w), ct_vec3_load(u_dot + 3))));
    }
}

// ---- what controls add to a motion: a translation s and a rotation Q ---------------------------

typedef struct offset {
    ct_vec3 s;
    ct_quat Q;
} offset;

static bool moves(const ct_scene_control* control) {
    return control->kind == CT_CONTROL_DRIVE || control->kind == CT_CONTROL_MOVE;
}

static offset offset_of(const ct_model* model, int index, const double* control, const double* mount) {
    if (model->inputs.mount[index] >= 0) {
        const double* pose = mount + 7 * model->inputs.mount[index];
        return (offset){ct_vec3_load(pose), ct_quat_load(pose + 3)};
    }
    const double zero[6] = {0}, *u = control ? control + model->inputs.control_first[index] : zero;
    return (offset){ct_vec3_load(u), ct_quat_from_vector(ct_vec3_load(u + 3))};
}

// s_bar, and r_bar by rotations Q <- exp(r) Q, to where the offset came from.
static void offset_vjp(const ct_model* model, int index, const double* control, ct_vec3 s_bar, ct_vec3 r_bar,
                       double* control_bar, double* mount_bar) {
    bool mounted = model->inputs.mount[index] >= 0;
    double* out = mounted ? mount_bar + 6 * model->inputs.mount[index]
                          : control_bar + model->inputs.control_first[index];
    if (!mounted) {
        const double zero[6] = {0}, *u = control ? control + model->inputs.control_first[index] : zero;
        r_bar = ct_mat3_apply(ct_mat3_transpose(ct_rotation_jacobian(ct_vec3_load(u + 3))), r_bar);
    }
    add_vector(out, s_bar);
    add_vector(out + 3, r_bar);
}

// What the offset changes by: a translation and a rotation Q <- exp(r) Q.
typedef struct offset_dot {
    ct_vec3 s, r;
} offset_dot;

static offset_dot offset_jvp(const ct_model* model, int index, const double* control,
                             const double* control_dot, const double* mount_dot) {
    if (model->inputs.mount[index] >= 0) {
        const double* dot = mount_dot + 6 * model->inputs.mount[index];
        return (offset_dot){ct_vec3_load(dot), ct_vec3_load(dot + 3)};
    }
    const int first = model->inputs.control_first[index];
    const double zero[6] = {0}, *u = control ? control + first : zero, *dot = control_dot + first;
    return (offset_dot){ct_vec3_load(dot),
                        ct_mat3_apply(ct_rotation_jacobian(ct_vec3_load(u + 3)), ct_vec3_load(dot + 3))};
}

// Which control moves the drive, or the root `link`; -1: none.
static int mover_of(const ct_model* model, int drive, int link) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        if (moves(c) && (drive >= 0 ? c->drive == drive : c->link == link)) return i;
    }
    return -1;
}

// ---- prescribed motion ---------------------------------------------------------------------

// x <- center + Q (x - center) + s.
static void displace(const double center[3], offset o, double x[3]) {
    ct_vec3 c = ct_vec3_load(center), turned = ct_quat_rotate(o.Q, ct_vec3_sub(ct_vec3_load(x), c));
    ct_vec3_store(x, ct_vec3_add(ct_vec3_add(c, turned), o.s));
}

bool ct_external_is_steered(const ct_model* model, int drive) { return mover_of(model, drive, -1) >= 0; }

void ct_external_drive(const ct_model* model, double time, const double* control, const double* mount,
                       double* x) {
    for (int i = 0; i < model->inputs.ndrive; i++) {
        const ct_scene_driver* drive = &model->inputs.drive[i];
        int mover = mover_of(model, i, -1);
        bool offset_there = mover >= 0 && (control || model->inputs.mount[mover] >= 0);
        offset o = offset_there ? offset_of(model, mover, control, mount) : (offset){0};
        for (int k = 0; k < drive->nnode; k++) {
            size_t at = 3 * (size_t)drive->node[k];
            ct_scene_drive_position(drive, time, model->geometry.rest + at, x + at);
            if (offset_there) displace(drive->center, o, x + at);
        }
    }
}

void ct_external_drive_vjp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* x_bar, double* control_bar, double* mount_bar) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (!moves(&model->inputs.control[i]) || model->inputs.control[i].drive < 0) continue;
        const ct_scene_driver* drive = &model->inputs.drive[model->inputs.control[i].drive];
        offset o = offset_of(model, i, control, mount);
        ct_vec3 foot = ct_vec3_add(ct_vec3_load(drive->center), o.s), force = {0, 0, 0}, torque = {0, 0, 0};
        for (int k = 0; k < drive->nnode; k++) {
            size_t at = 3 * (size_t)drive->node[k];
            double x[3];
            ct_scene_drive_position(drive, time, model->geometry.rest + at, x);
            displace(drive->center, o, x);
            ct_vec3 bar = ct_vec3_load(x_bar + at);
            force = ct_vec3_add(force, bar);
            torque = ct_vec3_add(torque, ct_vec3_cross(ct_vec3_sub(ct_vec3_load(x), foot), bar));
        }
        offset_vjp(model, i, control, force, torque, control_bar, mount_bar);
    }
}

void ct_external_drive_jvp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* control_dot, const double* mount_dot, double* x_dot) {
    memset(x_dot, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (!moves(&model->inputs.control[i]) || model->inputs.control[i].drive < 0) continue;
        const ct_scene_driver* drive = &model->inputs.drive[model->inputs.control[i].drive];
        offset o = offset_of(model, i, control, mount);
        offset_dot d = offset_jvp(model, i, control, control_dot, mount_dot);
        ct_vec3 foot = ct_vec3_add(ct_vec3_load(drive->center), o.s);
        for (int k = 0; k < drive->nnode; k++) {
            size_t at = 3 * (size_t)drive->node[k];
            double x[3];
            ct_scene_drive_position(drive, time, model->geometry.rest + at, x);
            displace(drive->center, o, x);
            add_vector(x_dot + at, ct_vec3_add(d.s, ct_vec3_cross(d.r, ct_vec3_sub(ct_vec3_load(x), foot))));
        }
    }
}

// ---- driven roots --------------------------------------------------------------------------

// p = c + Q u_m + s, R = Q R_m, with (u_m, R_m) of the motion.
void ct_external_roots(const ct_model* model, double time, const double* control, const double* mount,
                       double* pose) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        if (tree->root[k] < 0) continue;
        const ct_scene_driver* motion = &model->inputs.root_motion[tree->root[k]];
        int mover = mover_of(model, -1, k);
        double shift[3], turn[3], *out = pose + 7 * tree->root[k];
        ct_scene_drive_vectors(motion, time, shift, turn);
        ct_vec3 moved = ct_vec3_load(shift);
        ct_quat R = ct_quat_from_vector(ct_vec3_load(turn));
        if (mover >= 0) {
            offset o = offset_of(model, mover, control, mount);
            moved = ct_vec3_add(ct_quat_rotate(o.Q, moved), o.s);
            R = ct_quat_normalise(ct_quat_multiply(o.Q, R));
        }
        ct_vec3_store(out, ct_vec3_add(ct_vec3_load(motion->center), moved));
        store_quat(R, out + 3);
    }
}

void ct_external_roots_vjp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* pose_bar, double* control_bar, double* mount_bar) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (!moves(&model->inputs.control[i]) || model->inputs.control[i].link < 0) continue;
        int root = model->tree.root[model->inputs.control[i].link];
        double shift[3], turn[3];
        ct_scene_drive_vectors(&model->inputs.root_motion[root], time, shift, turn);
        ct_vec3 p_bar = ct_vec3_load(pose_bar + 6 * root), r_bar = ct_vec3_load(pose_bar + 6 * root + 3);
        ct_vec3 moved = ct_quat_rotate(offset_of(model, i, control, mount).Q, ct_vec3_load(shift));
        offset_vjp(model, i, control, p_bar, ct_vec3_add(r_bar, ct_vec3_cross(moved, p_bar)), control_bar,
                   mount_bar);
    }
}

void ct_external_roots_jvp(const ct_model* model, double time, const double* control, const double* mount,
                           const double* control_dot, const double* mount_dot, double* pose_dot) {
    memset(pose_dot, 0, 6 * (size_t)model->tree.nroot * sizeof(double));
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        if (!moves(&model->inputs.control[i]) || model->inputs.control[i].link < 0) continue;
        int root = model->tree.root[model->inputs.control[i].link];
        double shift[3], turn[3];
        ct_scene_drive_vectors(&model->inputs.root_motion[root], time, shift, turn);
        ct_vec3 moved = ct_quat_rotate(offset_of(model, i, control, mount).Q, ct_vec3_load(shift));
        offset_dot d = offset_jvp(model, i, control, control_dot, mount_dot);
        add_vector(pose_dot + 6 * root, ct_vec3_add(d.s, ct_vec3_cross(d.r, moved)));
        add_vector(pose_dot + 6 * root + 3, d.r);
    }
}

void ct_external_roots_between(const ct_model* model, const double* start, const double* end, double fraction,
                               double* pose) {
    for (int i = 0; i < model->tree.nroot; i++) {
        const double *a = start + 7 * i, *b = end + 7 * i;
        double* out = pose + 7 * i;
        memcpy(out, b, 7 * sizeof(double));
        if (fraction == 1) continue;
        ct_vec3 theta = ct_rotation_between(ct_quat_load(a + 3), ct_quat_load(b + 3));
        ct_quat R =
            ct_quat_multiply(ct_quat_from_vector(ct_vec3_scale(fraction, theta)), ct_quat_load(a + 3));
        const double values[4] = {R.w, R.x, R.y, R.z};
        for (int k = 0; k < 3; k++) out[k] = (1 - fraction) * a[k] + fraction * b[k];
        memcpy(out + 3, values, sizeof values);
    }
}

void ct_external_roots_between_vjp(const ct_model* model, const double* start, const double* end,
                                   double fraction, const double* pose_bar, double* start_bar,
                                   double* end_bar) {
    for (int i = 0; i < model->tree.nroot; i++) {
        double *a_bar = start_bar + 6 * i, *b_bar = end_bar + 6 * i;
        const double* bar = pose_bar + 6 * i;
        if (fraction == 1) {
            for (int k = 0; k < 6; k++) b_bar[k] += bar[k];
            continue;
        }
        for (int k = 0; k < 3; k++) {
            a_bar[k] += (1 - fraction) * bar[k];
            b_bar[k] += fraction * bar[k];
        }
        ct_vec3 theta = ct_rotation_between(ct_quat_load(start + 7 * i + 3), ct_quat_load(end + 7 * i + 3)),
                r_bar = ct_vec3_load(bar + 3);
        ct_vec3 part = ct_vec3_scale(fraction, theta);
        ct_mat3 inverse = ct_rotation_jacobian_inverse(theta);
        ct_vec3 theta_bar =
            ct_vec3_scale(fraction, ct_mat3_apply(ct_mat3_transpose(ct_rotation_jacobian(part)), r_bar));
        ct_vec3 a_turn = ct_vec3_sub(ct_quat_rotate(ct_quat_conjugate(ct_quat_from_vector(part)), r_bar),
                                     ct_mat3_apply(inverse, theta_bar));
        ct_vec3 b_turn = ct_mat3_apply(ct_mat3_transpose(inverse), theta_bar);
        ct_vec3_store(a_bar + 3, ct_vec3_add(ct_vec3_load(a_bar + 3), a_turn));
        ct_vec3_store(b_bar + 3, ct_vec3_add(ct_vec3_load(b_bar + 3), b_turn));
    }
}

void ct_external_roots_between_jvp(const ct_model* model, const double* start, const double* end,
                                   double fraction, const double* start_dot, const double* end_dot,
                                   double* pose_dot) {
    memcpy(pose_dot, end_dot, 6 * (size_t)model->tree.nroot * sizeof(double));
    for (int i = 0; fraction != 1 && i < model->tree.nroot; i++) {
        const double *a = start_dot + 6 * i, *b = end_dot + 6 * i;
        double* dot = pose_dot + 6 * i;
        ct_vec3 theta = ct_rotation_between(ct_quat_load(start + 7 * i + 3), ct_quat_load(end + 7 * i + 3));
        ct_vec3 part = ct_vec3_scale(fraction, theta), a_turn = ct_vec3_load(a + 3);
        ct_mat3 inverse = ct_rotation_jacobian_inverse(theta);
        ct_vec3 change = ct_vec3_sub(ct_mat3_apply(inverse, ct_vec3_load(b + 3)),
                                     ct_mat3_apply(ct_mat3_transpose(inverse), a_turn));
        for (int k = 0; k < 3; k++) dot[k] = (1 - fraction) * a[k] + fraction * b[k];
        ct_vec3_store(dot + 3, ct_vec3_axpy(ct_quat_rotate(ct_quat_from_vector(part), a_turn), fraction,
                                            ct_mat3_apply(ct_rotation_jacobian(part), change)));
    }
}

// ---- torques and servo targets -------------------------------------------------------------

static bool acts_on_joint(const ct_scene_control* control) {
    return control->kind == CT_CONTROL_TORQUE || control->kind == CT_CONTROL_TARGET;
}

void ct_external_joints(const ct_model* model, const double* control, ct_joint_work* joints) {
    ct_joints_release(&model->tree, joints);
    for (int i = 0; control && i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        const double* u = control + model->inputs.control_first[i];
        if (!acts_on_joint(c)) continue;
        int j = model->tree.dof[c->link];
        for (int a = 0; a < c->size; a++) {
            if (c->kind == CT_CONTROL_TARGET) joints->target[j + a] = u[a];
            else joints->torque[j + a] += u[a];
        }
    }
}

void ct_external_joints_vjp(const ct_model* model, const double* torque_bar, const double* target_bar,
                            double* control_bar) {
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        if (!acts_on_joint(c)) continue;
        const double* bar =
            (c->kind == CT_CONTROL_TARGET ? target_bar : torque_bar) + model->tree.dof[c->link];
        for (int a = 0; a < c->size; a++) control_bar[model->inputs.control_first[i] + a] += bar[a];
    }
}

void ct_external_joints_jvp(const ct_model* model, const double* control_dot, double* torque_dot,
                            double* target_dot) {
    const size_t bytes = (size_t)model->tree.ndof * sizeof(double);
    if (!bytes) return;
    memset(torque_dot, 0, bytes);
    memset(target_dot, 0, bytes);
    for (int i = 0; i < model->inputs.ncontrol; i++) {
        const ct_scene_control* c = &model->inputs.control[i];
        const double* u = control_dot + model->inputs.control_first[i];
        if (!acts_on_joint(c)) continue;
        double* out = (c->kind == CT_CONTROL_TARGET ? target_dot : torque_dot) + model->tree.dof[c->link];
        for (int a = 0; a < c->size; a++) out[a] += u[a];
    }
}
