// Rooms of nodes. See detect_rooms.h.
#include "contact/detect_rooms.h"

#include "math/svd3.h"

#define FORESIGHT 0.25  // of the way: how much farther
#define AHEAD 0.4  // of the mean edge: ways up to which the next two steps are foreseen; longer are swift
#define WIDE 4     // rooms that are so much larger than they need be are made anew

static ct_vec3 mean_of(const double* x, const ct_bvh* nodes) {
    ct_vec3 sum = {0, 0, 0};
    for (int i = 0; i < nodes->count; i++)
        sum = ct_vec3_add(sum, ct_vec3_load(x + 3 * (size_t)nodes->item[i]));
    return ct_vec3_scale(1.0 / nodes->count, sum);
}

// How the nodes are turned against X.
static ct_mat3 turn_of(const ct_rooms* rooms, int collider, const double* x, const ct_bvh* nodes) {
    const ct_vec3 mean = mean_of(x, nodes), center = rooms->frame[collider].center;
    ct_mat3 H = {0};
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        const ct_vec3 r = ct_vec3_sub(ct_vec3_load(x + v), mean),
                      S = ct_vec3_sub(ct_vec3_load(rooms->X + v), center);
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

// All nodes are in their rooms; those of a swift collider at that share of their ways. A straight way between
// two such places stays in them.
static bool stay(const ct_rooms* rooms, int collider, bool own, const double* x, double together,
                 const ct_bvh* nodes) {
    ct_room_frame* frame = rooms->frame + collider;
    double most = 0;
    const ct_vec3 mean = own ? mean_of(x, nodes) : ct_vec3_make(0, 0, 0);
    const double all = own ? share_of(rooms, frame, mean, x, nodes) : frame->swift ? together : 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = (size_t)nodes->item[i];
        const ct_vec3 d = seen(rooms, frame, own, mean, x, 3 * v), way = ct_vec3_load(rooms->way + 3 * v);
        const double square = ct_vec3_dot(way, way),
                     share = own || frame->swift || !(square > 0) ? all : clamp(ct_vec3_dot(d, way) / square);
        const ct_vec3 off = ct_vec3_axpy(d, -share, way);
        if (!(ct_vec3_dot(off, off) <= rooms->reach[v] * rooms->reach[v])) return false;
        most = fmax(most, ct_vec3_dot(d, d));
    }
    frame->moved = fmax(frame->moved, sqrt(most));
    return true;
}

static bool stay_on_way(const ct_rooms* rooms, int collider, bool own, const double* x, const double* end,
                        double last, const ct_bvh* nodes) {
    rooms->frame[collider].moved = 0;
    return stay(rooms, collider, own, end, last, nodes) &&
           (x == end || stay(rooms, collider, own, x, 0, nodes));
}

bool ct_rooms_hold(ct_detect* detect, int collider, bool own, const double* x, const double* end,
                   double last) {
    ct_rooms* rooms = &detect->rooms[own];
    const ct_bvh* nodes = detect->node_tree + collider;
    if (!rooms->frame[collider].is_set) return false;
    if (stay_on_way(rooms, collider, own, x, end, last, nodes)) return true;
    if (!own) return false;
    rooms->frame[collider].R = turn_of(rooms, collider, x, nodes);
    return stay_on_way(rooms, collider, own, x, end, last, nodes);
}

double ct_rooms_share(const ct_detect* detect, const ct_collision* collision, const double* x) {
    bool any = false;
    for (int c = 0; c < collision->ncollider; c++) {
        const ct_rooms* rooms = &detect->rooms[CT_ROOMS_WORLD];
        if (!rooms->frame[c].is_set || !rooms->frame[c].swift) continue;
        any = true;
        if (!stay(rooms, c, false, x, 0, detect->node_tree + c)) return 1;
    }
    return any ? 0 : 1;
}

// The farthest that a node of a collider goes.
static double longest_way(const ct_detect* detect, int collider, const double* x, const double* end) {
    const ct_bvh* nodes = detect->node_tree + collider;
    double most = 0;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        const ct_vec3 way = ct_vec3_sub(ct_vec3_load(end + v), ct_vec3_load(x + v));
        most = fmax(most, ct_vec3_dot(way, way));
    }
    return sqrt(most);
}

// How many steps rooms are made for: bodies that slide along one another go on for a while.
static double steps_ahead(const ct_detect* detect, int collider, double way) {
    const double room = AHEAD / CT_ROOMS_REACH * detect->own_reach[collider];
    return 3 * way <= room ? 3 : way <= room ? room / way : 1;
}

static bool is_swift(const ct_detect* detect, int collider, double way) {
    return way > AHEAD / CT_ROOMS_REACH * detect->own_reach[collider];
}

// How far a node may be from a way: what swift bodies meet throws them off altogether.
static double reach_of(const ct_detect* detect, int collider, bool own, bool swift, double way) {
    const double reach = own ? detect->own_reach[collider] : detect->reach;
    return reach + (own || swift ? fmin(FORESIGHT * way, detect->own_reach[collider]) : FORESIGHT * way);
}

bool ct_rooms_wide(const ct_detect* detect, int collider, bool own, const double* x, const double* end) {
    const double longest = longest_way(detect, collider, x, end),
                 way = own ? longest : steps_ahead(detect, collider, longest) * longest;
    return detect->rooms[own].frame[collider].size >
           WIDE * (way + reach_of(detect, collider, own, is_swift(detect, collider, longest), way));
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
                  shift = own ? ct_vec3_sub(mean_of(end, nodes), mean) : ct_vec3_make(0, 0, 0);
    const double longest = own ? 0 : longest_way(detect, collider, x, end);
    const double ahead = own ? 1 : steps_ahead(detect, collider, longest);
    const bool swift = !own && is_swift(detect, collider, longest);
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
        rooms->reach[v] = reach_of(detect, collider, own, swift, sqrt(square));
        sum += square;
        most = fmax(most, square);
    }
    most = sqrt(most);
    rooms->frame[collider] = (ct_room_frame){.is_set = true,
                                             .swift = swift,
                                             .R = ct_mat3_identity(),
                                             .center = mean,
                                             .way = sum,
                                             .moved = most,
                                             .size = most + reach_of(detect, collider, own, swift, most)};
    set_faces(detect, collider, own);
}
