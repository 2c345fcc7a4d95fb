// Lists of what may meet. See detect_lists.h.
#include "contact/detect_lists.h"

#include "contact/detect_rooms.h"
#include "shape/closest.h"

// ---------------------------------------------------------------------------------------------
// Setting up

// The first face that holds a node or an edge looks after it.
static void set_own(ct_detect* detect, const ct_collision* collision, bool* taken) {
    for (int i = 0; i < 3 * detect->nface; i++) detect->own_node[i] = detect->own_edge[i] = -1;
    for (int i = 0; i < 3 * detect->nface; i++) {
        const int v = detect->face[i];
        if (taken[v]) continue;
        taken[v] = true;
        int* place = detect->own_node + 3 * (i / 3);
        while (*place >= 0) place++;
        *place = v;
    }
    int face = collision->ntri;  // faces made of an edge, in the order of the edges
    for (int e = 0; e < collision->nedge; e++) {
        const int *tri = detect->edge_face + 2 * (size_t)e,
                  first = tri[0] >= 0 && (tri[1] < 0 || tri[0] < tri[1]) ? tri[0] : tri[1];
        int* place = detect->own_edge + 3 * (size_t)(first < 0 ? face++ : first);
        while (*place >= 0) place++;
        *place = e;
    }
}

static double mean_edge(const ct_detect* detect, const ct_collision* collision, int collider) {
    const ct_bvh* edges = detect->edge_tree + collider;
    double sum = 0;
    for (int i = 0; i < edges->count; i++) {
        const int* e = collision->edge + 2 * (size_t)edges->item[i];
        sum += ct_vec3_norm(ct_vec3_sub(ct_vec3_load(collision->rest + 3 * (size_t)e[1]),
                                        ct_vec3_load(collision->rest + 3 * (size_t)e[0])));
    }
    return edges->count > 0 ? sum / edges->count : 0;
}

ct_status ct_lists_build(ct_detect* detect, const ct_collision* collision) {
    const size_t n = (size_t)collision->ncollider, nvert = (size_t)collision->nvert,
                 nface = (size_t)detect->nface;
    ct_arena* arena = &detect->arena;
    for (int k = 0; k < 2; k++) {
        ct_rooms* rooms = &detect->rooms[k];
        rooms->X = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
        rooms->way = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
        rooms->end = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
        rooms->reach = ct_arena_alloc(arena, nvert, sizeof(double));
        rooms->frame = ct_arena_alloc(arena, n, sizeof(ct_room_frame));
        rooms->face = ct_arena_alloc(arena, nface, sizeof(ct_face_way));
    }
    detect->bound = ct_arena_alloc(arena, n, sizeof(ct_box));
    detect->fitted = ct_arena_alloc(arena, n, sizeof(int));
    detect->moved = ct_arena_alloc(arena, n, sizeof(bool));
    detect->meshed = ct_arena_alloc(arena, n, sizeof(bool));
    detect->own_reach = ct_arena_alloc(arena, n, sizeof(double));
    detect->own_node = ct_arena_alloc(arena, 3 * nface, sizeof(int));
    detect->own_edge = ct_arena_alloc(arena, 3 * nface, sizeof(int));
    detect->motion = ct_arena_alloc(arena, n, sizeof(ct_room_motion));
    detect->relative = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    bool* taken = ct_arena_alloc(arena, nvert, sizeof(bool));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    set_own(detect, collision, taken);
    for (int c = 0; c < collision->ncollider; c++) detect->meshed[c] = detect->node_tree[c].count > 0;
    for (int c = 0; c < collision->ncollider; c++)
        detect->own_reach[c] = CT_ROOMS_REACH * mean_edge(detect, collision, c);
    return CT_OK;
}

void ct_lists_free(ct_detect* detect) {
    for (size_t i = 0; i < detect->nlist; i++)
        for (int k = 0; k < CT_CANDIDATE_KINDS; k++) ct_free(detect->list[i].of[k].item);
    ct_free(detect->list);
    ct_key_map_clear(&detect->list_of);
    ct_broad_free(&detect->broad);
}

static void forget(ct_detect* detect, double margin) {
    detect->margin = margin;
    detect->is_set = false;
}

void ct_lists_set(ct_detect* detect, double margin, double reach) {
    detect->reach = reach;
    if (margin != detect->margin) forget(detect, margin);
}

// ---------------------------------------------------------------------------------------------
// Boxes

// How much the boxes of a collider are widened, so that two overlap when they may come as near as their
// thickness + margin.
static double pad_of(const ct_collider* collider, double margin) {
    return (1 + CT_DETECT_NEAR_SLACK) * (collider->radius + collider->thickness + 0.5 * margin);
}

static void fit(ct_detect* detect, const ct_collision* collision, int collider, int to) {
    const ct_fitted wanted = to == CT_ROOMS_WORLD ? CT_FITTED_WORLD : CT_FITTED_OWN;
    if (detect->fitted[collider] == (int)wanted) return;
    const ct_rooms* rooms = &detect->rooms[to];
    ct_detect_fit(detect, collision, collider, rooms->X, rooms->end, rooms->reach,
                  pad_of(collision->collider + collider, detect->margin));
    detect->fitted[collider] = wanted;
}

// Of a motion: in what both colliders have in common it rests.
static void fit_motion(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                       const double* end, ct_vec3 shift, double pad) {
    const ct_bvh* nodes = detect->node_tree + collider;
    for (int i = 0; i < nodes->count && x != end; i++) {
        const size_t v = 3 * (size_t)nodes->item[i];
        ct_vec3_store(detect->relative + v, ct_vec3_sub(ct_vec3_load(end + v), shift));
    }
    ct_detect_fit(detect, collision, collider, x, x == end ? x : detect->relative, NULL, pad);
}

// Around the rooms in the world, or where there are none around the motion.
static void set_bound(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                      const double* end) {
    const ct_rooms* rooms = &detect->rooms[CT_ROOMS_WORLD];
    const ct_bvh* nodes = detect->node_tree + collider;
    const bool swift = rooms->frame[collider].swift;
    const double pad = pad_of(collision->collider + collider, detect->margin);
    ct_room_motion* motion = detect->motion + collider;
    double stray = 0;
    if (swift) motion->way = ct_rooms_shift(detect, collider, x, end);
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = (size_t)nodes->item[i];
        const ct_box box = ct_box_around((swift ? x : rooms->X) + 3 * v, (swift ? end : rooms->end) + 3 * v,
                                         swift ? pad : pad + rooms->reach[v]);
        detect->bound[collider] = i ? ct_box_join(detect->bound[collider], &box) : box;
        if (!swift) continue;
        const ct_box start = ct_box_around(x + 3 * v, x + 3 * v, pad);
        motion->start = i ? ct_box_join(motion->start, &start) : start;
        const ct_vec3 off =
            ct_vec3_sub(ct_vec3_sub(ct_vec3_load(end + 3 * v), ct_vec3_load(x + 3 * v)), motion->way);
        stray = fmax(stray, ct_vec3_dot(off, off));
    }
    motion->stray = sqrt(stray);
}

// Around a swift collider, in a frame that goes along `shift` meanwhile.
static ct_box relative_bound(const ct_room_motion* motion, ct_vec3 shift) {
    const ct_vec3 way = ct_vec3_sub(motion->way, shift);
    const double along[3] = {way.x, way.y, way.z};
    ct_box box = motion->start;
    for (int k = 0; k < 3; k++) {
        const double room =
            1.001 * motion->stray + 1e-6 * (fabs(box.lo[k]) + fabs(box.hi[k]) + fabs(along[k]));
        box.lo[k] = (float)(box.lo[k] + fmin(along[k], 0) - room);
        box.hi[k] = (float)(box.hi[k] + fmax(along[k], 0) + room);
    }
    return box;
}

// ---------------------------------------------------------------------------------------------
// Distances

// The direction that has kept two primitives farthest apart so far.
typedef struct gap {
    double width;  // m, negative: they overlap in it
    ct_vec3 n;     // of length 1
} gap;

// By how much the direction u keeps the points p from the points q, times |u|.
static inline double separation(const ct_vec3* p, int np, const ct_vec3* q, int nq, ct_vec3 u) {
    double low = ct_vec3_dot(u, ct_vec3_sub(p[0], q[0])), high = 0;
    for (int i = 1; i < np; i++) {
        const double at = ct_vec3_dot(u, ct_vec3_sub(p[i], q[0]));
        low = at < low ? at : low;
    }
    for (int j = 1; j < nq; j++) {
        const double at = ct_vec3_dot(u, ct_vec3_sub(q[j], q[0]));
        high = at > high ? at : high;
    }
    return low - high;
}

// The direction between the centres keeps them apart by more than `enough`.
static inline bool is_clear(const ct_vec3* p, int np, const ct_vec3* q, int nq, double enough, ct_vec3* u) {
    ct_vec3 a = p[0], b = q[0];
    for (int i = 1; i < np; i++) a = ct_vec3_add(a, p[i]);
    for (int j = 1; j < nq; j++) b = ct_vec3_add(b, q[j]);
    *u = ct_vec3_axpy(ct_vec3_scale(nq, a), -np, b);
    const double width = separation(p, np, q, nq, *u);
    return width > 0 && width * width > enough * enough * ct_vec3_dot(*u, *u);
}

// Tries whether the direction u keeps the points p farther from the points q.
static void try_direction(gap* best, const ct_vec3* p, int np, const ct_vec3* q, int nq, ct_vec3 u) {
    const double square = ct_vec3_dot(u, u), scale = 1 / sqrt(square),
                 width = separation(p, np, q, nq, u) * scale;
    if (square > 0 && width > best->width) *best = (gap){.width = width, .n = ct_vec3_scale(scale, u)};
}

// Directions that may keep an edge from a triangle: its normal, and those in its plane across its edges and
// across the edge.
static void try_face(gap* best, const ct_vec3 p[2], const ct_vec3 q[3], double enough) {
    const ct_vec3 side[4] = {ct_vec3_sub(q[1], q[0]), ct_vec3_sub(q[2], q[1]), ct_vec3_sub(q[0], q[2]),
                             ct_vec3_sub(p[1], p[0])};
    const ct_vec3 N = ct_vec3_cross(side[0], side[1]);
    for (int k = -1; k < 4 && !(best->width > enough); k++) {
        const ct_vec3 u = k < 0 ? N : ct_vec3_cross(N, side[k]);
        const bool other = ct_vec3_dot(u, ct_vec3_sub(p[0], q[k < 0 || k > 2 ? 0 : k])) < 0;
        try_direction(best, p, 2, q, 3, other ? ct_vec3_scale(-1, u) : u);
    }
}

// By how much two primitives are at least apart, as exact as is of use; u: between their centres.
static gap gap_of(const ct_vec3* p, int np, const ct_vec3* q, int nq, double enough, ct_vec3 u) {
    gap best = {.width = -INFINITY};
    try_direction(&best, p, np, q, nq, u);
    // nearer than half of it: only by chance would the direction serve later
    const ct_vec3 between = ct_vec3_sub(p[0], q[0]);
    if (4 * ct_vec3_dot(between, between) < enough * enough) return best;
    if (np == 2 && nq == 3) {
        try_face(&best, p, q, enough);
        return best;
    }
    const ct_vec3 x[4] = {p[0], np == 2 ? p[1] : q[0], np == 2 ? q[0] : q[1], np == 2 ? q[1] : q[2]};
    try_direction(&best, p, np, q, nq,
                  np == 2 ? ct_closest_edges(x).apart : ct_closest_point_triangle(x).apart);
    return best;
}

// ---------------------------------------------------------------------------------------------
// Gathering

typedef struct gathering {
    const ct_collision* collision;
    ct_detect* detect;
    const ct_rooms* rooms;
    ct_candidates* list;
    bool own;       // one collider with itself
    bool crossing;  // edges and faces are what is listed; otherwise the others
    bool passing;   // the list is that of the motion from x to end alone
    const double *x, *end;
    ct_mat3 turn;   // of directions in the list
    double need;    // m, how near is near, with room for round-off
    double enough;  // m, of the two faces at present
} gathering;

static bool append(gathering* g, ct_candidate_kind kind, int i, int j, ct_vec3 n, double width) {
    ct_candidate** item = &g->list->of[kind].item;
    size_t* count = &g->list->of[kind].count;
    if (!ct_reserve((void**)item, &g->list->of[kind].capacity, *count + 1, sizeof **item)) return false;
    (*item)[(*count)++] = (ct_candidate){i, j, {(float)n.x, (float)n.y, (float)n.z}, (float)width};
    return true;
}

// From the centre of the last nodes to that of the first, in the middle of the motion; of length 1.
static ct_vec3 between(const gathering* g, const int* a, int na, const int* b, int nb) {
    ct_vec3 p = {0, 0, 0}, q = {0, 0, 0};
    for (int k = 0; k < na; k++)
        p = ct_vec3_add(
            p, ct_vec3_add(ct_vec3_load(g->x + 3 * (size_t)a[k]), ct_vec3_load(g->end + 3 * (size_t)a[k])));
    for (int k = 0; k < nb; k++)
        q = ct_vec3_add(
            q, ct_vec3_add(ct_vec3_load(g->x + 3 * (size_t)b[k]), ct_vec3_load(g->end + 3 * (size_t)b[k])));
    const ct_vec3 u = ct_vec3_axpy(ct_vec3_scale(nb, p), -na, q);
    const double length = ct_vec3_norm(u);
    return length > 0 ? ct_vec3_scale(1 / length, u) : u;
}

// Appends a pair, unless it cannot come as near as it would have to.
static inline bool keep(gathering* g, ct_candidate_kind kind, int i, int j, const int* a, int na,
                        const int* b, int nb) {
    if (g->passing)
        return append(g, kind, i, j, ct_mat3_apply(ct_mat3_transpose(g->turn), between(g, a, na, b, nb)),
                      -INFINITY);
    const double* X = g->rooms->X;
    ct_vec3 p[2], q[3];
    for (int k = 0; k < na; k++) p[k] = ct_vec3_load(X + 3 * (size_t)a[k]);
    for (int k = 0; k < nb; k++) q[k] = ct_vec3_load(X + 3 * (size_t)b[k]);
    const double enough = kind == CT_CANDIDATE_EDGE_FACE ? g->enough - 0.9 * g->need : g->enough;
    ct_vec3 u;
    if (is_clear(p, na, q, nb, enough, &u)) return true;
    const gap gap = gap_of(p, na, q, nb, enough, u);
    return gap.width > enough || append(g, kind, i, j, gap.n, gap.width);
}

static bool keep_vertex_face(gathering* g, int vertex, int face) {
    const ct_detect* detect = g->detect;
    return (g->own && ct_detect_have_common(&vertex, 1, detect->face + 3 * (size_t)face, 3)) ||
           !ct_box_overlap(detect->node_box + vertex, detect->face_box + face) ||
           ct_detect_rigid(g->collision, g->collision->node_rigid[vertex], detect->face_rigid[face]) ||
           keep(g, CT_CANDIDATE_VERTEX_FACE, vertex, face, &vertex, 1, detect->face + 3 * (size_t)face, 3);
}

static bool keep_edges(gathering* g, int i, int j) {
    const ct_detect* detect = g->detect;
    const int* edge = g->collision->edge;
    return (g->own && ct_detect_have_common(edge + 2 * (size_t)i, 2, edge + 2 * (size_t)j, 2)) ||
           !ct_box_overlap(detect->edge_box + i, detect->edge_box + j) ||
           ct_detect_rigid(g->collision, detect->edge_rigid[i], detect->edge_rigid[j]) ||
           keep(g, CT_CANDIDATE_EDGES, i, j, edge + 2 * (size_t)i, 2, edge + 2 * (size_t)j, 2);
}

static bool keep_edge_face(gathering* g, int edge, int face) {
    const ct_detect* detect = g->detect;
    const int *e = g->collision->edge + 2 * (size_t)edge, *f = detect->face + 3 * (size_t)face;
    return face >= g->collision->ntri || (g->own && ct_detect_have_common(e, 2, f, 3)) ||
           !ct_box_overlap(detect->edge_box + edge, detect->face_box + face) ||
           ct_detect_rigid(g->collision, detect->edge_rigid[edge], detect->face_rigid[face]) ||
           keep(g, CT_CANDIDATE_EDGE_FACE, edge, face, e, 2, f, 3);
}

// What face f looks after, against face g.
static bool gather_own(gathering* g, int f, int other) {
    const int *node = g->detect->own_node + 3 * (size_t)f, *edge = g->detect->own_edge + 3 * (size_t)f;
    for (int k = 0; k < 3 && !g->crossing && node[k] >= 0; k++)
        if (!keep_vertex_face(g, node[k], other)) return false;
    for (int k = 0; k < 3 && g->crossing && edge[k] >= 0; k++)
        if (!keep_edge_face(g, edge[k], other)) return false;
    return true;
}

// By how much two faces must be apart at X so that nothing of them can come as near as g->need.
static double enough_for(const gathering* g, int f, int other) {
    const ct_face_way *a = g->rooms->face + f, *b = g->rooms->face + other;
    const double both = ct_vec3_norm(ct_vec3_sub(a->mean, b->mean)),
                 one = g->own ? 0 : fmax(ct_vec3_norm(a->mean), ct_vec3_norm(b->mean));
    return g->need + 1.0625 * (fmax(both, one) + a->spread + b->spread);
}

// Nothing of two faces can come near.
static bool are_apart(const gathering* g, const int* a, const int* b) {
    ct_vec3 p[3], q[3], u;
    if (g->own && ct_detect_have_common(a, 3, b, 3)) return false;
    if (g->passing) {
        const int node[6] = {a[0], a[1], a[2], b[0], b[1], b[2]};
        const ct_vec3 n = between(g, a, 3, b, 3);
        const ct_candidate c = {.n = {(float)n.x, (float)n.y, (float)n.z}};
        return ct_candidate_is_apart(&c, ct_mat3_identity(), g->x, g->end, node, 3, 6, g->need);
    }
    for (int k = 0; k < 3; k++) p[k] = ct_vec3_load(g->rooms->X + 3 * (size_t)a[k]);
    for (int k = 0; k < 3; k++) q[k] = ct_vec3_load(g->rooms->X + 3 * (size_t)b[k]);
    return is_clear(p, 3, q, 3, g->enough, &u);
}

static bool gather_faces(int f, int other, void* user) {
    gathering* g = user;
    const int *a = g->detect->face + 3 * (size_t)f, *b = g->detect->face + 3 * (size_t)other;
    const int *d = g->detect->own_edge + 3 * (size_t)f, *e = g->detect->own_edge + 3 * (size_t)other;
    if (!g->passing) g->enough = enough_for(g, f, other);
    if (are_apart(g, a, b)) return true;
    if (!gather_own(g, f, other) || !gather_own(g, other, f)) return false;
    for (int i = 0; i < 3 && !g->crossing && d[i] >= 0; i++)
        for (int j = 0; j < 3 && e[j] >= 0; j++)
            if (!keep_edges(g, d[i], e[j])) return false;
    return true;
}

// The list of two colliders; NULL: out of memory.
static ct_candidates* list_of(ct_detect* detect, int a, int b) {
    int* place = ct_key_map_at(&detect->list_of, ct_key_pair(a, b));
    if (!place) return NULL;
    if (*place < 0) {
        if (!ct_reserve((void**)&detect->list, &detect->list_capacity, detect->nlist + 1,
                        sizeof *detect->list))
            return NULL;
        *place = (int)detect->nlist;
        detect->list[detect->nlist++] = (ct_candidates){.a = a, .b = b};
    }
    return detect->list + *place;
}

// The largest coordinate.
static double size_of(const ct_box* box) {
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, fmax(fabs(box->lo[k]), fabs(box->hi[k])));
    return size;
}

ct_drift ct_candidates_drift(const ct_detect* detect, const ct_candidates* list, double need) {
    const ct_room_frame *frame = detect->rooms[list->a == list->b].frame, *a = frame + list->a,
                        *b = frame + list->b;
    ct_drift drift = {.start = ct_vec3_sub(a->shift[0], b->shift[0]),
                      .end = ct_vec3_sub(a->shift[1], b->shift[1])};
    const double moved = a->moved + b->moved, way = ct_vec3_norm(ct_vec3_sub(drift.end, drift.start)),
                 size = size_of(detect->bound + list->a) + size_of(detect->bound + list->b);
    drift.far = 1.001 * need + moved + (way + 2 * moved) / CT_CANDIDATE_STEPS +
                1e-6 * (ct_vec3_norm(drift.start) + way) + 1e-12 * size;
    return drift;
}

static bool is_swift(const ct_detect* detect, int a, int b) {
    const ct_room_frame* frame = detect->rooms[a == b].frame;
    return frame[a].swift || frame[b].swift;
}

// Boxes of a collider for a list that is that of a motion.
static void fit_passing(gathering* g, int collider, double pad) {
    ct_detect* detect = g->detect;
    const ct_fitted wanted = g->crossing ? CT_FITTED_END : CT_FITTED_MOTION;
    if (!g->crossing && !detect->rooms[CT_ROOMS_WORLD].frame[collider].swift) {
        fit(detect, g->collision, collider, CT_ROOMS_WORLD);
    } else if (detect->fitted[collider] != (int)wanted) {
        fit_motion(detect, g->collision, collider, g->x, g->end, ct_vec3_make(0, 0, 0), pad);
        detect->fitted[collider] = wanted;
    }
}

// Boxes for what a list is to hold; false: the colliders do not come near. Two swift colliders are seen from
// a frame that goes with them, where they go much the same way.
static bool fit_both(gathering* g, int a, int b, const double pad[2]) {
    ct_detect* detect = g->detect;
    const ct_room_frame* frame = detect->rooms[g->own].frame;
    if (!g->passing) {
        fit(detect, g->collision, a, g->own);
        fit(detect, g->collision, b, g->own);
        return true;
    }
    if (g->own) {
        fit_motion(detect, g->collision, a, g->x, g->end, ct_rooms_shift(detect, a, g->x, g->end), pad[0]);
        return true;
    }
    if (!g->crossing && frame[a].swift && frame[b].swift) {
        const ct_room_motion *p = detect->motion + a, *q = detect->motion + b;
        const ct_vec3 shift = ct_vec3_scale(0.5, ct_vec3_add(p->way, q->way));
        const ct_box first = relative_bound(p, shift), second = relative_bound(q, shift);
        if (!ct_box_overlap(&first, &second)) return false;
        if (ct_vec3_norm(ct_vec3_sub(p->way, q->way)) < ct_vec3_norm(shift)) {
            fit_motion(detect, g->collision, a, g->x, g->end, shift, pad[0]);
            fit_motion(detect, g->collision, b, g->x, g->end, shift, pad[1]);
            return true;
        }
    }
    fit_passing(g, a, pad[0]);
    fit_passing(g, b, pad[1]);
    return true;
}

// crossing: of edges and faces alone; otherwise the list begins anew, without them. margin: of this search.
static ct_status gather(ct_detect* detect, const ct_collision* collision, int a, int b, bool crossing,
                        const double* x, const double* end, double margin) {
    const bool own = a == b;
    if (!own && !ct_box_overlap(detect->bound + a, detect->bound + b) &&
        ct_key_map_find(&detect->list_of, ct_key_pair(a, b)) < 0)
        return CT_OK;
    gathering g = {.collision = collision,
                   .detect = detect,
                   .rooms = &detect->rooms[own],
                   .list = list_of(detect, a, b),
                   .own = own,
                   .crossing = crossing,
                   .x = x,
                   .end = end};
    if (!g.list) return CT_OUT_OF_MEMORY;
    g.turn = ct_candidates_turn(detect, g.list);
    g.passing = is_swift(detect, a, b) || (crossing && !g.list->looked);
    // what crosses is not apart at all
    const double part = g.passing && crossing ? 0.01 : 1, wide = g.passing ? margin : detect->margin,
                 pad[2] = {part * pad_of(collision->collider + a, wide),
                           part * pad_of(collision->collider + b, wide)};
    g.need = 1.001 * (pad[0] + pad[1]) + 1e-12 * (size_of(detect->bound + a) + size_of(detect->bound + b));
    for (int k = 0; k < CT_CANDIDATE_KINDS; k++)
        if (!crossing || k == CT_CANDIDATE_EDGE_FACE) g.list->of[k].count = 0;
    g.list->looked = crossing;
    g.list->crossed = crossing && !g.passing;
    if (!own && !ct_box_overlap(detect->bound + a, detect->bound + b)) return CT_OK;
    if (!fit_both(&g, a, b, pad)) return CT_OK;
    detect->gathered += !crossing && !g.passing;
    const bool all = own ? ct_bvh_self_pairs(detect->face_tree + a, gather_faces, &g)
                         : ct_bvh_pairs(detect->face_tree + a, detect->face_tree + b, gather_faces, &g);
    return all ? CT_OK : CT_OUT_OF_MEMORY;
}

// Rooms where there are none that hold, and none where the motion is too long for them; true: lists of this
// collider are to be made anew.
static bool renew(ct_detect* detect, const ct_collision* collision, int collider, bool own, const double* x,
                  const double* end, bool fresh) {
    ct_room_frame* frame = detect->rooms[own].frame + collider;
    if (detect->node_tree[collider].count == 0) return false;
    if (fresh) frame->swift = ct_rooms_swift(detect, collider, own, x, end);
    if (!frame->swift) {
        if (ct_rooms_hold(detect, collider, own, x, end) &&
            !(fresh && ct_rooms_wide(detect, collider, own, x, end)))
            return false;
        frame->swift = ct_rooms_swift(detect, collider, own, x, end);
    }
    if (frame->swift) *frame = (ct_room_frame){.swift = true, .R = ct_mat3_identity()};
    else ct_rooms_make(detect, collider, own, x, end);
    if (!own) set_bound(detect, collision, collider, x, end);
    if (detect->fitted[collider] == (own ? CT_FITTED_OWN : CT_FITTED_WORLD))
        detect->fitted[collider] = CT_FITTED_NONE;
    return true;
}

// There are lists that a collider may be in; planes have none.
static bool is_listed(const ct_detect* detect, const ct_collision* collision, int collider) {
    for (int b = 0; b < collision->ncollider; b++)
        if (detect->meshed[b] && ct_collision_may_touch(collision, collider, b)) return true;
    return false;
}

// The lists that may have to be made anew: where a collider moved, of those that are near now and of those
// that were; and of each with itself.
static ct_status find_pairs(ct_detect* detect, const ct_collision* collision) {
    ct_broad* broad = &detect->broad;
    ct_broad_clear(broad);
    ct_status status = ct_broad_sweep(broad, collision, detect->bound, detect->meshed, detect->moved);
    for (size_t k = 0; status == CT_OK && k < detect->nlist; k++) {
        const int a = detect->list[k].a, b = detect->list[k].b;
        if (a != b && (detect->moved[a] || detect->moved[b]) &&
            !ct_box_overlap(detect->bound + a, detect->bound + b))
            status = ct_broad_note(broad, a, b);
    }
    for (int c = 0; status == CT_OK && c < collision->ncollider; c++)
        if (ct_collision_may_touch(collision, c, c)) status = ct_broad_note(broad, c, c);
    ct_broad_sort(broad);
    return status;
}

ct_status ct_lists_cover(ct_detect* detect, const ct_collision* collision, const double* x, const double* end,
                         double margin, bool fresh) {
    ct_status status = CT_OK;
    if (margin > detect->margin) forget(detect, margin);
    for (int c = 0; c < collision->ncollider; c++) {
        if (detect->fitted[c] >= CT_FITTED_MOTION) detect->fitted[c] = CT_FITTED_NONE;
        if (!detect->is_set)
            detect->rooms[CT_ROOMS_WORLD].frame[c].is_set = detect->rooms[CT_ROOMS_OWN].frame[c].is_set =
                false;
        detect->moved[c] =
            is_listed(detect, collision, c) && renew(detect, collision, c, false, x, end, fresh);
    }
    detect->is_set = false;
    status = find_pairs(detect, collision);
    for (size_t i = 0; status == CT_OK && i < detect->broad.count; i++) {
        const int a = ct_broad_first(detect->broad.pair[i]), b = ct_broad_second(detect->broad.pair[i]);
        if ((a != b || renew(detect, collision, a, true, x, end, fresh)) &&
            !(fresh && is_swift(detect, a, b)))
            status = gather(detect, collision, a, b, false, x, end, margin);
    }
    detect->is_set = status == CT_OK;
    return status;
}

ct_status ct_lists_cross(ct_detect* detect, const ct_collision* collision, const double* x) {
    ct_status status = CT_OK;
    for (size_t k = 0; status == CT_OK && k < detect->nlist; k++)
        if (!detect->list[k].crossed)
            status = gather(detect, collision, detect->list[k].a, detect->list[k].b, true, x, x, 0);
    return status;
}
