// Obstacles and contacts as .vtp files: triangles with the index of their obstacle; a point for each contact,
// with its force.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "out/export.h"

ct_status ct_export_skin(ct_trajectory* file, ct_arena* arena, int frame, ct_skin* skin, double* time,
                         ct_error* error) {
    double* x = ct_arena_alloc(arena, 3 * (size_t)file->info.nvert, sizeof *x);
    double* poses = ct_arena_alloc(arena, 6 * (size_t)file->info.nobstacle, sizeof *poses);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_trajectory_read_into(file, frame, x, NULL, time, NULL, error);
    if (!status) status = ct_trajectory_read_obstacles_into(file, frame, poses, error);
    if (!status) status = ct_picture_bounds(file, error);
    if (status) return status;
    ct_obstacle_look look = {.ground = -INFINITY};
    for (int a = 0; a < 3; a++) {
        look.center[a] = 0.5 * (file->lower[a] + file->upper[a]);
        look.reach = fmax(look.reach, 1.1 * (file->upper[a] - file->lower[a]));
    }
    ct_skin_create(skin, arena, file, x);
    if (!arena->failed && file->info.nobstacle) ct_obstacle_dress(skin, arena, file, poses, &look);
    return arena->failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

static void write_vector(FILE* stream, const double v[3]) {
    char a[40], b[40], c[40];
    fprintf(stream, "%s %s %s\n", ct_export_number(a, v[0]), ct_export_number(b, v[1]),
            ct_export_number(c, v[2]));
}

static void begin_array(FILE* stream, const char* type, const char* name, int components) {
    fprintf(stream,
            "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n", type,
            name, components);
}

static void end_array(FILE* stream) { fprintf(stream, "        </DataArray>\n"); }

static FILE* begin_file(const char* path, int points, int verts, int polys) {
    FILE* stream = fopen(path, "wb");
    if (stream)
        fprintf(stream,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                "byte_order=\"LittleEndian\">\n  <PolyData>\n"
                "    <Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" "
                "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n",
                points, verts, polys);
    return stream;
}

static ct_status end_file(FILE* stream, const char* path, ct_error* error) {
    fprintf(stream, "    </Piece>\n  </PolyData>\n</VTKFile>\n");
    bool good = !ferror(stream);
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}

ct_status ct_export_obstacles(ct_trajectory* file, ct_arena* arena, int frame, const char* path,
                              ct_error* error) {
    ct_skin skin;
    double time;
    int points = 0, polys = 0, nbody = file->info.nbody;
    ct_status status = ct_export_skin(file, arena, frame, &skin, &time, error);
    if (status) return status;
    int* own = ct_arena_alloc(arena, (size_t)skin.nvert, sizeof *own);
    if (!own) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int t = 0; t < skin.ntri; t++) {
        if (ct_obstacle_owner(&skin, t) < nbody) continue;
        polys++;
        for (int k = 0; k < 3; k++) own[skin.tri[3 * t + k]] = 1;
    }
    for (int i = 0; i < skin.nvert; i++) points += own[i];
    FILE* stream = begin_file(path, points, 0, polys);
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    fprintf(stream, "      <CellData>\n");
    begin_array(stream, "Int32", "obstacle", 1);
    for (int t = 0; t < skin.ntri; t++)
        if (ct_obstacle_owner(&skin, t) >= nbody)
            fprintf(stream, "%d\n", ct_obstacle_owner(&skin, t) - nbody);
    end_array(stream);
    fprintf(stream, "      </CellData>\n      <Points>\n");
    begin_array(stream, "Float64", "Points", 3);
    for (int i = 0, next = 0; i < skin.nvert; i++) {
        if (!own[i]) continue;
        own[i] = next++;
        write_vector(stream, skin.x + 3 * i);
    }
    end_array(stream);
    fprintf(stream, "      </Points>\n      <Polys>\n");
    begin_array(stream, "Int32", "connectivity", 1);
    for (int t = 0; t < skin.ntri; t++)
        if (ct_obstacle_owner(&skin, t) >= nbody)
            fprintf(stream, "%d %d %d\n", own[skin.tri[3 * t]], own[skin.tri[3 * t + 1]],
                    own[skin.tri[3 * t + 2]]);
    end_array(stream);
    begin_array(stream, "Int32", "offsets", 1);
    for (int k = 0; k < polys; k++) fprintf(stream, "%d\n", 3 * k + 3);
    end_array(stream);
    fprintf(stream, "      </Polys>\n");
    return end_file(stream, path, error);
}

static void write_contact_data(FILE* stream, const ct_contact* list, int count) {
    char text[40];
    fprintf(stream, "      <PointData>\n");
    begin_array(stream, "Float64", "Force", 3);
    for (int i = 0; i < count; i++) write_vector(stream, list[i].force);
    end_array(stream);
    begin_array(stream, "Float64", "Normal", 3);
    for (int i = 0; i < count; i++) write_vector(stream, list[i].normal);
    end_array(stream);
    begin_array(stream, "Float64", "Gap", 1);
    for (int i = 0; i < count; i++) fprintf(stream, "%s\n", ct_export_number(text, list[i].gap));
    end_array(stream);
    begin_array(stream, "Float64", "Friction", 1);
    for (int i = 0; i < count; i++) fprintf(stream, "%s\n", ct_export_number(text, list[i].friction));
    end_array(stream);
    begin_array(stream, "Int32", "Type", 1);
    for (int i = 0; i < count; i++) fprintf(stream, "%d\n", (int)list[i].type);
    end_array(stream);
    begin_array(stream, "Int32", "Set", 1);
    for (int i = 0; i < count; i++) fprintf(stream, "%d\n", (int)list[i].set);
    end_array(stream);
    begin_array(stream, "Int32", "Colliders", 2);
    for (int i = 0; i < count; i++) fprintf(stream, "%d %d\n", list[i].a, list[i].b);
    end_array(stream);
    fprintf(stream, "      </PointData>\n");
}

ct_status ct_export_contacts(ct_trajectory* file, int frame, const char* path, ct_error* error) {
    const ct_contact* list;
    int count;
    ct_status status = ct_trajectory_read_contacts(file, frame, &list, &count, error);
    if (status) return status;
    FILE* stream = begin_file(path, count, count, 0);
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    write_contact_data(stream, list, count);
    fprintf(stream, "      <Points>\n");
    begin_array(stream, "Float64", "Points", 3);
    for (int i = 0; i < count; i++) write_vector(stream, list[i].position);
    end_array(stream);
    fprintf(stream, "      </Points>\n      <Verts>\n");
    begin_array(stream, "Int32", "connectivity", 1);
    for (int i = 0; i < count; i++) fprintf(stream, "%d\n", i);
    end_array(stream);
    begin_array(stream, "Int32", "offsets", 1);
    for (int i = 0; i < count; i++) fprintf(stream, "%d\n", i + 1);
    end_array(stream);
    fprintf(stream, "      </Verts>\n");
    return end_file(stream, path, error);
}
