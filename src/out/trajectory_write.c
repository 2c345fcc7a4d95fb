// Writing trajectory files so that a kill at any moment leaves a readable file that continues exactly.
//
// Order within a frame: rows, state and report first, a flush, then NSteps, a second flush. Readers believe
// NSteps alone. The state of frame k goes to row k mod 2, so that the state of the last complete frame is
// never the one being overwritten. Rows bypass HDF5's caches; what a flush still has to write is small
// metadata, and:
//   - the file is made as long as HDF5 will claim it to be before it claims so (a shorter file does not
//   open),
//   - index nodes are large (512 chunks) so that they are rewritten in place and all but never split,
//   - format 1.8 is used: it has checksums in its headers, but no "open for writing" mark, as 1.10 does, that
//     would survive the writer,
//   - everything begins at a multiple of HEADER_ROOM bytes, so that no header, which its checksum makes one
//     piece, lies across two pages: a kill may end a write between pages.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/place.h"
#include "base/status.h"
#include "out/trajectory.h"

#define CHUNK_BYTES (512 * 1024)  // wanted size of a chunk of frames
#define CHUNK_FRAMES 512          // most frames in a chunk
#define DEFLATE_BYTES 4096        // what a frame has of an array that deflating is worth while for
#define KEPT_BITS 12              // of the fraction of fields in compressed files: 1.2e-4
#define INDEX_HALF_LEAST 256      // half the chunks in a node of the chunk index
#define INDEX_HALF_MOST 2048      // nodes are written whole, with every frame
#define HEADER_ROOM 512           // bytes, more than the header of an array or group takes; divides a page

static bool create_growing(ct_trajectory* file) {
    for (int k = 0; k < CT_ARRAY_COUNT; k++) {
        const ct_array_layout* layout = &ct_trajectory_layout[k];
        if (!ct_trajectory_has(&file->info, k)) continue;
        hid_t type = ct_trajectory_stored_type(file, k);
        size_t rows = ct_trajectory_rows(&file->info, k);
        size_t bytes =
            (rows ? rows : 1) * (size_t)(layout->columns ? layout->columns : 1) * H5Tget_size(type);
        size_t frames = CHUNK_BYTES / bytes;
        if (frames < 1) frames = 1;
        if (frames > CHUNK_FRAMES) frames = CHUNK_FRAMES;
        // A deflated chunk is written whole: with one frame in each, none is written twice.
        const bool deflate = file->info.compressed && bytes >= DEFLATE_BYTES;
        file->array[k] = ct_hdf_create_rows(file->file, layout->path, type, (size_t)layout->columns,
                                            (deflate ? 1 : frames) * (rows ? rows : 1), deflate);
        if (file->array[k] < 0) return false;
    }
    return true;
}

// The columns of `Steps` that are equal in all frames, or equal to another column, are links to one array.
static bool link_columns(hid_t file, const ct_trajectory_info* info) {
    static const char* const link[][2] = {
        {"PartOffsets", "CellOffsets"},
        {"PartOffsets", "ConnectivityIdOffsets"},
        {"PartOffsets", "CellDataOffsets/body"},
        {"PartOffsets", "CellDataOffsets/tag"},
        {"PointOffsets", "PointDataOffsets/velocity"},
        {"CellDataOffsets/stress", "CellDataOffsets/energy"},
        {"CellDataOffsets/stress", "CellDataOffsets/volume"},
        {"PointOffsets", "PointDataOffsets/displacement"},
        {"PointOffsets", "PointDataOffsets/ContactForce"},
        {"CellDataOffsets/stress", "CellDataOffsets/Activation"},
    };
    size_t count = sizeof link / sizeof link[0];
    hid_t steps = H5Gopen2(file, "VTKHDF/Steps", H5P_DEFAULT);
    bool good = steps >= 0;
    for (size_t k = 0; good && k < count; k++) {
        if ((k == count - 3 && info->compressed) || (k == count - 2 && !info->contact) ||
            (k == count - 1 && !info->activation))
            continue;
        good = H5Lcreate_hard(steps, link[k][0], steps, link[k][1], H5P_DEFAULT, H5P_DEFAULT) >= 0;
    }
    if (steps >= 0) H5Gclose(steps);
    return good;
}

static bool create_groups(hid_t file, bool contact) {
    static const char* const names[] = {"VTKHDF",
                                        "VTKHDF/PointData",
                                        "VTKHDF/CellData",
                                        "VTKHDF/Steps",
                                        "VTKHDF/Steps/PointDataOffsets",
                                        "VTKHDF/Steps/CellDataOffsets",
                                        "Cuttle",
                                        "Cuttle/Contacts"};
    for (size_t k = 0; k < sizeof names / sizeof names[0] - !contact; k++) {
        hid_t group = H5Gcreate2(file, names[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group < 0) return false;
        H5Gclose(group);
    }
    return true;
}

typedef struct cell_arrays {  // of the tets, then the sheets' triangles
    int64_t *connectivity, *offset;
    uint8_t* type;
    int *body, *tag;
} cell_arrays;

static bool cells_create(cell_arrays* c, ct_arena* arena, const ct_trajectory_def* def) {
    size_t ntet = (size_t)def->info.ntet, ntri = (size_t)def->info.ntri, ncell = ntet + ntri;
    c->connectivity = ct_arena_alloc(arena, (def->mid ? 10 : 4) * ntet + 3 * ntri, sizeof(int64_t));
    c->offset = ct_arena_alloc(arena, ncell + 1, sizeof(int64_t));
    c->type = ct_arena_alloc(arena, ncell, 1);
    c->body = ct_arena_alloc(arena, ncell, sizeof(int));
    c->tag = ct_arena_alloc(arena, ncell, sizeof(int));
    if (arena->failed) return false;
    for (size_t k = 0; k < ncell; k++) {
        bool tet = k < ntet;
        int node[10], count = ct_trajectory_cell(def->tet, def->mid, def->info.ntet, def->tri, k, node);
        for (int i = 0; i < count; i++) c->connectivity[c->offset[k] + i] = node[i];
        c->offset[k + 1] = c->offset[k] + count;
        c->type[k] = ct_trajectory_vtk_type(count);
        c->body[k] = tet ? def->tet_body[k] : def->tri_body[k - ntet];
        const int* tag = tet ? def->tet_tag : def->tri_tag;
        c->tag[k] = tag ? tag[tet ? k : k - ntet] : 0;
    }
    return true;
}

// The parts of the VTK grid that no frame changes.
static bool write_grid(ct_trajectory* file, const cell_arrays* c) {
    hid_t group = H5Gopen2(file->file, "VTKHDF", H5P_DEFAULT);
    if (group < 0) return false;
    size_t ncell = (size_t)file->info.ntet + (size_t)file->info.ntri;
    int64_t version[2] = {2, 0}, nvert = file->info.nvert, cells = (int64_t)ncell, nlink = c->offset[ncell];
    hid_t stored = H5T_STD_I64LE, native = H5T_NATIVE_INT64;
    bool good =
        ct_hdf_write_attribute(group, "Version", stored, native, 2, version) &&
        ct_hdf_write_text(group, "Type", "UnstructuredGrid") &&
        ct_hdf_write_array(group, "NumberOfPoints", stored, native, 1, 0, &nvert) &&
        ct_hdf_write_array(group, "NumberOfCells", stored, native, 1, 0, &cells) &&
        ct_hdf_write_array(group, "NumberOfConnectivityIds", stored, native, 1, 0, &nlink) &&
        ct_hdf_write_array(group, "Connectivity", stored, native, (size_t)nlink, 0, c->connectivity) &&
        ct_hdf_write_array(group, "Offsets", stored, native, ncell + 1, 0, c->offset) &&
        ct_hdf_write_array(group, "Types", H5T_STD_U8LE, H5T_NATIVE_UINT8, ncell, 0, c->type) &&
        ct_hdf_write_array(group, "CellData/body", H5T_STD_I32LE, H5T_NATIVE_INT, ncell, 0, c->body) &&
        ct_hdf_write_array(group, "CellData/tag", H5T_STD_I32LE, H5T_NATIVE_INT, ncell, 0, c->tag);
    H5Gclose(group);
    return good;
}

static bool write_header(hid_t group, const ct_trajectory_info* info, size_t state_size) {
    int64_t count[6] = {info->nvert, info->ntet, info->nsurface, info->nbody, info->ntri, info->nobstacle},
            bytes = (int64_t)state_size;
    static const char* const name[6] = {
        "NumberOfNodes",  "NumberOfTets",           "NumberOfSurfaceTriangles",
        "NumberOfBodies", "NumberOfSheetTriangles", "NumberOfObstacles"};
    int format = info->compressed ? CT_TRAJECTORY_FORMAT_COMPRESSED : CT_TRAJECTORY_FORMAT,
        automatic = info->view.automatic, contact = info->contact, activation = info->activation;
    hid_t real = H5T_IEEE_F64LE, native = H5T_NATIVE_DOUBLE;
    bool good = ct_hdf_write_attribute(group, "Format", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &format) &&
                (!activation || ct_hdf_write_attribute(group, "HasActivation", H5T_STD_I32LE, H5T_NATIVE_INT,
                                                       1, &activation)) &&
                ct_hdf_write_attribute(group, "HasContact", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &contact) &&
                ct_hdf_write_attribute(group, "StateSize", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &bytes);
    for (int k = 0; good && k < 6; k++)
        good = ct_hdf_write_attribute(group, name[k], H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &count[k]);
    return good && ct_hdf_write_text(group, "Version", ct_version()) &&
           ct_hdf_write_text(group, "SceneFile", info->scene_file) &&
           ct_hdf_write_text(group, "SceneName", info->scene_name) &&
           ct_hdf_write_attribute(group, "Up", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &info->up) &&
           ct_hdf_write_attribute(group, "Ground", real, native, 1, &info->ground) &&
           ct_hdf_write_attribute(group, "TimeStep", real, native, 1, &info->time_step) &&
           ct_hdf_write_attribute(group, "ViewAutomatic", H5T_STD_I32LE, H5T_NATIVE_INT, 1, &automatic) &&
           ct_hdf_write_attribute(group, "ViewEye", real, native, 3, info->view.eye) &&
           ct_hdf_write_attribute(group, "ViewTarget", real, native, 3, info->view.target) &&
           ct_hdf_write_attribute(group, "ViewFieldOfView", real, native, 1, &info->view.field_of_view);
}

static bool write_texts(hid_t group, const ct_trajectory_def* def) {
    bool good = true;
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return false;
    if (def->scene_text && def->scene_text_size > 0) {
        good = H5Tset_size(type, def->scene_text_size) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
               ct_hdf_write_array(group, "SceneText", type, type, 1, 0, def->scene_text);
    }
    for (int k = 0; good && def->body_name && k < def->info.nbody; k++) {
        char name[32];
        snprintf(name, sizeof name, "BodyName%d", k);
        good = ct_hdf_write_text(group, name, def->body_name[k]);
    }
    H5Tclose(type);
    return good;
}

static bool write_state_rows(hid_t group, size_t state_size) {
    hsize_t size[2] = {2, state_size ? state_size : 1};
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    if (layout >= 0) H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
    if (layout >= 0) H5Pset_obj_track_times(layout, false);
    hid_t array = H5Dcreate2(group, "State", H5T_STD_U8LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    if (layout >= 0) H5Pclose(layout);
    if (space >= 0) H5Sclose(space);
    if (array >= 0) H5Dclose(array);
    return array >= 0;
}

static bool write_sheets(hid_t group, const ct_trajectory_def* def, const int* tag) {
    size_t ntri = (size_t)def->info.ntri;
    hid_t integer = H5T_STD_I32LE, native = H5T_NATIVE_INT;
    bool good = !def->surface_owner || ct_hdf_write_array(group, "SurfaceOwner", integer, native,
                                                          (size_t)def->info.nsurface, 0, def->surface_owner);
    return good && (!ntri || (ct_hdf_write_array(group, "Tris", integer, native, ntri, 3, def->tri) &&
                              ct_hdf_write_array(group, "TriBody", integer, native, ntri, 0, def->tri_body) &&
                              ct_hdf_write_array(group, "TriTag", integer, native, ntri, 0, tag)));
}

static bool write_own(ct_trajectory* file, const ct_trajectory_def* def, const int* tag) {
    const ct_trajectory_info* info = &def->info;
    hid_t group = H5Gopen2(file->file, "Cuttle", H5P_DEFAULT);
    if (group < 0) return false;
    size_t nvert = (size_t)info->nvert, ntet = (size_t)info->ntet;
    hid_t integer = H5T_STD_I32LE, real = H5T_IEEE_F64LE;
    bool good =
        write_header(group, info, def->state_size) && write_texts(group, def) &&
        ct_hdf_write_array(group, "Rest", real, H5T_NATIVE_DOUBLE, nvert, 3, def->rest) &&
        ct_hdf_write_array(group, "Tets", integer, H5T_NATIVE_INT, ntet, 4, def->tet) &&
        (!def->mid || ct_hdf_write_array(group, "TetMiddles", integer, H5T_NATIVE_INT, ntet, 6, def->mid)) &&
        ct_hdf_write_array(group, "Surface", integer, H5T_NATIVE_INT, (size_t)info->nsurface, 3,
                           def->surface) &&
        ct_hdf_write_array(group, "TetBody", integer, H5T_NATIVE_INT, ntet, 0, def->tet_body) &&
        ct_hdf_write_array(group, "TetTag", integer, H5T_NATIVE_INT, ntet, 0, tag) &&
        ct_hdf_write_array(group, "BodyColor", real, H5T_NATIVE_DOUBLE, (size_t)info->nbody, 3,
                           def->body_color) &&
        write_sheets(group, def, tag + ntet) && write_state_rows(group, def->state_size) &&
        ct_trajectory_write_links(file, group, def) && ct_trajectory_write_obstacles(file, group, def) &&
        ct_trajectory_write_cavities(group, def) && ct_trajectory_write_cables(group, def);
    H5Gclose(group);
    return good;
}

static bool write_all(ct_trajectory* file, const ct_trajectory_def* def) {
    ct_arena arena = {0};
    cell_arrays cells;
    int64_t none = 0;
    bool contact = def->info.contact;
    bool good = cells_create(&cells, &arena, def) && create_groups(file->file, contact) &&
                write_grid(file, &cells) && write_own(file, def, cells.tag) && create_growing(file) &&
                ct_trajectory_create_contacts(file) && ct_trajectory_create_checks(file) &&
                link_columns(file->file, &def->info);
    file->no_memory |= arena.failed;
    ct_arena_free(&arena);
    hid_t steps = good ? H5Gopen2(file->file, "VTKHDF/Steps", H5P_DEFAULT) : -1;
    good = steps >= 0 && ct_hdf_write_attribute(steps, "NSteps", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &none);
    if (steps >= 0) H5Gclose(steps);
    return good;
}

// A full node of the chunk index is split in two, and the node above it is written before the new one: a kill
// in between loses frames. So nodes have room for all frames that are to come, as far as that is cheap.
static unsigned half_node(int frames) {
    const int half = frames / 2 + 1;
    return (unsigned)(half < INDEX_HALF_LEAST  ? INDEX_HALF_LEAST
                      : half > INDEX_HALF_MOST ? INDEX_HALF_MOST
                                               : half);
}

static hid_t create_file(const char* path, int frames) {
    hid_t creation = H5Pcreate(H5P_FILE_CREATE), access_list = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (creation >= 0 && access_list >= 0 && H5Pset_istore_k(creation, half_node(frames)) >= 0 &&
        H5Pset_fclose_degree(access_list, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_locking(access_list, true, true) >= 0 &&
        H5Pset_alignment(access_list, 1, HEADER_ROOM) >= 0 &&
        H5Pset_libver_bounds(access_list, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access_list);
    if (creation >= 0) H5Pclose(creation);
    if (access_list >= 0) H5Pclose(access_list);
    return file;
}

// Puts `part` in the place of `path`, unless another process writes the file that is there. Writers hold
// that file's lock; that of the directory keeps others from coming between the look and the move.
static ct_status put_in_place(const char* part, const char* path, ct_error* error) {
    char directory[CT_PLACE_SIZE];
    ct_place_directory(path, directory);
    int around = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (around >= 0) flock(around, LOCK_EX);
    int old = open(path, O_RDONLY | O_CLOEXEC);
    // readers keep the old file
    bool busy = old >= 0 && flock(old, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ct_status status = CT_OK;
    if (busy)
        status = ct_fail_at(error, CT_IO, path, 0,
                            "this file is being written by another run: choose another name");
    else if (rename(part, path) != 0)
        status = ct_fail_at(error, CT_IO, path, 0, "the file cannot be put in place: %s", strerror(errno));
    if (old >= 0) close(old);
    if (around >= 0) close(around);
    return status;
}

// Everything fixed is written to a file beside `path`, which then takes the place of an older one in one
// move.
static ct_status create_locked(ct_trajectory** out, const char* path, const ct_trajectory_def* def,
                               ct_error* error) {
    char part[CT_PLACE_SIZE];
    snprintf(part, sizeof part, "%.*s.%ld.part", CT_PLACE_SIZE - 32, path, (long)getpid());
    ct_trajectory making = {.info = def->info, .record_type = ct_trajectory_record_type()};
    errno = 0;
    making.file = making.record_type >= 0 ? create_file(part, def->frames) : -1;
    bool good = making.file >= 0 && write_all(&making, def);
    if (making.file >= 0 && H5Fclose(making.file) < 0) good = false;
    const char* reason = errno ? strerror(errno) : "is the disk full?";
    if (making.record_type >= 0) H5Tclose(making.record_type);
    ct_trajectory* file = NULL;
    ct_status status = making.no_memory ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory")
                       : good           ? ct_trajectory_open_mode(&file, part, true, error)
                              : ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", reason);
    char* final_path = status ? NULL : ct_duplicate_text(path);
    if (!status && !final_path) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) status = put_in_place(part, path, error);
    if (status) {
        ct_trajectory_discard(file);
        ct_free(final_path);
        unlink(part);
        return status;
    }
    ct_free(file->path);
    file->path = final_path;
    *out = file;
    return CT_OK;
}

ct_status ct_trajectory_create_arrays(ct_trajectory** out, const char* path, const ct_trajectory_def* def,
                                      ct_error* error) {
    ct_error_clear(error);
    *out = NULL;
    char place[CT_PLACE_SIZE];
    ct_status status = ct_place_find(path, place, error);
    if (status) return status;
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    status = create_locked(out, place, def, error);
    ct_hdf_leave(&guard);
    return status;
}

// Lengthens the file to what HDF5 has handed out, then lets it write its metadata.
static bool settle(hid_t file) {
    haddr_t end = 0;
    void* handle = NULL;
    struct stat about;
    if (H5Fget_eoa(file, &end) < 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || !handle)
        return false;
    int descriptor = *(int*)handle;
    if (fstat(descriptor, &about) != 0) return false;
    if ((haddr_t)about.st_size < end && ftruncate(descriptor, (off_t)end) != 0) return false;
    return H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
}

// To the nearest number with KEPT_BITS bits behind the leading one.
static float rounded(float value) {
    const uint32_t drop = 23 - KEPT_BITS;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + (1u << (drop - 1))) >> drop << drop;
    float out;
    memcpy(&out, &bits, sizeof out);
    return isfinite(out) && isfinite(value) ? out : value;
}

static bool put_floats(ct_trajectory* file, ct_trajectory_array array, const double* values,
                       const double* subtract) {
    const size_t columns = (size_t)ct_trajectory_layout[array].columns,
                 count = ct_trajectory_rows(&file->info, array) * (columns ? columns : 1);
    for (size_t i = 0; i < count; i++)
        file->narrow[i] = (float)(values ? values[i] - (subtract ? subtract[i] : 0) : 0);
    for (size_t i = 0; file->info.compressed && i < count; i++) file->narrow[i] = rounded(file->narrow[i]);
    return ct_trajectory_put(file, array, file->narrow);
}

// Positions or velocities, in compressed files the nearest floats.
static bool put_vectors(ct_trajectory* file, ct_trajectory_array array, const double* values) {
    if (!file->info.compressed) return ct_trajectory_put(file, array, values);
    for (size_t i = 0; i < 3 * (size_t)file->info.nvert; i++) file->field[i] = (float)values[i];
    return ct_trajectory_put(file, array, file->field);
}

static ct_frame_record make_record(const ct_trajectory_sample* sample, size_t state_size) {
    ct_frame_record record = {.step = sample->step, .converged = 1};
    if (sample->state) record.state_hash = ct_hdf_hash(sample->state, state_size);
    const ct_step_report* report = sample->report;
    if (!report) return record;
    record.converged = report->converged;
    record.substeps = report->substeps;
    record.iterations = report->iterations;
    record.solves = report->solves;
    record.gradients = report->gradients;
    record.hessian_products = report->hessian_products;
    record.line_searches = report->line_searches;
    record.refactors = report->refactors;
    record.inverted = report->inverted;
    record.residual = report->residual;
    record.reference = report->reference;
    record.seconds = report->seconds;
    return record;
}

static bool write_links(ct_trajectory* file, const ct_trajectory_sample* sample) {
    return !file->info.nlink || (ct_trajectory_put(file, CT_ARRAY_COORDINATES, sample->coordinates) &&
                                 ct_trajectory_put(file, CT_ARRAY_POSES, sample->poses));
}

// Where the obstacles are, and what touches.
static bool write_contact(ct_trajectory* file, const ct_trajectory_sample* sample) {
    if (file->info.nobstacle && !ct_trajectory_put(file, CT_ARRAY_OBSTACLE_POSES, sample->obstacle_poses))
        return false;
    return !file->info.contact || (put_floats(file, CT_ARRAY_CONTACT_FORCE, sample->contact_force, NULL) &&
                                   ct_trajectory_write_contacts(file, sample));
}

static bool write_actuators(ct_trajectory* file, const ct_trajectory_sample* sample) {
    return (!file->info.activation || put_floats(file, CT_ARRAY_ACTIVATION, sample->activation, NULL)) &&
           (!file->info.ncavity || ct_trajectory_put(file, CT_ARRAY_CAVITIES, sample->cavities)) &&
           (!file->info.ncable || ct_trajectory_put(file, CT_ARRAY_CABLES, sample->cables));
}

static bool write_frame(ct_trajectory* file, const ct_trajectory_sample* sample) {
    size_t at = (size_t)file->info.nframe, nvert = (size_t)file->info.nvert;
    int64_t one = 1, zero = 0, points = (int64_t)(at * nvert),
            cells = (int64_t)(at * ct_trajectory_rows(&file->info, CT_ARRAY_STRESS));
    ct_frame_record record = make_record(sample, file->state_size);
    return put_vectors(file, CT_ARRAY_POINTS, sample->x) && put_vectors(file, CT_ARRAY_VELOCITY, sample->v) &&
           (file->info.compressed || put_floats(file, CT_ARRAY_DISPLACEMENT, sample->x, file->rest)) &&
           put_floats(file, CT_ARRAY_STRESS, sample->stress, NULL) &&
           put_floats(file, CT_ARRAY_ENERGY, sample->energy, NULL) &&
           put_floats(file, CT_ARRAY_VOLUME, sample->volume, NULL) && write_actuators(file, sample) &&
           ct_trajectory_put(file, CT_ARRAY_TIME, &sample->time) &&
           ct_trajectory_put(file, CT_ARRAY_PARTS, &one) && ct_trajectory_put(file, CT_ARRAY_ZERO, &zero) &&
           ct_trajectory_put(file, CT_ARRAY_POINT_OFFSET, &points) &&
           ct_trajectory_put(file, CT_ARRAY_CELL_OFFSET, &cells) && write_links(file, sample) &&
           write_contact(file, sample) && ct_trajectory_put(file, CT_ARRAY_FRAMES, &record) &&
           ct_trajectory_write_checks(file);
}

static bool write_count(ct_trajectory* file, int64_t count) {
    hid_t attribute = H5Aopen(file->steps, "NSteps", H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &count) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    return good;
}

// Row k mod 2 of the two states.
static bool move_state(ct_trajectory* file, int frame, void* target, const void* source) {
    hsize_t start[2] = {(hsize_t)(frame % 2), 0}, size[2] = {1, file->state_size};
    hid_t memory = H5Screate_simple(2, size, NULL), space = H5Dget_space(file->state_array);
    bool good =
        memory >= 0 && space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
    if (good)
        good =
            (target ? H5Dread(file->state_array, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, target)
                    : H5Dwrite(file->state_array, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, source)) >= 0;
    if (space >= 0) H5Sclose(space);
    if (memory >= 0) H5Sclose(memory);
    return good;
}

ct_status ct_trajectory_append_sample(ct_trajectory* file, const ct_trajectory_sample* sample,
                                      ct_error* error) {
    if (!file->writable)
        return ct_fail_at(error, CT_BAD_ARGUMENT, file->path, 0,
                          "the file was opened for reading; resume it to append");
    if (file->info.nlink && (!sample->poses || (file->info.ncoordinate && !sample->coordinates)))
        return ct_fail(error, CT_BAD_ARGUMENT, "the frame has no poses of its links");
    if (file->info.nobstacle && !sample->obstacle_poses)
        return ct_fail(error, CT_BAD_ARGUMENT, "the frame has no poses of its obstacles");
    if (file->info.ncavity && !sample->cavities)
        return ct_fail(error, CT_BAD_ARGUMENT, "the frame has no volumes of its cavities");
    if (file->info.ncable && !sample->cables)
        return ct_fail(error, CT_BAD_ARGUMENT, "the frame has no eyelets of its cables");
    if (file->state_size && !sample->state) return ct_fail(error, CT_BAD_ARGUMENT, "the frame has no state");
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    bool good = write_frame(file, sample) &&
                (!file->state_size || move_state(file, file->info.nframe, NULL, sample->state)) &&
                settle(file->file) && write_count(file, file->info.nframe + 1) && settle(file->file);
    ct_hdf_leave(&guard);
    if (!good && file->no_memory) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!good)
        return ct_fail_at(error, CT_IO, file->path, 0, "frame %d cannot be written: is the disk full?",
                          file->info.nframe);
    if (file->info.nframe == 0) file->info.start = sample->time;
    file->info.stop = sample->time;
    file->info.nframe++;
    if (file->info.contact) file->info.ncontact += sample->ncontact;
    return CT_OK;
}

// Files from before links were stored have none: they go on without.
static bool same_links(const ct_trajectory* file, const ct_trajectory_def* def) {
    if (!file->info.nlink) return true;
    bool same = file->info.nlink == def->info.nlink && file->info.ncoordinate == def->info.ncoordinate;
    for (int k = 0; same && k < def->info.nlink; k++) {
        const ct_link_info *a = &file->link[k], *b = &def->link[k];
        same = a->parent == b->parent && a->joint == b->joint &&
               memcmp(a->anchor, b->anchor, sizeof a->anchor) == 0 &&
               memcmp(a->axis, b->axis, sizeof a->axis) == 0 &&
               memcmp(a->axis2, b->axis2, sizeof a->axis2) == 0 && a->count == b->count &&
               (!a->count || memcmp(a->nodes, b->nodes, (size_t)a->count * sizeof(int)) == 0);
    }
    return same;
}

static ct_status check_same(const ct_trajectory* file, const ct_trajectory_def* def, ct_error* error) {
    const ct_trajectory_info *a = &file->info, *b = &def->info;
    bool same =
        a->nvert == b->nvert && a->ntet == b->ntet && a->ntri == b->ntri && a->nobstacle == b->nobstacle &&
        file->state_size == def->state_size && same_links(file, def) &&
        memcmp(file->rest, def->rest, 3 * (size_t)a->nvert * sizeof(double)) == 0 &&
        memcmp(file->tet, def->tet, 4 * (size_t)a->ntet * sizeof(int)) == 0 && !file->mid == !def->mid &&
        (!def->mid || memcmp(file->mid, def->mid, 6 * (size_t)a->ntet * sizeof(int)) == 0) &&
        (!a->ntri || memcmp(file->tri, def->tri, 3 * (size_t)a->ntri * sizeof(int)) == 0);
    for (int k = 0; same && k < a->nobstacle; k++)
        same = file->obstacle[k].kind == def->obstacle[k].kind &&
               strcmp(file->obstacle[k].name, def->obstacle[k].name) == 0;
    if (!same)
        return ct_fail_at(
            error, CT_BAD_ARGUMENT, file->path, 0,
            "the file was written for another scene (%d nodes, %d tets; this one has %d and %d): resume "
            "with the scene it began with, or write a new file",
            a->nvert, a->ntet, b->nvert, b->ntet);
    if (a->nframe == 0)
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "the file holds no frame to continue from: run from the start");
    return CT_OK;
}

// The last complete frame's state, checked against its hash.
static ct_status read_last_state(ct_trajectory* file, void* state, ct_error* error) {
    ct_frame_record record;
    int last = file->info.nframe - 1;
    if (!file->state_size) return CT_OK;
    ct_status status = ct_trajectory_get(file, CT_ARRAY_FRAMES, last, &record, error);
    if (status) return status;
    if (!move_state(file, last, state, NULL) || record.state_hash != ct_hdf_hash(state, file->state_size))
        return ct_fail_at(error, CT_BAD_FILE, file->path, 0,
                          "the stored state is damaged: run from the start");
    return CT_OK;
}

ct_status ct_trajectory_resume_arrays(ct_trajectory** out, const char* path, const ct_trajectory_def* def,
                                      void* state, ct_error* error) {
    ct_error_clear(error);
    ct_hdf_guard guard;
    ct_hdf_enter(&guard);
    ct_status status = ct_trajectory_open_mode(out, path, true, error);
    if (!status) status = check_same(*out, def, error);
    if (!status) status = read_last_state(*out, state, error);
    // Rows of an unfinished frame may lie beyond the end that the file admits to: never hand them out again.
    if (!status && H5Fincrement_filesize((*out)->file, 0) < 0)
        status = ct_fail_at(error, CT_IO, path, 0, "the file cannot be extended");
    if (status) {
        ct_trajectory_discard(*out);
        *out = NULL;
    }
    if (status == CT_BAD_FILE) ct_hdf_leave_damaged(&guard);
    else ct_hdf_leave(&guard);
    return status;
}
