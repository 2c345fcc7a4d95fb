// The bones of skeletons; see bone.h.
#include "out/bone.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"
#include "math/svd3.h"
#include "out/solid.h"
#include "skeleton/joint.h"

#define MANY 120         // solids from which on they are made of fewer triangles
#define THICKNESS 0.085  // a bone's radius over its length
#define THINNEST 0.0028  // the least radius over the scene's extent

void ct_bone_place(const double* pose, const double rest[3], double out[3]) {
    for (int a = 0; a < 3; a++) out[a] = dot3(pose + 3 * a, rest) + pose[9 + a];
}

// ---- From where to where, at rest ----

// A link that may go anywhere hangs on nothing.
static bool attached(const ct_link_info* link, int k) {
    return link[k].parent >= 0 && ct_joint_type_of(link[k].joint)->ndof < 6;
}

static void node_center(const ct_trajectory* file, int k, double center[3]) {
    const ct_link_info* link = &file->link[k];
    memcpy(center, link->anchor, 3 * sizeof(double));
    if (link->count) memset(center, 0, 3 * sizeof(double));
    for (int i = 0; i < link->count; i++)
        for (int a = 0; a < 3; a++) center[a] += file->rest[3 * link->nodes[i] + a] / link->count;
}

// One more than the last node of an element: the points of links' own masses come behind them.
static int count_flesh(const ct_trajectory* file) {
    int count = 0, node[10];
    for (size_t cell = 0; cell < (size_t)(file->info.ntet + file->info.ntri); cell++) {
        int n = ct_trajectory_cell(file->tet, file->mid, file->info.ntet, file->tri, cell, node);
        for (int i = 0; i < n; i++)
            if (node[i] >= count) count = node[i] + 1;
    }
    return count;
}

// Node i of link k at rest. A bare link is drawn as long as the rod that has its mass and inertia, whose ends
// are sqrt(3) times as far from its centre as its points.
static void node_at(const ct_bone_list* list, const ct_trajectory* file, int k, int i, double x[3]) {
    const ct_link_info* link = &file->link[k];
    memcpy(x, file->rest + 3 * link->nodes[i], 3 * sizeof(double));
    if (link->nodes[0] < list->flesh) return;
    double center[3];
    node_center(file, k, center);
    for (int a = 0; a < 3; a++) x[a] = center[a] + sqrt(3) * (x[a] - center[a]);
}

// The extreme of the link's nodes along `direction` from `point`: the end of the ray through them.
static void far_end(const ct_bone_list* list, const ct_trajectory* file, int k, const double point[3],
                    const double direction[3], double end[3]) {
    double length = length3(direction), reach = 0, x[3];
    for (int i = 0; i < file->link[k].count && length > 0; i++) {
        node_at(list, file, k, i, x);
        double d[3] = {x[0] - point[0], x[1] - point[1], x[2] - point[2]};
        reach = fmax(reach, dot3(d, direction) / length);
    }
    for (int a = 0; a < 3; a++) end[a] = point[a] + (length > 0 ? reach * direction[a] / length : 0);
}

// The direction from a point to the link's farthest node; zero when there is none.
static double farthest(const ct_bone_list* list, const ct_trajectory* file, int k, const double point[3],
                       double direction[3]) {
    double reach = 0, x[3];
    memset(direction, 0, 3 * sizeof(double));
    for (int i = 0; i < file->link[k].count; i++) {
        node_at(list, file, k, i, x);
        if (distance3(point, x) <= reach) continue;
        reach = distance3(point, x);
        for (int a = 0; a < 3; a++) direction[a] = x[a] - point[a];
    }
    return reach;
}

// The mean anchor of the links below; returns their number.
static int below_center(const ct_trajectory* file, int k, double center[3]) {
    int count = 0;
    memset(center, 0, 3 * sizeof(double));
    for (int c = k + 1; c < file->info.nlink; c++) {
        if (file->link[c].parent != k || !attached(file->link, c)) continue;
        for (int a = 0; a < 3; a++) center[a] += file->link[c].anchor[a];
        count++;
    }
    for (int a = 0; a < 3 && count; a++) center[a] /= count;
    return count;
}

// A fixed or free joint may have its anchor anywhere; one that lies off the link's nodes is replaced by their
// end, or by their centre where several links are below.
static void set_base(const ct_bone_list* list, const ct_trajectory* file, int k) {
    const ct_link_info* link = &file->link[k];
    double *base = list->base + 3 * k, center[3], away[3], below[3], reach;
    memcpy(base, link->anchor, 3 * sizeof(double));
    if (ct_joint_type_of(link->joint)->has_place || !link->count) return;
    node_center(file, k, center);
    reach = farthest(list, file, k, center, away);
    if (distance3(center, link->anchor) <= 1.3 * reach) return;
    int count = below_center(file, k, below);
    for (int a = 0; a < 3 && count; a++) away[a] = count > 1 ? 0 : center[a] - below[a];
    far_end(list, file, k, center, away, base);
}

// A link with nothing below it: through its nodes, from its joint or, with the joint in their middle, from
// end to end.
static ct_bone leaf(const ct_bone_list* list, const ct_trajectory* file, int k) {
    ct_bone bone = {.link = k};
    const double* base = list->base + 3 * k;
    double center[3], direction[3], away[3], reach = farthest(list, file, k, base, away);
    memcpy(bone.from, base, sizeof bone.from);
    node_center(file, k, center);
    for (int a = 0; a < 3; a++) direction[a] = center[a] - base[a];
    if (distance3(base, center) > 0.2 * reach) far_end(list, file, k, base, direction, bone.to);
    else {
        double back[3] = {-away[0], -away[1], -away[2]};
        far_end(list, file, k, base, back, bone.from);
        far_end(list, file, k, base, away, bone.to);
    }
    return bone;
}

static double mean_length(const ct_bone* bone, int count, double size) {
    int counted = 0;
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double length = distance3(bone[i].from, bone[i].to);
        if (length <= 1e-6 * size) continue;
        sum += length;
        counted++;
    }
    return counted ? sum / counted : 0.1 * size;
}

// The direction in which the link's nodes are spread most.
static void long_axis(const ct_trajectory* file, int k, const double center[3], double axis[3]) {
    const ct_link_info* link = &file->link[k];
    ct_mat3 spread = {0}, V;
    double moment[3];
    for (int i = 0; i < link->count; i++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                spread.a[a][b] += (file->rest[3 * link->nodes[i] + a] - center[a]) *
                                  (file->rest[3 * link->nodes[i] + b] - center[b]);
    ct_symmetric3(spread, moment, &V);
    int most = moment[0] >= moment[1] && moment[0] >= moment[2] ? 0 : moment[1] >= moment[2] ? 1 : 2;
    for (int a = 0; a < 3; a++) axis[a] = V.a[a][most];
}

// The longest line through the middle of the link's nodes; false where it is short against the way to the
// joints below.
static bool find_spine(const ct_bone_list* list, const ct_trajectory* file, int k, ct_bone* spine) {
    double center[3], below[3], away[3], widest = 0;
    *spine = (ct_bone){.link = k};
    if (file->link[k].count < 2 || below_center(file, k, below) < 2) return false;
    node_center(file, k, center);
    long_axis(file, k, center, away);
    double back[3] = {-away[0], -away[1], -away[2]};
    far_end(list, file, k, center, back, spine->from);
    far_end(list, file, k, center, away, spine->to);
    for (int c = k + 1; c < file->info.nlink; c++)
        if (file->link[c].parent == k && attached(file->link, c))
            widest = fmax(widest, distance3(center, file->link[c].anchor));
    return distance3(spine->from, spine->to) > 0.5 * widest;
}

static void nearest_on(const ct_bone* spine, const double point[3], double nearest[3]) {
    double along[3], away[3];
    for (int a = 0; a < 3; a++) {
        along[a] = spine->to[a] - spine->from[a];
        away[a] = point[a] - spine->from[a];
    }
    double t = fmin(1, fmax(0, dot3(away, along) / dot3(along, along)));
    for (int a = 0; a < 3; a++) nearest[a] = spine->from[a] + t * along[a];
}

// Bones from a link to the joints below it.
static void add_branches(ct_bone_list* list, const ct_trajectory* file, int k, double size, bool* carries) {
    ct_bone spine;
    bool has_spine = find_spine(list, file, k, &spine);
    if (has_spine) list->bone[list->count++] = spine;
    *carries = has_spine;
    for (int c = k + 1; c < file->info.nlink; c++) {
        if (file->link[c].parent != k || !attached(file->link, c)) continue;
        ct_bone bone = {.link = k};
        memcpy(bone.from, list->base + 3 * k, sizeof bone.from);
        memcpy(bone.to, list->base + 3 * c, sizeof bone.to);
        if (has_spine) nearest_on(&spine, bone.to, bone.from);
        if (distance3(bone.from, bone.to) <= 1e-6 * size) continue;
        list->bone[list->count++] = bone;
        *carries = true;
    }
}

void ct_bone_list_create(ct_bone_list* list, ct_arena* arena, const ct_trajectory* file, double size) {
    int nlink = file->info.nlink;
    *list = (ct_bone_list){0};
    list->base = ct_arena_alloc(arena, 3 * (size_t)nlink, sizeof(double));
    list->bone = ct_arena_alloc(arena, 2 * (size_t)nlink, sizeof(ct_bone));
    if (arena->failed) return;
    list->flesh = count_flesh(file);
    for (int k = 0; k < nlink; k++) set_base(list, file, k);
    for (int k = 0; k < nlink; k++) {
        bool carries;
        add_branches(list, file, k, size, &carries);
        if (!carries && file->link[k].count) list->bone[list->count++] = leaf(list, file, k);
    }
    double mean = mean_length(list->bone, list->count, size);
    list->thinnest = THINNEST * size;
    list->radius = fmax(THICKNESS * fmin(mean, 0.5 * size), list->thinnest);
    list->joint = mean > 6 * list->radius ? list->radius : 0;
}

// ---- Solids ----

// Bones of very different lengths still differ in thickness, but less.
double ct_bone_radius(const ct_bone_list* list, const ct_bone* bone) {
    const double length = distance3(bone->from, bone->to);
    return fmax(list->thinnest, list->radius * fmin(1.2, fmax(0.6, sqrt(THICKNESS * length / list->radius))));
}

// A pin along the axis that the link carries.
static ct_solid pin(const double at[3], const double* pose, const double axis[3], double r) {
    ct_solid s = {.material = CT_BONE_JOINT, .shape = CT_SOLID_CYLINDER, .radius = 0.95 * r};
    for (int a = 0; a < 3; a++) {
        double along = dot3(pose + 3 * a, axis);
        s.a[a] = at[a] - 1.55 * r * along;
        s.b[a] = at[a] + 1.55 * r * along;
    }
    return s;
}

// The slider, and the rail on its parent.
static int slider(ct_solid* out, const ct_link_info* link, const double base[3], const double at[3],
                  const double* poses, const double* pose, double r) {
    double rest[3];
    memcpy(rest, base, sizeof rest);
    if (link->parent >= 0) ct_bone_place(poses + 12 * link->parent, base, rest);
    out[0] = (ct_solid){.material = CT_BONE_JOINT, .shape = CT_SOLID_CYLINDER, .radius = 1.15 * r};
    out[1] = (ct_solid){.material = CT_BONE_RAIL, .shape = CT_SOLID_CYLINDER, .radius = 0.38 * r};
    for (int a = 0; a < 3; a++) {
        double along = dot3(pose + 3 * a, link->axis), slide = at[a] - rest[a];
        out[0].a[a] = at[a] - 1.2 * r * along;
        out[0].b[a] = at[a] + 1.2 * r * along;
        out[1].a[a] = rest[a] - 0.05 * slide;
        out[1].b[a] = at[a] + 0.05 * slide;
    }
    return distance3(rest, at) > 0.5 * r ? 2 : 1;
}

static int joint_solids(ct_solid* out, const ct_trajectory* file, const ct_bone_list* list, int k,
                        const double* poses) {
    static const double world[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const ct_link_info* link = &file->link[k];
    const double *pose = poses + 12 * k, *base = list->base + 3 * k;
    double at[3], r = 1.15 * (list->joint > 0 || link->parent >= 0 ? list->joint : list->radius);
    ct_joint_mark mark = ct_joint_type_of(link->joint)->mark;
    ct_bone_place(pose, base, at);
    if (mark == CT_MARK_NONE || !(r > 0)) return 0;
    if (mark == CT_MARK_SLIDER) return slider(out, link, base, at, poses, pose, r);
    if (mark == CT_MARK_PINS) {
        // the link carries its last axis; a first of two sits on its parent
        const double* seat = link->naxis < 2 ? pose : link->parent >= 0 ? poses + 12 * link->parent : world;
        out[0] = pin(at, seat, link->axis, r);
        if (link->naxis > 1) out[1] = pin(at, pose, link->axis2, r);
        return link->naxis;
    }
    out[0] = (ct_solid){.material = CT_BONE_JOINT,
                        .shape = CT_SOLID_BALL,
                        .radius = (mark == CT_MARK_PIVOT ? 1.1 : 1.28) * r};
    memcpy(out[0].a, at, sizeof at);
    memcpy(out[0].b, at, sizeof at);
    return 1;
}

static int make_solids(ct_solid* out, const ct_trajectory* file, const ct_bone_list* list,
                       const double* poses) {
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        const ct_bone* bone = &list->bone[i];
        double length = distance3(bone->from, bone->to);
        ct_solid s = {
            .material = CT_BONE_SHAFT, .shape = CT_SOLID_SHAFT, .radius = ct_bone_radius(list, bone)};
        ct_bone_place(poses + 12 * bone->link, bone->from, s.a);
        ct_bone_place(poses + 12 * bone->link, bone->to, s.b);
        if (length < 0.2 * s.radius) {
            s.shape = CT_SOLID_BALL;
            s.radius *= 1.6;
        }
        out[count++] = s;
    }
    for (int k = 0; k < file->info.nlink; k++) count += joint_solids(out + count, file, list, k, poses);
    return count;
}

static bool all_finite(const double* values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

void ct_bone_dress(ct_skin* skin, ct_arena* arena, const ct_bone_list* list, const ct_trajectory* file,
                   const double* poses) {
    size_t nlink = (size_t)file->info.nlink;
    ct_solid* solids = ct_arena_alloc(arena, (size_t)list->count + 2 * nlink, sizeof *solids);
    if (arena->failed || !all_finite(poses, 12 * nlink)) return;
    int count = make_solids(solids, file, list, poses);
    bool many = count > MANY;
    ct_solid_append(skin, arena, solids, count, many ? 13 : 25, many ? 10 : 18);
}

void ct_bone_cables(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* at,
                    double radius) {
    ct_solid* solids = ct_arena_alloc(arena, 2 * (size_t)file->info.neyelet, sizeof *solids);
    int count = 0;
    for (int k = 0; solids && k < file->info.ncable; k++)
        for (int i = file->cable_start[k]; i < file->cable_start[k + 1]; i++) {
            const double *here = at + 4 * (size_t)i,
                         *next = i + 1 < file->cable_start[k + 1] ? here + 4 : here;
            ct_solid bead = {.material = CT_BONE_CABLE, .shape = CT_SOLID_CAPSULE, .radius = 1.8 * radius},
                     rod = {.material = CT_BONE_CABLE, .shape = CT_SOLID_CAPSULE, .radius = radius};
            memcpy(bead.a, here, sizeof bead.a), memcpy(bead.b, here, sizeof bead.b);
            memcpy(rod.a, here, sizeof rod.a), memcpy(rod.b, next, sizeof rod.b);
            solids[count++] = bead;
            if (next != here) solids[count++] = rod;
        }
    if (solids) ct_solid_append(skin, arena, solids, count, 9, 10);
}
