// Kinematics of the skeletons; see config.h.
#include "skeleton/config.h"

#include <string.h>

#include "math/quat.h"

ct_status ct_config_create(ct_config* config, ct_arena* arena, const ct_tree* tree) {
    config->x = ct_arena_alloc(arena, 3 * (size_t)tree->nvert, sizeof(double));
    config->q = ct_arena_alloc(arena, (size_t)tree->ncoordinate, sizeof(double));
    config->frame = ct_arena_alloc(arena, 12 * (size_t)tree->nlink, sizeof(double));
    config->column = ct_arena_alloc(arena, 6 * (size_t)tree->ndof, sizeof(double));
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

void ct_config_rest(const ct_tree* tree, double* q) {
    for (int k = 0; k < tree->nlink; k++) ct_joint_rest(&tree->joint[k], q + tree->coordinate[k]);
}

// ---- frames and columns --------------------------------------------------------------------

static ct_mat3 frame_rotation(const double* frame) {
    return (ct_mat3){
        {{frame[0], frame[1], frame[2]}, {frame[3], frame[4], frame[5]}, {frame[6], frame[7], frame[8]}}};
}

static ct_vec3 frame_shift(const double* frame) { return (ct_vec3){frame[9], frame[10], frame[11]}; }

static ct_vec3 load(const double* p) { return (ct_vec3){p[0], p[1], p[2]}; }

// The frame that the joint of link k sits on. A driven root keeps the position p of its motion's centre c and
// a quaternion: x = R (X - c) + p.
static ct_joint_seat seat_of(const ct_tree* tree, int k, const ct_config* config) {
    ct_joint_seat seat = {.R = ct_mat3_identity(), .origin = load(tree->origin)};
    if (tree->parent[k] >= 0) {
        seat.R = frame_rotation(config->frame + 12 * tree->parent[k]);
        seat.t = frame_shift(config->frame + 12 * tree->parent[k]);
    } else if (tree->root[k] >= 0) {
        const double* pose = config->q + tree->root_coordinate + 7 * tree->root[k];
        seat.R = ct_quat_matrix(ct_quat_load(pose + 3));
        seat.t = ct_vec3_sub(load(pose), ct_mat3_apply(seat.R, load(tree->root_center + 3 * tree->root[k])));
    }
    return seat;
}

ct_mat3 ct_config_seat_rotation(const ct_tree* tree, const ct_config* config, int k) {
    return seat_of(tree, k, config).R;
}

// Turns the vectors of a spatial joint, copies the numbers of another.
static void turn_tangent(const ct_tree* tree, const ct_config* config, int k, bool to_world,
                         const double* from, double* to) {
    int count = tree->type[k]->ndof;
    if (!tree->type[k]->spatial) {
        for (int i = 0; i < count; i++) to[i] = from[i];
        return;
    }
    ct_mat3 R = ct_config_seat_rotation(tree, config, k);
    if (!to_world) R = ct_mat3_transpose(R);
    for (int i = 0; i < count; i += 3) ct_vec3_store(to + i, ct_mat3_apply(R, load(from + i)));
}

void ct_config_to_world(const ct_tree* tree, const ct_config* config, const double* tangent, double* rate) {
    for (int k = 0; k < tree->nlink; k++)
        turn_tangent(tree, config, k, true, tangent + tree->dof[k], rate + tree->dof[k]);
}

void ct_config_to_parents(const ct_tree* tree, const ct_config* config, const double* rate, double* tangent) {
    for (int k = 0; k < tree->nlink; k++)
        turn_tangent(tree, config, k, false, rate + tree->dof[k], tangent + tree->dof[k]);
}

void ct_config_pull_tangents(const ct_tree* tree, const ct_config* config, const double* tangent_bar,
                             double* r) {
    for (int k = 0; k < tree->nlink; k++) {
        double world[6];
        turn_tangent(tree, config, k, true, tangent_bar + tree->dof[k], world);
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++)
            r[j] += world[j - tree->dof[k]] / tree->scale[j];
    }
}

void ct_config_push_tangents(const ct_tree* tree, const ct_config* config, const double* dz,
                             double* tangent) {
    for (int k = 0; k < tree->nlink; k++) {
        double world[6];
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++)
            world[j - tree->dof[k]] = dz[j] / tree->scale[j];
        turn_tangent(tree, config, k, false, world, tangent + tree->dof[k]);
    }
}

// T = T_parent A: R = R_p Q, t = R_p (anchor + d - Q anchor) + t_p.
static void place_link(const ct_tree* tree, int k, const ct_joint_seat* seat, ct_config* config) {
    const ct_joint_def* joint = &tree->joint[k];
    double* frame = config->frame + 12 * k;
    ct_mat3 Q;
    ct_vec3 d, anchor = load(joint->anchor);
    tree->type[k]->motion(joint, config->q + tree->coordinate[k], &Q, &d);
    ct_vec3 shift = ct_vec3_add(d, ct_vec3_sub(anchor, ct_mat3_apply(Q, anchor)));
    shift = ct_vec3_add(ct_mat3_apply(seat->R, shift), seat->t);
    Q = ct_mat3_multiply(seat->R, Q);
    for (int i = 0; i < 9; i++) frame[i] = Q.a[i / 3][i % 3];
    ct_vec3_store(frame + 9, shift);
}

static void place_columns(const ct_tree* tree, int k, const ct_joint_seat* seat, ct_config* config) {
    for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
        ct_vec3 omega, v;
        tree->type[k]->twist(&tree->joint[k], config->q + tree->coordinate[k], seat, j - tree->dof[k], &omega,
                             &v);
        const double values[6] = {omega.x, omega.y, omega.z, v.x, v.y, v.z};
        for (int i = 0; i < 6; i++) config->column[6 * j + i] = values[i] / tree->scale[j];
    }
}

static void place_nodes(const ct_tree* tree, int k, ct_config* config) {
    ct_joint_seat seat = seat_of(tree, k, config);
    place_link(tree, k, &seat, config);
    place_columns(tree, k, &seat, config);
    ct_mat3 R = frame_rotation(config->frame + 12 * k);
    ct_vec3 t = frame_shift(config->frame + 12 * k);
    for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
        size_t at = 3 * (size_t)tree->node[i];
        ct_vec3_store(config->x + at, ct_vec3_add(ct_mat3_apply(R, load(tree->rest + at)), t));
    }
}

// Coordinates of joints that have rotors are numbers, one per rate.
static void place_rotors(const ct_tree* tree, ct_config* config) {
    for (int r = 0; r < tree->nrotor; r++) {
        const int j = tree->rotor_dof[r], k = tree->dof_link[j];
        const size_t at = 3 * (size_t)ct_tree_rotor_node(tree, r);
        memcpy(config->x + at, tree->rest + at, 3 * sizeof(double));
        config->x[at] += config->q[tree->coordinate[k] + j - tree->dof[k]];
    }
}

void ct_config_place(const ct_tree* tree, ct_config* config) {
    for (int k = 0; k < tree->nlink; k++) place_nodes(tree, k, config);
    place_rotors(tree, config);
}

void ct_config_move(const ct_tree* tree, const ct_config* config, double length, const double* dz,
                    double* q_new) {
    for (int k = 0; k < tree->nlink; k++) {
        int j = tree->dof[k], at = tree->coordinate[k];
        double d[6] = {0};
        ct_mat3 R = ct_config_seat_rotation(tree, config, k);
        for (int i = 0; i < tree->type[k]->ndof; i++) d[i] = length * dz[j + i] / tree->scale[j + i];
        ct_joint_move(tree->type[k], &R, d, config->q + at, q_new + at);
    }
    memcpy(q_new + tree->root_coordinate, config->q + tree->root_coordinate,
           7 * (size_t)tree->nroot * sizeof(double));
}

// ---- B^T and B -----------------------------------------------------------------------------

void ct_config_pull_links(const ct_tree* tree, const ct_config* config, double* wrench, double* r) {
    for (int k = tree->nlink - 1; k >= 0; k--) {
        const double* own = wrench + 6 * k;
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
            const double* s = config->column + 6 * j;
            r[j] =
                s[0] * own[0] + s[1] * own[1] + s[2] * own[2] + s[3] * own[3] + s[4] * own[4] + s[5] * own[5];
        }
        for (int i = 0; tree->parent[k] >= 0 && i < 6; i++) wrench[6 * tree->parent[k] + i] += own[i];
    }
}

void ct_config_pull(const ct_tree* tree, const ct_config* config, const double* rho, double* wrench,
                    double* r) {
    ct_vec3 origin = load(tree->origin);
    for (int k = 0; k < tree->nlink; k++) {
        ct_vec3 moment = {0, 0, 0}, force = {0, 0, 0};
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 f = load(rho + at);
            moment = ct_vec3_add(moment, ct_vec3_cross(ct_vec3_sub(load(config->x + at), origin), f));
            force = ct_vec3_add(force, f);
        }
        const double values[6] = {moment.x, moment.y, moment.z, force.x, force.y, force.z};
        memcpy(wrench + 6 * k, values, sizeof values);
    }
    ct_config_pull_links(tree, config, wrench, r);
    for (int i = 0; i < tree->nrotor; i++) {
        const int j = tree->rotor_dof[i];
        r[j] += rho[3 * (size_t)ct_tree_rotor_node(tree, i)] / tree->scale[j];
    }
}

void ct_config_push_links(const ct_tree* tree, const ct_config* config, const double* dz, double* twist) {
    for (int k = 0; k < tree->nlink; k++) {
        double* own = twist + 6 * k;
        for (int i = 0; i < 6; i++) own[i] = tree->parent[k] >= 0 ? twist[6 * tree->parent[k] + i] : 0;
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++)
            for (int i = 0; i < 6; i++) own[i] += config->column[6 * j + i] * dz[j];
    }
}

void ct_config_push(const ct_tree* tree, const ct_config* config, const double* dz, double* twist,
                    double* dx) {
    ct_vec3 origin = load(tree->origin);
    ct_config_push_links(tree, config, dz, twist);
    for (int k = 0; k < tree->nlink; k++) {
        ct_vec3 omega = load(twist + 6 * k), v = load(twist + 6 * k + 3);
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 u = ct_vec3_add(v, ct_vec3_cross(omega, ct_vec3_sub(load(config->x + at), origin)));
            dx[at] += u.x;
            dx[at + 1] += u.y;
            dx[at + 2] += u.z;
        }
    }
    for (int i = 0; i < tree->nrotor; i++) {
        const int j = tree->rotor_dof[i];
        dx[3 * (size_t)ct_tree_rotor_node(tree, i)] += dz[j] / tree->scale[j];
    }
}

// ---- curvature -----------------------------------------------------------------------------

// K and f of every link's subtree: 9 + 3 numbers each.
static void subtree_moments(const ct_tree* tree, const ct_config* config, const double* rho,
                            double* moments) {
    memset(moments, 0, 12 * (size_t)tree->nlink * sizeof(double));
    for (int k = tree->nlink - 1; k >= 0; k--) {
        double* own = moments + 12 * k;
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const double *x = config->x + 3 * tree->node[i], *f = rho + 3 * tree->node[i];
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) own[3 * a + b] += (x[a] - tree->origin[a]) * f[b];
                own[9 + a] += f[a];
            }
        }
        for (int i = 0; tree->parent[k] >= 0 && i < 12; i++) moments[12 * tree->parent[k] + i] += own[i];
    }
}

// (K - tr K I) omega + v x f
static ct_vec3 carried(const double* moments, const double* column) {
    const double *K = moments, *w = column;
    double trace = K[0] + K[4] + K[8];
    ct_vec3 first = {K[0] * w[0] + K[1] * w[1] + K[2] * w[2] - trace * w[0],
                     K[3] * w[0] + K[4] * w[1] + K[5] * w[2] - trace * w[1],
                     K[6] * w[0] + K[7] * w[1] + K[8] * w[2] - trace * w[2]};
    return ct_vec3_add(first, ct_vec3_cross(load(column + 3), load(moments + 9)));
}

void ct_config_curvature(const ct_tree* tree, const ct_config* config, const double* rho, double* moments,
                         double* G) {
    size_t n = (size_t)tree->ndof;
    memset(G, 0, n * n * sizeof(double));
    subtree_moments(tree, config, rho, moments);
    for (int k = 0; k < tree->nlink; k++)
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
            ct_vec3 u = carried(moments + 12 * k, config->column + 6 * j);
            // the joint's own rates, then those of all joints above; those of a spatial one act at once, and
            // its translations are not turned by its rotation
            bool spatial = tree->type[k]->spatial,
                 translation = j - tree->dof[k] < tree->type[k]->ntranslation;
            for (int above = spatial && translation ? tree->parent[k] : k; above >= 0;
                 above = tree->parent[above])
                for (int i = tree->dof[above]; i < tree->dof[above + 1]; i++) {
                    if (above == k && !spatial && i > j) break;
                    double value = ct_vec3_dot(load(config->column + 6 * i), u);
                    if (above == k && (spatial || i == j)) value *= 0.5;
                    G[(size_t)i * n + (size_t)j] += value;
                    G[(size_t)j * n + (size_t)i] += value;
                }
        }
}

// The curvature is symmetric in a ball's own rates, but its rate w is given apart from its rotation: turned
// by dtheta the link moves with w x (dtheta x r), which differs from the symmetric part by 1/2 (w x dtheta) x
// r.
static void own_turn(const ct_tree* tree, const double* rate, const double* r, double* position) {
    memset(position, 0, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        int j = tree->dof[k + 1] - 3;
        if (!tree->type[k]->spatial) continue;
        ct_vec3 moment = ct_vec3_scale(tree->scale[j], load(r + j));
        ct_vec3_store(position + j, ct_vec3_scale(0.5, ct_vec3_cross(moment, load(rate + j))));
    }
}

void ct_config_start_vjp(const ct_tree* tree, const ct_config* config, const double* rate,
                         const double* x_bar, const double* v_bar, ct_config_scratch* scratch,
                         double* position_bar, double* velocity_bar) {
    size_t n = (size_t)tree->ndof;
    double *r = scratch->r, *G = scratch->G;
    ct_config_pull(tree, config, v_bar, scratch->wrench, r);
    if (velocity_bar) {
        for (size_t j = 0; j < n; j++) velocity_bar[j] = r[j] * tree->scale[j];
        ct_config_to_parents(tree, config, velocity_bar, velocity_bar);
    }
    if (!position_bar) return;
    own_turn(tree, rate, r, position_bar);
    ct_config_pull(tree, config, x_bar, scratch->wrench, r);
    ct_config_curvature(tree, config, v_bar, scratch->moments, G);
    for (size_t i = 0; i < n; i++) {
        double sum = r[i];
        for (size_t j = 0; j < n; j++) sum += G[i * n + j] * rate[j] * tree->scale[j];
        position_bar[i] += sum * tree->scale[i];
    }
    ct_config_to_parents(tree, config, position_bar, position_bar);
}
