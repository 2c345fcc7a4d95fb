// Skeletons in trajectory files: what is fixed of the links, and joint coordinates and link poses of the
// frames.
//
// Layout beside that of trajectory.h, in files with links alone:
//   /Cuttle                     attributes NumberOfLinks, NumberOfCoordinates, NumberOfLinkNodes,
//   LinkNameSize
//     LinkName [nlink] text, LinkParent, LinkJoint [nlink] int (joints as in ct_joint_kind), LinkAnchor,
//     LinkAxis [nlink,3], LinkAxis2 [nlink,3] (where some joint has two axes), LinkNodeStart [nlink+1],
//     LinkNode: the nodes of link k are LinkNode[LinkNodeStart[k]
//     .. LinkNodeStart[k+1]) JointCoordinates [nframe ncoordinate], LinkPoses [nframe nlink, 12]: rotation
//     row by row, then translation
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "out/trajectory.h"
#include "skeleton/joint.h"

#define MAX_NAME 4096

static const ct_joint_type* type_of(int joint) { return ct_joint_type_of((ct_joint_kind)joint); }

// The links as arrays, the form in which the file has them.
typedef struct columns {
    int name_size, nnode;
    char* name;  // name_size nlink
    int *parent, *joint, *start, *node;
    double *anchor, *axis, *axis2;
    bool second;  // some joint has two axes
} columns;

static bool columns_create(columns* c, ct_arena* arena, int nlink) {
    size_t n = (size_t)nlink;
    c->name = ct_arena_alloc(arena, n * (size_t)c->name_size, 1);
    c->parent = ct_arena_alloc(arena, n, sizeof(int));
    c->joint = ct_arena_alloc(arena, n, sizeof(int));
    c->start = ct_arena_alloc(arena, n + 1, sizeof(int));
    c->node = ct_arena_alloc(arena, (size_t)c->nnode, sizeof(int));
    c->anchor = ct_arena_alloc(arena, 3 * n, sizeof(double));
    c->axis = ct_arena_alloc(arena, 3 * n, sizeof(double));
    c->axis2 = ct_arena_alloc(arena, 3 * n, sizeof(double));
    return !arena->failed;
}

// ---- Writing ----

static void gather(columns* c, const ct_link_info* link, int nlink) {
    for (int k = 0; k < nlink; k++) {
        memcpy(c->name + (size_t)k * (size_t)c->name_size, link[k].name, strlen(link[k].name));
        c->parent[k] = link[k].parent;
        c->joint[k] = link[k].joint;
        memcpy(c->anchor + 3 * k, link[k].anchor, sizeof link[k].anchor);
        memcpy(c->axis + 3 * k, link[k].axis, sizeof link[k].axis);
        memcpy(c->axis2 + 3 * k, link[k].axis2, sizeof link[k].axis2);
        c->second |= link[k].naxis > 1;
        if (link[k].count) memcpy(c->node + c->start[k], link[k].nodes, (size_t)link[k].count * sizeof(int));
        c->start[k + 1] = c->start[k] + link[k].count;
    }
}

static bool write_columns(hid_t group, const columns* c, const ct_trajectory_info* info) {
    int64_t count[4] = {info->nlink, info->ncoordinate, c->nnode, c->name_size};
    static const char* const name[4] = {"NumberOfLinks", "NumberOfCoordinates", "NumberOfLinkNodes",
                                        "LinkNameSize"};
    size_t n = (size_t)info->nlink;
    hid_t type = ct_hdf_text_type(c->name_size), integer = H5T_STD_I32LE, real = H5T_IEEE_F64LE;
    bool good = type >= 0;
    for (int k = 0; good && k < 4; k++)
        good = ct_hdf_write_attribute(group, name[k], H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &count[k]);
    good = good && ct_hdf_write_array(group, "LinkName", type, type, n, 0, c->name) &&
           ct_hdf_write_array(group, "LinkParent", integer, H5T_NATIVE_INT, n, 0, c->parent) &&
           ct_hdf_write_array(group, "LinkJoint", integer, H5T_NATIVE_INT, n, 0, c->joint) &&
           ct_hdf_write_array(group, "LinkAnchor", real, H5T_NATIVE_DOUBLE, n, 3, c->anchor) &&
           ct_hdf_write_array(group, "LinkAxis", real, H5T_NATIVE_DOUBLE, n, 3, c->axis) &&
           (!c->second || ct_hdf_write_array(group, "LinkAxis2", real, H5T_NATIVE_DOUBLE, n, 3, c->axis2)) &&
           ct_hdf_write_array(group, "LinkNodeStart", integer, H5T_NATIVE_INT, n + 1, 0, c->start) &&
           ct_hdf_write_array(group, "LinkNode", integer, H5T_NATIVE_INT, (size_t)c->nnode, 0, c->node);
    if (type >= 0) H5Tclose(type);
    return good;
}

bool ct_trajectory_write_links(ct_trajectory* file, hid_t group, const ct_trajectory_def* def) {
    int nlink = def->info.nlink;
    if (!nlink) return true;
    columns c = {.name_size = 1};
    for (int k = 0; k < nlink; k++) {
        size_t length = strlen(def->link[k].name);
        if (length > MAX_NAME) return false;
        if ((int)length > c.name_size) c.name_size = (int)length;
        c.nnode += def->link[k].count;
    }
    ct_arena arena = {0};
    bool good = columns_create(&c, &arena, nlink);
    if (good) gather(&c, def->link, nlink);
    good = good && write_columns(group, &c, &def->info);
    file->no_memory |= arena.failed;
    ct_arena_free(&arena);
    return good;
}

// ---- Reading ----

static ct_status damaged(const ct_trajectory* file, ct_error* error) {
    return ct_fail_at(
        error, CT_BAD_FILE, file->path, 0,
        "the links in /Cuttle are not consistent: the file is damaged; write it again with `cuttle run`");
}

static bool read_counts(hid_t group, ct_trajectory_info* info, columns* c) {
    int64_t count[4];
    static const char* const name[4] = {"NumberOfLinks", "NumberOfCoordinates", "NumberOfLinkNodes",
                                        "LinkNameSize"};
    for (int k = 0; k < 4; k++)
        if (!ct_hdf_read_attribute(group, name[k], H5T_NATIVE_INT64, 1, &count[k]) || count[k] < 0 ||
            count[k] > INT_MAX / 16)
            return false;
    info->nlink = (int)count[0];
    info->ncoordinate = (int)count[1];
    c->nnode = (int)count[2];
    c->name_size = (int)count[3];
    return info->nlink >= 1 && info->ncoordinate <= 7 * info->nlink && c->nnode <= info->nvert &&
           c->name_size >= 1 && c->name_size <= MAX_NAME;
}

static ct_status read_columns(const ct_trajectory* file, hid_t group, columns* c, ct_error* error) {
    const size_t n = (size_t)file->info.nlink;
    const hid_t type = ct_hdf_text_type(c->name_size), integer = H5T_STD_I32LE, real = H5T_IEEE_F64LE;
    c->second = H5Lexists(group, "LinkAxis2", H5P_DEFAULT) != 0;
    const struct {
        const char* name;
        hid_t type;
        size_t count;
        void* values;
    } list[] = {{"LinkName", type, n, c->name},
                {"LinkParent", integer, n, c->parent},
                {"LinkJoint", integer, n, c->joint},
                {"LinkAnchor", real, 3 * n, c->anchor},
                {"LinkAxis", real, 3 * n, c->axis},
                {"LinkNodeStart", integer, n + 1, c->start},
                {"LinkNode", integer, (size_t)c->nnode, c->node},
                {"LinkAxis2", real, 3 * n, c->axis2}};
    ct_status status = type < 0 ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
    for (int k = 0; !status && k < (c->second ? 8 : 7); k++)
        status = ct_trajectory_get_fixed(file, group, list[k].name, list[k].type, list[k].count,
                                         list[k].values, error);
    if (type >= 0) H5Tclose(type);
    return status;
}

static bool consistent(const columns* c, const ct_trajectory_info* info) {
    int coordinates = 0;
    bool good = c->start[0] == 0 && c->start[info->nlink] == c->nnode;
    for (int k = 0; good && k < info->nlink; k++) {
        good =
            c->parent[k] >= -1 && c->parent[k] < k && type_of(c->joint[k]) && c->start[k] <= c->start[k + 1];
        if (good) coordinates += type_of(c->joint[k])->ncoordinate;
        for (int a = 3 * k; a < 3 * k + 3; a++)
            good &= isfinite(c->anchor[a]) && isfinite(c->axis[a]) && isfinite(c->axis2[a]);
    }
    for (int i = 0; good && i < c->nnode; i++) good = c->node[i] >= 0 && c->node[i] < info->nvert;
    return good && coordinates == info->ncoordinate;
}

static bool fill_links(ct_trajectory* file, const columns* c) {
    int nlink = file->info.nlink, coordinate = 0;
    file->link = ct_arena_alloc(&file->arena, (size_t)nlink, sizeof *file->link);
    for (int k = 0; file->link && k < nlink; k++) {
        ct_link_info* link = &file->link[k];
        char* name = ct_arena_alloc(&file->arena, (size_t)c->name_size + 1, 1);
        if (!name) return false;
        memcpy(name, c->name + (size_t)k * (size_t)c->name_size, (size_t)c->name_size);
        *link = (ct_link_info){.name = name,
                               .parent = c->parent[k],
                               .joint = (ct_joint_kind)c->joint[k],
                               .coordinate = coordinate,
                               .ncoordinate = type_of(c->joint[k])->ncoordinate,
                               .naxis = type_of(c->joint[k])->naxis,
                               .nodes = c->node + c->start[k],
                               .count = c->start[k + 1] - c->start[k]};
        memcpy(link->anchor, c->anchor + 3 * k, sizeof link->anchor);
        memcpy(link->axis, c->axis + 3 * k, sizeof link->axis);
        memcpy(link->axis2, c->axis2 + 3 * k, sizeof link->axis2);
        coordinate += link->ncoordinate;
    }
    file->coordinates = ct_arena_alloc(&file->arena, (size_t)file->info.ncoordinate, sizeof(double));
    file->poses = ct_arena_alloc(&file->arena, 12 * (size_t)nlink, sizeof(double));
    return !file->arena.failed;
}

ct_status ct_trajectory_open_links(ct_trajectory* file, hid_t group, ct_error* error) {
    if (H5Aexists(group, "NumberOfLinks") == 0) return CT_OK;
    columns c = {0};
    // A parent and a joint for each link must be there before memory for the links is asked for.
    if (!read_counts(group, &file->info, &c) ||
        !ct_hdf_holds(group, "LinkParent", (size_t)file->info.nlink) ||
        !ct_hdf_holds(group, "LinkName", (size_t)file->info.nlink))
        return damaged(file, error);
    if (!columns_create(&c, &file->arena, file->info.nlink))
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    const ct_status status = read_columns(file, group, &c, error);
    if (status) return status;
    if (!consistent(&c, &file->info)) return damaged(file, error);
    return fill_links(file, &c) ? CT_OK : ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
}

const ct_link_info* ct_trajectory_links(const ct_trajectory* file) { return file->link; }

ct_status ct_trajectory_read_links_into(ct_trajectory* file, int frame, double* coordinates, double* poses,
                                        ct_error* error) {
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status) return status;
    if (!file->info.nlink) return CT_OK;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    if (coordinates) status = ct_trajectory_get(file, CT_ARRAY_COORDINATES, frame, coordinates, error);
    if (poses && !status) status = ct_trajectory_get(file, CT_ARRAY_POSES, frame, poses, error);
    ct_hdf_leave(&guard);
    return status;
}

ct_status ct_trajectory_read_links(ct_trajectory* file, int frame, const double** coordinates,
                                   const double** poses, ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    if (coordinates) *coordinates = NULL;
    if (poses) *poses = NULL;
    ct_status status = ct_trajectory_read_links_into(file, frame, coordinates ? file->coordinates : NULL,
                                                     poses ? file->poses : NULL, error);
    if (status) return status;
    if (coordinates) *coordinates = file->coordinates;
    if (poses) *poses = file->poses;
    return CT_OK;
}
