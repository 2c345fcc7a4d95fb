// Reading trajectory files: everything in the file is checked before it is believed.
//
// Input: an HDF5 file in the layout of trajectory.h. Output: the fixed arrays, frames and fields by number.
// A file whose writer was killed holds NSteps complete frames; rows beyond them are ignored.
#include "out/trajectory.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

#define CT_SCENE_TEXT_MOST ((size_t)1 << 30)  // bytes

void ct_trajectory_discard(ct_trajectory* file) {
    if (!file) return;
    if (file->record_type >= 0) H5Tclose(file->record_type);
    if (file->file >= 0) H5Fclose(file->file);  // closes all that is open in it
    ct_arena_free(&file->arena);
    ct_free(file->contact);
    ct_free(file->column);
    ct_free(file->scene_text);
    ct_free(file->path);
    ct_free(file);
}

// Opens the HDF5 file itself and tells apart: not there, not HDF5, in use or damaged.
static ct_status open_file(ct_trajectory* file, ct_error* error) {
    const char* path = file->path;
    if (access(path, F_OK) != 0) return ct_fail_at(error, CT_IO, path, 0, "the file does not exist");
    if (access(path, file->writable ? R_OK | W_OK : R_OK) != 0)
        return ct_fail_at(error, CT_IO, path, 0, "no permission to %s the file",
                          file->writable ? "write" : "read");
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))  // reading from a pipe would wait for a writer
        return ct_fail_at(error, CT_BAD_FILE, path, 0,
                          "this is not a file but a directory, a device or a pipe");
    if (H5Fis_hdf5(path) == 0)
        return ct_fail_at(error, CT_BAD_FILE, path, 0,
                          "this is not an HDF5 file; `cuttle run` writes trajectories");
    hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
    if (access_list < 0) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    H5Pset_fclose_degree(access_list, H5F_CLOSE_STRONG);
    H5Pset_file_locking(access_list, file->writable, true);  // a run in progress may be looked at
    file->file = H5Fopen(path, file->writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access_list);
    H5Pclose(access_list);
    if (file->file >= 0) return CT_OK;
    return ct_fail_at(error, CT_BAD_FILE, path, 0,
                      "the HDF5 file cannot be opened: it is cut short, damaged%s",
                      file->writable ? ", or another process has it open" : "");
}

static bool read_count(hid_t group, const char* name, int least, int* count) {
    int64_t value = -1;
    if (!ct_hdf_read_attribute(group, name, H5T_NATIVE_INT64, 1, &value)) return false;
    *count = (int)value;
    return value >= least && value <= INT_MAX / 8;
}

// Files from before there were sheets, obstacles, contacts and actuators say nothing of them.
static bool read_count_or_none(hid_t group, const char* name, int* count) {
    const htri_t there = H5Aexists(group, name);
    return there >= 0 && (there == 0 || read_count(group, name, 0, count));
}

static bool read_view(hid_t group, ct_view* view) {
    int automatic = 1;
    bool good = ct_hdf_read_attribute(group, "ViewAutomatic", H5T_NATIVE_INT, 1, &automatic) &&
                ct_hdf_read_attribute(group, "ViewEye", H5T_NATIVE_DOUBLE, 3, view->eye) &&
                ct_hdf_read_attribute(group, "ViewTarget", H5T_NATIVE_DOUBLE, 3, view->target) &&
                ct_hdf_read_attribute(group, "ViewFieldOfView", H5T_NATIVE_DOUBLE, 1, &view->field_of_view);
    view->automatic = automatic != 0;
    return good;
}

static ct_status read_header(ct_trajectory* file, hid_t group, ct_error* error) {
    ct_trajectory_info* info = &file->info;
    int format = 0;
    if (!ct_hdf_read_attribute(group, "Format", H5T_NATIVE_INT, 1, &format))
        return ct_trajectory_fail_array(file, "/Cuttle", error);
    info->compressed = format == CT_TRAJECTORY_FORMAT_COMPRESSED;
    if (format != CT_TRAJECTORY_FORMAT && !info->compressed)
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "the trajectory has format %d, this version of Cuttle reads %d and %d", format,
                          CT_TRAJECTORY_FORMAT, CT_TRAJECTORY_FORMAT_COMPRESSED);
    int64_t state_size = -1;
    bool good =
        read_count(group, "NumberOfNodes", 1, &info->nvert) &&
        read_count(group, "NumberOfTets", 0, &info->ntet) &&
        read_count(group, "NumberOfSurfaceTriangles", 0, &info->nsurface) &&
        read_count(group, "NumberOfBodies", 0, &info->nbody) &&
        ct_hdf_read_attribute(group, "Up", H5T_NATIVE_INT, 1, &info->up) && info->up >= 0 && info->up <= 2 &&
        ct_hdf_read_attribute(group, "Ground", H5T_NATIVE_DOUBLE, 1, &info->ground) &&
        ct_hdf_read_attribute(group, "TimeStep", H5T_NATIVE_DOUBLE, 1, &info->time_step) &&
        ct_hdf_read_text(group, "SceneFile", info->scene_file, sizeof info->scene_file) &&
        ct_hdf_read_text(group, "SceneName", info->scene_name, sizeof info->scene_name) &&
        read_view(group, &info->view) &&
        ct_hdf_read_attribute(group, "StateSize", H5T_NATIVE_INT64, 1, &state_size) && state_size >= 0;
    file->state_size = good ? (size_t)state_size : 0;
    int contact = 0, activation = 0;
    good = good && read_count_or_none(group, "NumberOfSheetTriangles", &info->ntri) &&
           read_count_or_none(group, "NumberOfObstacles", &info->nobstacle) &&
           read_count_or_none(group, "NumberOfCavities", &info->ncavity) &&
           read_count_or_none(group, "NumberOfCables", &info->ncable) &&
           read_count_or_none(group, "NumberOfEyelets", &info->neyelet) &&
           read_count_or_none(group, "HasContact", &contact) &&
           read_count_or_none(group, "HasActivation", &activation);
    info->contact = contact != 0;
    info->activation = activation != 0;
    return good ? CT_OK : ct_trajectory_fail_array(file, "an attribute of /Cuttle", error);
}

static bool in_range(const int* index, size_t count, int limit) {
    for (size_t i = 0; i < count; i++)
        if (index[i] < 0 || index[i] >= limit) return false;
    return true;
}

static ct_status read_arrays(ct_trajectory* file, hid_t group, ct_error* error) {
    const ct_trajectory_info* info = &file->info;
    size_t nvert = (size_t)info->nvert, ntet = (size_t)info->ntet, nsurface = (size_t)info->nsurface;
    if (!ct_hdf_holds(group, "Rest", 3 * nvert) || !ct_hdf_holds(group, "Tets", 4 * ntet) ||
        !ct_hdf_holds(group, "Surface", 3 * nsurface) || !ct_hdf_holds(group, "TetBody", ntet) ||
        !ct_hdf_holds(group, "TetTag", ntet) || !ct_hdf_holds(group, "BodyColor", 3 * (size_t)info->nbody))
        return ct_trajectory_fail_array(file, "an array of /Cuttle", error);
    size_t ncell = ntet + (size_t)info->ntri, widest = 3 * nvert > ncell ? 3 * nvert : ncell;
    ct_arena* arena = &file->arena;
    file->rest = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    file->tet = ct_arena_alloc(arena, 4 * ntet, sizeof(int));
    file->surface = ct_arena_alloc(arena, 3 * nsurface, sizeof(int));
    file->tet_body = ct_arena_alloc(arena, ntet, sizeof(int));
    file->tet_tag = ct_arena_alloc(arena, ntet, sizeof(int));
    file->body_color = ct_arena_alloc(arena, 3 * (size_t)info->nbody, sizeof(double));
    file->x = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    file->v = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    file->field = ct_arena_alloc(arena, widest, sizeof(double));
    file->narrow = ct_arena_alloc(arena, widest, sizeof(float));
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    const hid_t integer = H5T_STD_I32LE, real = H5T_IEEE_F64LE;
    ct_status status = ct_trajectory_get_fixed(file, group, "Rest", real, 3 * nvert, file->rest, error);
    if (!status) status = ct_trajectory_get_fixed(file, group, "Tets", integer, 4 * ntet, file->tet, error);
    if (!status)
        status = ct_trajectory_get_fixed(file, group, "Surface", integer, 3 * nsurface, file->surface, error);
    if (!status)
        status = ct_trajectory_get_fixed(file, group, "TetBody", integer, ntet, file->tet_body, error);
    if (!status) status = ct_trajectory_get_fixed(file, group, "TetTag", integer, ntet, file->tet_tag, error);
    if (!status)
        status = ct_trajectory_get_fixed(file, group, "BodyColor", real, 3 * (size_t)info->nbody,
                                         file->body_color, error);
    if (status) return status;
    if (!in_range(file->tet, 4 * ntet, info->nvert) || !in_range(file->surface, 3 * nsurface, info->nvert) ||
        !in_range(file->tet_body, ntet, info->nbody))
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "a node or body index is out of range: the file is damaged");
    return CT_OK;
}

// The nodes on the edges of tets of second order; files without such tets have none.
static ct_status read_middles(ct_trajectory* file, hid_t group, ct_error* error) {
    const size_t ntet = (size_t)file->info.ntet;
    if (H5Lexists(group, "TetMiddles", H5P_DEFAULT) == 0) return CT_OK;
    if (!ct_hdf_holds(group, "TetMiddles", 6 * ntet))
        return ct_trajectory_fail_array(file, "/Cuttle/TetMiddles", error);
    file->mid = ct_arena_alloc(&file->arena, 6 * ntet, sizeof(int));
    if (file->arena.failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    const ct_status status =
        ct_trajectory_get_fixed(file, group, "TetMiddles", H5T_STD_I32LE, 6 * ntet, file->mid, error);
    if (status) return status;
    for (size_t i = 0; i < 6 * ntet; i++) {
        const bool linear = file->mid[i - i % 6] == -1;
        if (linear ? file->mid[i] == -1 : in_range(&file->mid[i], 1, file->info.nvert)) continue;
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "a node index is out of range: the file is damaged");
    }
    return CT_OK;
}

// Without it in the file a surface triangle belongs to the body of any element at its first node: bodies
// share no nodes.
static bool derive_owners(ct_trajectory* file) {
    const ct_trajectory_info* info = &file->info;
    int* node_body = ct_alloc((size_t)info->nvert, sizeof *node_body);
    if (!node_body) return false;
    for (int c = 0; c < 4 * info->ntet; c++) node_body[file->tet[c]] = file->tet_body[c / 4];
    for (int c = 0; file->mid && c < 6 * info->ntet; c++)
        if (file->mid[c] >= 0) node_body[file->mid[c]] = file->tet_body[c / 6];
    for (int c = 0; c < 3 * info->ntri; c++) node_body[file->tri[c]] = file->tri_body[c / 3];
    for (int t = 0; t < info->nsurface; t++) file->surface_owner[t] = node_body[file->surface[3 * t]];
    ct_free(node_body);
    return true;
}

// The triangles of sheets, and to whom the surface belongs.
static ct_status read_sheets(ct_trajectory* file, hid_t group, ct_error* error) {
    const ct_trajectory_info* info = &file->info;
    size_t ntri = (size_t)info->ntri, nsurface = (size_t)info->nsurface;
    const bool owned = H5Lexists(group, "SurfaceOwner", H5P_DEFAULT) != 0;
    if (ntri && (!ct_hdf_holds(group, "Tris", 3 * ntri) || !ct_hdf_holds(group, "TriBody", ntri) ||
                 !ct_hdf_holds(group, "TriTag", ntri)))
        return ct_trajectory_fail_array(file, "an array of /Cuttle", error);
    file->tri = ct_arena_alloc(&file->arena, 3 * ntri, sizeof(int));
    file->tri_body = ct_arena_alloc(&file->arena, ntri, sizeof(int));
    file->tri_tag = ct_arena_alloc(&file->arena, ntri, sizeof(int));
    file->surface_owner = ct_arena_alloc(&file->arena, nsurface, sizeof(int));
    if (file->arena.failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    const hid_t integer = H5T_STD_I32LE;
    ct_status status = CT_OK;
    if (ntri) status = ct_trajectory_get_fixed(file, group, "Tris", integer, 3 * ntri, file->tri, error);
    if (ntri && !status)
        status = ct_trajectory_get_fixed(file, group, "TriBody", integer, ntri, file->tri_body, error);
    if (ntri && !status)
        status = ct_trajectory_get_fixed(file, group, "TriTag", integer, ntri, file->tri_tag, error);
    if (owned && !status)
        status = ct_trajectory_get_fixed(file, group, "SurfaceOwner", integer, nsurface, file->surface_owner,
                                         error);
    if (status) return status;
    if (!in_range(file->tri, 3 * ntri, info->nvert) || !in_range(file->tri_body, ntri, info->nbody) ||
        (owned && !in_range(file->surface_owner, nsurface, info->nbody + info->nobstacle)))
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "a node, body or obstacle index is out of range: the file is damaged");
    if (!owned && !derive_owners(file)) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    return CT_OK;
}

// Opens the growing arrays and finds the number of frames that all of them hold.
static ct_status open_arrays(ct_trajectory* file, ct_error* error) {
    int64_t count = -1;
    file->steps = H5Gopen2(file->file, "VTKHDF/Steps", H5P_DEFAULT);
    if (file->steps < 0 || !ct_hdf_read_attribute(file->steps, "NSteps", H5T_NATIVE_INT64, 1, &count) ||
        count < 0 || count > INT_MAX)
        return ct_trajectory_fail_array(file, "/VTKHDF/Steps", error);
    for (int k = 0; k < CT_ARRAY_COUNT; k++) {
        const ct_array_layout* layout = &ct_trajectory_layout[k];
        if (!ct_trajectory_has(&file->info, k)) continue;
        file->array[k] = ct_hdf_open_rows(file->file, layout->path);
        if (file->array[k] < 0 || !ct_hdf_has_type(file->array[k], ct_trajectory_stored_type(file, k)))
            return ct_trajectory_fail_array(file, layout->path, error);
        size_t rows = ct_trajectory_rows(&file->info, k),
               stored = ct_hdf_row_count(file->array[k], (size_t)layout->columns);
        file->deflated[k] = rows > 0 && ct_hdf_is_deflated(file->array[k], (size_t)layout->columns, rows);
        if (rows > 0 && (int64_t)(stored / rows) < count) count = (int64_t)(stored / rows);
    }
    file->state_array = H5Dopen2(file->file, "Cuttle/State", H5P_DEFAULT);
    if (file->state_array < 0 || !ct_hdf_has_type(file->state_array, H5T_STD_U8LE) ||
        (file->state_size && ct_hdf_row_count(file->state_array, file->state_size) != 2))
        return ct_trajectory_fail_array(file, "/Cuttle/State", error);
    if (file->info.contact && !ct_trajectory_open_contacts(file))
        return ct_trajectory_fail_array(file, "an array of /Cuttle/Contacts", error);
    if (!ct_trajectory_open_checks(file, &count))
        return file->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory")
                                  : ct_trajectory_fail_array(file, "/Cuttle/Checks", error);
    file->info.nframe = (int)count;
    if (count == 0) return CT_OK;
    ct_status status = ct_trajectory_get(file, CT_ARRAY_TIME, 0, &file->info.start, error);
    if (!status) status = ct_trajectory_get(file, CT_ARRAY_TIME, (int)count - 1, &file->info.stop, error);
    return status;
}

ct_status ct_trajectory_open_mode(ct_trajectory** out, const char* path, bool writable, ct_error* error) {
    *out = NULL;
    ct_trajectory* file = ct_alloc(1, sizeof *file);
    if (!file) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    file->file = file->record_type = -1;
    file->writable = writable;
    file->path = ct_duplicate_text(path);
    file->record_type = ct_trajectory_record_type();
    ct_status status = CT_OK;
    if (!file->path || file->record_type < 0) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) status = open_file(file, error);
    hid_t group = status ? -1 : H5Gopen2(file->file, "Cuttle", H5P_DEFAULT);
    if (!status && group < 0) status = ct_trajectory_fail_array(file, "/Cuttle", error);
    if (!status) status = read_header(file, group, error);
    if (!status) status = read_arrays(file, group, error);
    if (!status) status = read_middles(file, group, error);
    if (!status) status = read_sheets(file, group, error);
    if (!status) status = ct_trajectory_open_links(file, group, error);
    if (!status) status = ct_trajectory_open_cavities(file, group, error);
    if (!status) status = ct_trajectory_open_cables(file, group, error);
    if (!status) status = ct_trajectory_open_obstacles(file, group, error);
    if (!status) status = open_arrays(file, error);
    if (!status) status = ct_trajectory_count_contacts(file, error);
    if (group >= 0) H5Gclose(group);
    if (status) ct_trajectory_discard(file);
    else *out = file;
    return status;
}

ct_status ct_trajectory_open(ct_trajectory** out, const char* path, ct_error* error) {
    CT_NEED(error, out, path);
    ct_error_clear(error);
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    ct_status status = ct_trajectory_open_mode(out, path, false, error);
    if (status == CT_BAD_FILE) ct_hdf_leave_damaged(&guard);
    else ct_hdf_leave(&guard);
    return status;
}

// The text of the dataset, which has room for `size` bytes and is followed by a zero.
static ct_status read_text(ct_trajectory* file, hid_t array, size_t size) {
    file->scene_text = size && size < CT_SCENE_TEXT_MOST ? ct_alloc(size + 1, 1) : NULL;
    if (!file->scene_text) return size < CT_SCENE_TEXT_MOST ? CT_OUT_OF_MEMORY : CT_BAD_FILE;
    hid_t type = H5Dget_type(array);
    bool good = type >= 0 && H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, file->scene_text) >= 0 &&
                ct_hdf_is_intact(array, file->scene_text, size);
    if (type >= 0) H5Tclose(type);
    if (good) return CT_OK;
    ct_free(file->scene_text);
    file->scene_text = NULL;
    return CT_BAD_FILE;
}

static ct_status find_text(ct_trajectory* file) {
    if (H5Lexists(file->file, "Cuttle/SceneText", H5P_DEFAULT) == 0) return CT_OK;
    hid_t array = H5Dopen2(file->file, "Cuttle/SceneText", H5P_DEFAULT), type = -1, space = -1;
    if (array >= 0) type = H5Dget_type(array), space = H5Dget_space(array);
    bool good = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1;
    ct_status status = good ? read_text(file, array, H5Tget_size(type)) : CT_BAD_FILE;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (array >= 0) H5Dclose(array);
    return status;
}

ct_status ct_trajectory_read_scene(ct_trajectory* file, const char** text, ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    ct_status status = file->scene_text ? CT_OK : find_text(file);
    ct_hdf_leave(&guard);
    *text = status || !file->scene_text ? "" : file->scene_text;
    if (!status) return CT_OK;
    return ct_fail_at(error, status, file->path, 0,
                      "/Cuttle/SceneText cannot be read or has the wrong checksum");
}

ct_trajectory_info ct_trajectory_summary(const ct_trajectory* file) { return file->info; }
const double* ct_trajectory_rest(const ct_trajectory* file) { return file->rest; }
const int* ct_trajectory_tets(const ct_trajectory* file) { return file->tet; }
const int* ct_trajectory_middles(const ct_trajectory* file) { return file->mid; }
const int* ct_trajectory_surface(const ct_trajectory* file) { return file->surface; }
const int* ct_trajectory_tris(const ct_trajectory* file) { return file->tri; }
const int* ct_trajectory_surface_owner(const ct_trajectory* file) { return file->surface_owner; }
const int* ct_trajectory_tet_body(const ct_trajectory* file) { return file->tet_body; }
const double* ct_trajectory_body_color(const ct_trajectory* file) { return file->body_color; }

ct_status ct_trajectory_read_into(ct_trajectory* file, int frame, double* x, double* v, double* time,
                                  ct_frame_record* record, ct_error* error) {
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status) return status;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    if (x) status = ct_trajectory_get(file, CT_ARRAY_POINTS, frame, x, error);
    if (v && !status) status = ct_trajectory_get(file, CT_ARRAY_VELOCITY, frame, v, error);
    if (time && !status) status = ct_trajectory_get(file, CT_ARRAY_TIME, frame, time, error);
    if (record && !status) status = ct_trajectory_get(file, CT_ARRAY_FRAMES, frame, record, error);
    ct_hdf_leave(&guard);
    return status;
}

ct_status ct_trajectory_read_inverted(ct_trajectory* file, int frame, int* count, ct_error* error) {
    CT_NEED(error, file);
    ct_frame_record record = {0};
    ct_error_clear(error);
    ct_status status = ct_trajectory_read_into(file, frame, NULL, NULL, NULL, &record, error);
    *count = record.inverted;
    return status;
}

ct_status ct_trajectory_read(ct_trajectory* file, int frame, ct_frame* out, ct_error* error) {
    CT_NEED(error, file, out);
    ct_error_clear(error);
    ct_frame_record record = {0};
    *out = (ct_frame){0};
    ct_status status = ct_trajectory_read_into(file, frame, file->x, file->v, &out->time, &record, error);
    if (status) return status;
    out->step = record.step;
    out->x = file->x;
    out->v = file->v;
    return CT_OK;
}

// Displacement is made from the positions, exactly; the float copy in the file is for other programs.
static ct_status read_displacement(ct_trajectory* file, int frame, ct_error* error) {
    ct_status status = ct_trajectory_read_into(file, frame, file->field, NULL, NULL, NULL, error);
    for (size_t i = 0; !status && i < 3 * (size_t)file->info.nvert; i++) file->field[i] -= file->rest[i];
    return status;
}

// A field that the file has as it is.
static ct_status read_stored(ct_trajectory* file, int frame, ct_trajectory_array array, ct_error* error) {
    ct_status status = ct_trajectory_check_frame(file, frame, error);
    if (status) return status;
    size_t rows = ct_trajectory_rows(&file->info, array),
           columns = (size_t)ct_trajectory_layout[array].columns;
    if (!ct_trajectory_has(&file->info, array)) {
        memset(file->field, 0, rows * (columns ? columns : 1) * sizeof(double));
        return CT_OK;
    }
    const bool narrow = ct_trajectory_layout[array].type == CT_TYPE_FLOAT;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    status = ct_trajectory_get(file, array, frame, narrow ? (void*)file->narrow : file->field, error);
    ct_hdf_leave(&guard);
    for (size_t i = 0; narrow && !status && i < rows * (columns ? columns : 1); i++)
        file->field[i] = file->narrow[i];
    return status;
}

const ct_trajectory_field ct_trajectory_fields[] = {
    {"displacement", CT_ARRAY_DISPLACEMENT, "displacement", "m", true},
    {"velocity", CT_ARRAY_VELOCITY, "speed", "m/s", true},
    {"stress", CT_ARRAY_STRESS, "von Mises stress", "Pa", true},
    {"energy", CT_ARRAY_ENERGY, "energy density", "J/m^3", true},
    {"volume", CT_ARRAY_VOLUME, "volume ratio", "", false},
    {"contact", CT_ARRAY_CONTACT_FORCE, "contact force", "N", true},
    {"activation", CT_ARRAY_ACTIVATION, "activation", "", false},
    {0}};

ct_status ct_trajectory_read_field(ct_trajectory* file, int frame, const char* name, const double** values,
                                   int* count, bool* per_tet, ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    *values = NULL;
    *count = 0;
    for (const ct_trajectory_field* field = ct_trajectory_fields; field->name; field++) {
        if (!name || strcmp(name, field->name) != 0) continue;
        *per_tet = ct_trajectory_layout[field->array].unit == CT_PER_CELL;
        ct_status status = field->array == CT_ARRAY_DISPLACEMENT
                               ? read_displacement(file, frame, error)
                               : read_stored(file, frame, field->array, error);
        if (status) return status;
        *values = file->field;
        *count = *per_tet ? file->info.ntet + file->info.ntri : 3 * file->info.nvert;
        return CT_OK;
    }
    return ct_fail(error, CT_BAD_ARGUMENT,
                   "there is no field \"%s\"; choose displacement, velocity, stress, energy, volume, contact "
                   "or activation",
                   name ? name : "");
}

ct_status ct_trajectory_close(ct_trajectory* file, ct_error* error) {
    ct_error_clear(error);
    if (!file) return CT_OK;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    bool good = H5Fclose(file->file) >= 0;
    file->file = -1;
    ct_status status =
        good ? CT_OK : ct_fail_at(error, CT_IO, file->path, 0, "closing the file failed: is the disk full?");
    ct_trajectory_discard(file);
    ct_hdf_leave(&guard);
    return status;
}
