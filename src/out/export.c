// Trajectories as files of other programs: one .vtu a frame with a .pvd that gives the times, or one .obj surface
// a frame. The numbers of a .vtu follow its XML as raw bytes ("appended"), exact and quick to write. Bones of skeletons
// are lines: in an .obj at its end, beside a .vtu in a .vtp of their own.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "out/picture.h"
#include "out/trajectory.h"

typedef struct block {   // one appended array
    const char* name;
    const char* type;    // VTK's
    int components;
    const void* values;
    uint64_t bytes;
} block;

// %.17g, whatever the user's language has for a point.
static const char* number(char text[40], double value) {
    snprintf(text, 40, "%.17g", value);
    for (char* p = text; *p; p++)
        if (*p == ',') *p = '.';
    return text;
}

static void write_tag(FILE* stream, const block* b, uint64_t* offset) {
    fprintf(stream, "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
            b->type, b->name, b->components, (unsigned long long)*offset);
    *offset += 8 + b->bytes;
}

static void write_tags(FILE* stream, const char* section, const block* blocks, int count, uint64_t* offset) {
    fprintf(stream, "      <%s>\n", section);
    for (int k = 0; k < count; k++) write_tag(stream, &blocks[k], offset);
    fprintf(stream, "      </%s>\n", section);
}

enum { POINT_FIELDS = 2, CELL_FIELDS = 5, CELL_BLOCKS = 3, BLOCKS = POINT_FIELDS + CELL_FIELDS + 1 + CELL_BLOCKS };

static bool write_vtu(const char* path, int nvert, int ntet, const block blocks[BLOCKS]) {
    FILE* stream = fopen(path, "wb");
    if (!stream) return false;
    uint64_t offset = 0;
    fprintf(stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
                    "header_type=\"UInt64\">\n  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", nvert, ntet);
    const block* at = blocks;
    write_tags(stream, "PointData", at, POINT_FIELDS, &offset);
    write_tags(stream, "CellData", at += POINT_FIELDS, CELL_FIELDS, &offset);
    write_tags(stream, "Points", at += CELL_FIELDS, 1, &offset);
    write_tags(stream, "Cells", at += 1, CELL_BLOCKS, &offset);
    fprintf(stream, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    for (int k = 0; k < BLOCKS; k++) {
        fwrite(&blocks[k].bytes, 8, 1, stream);
        fwrite(blocks[k].values, 1, blocks[k].bytes, stream);
    }
    fprintf(stream, "\n  </AppendedData>\n</VTKFile>\n");
    bool good = !ferror(stream);
    return fclose(stream) == 0 && good;
}

typedef struct grid {     // what all frames share, and room for one
    int64_t* connectivity;
    int64_t* offset;
    uint8_t* type;
    double* displacement;
    double* cell[3];      // stress, energy, volume
} grid;

static bool grid_create(grid* g, ct_arena* arena, const ct_trajectory* file) {
    size_t ntet = (size_t)file->info.ntet;
    g->connectivity = ct_arena_alloc(arena, 4 * ntet, sizeof(int64_t));
    g->offset = ct_arena_alloc(arena, ntet, sizeof(int64_t));
    g->type = ct_arena_alloc(arena, ntet, 1);
    g->displacement = ct_arena_alloc(arena, 3 * (size_t)file->info.nvert, sizeof(double));
    for (int k = 0; k < 3; k++) g->cell[k] = ct_arena_alloc(arena, ntet, sizeof(double));
    if (arena->failed) return false;
    for (size_t k = 0; k < 4 * ntet; k++) g->connectivity[k] = file->tet[k];
    for (size_t k = 0; k < ntet; k++) {
        g->offset[k] = 4 * (int64_t)(k + 1);
        g->type[k] = 10;  // VTK_TETRA
    }
    return true;
}

static ct_status export_vtu(ct_trajectory* file, const grid* g, int frame, const char* path, double* time, ct_error* error) {
    static const char* const names[3] = {"stress", "energy", "volume"};
    size_t nvert = (size_t)file->info.nvert, ntet = (size_t)file->info.ntet;
    for (int k = 0; k < 3; k++) {
        const double* values;
        int count;
        bool per_tet;
        ct_status status = ct_trajectory_read_field(file, frame, names[k], &values, &count, &per_tet, error);
        if (status) return status;
        memcpy(g->cell[k], values, ntet * sizeof(double));
    }
    ct_frame now;
    ct_status status = ct_trajectory_read(file, frame, &now, error);
    if (status) return status;
    *time = now.time;
    for (size_t i = 0; i < 3 * nvert; i++) g->displacement[i] = now.x[i] - file->rest[i];
    const block blocks[BLOCKS] = {
        {"velocity", "Float64", 3, now.v, 24 * nvert}, {"displacement", "Float64", 3, g->displacement, 24 * nvert},
        {"stress", "Float64", 1, g->cell[0], 8 * ntet}, {"energy", "Float64", 1, g->cell[1], 8 * ntet},
        {"volume", "Float64", 1, g->cell[2], 8 * ntet}, {"body", "Int32", 1, file->tet_body, 4 * ntet},
        {"tag", "Int32", 1, file->tet_tag, 4 * ntet}, {"Points", "Float64", 3, now.x, 24 * nvert},
        {"connectivity", "Int64", 1, g->connectivity, 32 * ntet}, {"offsets", "Int64", 1, g->offset, 8 * ntet},
        {"types", "UInt8", 1, g->type, ntet}};
    if (write_vtu(path, file->info.nvert, file->info.ntet, blocks)) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
}

static void write_points(FILE* stream, const ct_bone_list* bones, const double* poses, const char* prefix) {
    char a[40], b[40], c[40];
    for (int i = 0; i < 2 * bones->count; i++) {
        const ct_bone* bone = &bones->bone[i / 2];
        double at[3];
        ct_bone_place(poses + 12 * bone->link, i % 2 ? bone->to : bone->from, at);
        fprintf(stream, "%s%s %s %s\n", prefix, number(a, at[0]), number(b, at[1]), number(c, at[2]));
    }
}

static ct_status export_bones(ct_trajectory* file, const ct_bone_list* bones, int frame, const char* path, ct_error* error) {
    const double* poses;
    ct_status status = ct_trajectory_read_links(file, frame, NULL, &poses, error);
    if (status) return status;
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    fprintf(stream, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <PolyData>\n"
                    "    <Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"%d\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n"
                    "      <CellData><DataArray type=\"Int32\" Name=\"link\" format=\"ascii\">\n", 2 * bones->count, bones->count);
    for (int i = 0; i < bones->count; i++) fprintf(stream, "%d\n", bones->bone[i].link);
    fprintf(stream, "      </DataArray></CellData>\n      <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n");
    write_points(stream, bones, poses, "");
    fprintf(stream, "      </DataArray></Points>\n      <Lines><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">\n");
    for (int i = 0; i < bones->count; i++) fprintf(stream, "%d %d\n", 2 * i, 2 * i + 1);
    fprintf(stream, "      </DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">\n");
    for (int i = 0; i < bones->count; i++) fprintf(stream, "%d\n", 2 * i + 2);
    fprintf(stream, "      </DataArray></Lines>\n    </Piece>\n  </PolyData>\n</VTKFile>\n");
    bool good = !ferror(stream);
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}

// The surface with its own numbering, so that inner nodes are left out; faces grouped by body.
static ct_status export_obj(ct_trajectory* file, int* own, const ct_bone_list* bones, int frame, const char* path, double* time,
                            ct_error* error) {
    ct_frame now;
    const double* poses = NULL;
    int next = 1;
    ct_status status = ct_trajectory_read(file, frame, &now, error);
    if (!status) status = ct_trajectory_read_links(file, frame, NULL, &poses, error);
    if (status) return status;
    *time = now.time;
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    char a[40], b[40], c[40];
    fprintf(stream, "# Cuttle, frame %d, t = %s s\n", frame, number(a, now.time));
    memset(own, 0, (size_t)file->info.nvert * sizeof(int));
    for (int k = 0; k < 3 * file->info.nsurface; k++) own[file->surface[k]] = 1;
    for (int i = 0; i < file->info.nvert; i++) {
        if (!own[i]) continue;
        own[i] = next++;
        fprintf(stream, "v %s %s %s\n", number(a, now.x[3 * i]), number(b, now.x[3 * i + 1]), number(c, now.x[3 * i + 2]));
    }
    for (int t = 0; t < file->info.nsurface; t++) {
        const int* tri = file->surface + 3 * t;
        fprintf(stream, "f %d %d %d\n", own[tri[0]], own[tri[1]], own[tri[2]]);
    }
    write_points(stream, bones, poses, "v ");
    for (int i = 0; i < bones->count; i++) fprintf(stream, "l %d %d\n", next + 2 * i, next + 2 * i + 1);
    bool good = !ferror(stream);
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
    int* own;             // nvert
    ct_bone_list bones;
    FILE* index;          // .pvd
} export_job;

static ct_status export_frame(export_job* job, int frame, ct_error* error) {
    char path[4096], name[64], text[40];
    double time = 0;
    bool vtu = job->format == CT_EXPORT_VTU;
    snprintf(name, sizeof name, "frame_%06d.%s", frame, vtu ? "vtu" : "obj");
    if (snprintf(path, sizeof path, "%s/%s", job->directory, name) >= (int)sizeof path)
        return ct_fail(error, CT_BAD_ARGUMENT, "the directory's name is too long");
    ct_status status = vtu ? export_vtu(job->file, &job->shared, frame, path, &time, error)
                           : export_obj(job->file, job->own, &job->bones, frame, path, &time, error);
    if (!status && job->index)
        fprintf(job->index, "    <DataSet timestep=\"%s\" part=\"0\" file=\"%s\"/>\n", number(text, time), name);
    if (status || !job->index || !job->bones.count) return status;
    snprintf(name, sizeof name, "bones_%06d.vtp", frame);
    snprintf(path, sizeof path, "%.4000s/%s", job->directory, name);
    fprintf(job->index, "    <DataSet timestep=\"%s\" part=\"1\" file=\"%s\"/>\n", number(text, time), name);
    return export_bones(job->file, &job->bones, frame, path, error);
}

static ct_status export_all(export_job* job, int first, int last, int stride, ct_error* error) {
    char path[4096];
    ct_status status = CT_OK;
    snprintf(path, sizeof path, "%s/frames.pvd", job->directory);
    if (job->format == CT_EXPORT_VTU) {
        job->index = fopen(path, "wb");
        if (!job->index) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
        fprintf(job->index, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <Collection>\n");
    }
    for (int frame = first; !status && frame <= last; frame += stride) status = export_frame(job, frame, error);
    if (!job->index) return status;
    fprintf(job->index, "  </Collection>\n</VTKFile>\n");
    bool good = !ferror(job->index);
    if ((fclose(job->index) != 0 || !good) && !status)
        status = ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
    return status;
}

ct_status ct_trajectory_export(ct_trajectory* file, const char* directory, ct_export_format format, int first, int last,
                               int stride, ct_error* error) {
    ct_error_clear(error);
    int nframe = file->info.nframe;
    if (first < 0 || last >= nframe || first > last || stride < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "frames %d to %d by %d: the file holds 0 to %d", first, last, stride, nframe - 1);
    if (format != CT_EXPORT_VTU && format != CT_EXPORT_OBJ) return ct_fail(error, CT_BAD_ARGUMENT, "unknown export format");
    ct_status status = make_directory(directory, error);
    if (status) return status;
    ct_arena arena = {0};
    export_job job = {.file = file, .directory = directory, .format = format};
    job.own = ct_arena_alloc(&arena, (size_t)file->info.nvert, sizeof(int));
    ct_picture_bones(&job.bones, &arena, file);
    if (!grid_create(&job.shared, &arena, file)) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    else status = export_all(&job, first, last, stride, error);
    ct_arena_free(&arena);
    return status;
}
