// Trajectories as files of other programs: one .vtu a frame with a .pvd that gives the times, or one .obj
// surface a frame. The numbers of a .vtu follow its XML as raw bytes ("appended"), exact and quick to write.
// Bones of skeletons are lines: in an .obj at its end, beside a .vtu in a .vtp of their own. Obstacles and
// contacts of a .vtu have theirs, too; see export_contacts.c.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "out/cache.h"
#include "out/export.h"
#include "out/trajectory.h"

typedef struct block {  // one appended array
    const char* name;
    const char* type;  // VTK's
    int components;
    const void* values;
    uint64_t bytes;
} block;

static void write_tag(FILE* stream, const block* b, uint64_t* offset) {
    fprintf(stream,
            "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
            "offset=\"%llu\"/>\n",
            b->type, b->name, b->components, (unsigned long long)*offset);
    *offset += 8 + b->bytes;
}

static void write_tags(FILE* stream, const char* section, const block* blocks, int count, uint64_t* offset) {
    fprintf(stream, "      <%s>\n", section);
    for (int k = 0; k < count; k++) write_tag(stream, &blocks[k], offset);
    fprintf(stream, "      </%s>\n", section);
}

enum {
    POINT_FIELDS = 3,
    CELL_FIELDS = 6,
    CELL_BLOCKS = 3,
    BLOCKS = POINT_FIELDS + CELL_FIELDS + 1 + CELL_BLOCKS
};

// The last of the point fields is there only with contact, the last of the cells' only with activation.
static bool write_vtu(const char* path, int nvert, int ncell, bool contact, bool activation,
                      const block blocks[BLOCKS]) {
    FILE* stream = fopen(path, "wb");
    if (!stream) return false;
    uint64_t offset = 0;
    fprintf(stream,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"%d\" "
            "NumberOfCells=\"%d\">\n",
            nvert, ncell);
    const block* at = blocks;
    write_tags(stream, "PointData", at, contact ? POINT_FIELDS : POINT_FIELDS - 1, &offset);
    write_tags(stream, "CellData", at += POINT_FIELDS, activation ? CELL_FIELDS : CELL_FIELDS - 1, &offset);
    write_tags(stream, "Points", at += CELL_FIELDS, 1, &offset);
    write_tags(stream, "Cells", at += 1, CELL_BLOCKS, &offset);
    fprintf(stream, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    for (int k = 0; k < BLOCKS; k++) {
        if ((k == POINT_FIELDS - 1 && !contact) || (k == POINT_FIELDS + CELL_FIELDS - 1 && !activation))
            continue;
        fwrite(&blocks[k].bytes, 8, 1, stream);
        fwrite(blocks[k].values, 1, blocks[k].bytes, stream);
    }
    fprintf(stream, "\n  </AppendedData>\n</VTKFile>\n");
    bool good = !ferror(stream);
    return fclose(stream) == 0 && good;
}

// what all frames share, and room for one; cells: tets, then the triangles of sheets
typedef struct grid {
    size_t ncell, nindex;
    int64_t* connectivity;
    int64_t* offset;
    uint8_t* type;
    int *body, *tag;
    double *displacement, *force;
    double* cell[4];  // stress, energy, volume, activation
} grid;

static bool grid_create(grid* g, ct_arena* arena, const ct_trajectory* file) {
    size_t ntet = (size_t)file->info.ntet, ntri = (size_t)file->info.ntri, nvert = (size_t)file->info.nvert;
    g->ncell = ntet + ntri;
    g->connectivity = ct_arena_alloc(arena, (file->mid ? 10 : 4) * ntet + 3 * ntri, sizeof(int64_t));
    g->offset = ct_arena_alloc(arena, g->ncell, sizeof(int64_t));
    g->type = ct_arena_alloc(arena, g->ncell, 1);
    g->body = ct_arena_alloc(arena, g->ncell, sizeof(int));
    g->tag = ct_arena_alloc(arena, g->ncell, sizeof(int));
    g->displacement = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    g->force = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    for (int k = 0; k < 4; k++) g->cell[k] = ct_arena_alloc(arena, g->ncell, sizeof(double));
    if (arena->failed) return false;
    g->nindex = 0;
    for (size_t k = 0; k < g->ncell; k++) {
        bool tet = k < ntet;
        int node[10], count = ct_trajectory_cell(file->tet, file->mid, file->info.ntet, file->tri, k, node);
        for (int i = 0; i < count; i++) g->connectivity[g->nindex++] = node[i];
        g->offset[k] = (int64_t)g->nindex;
        g->type[k] = ct_trajectory_vtk_type(count);
        g->body[k] = tet ? file->tet_body[k] : file->tri_body[k - ntet];
        g->tag[k] = tet ? file->tet_tag[k] : file->tri_tag[k - ntet];
    }
    return true;
}

static ct_status read_fields(ct_trajectory* file, const grid* g, int frame, ct_error* error) {
    static const char* const names[5] = {"stress", "energy", "volume", "activation", "contact"};
    for (int k = 0; k < 5; k++) {
        const double* values;
        int count;
        bool per_tet;
        ct_status status = ct_trajectory_read_field(file, frame, names[k], &values, &count, &per_tet, error);
        if (status) return status;
        memcpy(k < 4 ? g->cell[k] : g->force, values, (size_t)count * sizeof(double));
    }
    return CT_OK;
}

static ct_status export_vtu(ct_trajectory* file, const grid* g, int frame, const char* path, double* time,
                            ct_error* error) {
    size_t nvert = (size_t)file->info.nvert, ncell = g->ncell;
    ct_frame now;
    ct_status status = read_fields(file, g, frame, error);
    if (!status) status = ct_trajectory_read(file, frame, &now, error);
    if (status) return status;
    *time = now.time;
    for (size_t i = 0; i < 3 * nvert; i++) g->displacement[i] = now.x[i] - file->rest[i];
    const block blocks[BLOCKS] = {{"velocity", "Float64", 3, now.v, 24 * nvert},
                                  {"displacement", "Float64", 3, g->displacement, 24 * nvert},
                                  {"ContactForce", "Float64", 3, g->force, 24 * nvert},
                                  {"stress", "Float64", 1, g->cell[0], 8 * ncell},
                                  {"energy", "Float64", 1, g->cell[1], 8 * ncell},
                                  {"volume", "Float64", 1, g->cell[2], 8 * ncell},
                                  {"body", "Int32", 1, g->body, 4 * ncell},
                                  {"tag", "Int32", 1, g->tag, 4 * ncell},
                                  {"Activation", "Float64", 1, g->cell[3], 8 * ncell},
                                  {"Points", "Float64", 3, now.x, 24 * nvert},
                                  {"connectivity", "Int64", 1, g->connectivity, 8 * g->nindex},
                                  {"offsets", "Int64", 1, g->offset, 8 * ncell},
                                  {"types", "UInt8", 1, g->type, ncell}};
    if (write_vtu(path, file->info.nvert, (int)ncell, file->info.contact, file->info.activation, blocks))
        return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
}

static void write_points(FILE* stream, const ct_bone_list* bones, const double* poses, const char* prefix) {
    char a[40], b[40], c[40];
    for (int i = 0; i < 2 * bones->count; i++) {
        const ct_bone* bone = &bones->bone[i / 2];
        double at[3];
        ct_bone_place(poses + 12 * bone->link, i % 2 ? bone->to : bone->from, at);
        fprintf(stream, "%s%s %s %s\n", prefix, ct_export_number(a, at[0]), ct_export_number(b, at[1]),
                ct_export_number(c, at[2]));
    }
}

static ct_status export_bones(ct_trajectory* file, const ct_bone_list* bones, int frame, const char* path,
                              ct_error* error) {
    const double* poses;
    ct_status status = ct_trajectory_read_links(file, frame, NULL, &poses, error);
    if (status) return status;
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    fprintf(stream,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
            "byte_order=\"LittleEndian\">\n  <PolyData>\n"
            "    <Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"%d\" NumberOfStrips=\"0\" "
            "NumberOfPolys=\"0\">\n"
            "      <CellData><DataArray type=\"Int32\" Name=\"link\" format=\"ascii\">\n",
            2 * bones->count, bones->count);
    for (int i = 0; i < bones->count; i++) fprintf(stream, "%d\n", bones->bone[i].link);
    fprintf(stream, "      </DataArray></CellData>\n      <Points><DataArray type=\"Float64\" "
                    "NumberOfComponents=\"3\" format=\"ascii\">\n");
    write_points(stream, bones, poses, "");
    fprintf(stream, "      </DataArray></Points>\n      <Lines><DataArray type=\"Int32\" "
                    "Name=\"connectivity\" format=\"ascii\">\n");
    for (int i = 0; i < bones->count; i++) fprintf(stream, "%d %d\n", 2 * i, 2 * i + 1);
    fprintf(stream, "      </DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">\n");
    for (int i = 0; i < bones->count; i++) fprintf(stream, "%d\n", 2 * i + 2);
    fprintf(stream, "      </DataArray></Lines>\n    </Piece>\n  </PolyData>\n</VTKFile>\n");
    bool good = !ferror(stream);
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}

// `g name`, blanks as `_`: several names would be several groups.
static void write_group(FILE* stream, const ct_trajectory* file, int owner) {
    const char* name = ct_trajectory_collider_name(file, owner);
    if (!*name) return;
    fprintf(stream, "g ");
    for (; *name; name++) fputc(*name == ' ' || *name == '\t' ? '_' : *name, stream);
    fputc('\n', stream);
}

// The surface and the obstacles with their own numbering, so that inner nodes are left out; faces grouped by
// owner.
static bool write_surface(FILE* stream, const ct_trajectory* file, const ct_skin* skin, int* own, int* next) {
    char a[40], b[40], c[40];
    for (int k = 0; k < 3 * skin->ntri; k++) own[skin->tri[k]] = 1;
    for (int i = 0; i < skin->nvert; i++) {
        const double* x = skin->x + 3 * i;
        if (!own[i]) continue;
        own[i] = (*next)++;
        fprintf(stream, "v %s %s %s\n", ct_export_number(a, x[0]), ct_export_number(b, x[1]),
                ct_export_number(c, x[2]));
    }
    for (int t = 0, before = -1; t < skin->ntri; t++) {
        const int *tri = skin->tri + 3 * t, owner = ct_obstacle_owner(skin, t);
        if (owner != before) write_group(stream, file, owner);
        before = owner;
        fprintf(stream, "f %d %d %d\n", own[tri[0]], own[tri[1]], own[tri[2]]);
    }
    return !ferror(stream);
}

static ct_status export_obj(ct_trajectory* file, ct_arena* arena, const ct_bone_list* bones, int frame,
                            const char* path, double* time, ct_error* error) {
    ct_skin skin;
    const double* poses = NULL;
    int next = 1;
    char text[40];
    ct_status status = ct_export_skin(file, arena, frame, &skin, time, error);
    if (!status) status = ct_trajectory_read_links(file, frame, NULL, &poses, error);
    if (status) return status;
    int* own = ct_arena_alloc(arena, (size_t)skin.nvert, sizeof *own);
    if (!own) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    fprintf(stream, "# Cuttle, frame %d, t = %s s\n", frame, ct_export_number(text, *time));
    bool good = write_surface(stream, file, &skin, own, &next);
    write_points(stream, bones, poses, "v ");
    for (int i = 0; i < bones->count; i++) fprintf(stream, "l %d %d\n", next + 2 * i, next + 2 * i + 1);
    good = good && !ferror(stream);
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}

static ct_status make_directory(const char* directory, ct_error* error) {
    struct stat about;
    if (mkdir(directory, 0777) == 0) return CT_OK;
    int problem = errno;
    if (problem == EEXIST && stat(directory, &about) == 0 && S_ISDIR(about.st_mode)) return CT_OK;
    return ct_fail_at(error, CT_IO, directory, 0, "the directory cannot be created: %s", strerror(problem));
}

typedef struct export_job {
    ct_trajectory* file;
    const char* directory;
    ct_export_format format;
    grid shared;
    ct_bone_list bones;
    FILE* index;  // .pvd
} export_job;

// Adds the file to the index; its path goes to `path`.
static ct_status add_file(const export_job* job, int part, const char* kind, int frame, const char* ending,
                          double time, char path[4096], ct_error* error) {
    char text[40];
    if (snprintf(path, 4096, "%s/%s_%06d.%s", job->directory, kind, frame, ending) >= 4096)
        return ct_fail(error, CT_BAD_ARGUMENT, "the directory's name is too long");
    if (job->index)
        fprintf(job->index, "    <DataSet timestep=\"%s\" part=\"%d\" file=\"%s_%06d.%s\"/>\n",
                ct_export_number(text, time), part, kind, frame, ending);
    return CT_OK;
}

// The parts of a frame that a .vtu does not hold.
static ct_status export_parts(const export_job* job, ct_arena* arena, int frame, double time,
                              ct_error* error) {
    char path[4096];
    ct_status status = CT_OK;
    if (job->bones.count) {
        status = add_file(job, 1, "bones", frame, "vtp", time, path, error);
        if (!status) status = export_bones(job->file, &job->bones, frame, path, error);
    }
    if (!status && job->file->info.nobstacle) {
        status = add_file(job, 2, "obstacles", frame, "vtp", time, path, error);
        if (!status) status = ct_export_obstacles(job->file, arena, frame, path, error);
    }
    if (!status && job->file->info.contact) {
        status = add_file(job, 3, "contacts", frame, "vtp", time, path, error);
        if (!status) status = ct_export_contacts(job->file, frame, path, error);
    }
    return status;
}

static ct_status export_frame(export_job* job, int frame, ct_error* error) {
    char path[4096];
    double time = 0;
    ct_frame now;
    ct_arena arena = {0};
    bool vtu = job->format == CT_EXPORT_VTU;
    ct_status status = ct_trajectory_read(job->file, frame, &now, error);
    if (!status) status = add_file(job, 0, "frame", frame, vtu ? "vtu" : "obj", now.time, path, error);
    if (!status)
        status = vtu ? export_vtu(job->file, &job->shared, frame, path, &time, error)
                     : export_obj(job->file, &arena, &job->bones, frame, path, &time, error);
    if (!status && vtu) status = export_parts(job, &arena, frame, time, error);
    ct_arena_free(&arena);
    return status;
}

static ct_status export_all(export_job* job, int first, int last, int stride, ct_error* error) {
    char path[4096];
    ct_status status = CT_OK;
    snprintf(path, sizeof path, "%s/frames.pvd", job->directory);
    if (job->format == CT_EXPORT_VTU) {
        job->index = fopen(path, "wb");
        if (!job->index)
            return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
        fprintf(job->index, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                            "byte_order=\"LittleEndian\">\n  <Collection>\n");
    }
    for (int frame = first; !status && frame <= last; frame += stride)
        status = export_frame(job, frame, error);
    if (!job->index) return status;
    fprintf(job->index, "  </Collection>\n</VTKFile>\n");
    bool good = !ferror(job->index);
    if ((fclose(job->index) != 0 || !good) && !status)
        status = ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
    return status;
}

static ct_status export_motion(ct_trajectory* file, const char* path, ct_export_format format, int first,
                               int last, int stride, ct_error* error) {
    ct_cache cache;
    ct_status status = ct_cache_create(&cache, file, first, last, stride, error);
    if (status) return status;
    status = (format == CT_EXPORT_USDA ? ct_export_usd : ct_export_gltf)(&cache, path, file->info.scene_name,
                                                                         error);
    ct_cache_free(&cache);
    return status;
}

ct_status ct_trajectory_export(ct_trajectory* file, const char* directory, ct_export_format format, int first,
                               int last, int stride, ct_error* error) {
    CT_NEED(error, file);
    ct_error_clear(error);
    int nframe = file->info.nframe;
    if (first < 0 || last >= nframe || first > last || stride < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "frames %d to %d by %d: the file holds 0 to %d", first, last,
                       stride, nframe - 1);
    if (format == CT_EXPORT_USDA || format == CT_EXPORT_GLB)
        return export_motion(file, directory, format, first, last, stride, error);
    if (format != CT_EXPORT_VTU && format != CT_EXPORT_OBJ)
        return ct_fail(error, CT_BAD_ARGUMENT, "unknown export format");
    ct_status status = make_directory(directory, error);
    if (status) return status;
    ct_arena arena = {0};
    export_job job = {.file = file, .directory = directory, .format = format};
    ct_picture_bones(&job.bones, &arena, file);
    if (!grid_create(&job.shared, &arena, file)) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    else status = export_all(&job, first, last, stride, error);
    ct_arena_free(&arena);
    return status;
}
