// Rooms of nodes. See detect_rooms.h.
#include "contact/detect_rooms.h"

#include "math/svd3.h"

#define FORESIGHT 0.25  // of the way: how much farther
#define AHEAD 0.4       // of the mean edge: ways up to which the next two steps are foreseen
#define WIDE 4          // rooms that are so much larger than they need be are made anew

static ct_vec3 mean_of(const double* x, const ct_bvh* nodes) {
    ct_vec3 sum = {0, 0, 0};
    for (int i = 0; i < nodes->count; i++)
        sum = ct_vec3_add(sum, ct_vec3_load(x + 3 * (size_t)nodes->item[i]));
    return ct_vec3_scale(1.0 / nodes->count, sum);
}

// How the nodes at x are turned against X, whose mean is `center`.
static ct_mat3 turn_of(const double* X, ct_vec3 center, const double* x, const ct_bvh* nodes) {
    const ct_vec3 mean = mean_of(x, nodes);
    ct_mat3 H = {0};
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        const ct_vec3 r = ct_vec3_sub(ct_vec3_load(x + v), mean),
                      S = ct_vec3_sub(ct_vec3_load(X + v), center);
        const double a[3] = {r.x, r.y, r.z}, b[3] = {S.x, S.y, S.z};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) H.a[j][k] += a[j] * b[k];
    }
    return ct_polar3(H);
}

// Where a node is seen from the frame, less X.
static inline ct_vec3 seen(const ct_rooms* rooms, const ct_room_frame* frame, bool own, ct_vec3 mean,
                           const double* x, size_t v) {
    const ct_vec3 p = ct_vec3_load(x + v), X = ct_vec3_load(rooms->X + v);
    if (!own) return ct_vec3_sub(p, X);
    const ct_vec3 r = ct_vec3_sub(p, mean);
    const ct_vec3 back = {ct_vec3_dot(ct_mat3_column(frame->R, 0), r),
                          ct_vec3_dot(ct_mat3_column(frame->R, 1), r),
                          ct_vec3_dot(ct_mat3_column(frame->R, 2), r)};
    return ct_vec3_sub(ct_vec3_add(frame->center, back), X);
}

static double clamp(double share) { return share > 0 ? fmin(share, 1) : 0; }

// The share of the way that the nodes of a collider have gone, in its own frame.
static double share_of(const ct_rooms* rooms, const ct_room_frame* frame, ct_vec3 mean, const double* x,
                       const ct_bvh* nodes) {
    double along = 0;
    if (!(frame->way > 0)) return 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        along += ct_vec3_dot(seen(rooms, frame, true, mean, x, v), ct_vec3_load(rooms->way + v));
    }
    return clamp(along / frame->way);
}

// A node that is d from X is within its reach of its way: at this share of it, or (negative) at any.
static inline bool is_on_way(const ct_rooms* rooms, size_t v, ct_vec3 d, double share) {
    const double near = rooms->reach[v] * rooms->reach[v];
    if (!(share > 0) && ct_vec3_dot(d, d) <= near) return true;
    const ct_vec3 way = ct_vec3_load(rooms->way + 3 * v);
    const double square = ct_vec3_dot(way, way);
    if (share < 0) share = square > 0 ? clamp(ct_vec3_dot(d, way) / square) : 0;
    const ct_vec3 off = ct_vec3_axpy(d, -share, way);
    return ct_vec3_dot(off, off) <= near;
}

// The same of all nodes; *most: the square of the farthest that one is from X + shift.
static bool all_on_way(const ct_rooms* rooms, const ct_room_frame* frame, bool own, ct_vec3 mean,
                       ct_vec3 shift, const double* x, double share, const ct_bvh* nodes, double* most) {
    *most = 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = (size_t)nodes->item[i];
        const ct_vec3 d = seen(rooms, frame, own, mean, x, 3 * v), beside = ct_vec3_sub(d, shift);
        if (!is_on_way(rooms, v, d, share)) return false;
        const double square = ct_vec3_dot(beside, beside);
        *most = square > *most ? square : *most;
    }
    return true;
}

// All nodes are in their rooms. A straight way between two such places stays in them.
static bool stay(const ct_rooms* rooms, int collider, bool own, const double* x, int which,
                 const ct_bvh* nodes) {
    ct_room_frame* frame = rooms->frame + collider;
    const ct_vec3 mean = mean_of(x, nodes),
                  shift = own ? ct_vec3_make(0, 0, 0) : ct_vec3_sub(mean, frame->center);
    double most;
    if (!all_on_way(rooms, frame, own, mean, shift, x, own ? 0 : -1, nodes, &most)) {
        const double share = own ? share_of(rooms, frame, mean, x, nodes) : 0;
        if (!(share > 0) || !all_on_way(rooms, frame, own, mean, shift, x, share, nodes, &most)) return false;
    }
    frame->moved = fmax(frame->moved, sqrt(most));
    frame->shift[which] = shift;
    return true;
}

static bool stay_on_way(const ct_rooms* rooms, int collider, bool own, const double* x, const double* end,
                        const ct_bvh* nodes) {
    ct_room_frame* frame = rooms->frame + collider;
    frame->moved = 0;
    if (!stay(rooms, collider, own, end, 1, nodes)) return false;
    frame->shift[0] = frame->shift[1];
    return x == end || stay(rooms, collider, own, x, 0, nodes);
}

bool ct_rooms_hold(ct_detect* detect, int collider, bool own, const double* x, const double* end) {
    ct_rooms* rooms = &detect->rooms[own];
    const ct_bvh* nodes = detect->node_tree + collider;
    if (!rooms->frame[collider].is_set) return false;
    if (stay_on_way(rooms, collider, own, x, end, nodes)) return true;
    if (!own) return false;
    rooms->frame[collider].R = turn_of(rooms->X, rooms->frame[collider].center, x, nodes);
    return stay_on_way(rooms, collider, own, x, end, nodes);
}

ct_vec3 ct_rooms_shift(const ct_detect* detect, int collider, const double* x, const double* end) {
    const ct_bvh* nodes = detect->node_tree + collider;
    return x == end ? ct_vec3_make(0, 0, 0) : ct_vec3_sub(mean_of(end, nodes), mean_of(x, nodes));
}

// The farthest that a node of a collider goes, seen from its frame or from the world.
static double longest_way(const ct_detect* detect, int collider, bool own, const double* x,
                          const double* end) {
    const ct_bvh* nodes = detect->node_tree + collider;
    const ct_vec3 shift = own ? ct_rooms_shift(detect, collider, x, end) : ct_vec3_make(0, 0, 0);
    double most = 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        const ct_vec3 way = ct_vec3_sub(ct_vec3_sub(ct_vec3_load(end + v), ct_vec3_load(x + v)), shift);
        most = fmax(most, ct_vec3_dot(way, way));
    }
    return sqrt(most);
}

// How many steps rooms are made for: bodies that slide along one another go on for a while.
static double steps_ahead(const ct_detect* detect, int collider, double way) {
    const double room = AHEAD / CT_ROOMS_REACH * detect->own_reach[collider];
    return 3 * way <= room ? 3 : way <= room ? room / way : 1;
}

// How far a node may be from a way.
static double reach_of(const ct_detect* detect, int collider, bool own, double way) {
    return own ? detect->own_reach[collider] + fmin(FORESIGHT * way, detect->own_reach[collider])
               : detect->reach + FORESIGHT * way;
}

// How far the farthest node goes beside what the collider as a whole goes and turns.
static double longest_strain(const ct_detect* detect, int collider, const double* x, const double* end) {
    const ct_bvh* nodes = detect->node_tree + collider;
    const ct_vec3 from = mean_of(x, nodes), to = mean_of(end, nodes);
    const ct_mat3 R = turn_of(x, from, end, nodes);
    double most = 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        const ct_vec3 turned = ct_mat3_apply(R, ct_vec3_sub(ct_vec3_load(x + v), from)),
                      off = ct_vec3_sub(ct_vec3_sub(ct_vec3_load(end + v), to), turned);
        most = fmax(most, ct_vec3_dot(off, off));
    }
    return sqrt(most);
}

bool ct_rooms_swift(const ct_detect* detect, int collider, bool own, const double* x, const double* end) {
    const double far = AHEAD / CT_ROOMS_REACH * detect->own_reach[collider];
    return x != end && longest_way(detect, collider, own, x, end) > far &&
           (!own || longest_strain(detect, collider, x, end) > far);
}

bool ct_rooms_wide(const ct_detect* detect, int collider, bool own, const double* x, const double* end) {
    const double longest = longest_way(detect, collider, own, x, end),
                 way = own ? longest : steps_ahead(detect, collider, longest) * longest;
    return detect->rooms[own].frame[collider].size > WIDE * (way + reach_of(detect, collider, own, way));
}

// The mean way of every face, and by how much its nodes may be off it.
static void set_faces(ct_detect* detect, int collider, bool own) {
    const ct_bvh* faces = detect->face_tree + collider;
    ct_rooms* rooms = &detect->rooms[own];
    for (int i = 0; i < faces->count; i++) {
        const int* f = detect->face + 3 * (size_t)faces->item[i];
        ct_vec3 way[3], mean = {0, 0, 0};
        double spread = 0, reach = 0;
        for (int k = 0; k < 3; k++) {
            way[k] = ct_vec3_load(rooms->way + 3 * (size_t)f[k]);
            mean = ct_vec3_axpy(mean, 1.0 / 3, way[k]);
            reach = fmax(reach, rooms->reach[f[k]]);
        }
        for (int k = 0; k < 3; k++) {
            const ct_vec3 off = ct_vec3_sub(way[k], mean);
            spread = fmax(spread, ct_vec3_dot(off, off));
        }
        rooms->face[faces->item[i]] = (ct_face_way){.mean = mean, .spread = reach + sqrt(spread)};
    }
}

void ct_rooms_make(ct_detect* detect, int collider, bool own, const double* x, const double* end) {
    ct_rooms* rooms = &detect->rooms[own];
    const ct_bvh* nodes = detect->node_tree + collider;
    const ct_vec3 mean = mean_of(x, nodes),
                  shift = own ? ct_rooms_shift(detect, collider, x, end) : ct_vec3_make(0, 0, 0);
    const double ahead =
        own ? 1 : steps_ahead(detect, collider, longest_way(detect, collider, false, x, end));
    double sum = 0, most = 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = (size_t)nodes->item[i];
        const ct_vec3 p = ct_vec3_load(x + 3 * v),
                      way =
                          ct_vec3_scale(ahead, ct_vec3_sub(ct_vec3_sub(ct_vec3_load(end + 3 * v), p), shift));
        const double square = ct_vec3_dot(way, way);
        ct_vec3_store(rooms->X + 3 * v, p);
        ct_vec3_store(rooms->way + 3 * v, way);
        ct_vec3_store(rooms->end + 3 * v, ct_vec3_add(p, way));
        rooms->reach[v] = reach_of(detect, collider, own, sqrt(square));
        sum += square;
        most = fmax(most, square);
    }
    most = sqrt(most);
    rooms->frame[collider] = (ct_room_frame){.is_set = true,
                                             .R = ct_mat3_identity(),
                                             .center = mean,
                                             .way = sum,
                                             .size = most + reach_of(detect, collider, own, most)};
    set_faces(detect, collider, own);
    stay_on_way(rooms, collider, own, x, end, nodes);
}
