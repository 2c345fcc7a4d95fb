// Obstacles and contacts in trajectory files.
//
// Layout beside that of trajectory.h. With obstacles:
//   /Cuttle                     attributes NumberOfObstacles, ObstacleNameSize
//     ObstacleName [nobstacle] text, ObstacleKind, ObstacleHidden [nobstacle] int (kinds as in
//     ct_obstacle_kind), ObstacleRadius [nobstacle], ObstacleColor [nobstacle,3] ObstaclePoses [nframe
//     nobstacle, 6]: plane: point, normal; sphere: centre; capsule: ends
// With contact (attribute HasContact):
//   /Cuttle/Contacts
//     Offsets, Counts [nframe]  the contacts of frame k are the rows Offsets[k] .. Offsets[k] + Counts[k] of
//     Type, Set [n], Nodes [n,4], Colliders [n,2] int, Position, Normal [n,3], Gap [n], Force [n,3], Friction
//     [n] double
// Rows behind those of the last complete frame belong to one that was never finished, and are written over.
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "out/trajectory.h"

#define MAX_NAME 4096
#define CHUNK_ROWS 8192  // contacts in a chunk of a column

typedef struct column {
    const char* name;
    int columns;    // 0: one dimension
    bool integer;   // int, otherwise double
    size_t offset;  // in ct_contact
} column;

static const column columns[CT_CONTACT_COLUMNS] = {
    {"Type", 0, true, offsetof(ct_contact, type)},
    {"Set", 0, true, offsetof(ct_contact, set)},
    {"Nodes", 4, true, offsetof(ct_contact, node)},
    {"Colliders", 2, true, offsetof(ct_contact, a)},
    {"Position", 3, false, offsetof(ct_contact, position)},
    {"Normal", 3, false, offsetof(ct_contact, normal)},
    {"Gap", 0, false, offsetof(ct_contact, gap)},
    {"Force", 3, false, offsetof(ct_contact, force)},
    {"Friction", 0, false, offsetof(ct_contact, friction)},
};
_Static_assert(sizeof(ct_contact_type) == sizeof(int) && sizeof(ct_contact_set) == sizeof(int),
               "enums are stored as int");
_Static_assert(offsetof(ct_contact, b) == offsetof(ct_contact, a) + sizeof(int),
               "the colliders lie side by side");

static size_t width(const column* c) { return (size_t)(c->columns ? c->columns : 1); }
static size_t bytes(const column* c) { return width(c) * (c->integer ? sizeof(int) : sizeof(double)); }
static hid_t file_type(const column* c) { return c->integer ? H5T_STD_I32LE : H5T_IEEE_F64LE; }
static hid_t native_type(const column* c) { return c->integer ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE; }

static ct_status damaged(const ct_trajectory* file, const char* what, ct_error* error) {
    return ct_fail_at(
        error, CT_BAD_FILE, file->path, 0,
        "the %s in /Cuttle are not consistent: the file is damaged; write it again with `cuttle run`", what);
}

// ---- Obstacles ----

typedef struct obstacle_arrays {
    int name_size;
    char* name;  // name_size nobstacle
    int *kind, *hidden;
    double *radius, *color;
} obstacle_arrays;

static bool arrays_create(obstacle_arrays* o, ct_arena* arena, int nobstacle) {
    size_t n = (size_t)nobstacle;
    o->name = ct_arena_alloc(arena, n * (size_t)o->name_size, 1);
    o->kind = ct_arena_alloc(arena, n, sizeof(int));
    o->hidden = ct_arena_alloc(arena, n, sizeof(int));
    o->radius = ct_arena_alloc(arena, n, sizeof(double));
    o->color = ct_arena_alloc(arena, 3 * n, sizeof(double));
    return !arena->failed;
}

static bool write_arrays(hid_t group, const obstacle_arrays* o, size_t n) {
    hid_t type = ct_hdf_text_type(o->name_size), integer = H5T_STD_I32LE, real = H5T_IEEE_F64LE;
    bool good =
        type >= 0 &&
        ct_hdf_write_attribute(group, "ObstacleNameSize", integer, H5T_NATIVE_INT, 1, &o->name_size) &&
        ct_hdf_write_array(group, "ObstacleName", type, type, n, 0, o->name) &&
        ct_hdf_write_array(group, "ObstacleKind", integer, H5T_NATIVE_INT, n, 0, o->kind) &&
        ct_hdf_write_array(group, "ObstacleHidden", integer, H5T_NATIVE_INT, n, 0, o->hidden) &&
        ct_hdf_write_array(group, "ObstacleRadius", real, H5T_NATIVE_DOUBLE, n, 0, o->radius) &&
        ct_hdf_write_array(group, "ObstacleColor", real, H5T_NATIVE_DOUBLE, n, 3, o->color);
    if (type >= 0) H5Tclose(type);
    return good;
}

bool ct_trajectory_write_obstacles(ct_trajectory* file, hid_t group, const ct_trajectory_def* def) {
    int n = def->info.nobstacle;
    if (!n) return true;
    obstacle_arrays o = {.name_size = 1};
    for (int k = 0; k < n; k++) {
        size_t length = strlen(def->obstacle[k].name);
        if (length > MAX_NAME) return false;
        if ((int)length > o.name_size) o.name_size = (int)length;
    }
    ct_arena arena = {0};
    bool good = arrays_create(&o, &arena, n);
    for (int k = 0; good && k < n; k++) {
        const ct_obstacle_info* from = &def->obstacle[k];
        memcpy(o.name + (size_t)k * (size_t)o.name_size, from->name, strlen(from->name));
        o.kind[k] = (int)from->kind;
        o.hidden[k] = from->hidden;
        o.radius[k] = from->radius;
        memcpy(o.color + 3 * k, from->color, sizeof from->color);
    }
    good = good && write_arrays(group, &o, (size_t)n);
    file->no_memory |= arena.failed;
    ct_arena_free(&arena);
    return good;
}

static ct_status read_arrays(const ct_trajectory* file, hid_t group, obstacle_arrays* o, size_t n,
                             ct_error* error) {
    const hid_t type = ct_hdf_text_type(o->name_size), integer = H5T_STD_I32LE, real = H5T_IEEE_F64LE;
    if (type < 0) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_trajectory_get_fixed(file, group, "ObstacleName", type, n, o->name, error);
    if (!status) status = ct_trajectory_get_fixed(file, group, "ObstacleKind", integer, n, o->kind, error);
    if (!status)
        status = ct_trajectory_get_fixed(file, group, "ObstacleHidden", integer, n, o->hidden, error);
    if (!status) status = ct_trajectory_get_fixed(file, group, "ObstacleRadius", real, n, o->radius, error);
    if (!status) status = ct_trajectory_get_fixed(file, group, "ObstacleColor", real, 3 * n, o->color, error);
    H5Tclose(type);
    bool good = true;
    for (size_t k = 0; !status && good && k < n; k++) {
        good = o->kind[k] >= CT_OBSTACLE_PLANE && o->kind[k] <= CT_OBSTACLE_MESH && o->radius[k] >= 0 &&
               isfinite(o->radius[k]);
        for (size_t a = 0; a < 3; a++) good &= isfinite(o->color[3 * k + a]);
    }
    return good ? status : damaged(file, "obstacles", error);
}

static bool fill_obstacles(ct_trajectory* file, const obstacle_arrays* o) {
    size_t n = (size_t)file->info.nobstacle, size = (size_t)o->name_size;
    file->obstacle = ct_arena_alloc(&file->arena, n, sizeof *file->obstacle);
    file->obstacle_poses = ct_arena_alloc(&file->arena, 6 * n, sizeof(double));
    file->obstacle_far = ct_arena_alloc(&file->arena, n, sizeof(bool));
    for (size_t k = 0; !file->arena.failed && k < n; k++) {
        char* name = ct_arena_alloc(&file->arena, size + 1, 1);
        if (!name) return false;
        memcpy(name, o->name + k * size, size);
        file->obstacle[k] = (ct_obstacle_info){.name = name,
                                               .kind = (ct_obstacle_kind)o->kind[k],
                                               .radius = o->radius[k],
                                               .hidden = o->hidden[k] != 0};
        memcpy(file->obstacle[k].color, o->color + 3 * k, sizeof file->obstacle[k].color);
    }
    return !file->arena.failed;
}

static ct_status read_body_names(ct_trajectory* file, hid_t group, ct_error* error) {
    size_t nbody = (size_t)file->info.nbody;
    file->body_name = ct_arena_alloc(&file->arena, nbody, sizeof *file->body_name);
    for (size_t k = 0; file->body_name && k < nbody; k++) {
        char key[32], text[MAX_NAME];
        snprintf(key, sizeof key, "BodyName%zu", k);
        if (!ct_hdf_read_text_or_none(group, key, text, sizeof text))
            return ct_trajectory_fail_array(file, "the name of a body", error);
        char* name = ct_arena_alloc(&file->arena, strlen(text) + 1, 1);
        if (name) strcpy(name, text);
        file->body_name[k] = name;
    }
    return file->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

ct_status ct_trajectory_open_obstacles(ct_trajectory* file, hid_t group, ct_error* error) {
    obstacle_arrays o = {0};
    const ct_status named = read_body_names(file, group, error);
    if (named || !file->info.nobstacle) return named;
    size_t n = (size_t)file->info.nobstacle;
    if (!ct_hdf_read_attribute(group, "ObstacleNameSize", H5T_NATIVE_INT, 1, &o.name_size) ||
        o.name_size < 1 || o.name_size > MAX_NAME || !ct_hdf_holds(group, "ObstacleKind", n) ||
        !ct_hdf_holds(group, "ObstacleName", n))
        return damaged(file, "obstacles", error);
    ct_arena arena = {0};
    ct_status status = CT_OK;
    if (!arrays_create(&o, &arena, file->info.nobstacle))
        status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) status = read_arrays(file, group, &o, n, error);
    if (!status && !fill_obstacles(file, &o)) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_arena_free(&arena);
    return status;
}

const ct_obstacle_info* ct_trajectory_obstacles(const ct_trajectory* file) { return file->obstacle; }

const char* ct_trajectory_collider_name(const ct_trajectory* file, int collider) {
    if (collider < 0 || collider >= file->info.nbody + file->info.nobstacle) return "";
    return collider < file->info.nbody ? file->body_name[collider]
                                       : file->obstacle[collider - file->info.nbody].name;
}

ct_status ct_trajectory_read_obstacles_into(ct_trajectory* file, int frame, double* poses, ct_error* error) {
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status || !file->info.nobstacle) return status;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    status = ct_trajectory_get(file, CT_ARRAY_OBSTACLE_POSES, frame, poses, error);
    ct_hdf_leave(&guard);
    return status;
}

ct_status ct_trajectory_read_obstacles(ct_trajectory* file, int frame, const double** poses,
                                       ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    *poses = NULL;
    ct_status status = ct_trajectory_read_obstacles_into(file, frame, file->obstacle_poses, error);
    if (!status) *poses = file->obstacle_poses;
    return status;
}

// ---- Contacts ----

bool ct_trajectory_create_contacts(ct_trajectory* file) {
    if (!file->info.contact) return true;
    hid_t group = H5Gopen2(file->file, "Cuttle/Contacts", H5P_DEFAULT);
    bool good = group >= 0;
    for (int k = 0; good && k < CT_CONTACT_COLUMNS; k++) {
        file->contact_column[k] = ct_hdf_create_rows(group, columns[k].name, file_type(&columns[k]),
                                                     (size_t)columns[k].columns, CHUNK_ROWS, false);
        good = file->contact_column[k] >= 0;
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

// The rows of a frame, which must all be there.
static ct_status find_rows(ct_trajectory* file, int frame, int64_t* first, int64_t* count, ct_error* error) {
    ct_status status = ct_trajectory_get(file, CT_ARRAY_CONTACT_OFFSET, frame, first, error);
    if (!status) status = ct_trajectory_get(file, CT_ARRAY_CONTACT_COUNT, frame, count, error);
    if (status) return status;
    bool good = *first >= 0 && *count >= 0 && *count <= INT_MAX && *first <= INT64_MAX - *count;
    for (int k = 0; good && k < CT_CONTACT_COLUMNS; k++)
        good = (size_t)(*first + *count) <=
               ct_hdf_row_count(file->contact_column[k], (size_t)columns[k].columns);
    return good ? CT_OK : damaged(file, "contacts", error);
}

bool ct_trajectory_open_contacts(ct_trajectory* file) {
    for (int k = 0; k < CT_CONTACT_COLUMNS; k++) {
        char path[64];
        snprintf(path, sizeof path, "Cuttle/Contacts/%s", columns[k].name);
        file->contact_column[k] = ct_hdf_open_rows(file->file, path);
        if (file->contact_column[k] < 0 || !ct_hdf_has_type(file->contact_column[k], file_type(&columns[k])))
            return false;
    }
    return true;
}

ct_status ct_trajectory_count_contacts(ct_trajectory* file, ct_error* error) {
    if (!file->info.contact || !file->info.nframe) return CT_OK;
    int64_t first = 0, count = 0;
    ct_status status = find_rows(file, file->info.nframe - 1, &first, &count, error);
    if (!status) file->info.ncontact = first + count;
    return status;
}

bool ct_trajectory_write_contacts(ct_trajectory* file, const ct_trajectory_sample* sample) {
    size_t first = (size_t)file->info.ncontact, n = (size_t)sample->ncontact;
    int64_t offset = file->info.ncontact, count = sample->ncontact;
    if (!ct_reserve(&file->column, &file->column_capacity, n, 4 * sizeof(double))) {
        file->no_memory = true;
        return false;
    }
    for (int k = 0; k < CT_CONTACT_COLUMNS; k++) {
        const column* c = &columns[k];
        for (size_t i = 0; i < n; i++)
            memcpy((char*)file->column + i * bytes(c), (const char*)&sample->contact[i] + c->offset,
                   bytes(c));
        ct_trajectory_note(file, CT_ARRAY_COUNT + k, file->column, n * bytes(c));
        if (!ct_hdf_put_rows(file->contact_column[k], native_type(c), (size_t)c->columns, first, n,
                             file->column))
            return false;
    }
    return ct_trajectory_put(file, CT_ARRAY_CONTACT_OFFSET, &offset) &&
           ct_trajectory_put(file, CT_ARRAY_CONTACT_COUNT, &count);
}

static ct_status read_columns(ct_trajectory* file, int frame, size_t first, size_t n, ct_error* error) {
    for (int k = 0; k < CT_CONTACT_COLUMNS; k++) {
        const column* c = &columns[k];
        if (!ct_hdf_get_rows(file->contact_column[k], native_type(c), (size_t)c->columns, first, n,
                             file->column) ||
            !ct_trajectory_verify(file, CT_ARRAY_COUNT + k, frame, file->column, n * bytes(c)))
            return ct_trajectory_fail_frame(file, frame, "Cuttle/Contacts", error);
        for (size_t i = 0; i < n; i++)
            memcpy((char*)&file->contact[i] + c->offset, (const char*)file->column + i * bytes(c), bytes(c));
    }
    return CT_OK;
}

static bool plausible(const ct_contact* c, const ct_trajectory_info* info) {
    int ncollider = info->nbody + info->nobstacle, type, set;
    memcpy(&type, &c->type, sizeof type);  // as stored, which need not be one of the enum's
    memcpy(&set, &c->set, sizeof set);
    bool good = type >= CT_CONTACT_TYPE_PLANE && type <= CT_CONTACT_TYPE_POINT_POINT &&
                set >= CT_CONTACT_SET_OPEN && set <= CT_CONTACT_SET_SLIP && c->a >= 0 && c->a < ncollider &&
                c->b >= 0 && c->b < ncollider;
    for (int i = 0; i < 4; i++) good &= c->node[i] >= -1 && c->node[i] < info->nvert;
    return good;
}

ct_status ct_trajectory_read_contacts(ct_trajectory* file, int frame, const ct_contact** list, int* count,
                                      ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    *list = NULL;
    *count = 0;
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status || !file->info.contact) return status;
    int64_t first = 0, n = 0;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    status = find_rows(file, frame, &first, &n, error);
    if (!status &&
        !(ct_reserve((void**)&file->contact, &file->contact_capacity, (size_t)n, sizeof *file->contact) &&
          ct_reserve(&file->column, &file->column_capacity, (size_t)n, 4 * sizeof(double))))
        status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) status = read_columns(file, frame, (size_t)first, (size_t)n, error);
    ct_hdf_leave(&guard);
    for (int64_t i = 0; !status && i < n; i++)
        if (!plausible(&file->contact[i], &file->info))
            status = ct_trajectory_fail_frame(file, frame, "Cuttle/Contacts", error);
    if (status) return status;
    *list = file->contact;
    *count = (int)n;
    return CT_OK;
}
