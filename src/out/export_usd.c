// USD as text (.usda): a Mesh prim for each part, with points, normals and extents at every frame.
//
// One frame is one time code where frames are evenly spaced, so that programs that step by frames show each;
// timeCodesPerSecond says how long that is. USD has Y or Z up: a scene with x up is turned.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "out/cache.h"

// %.7g, whatever the user's language has for a point
static void put_number(FILE* stream, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.7g", isfinite(value) ? value : 0.0);
    for (char* p = text; *p; p++)
        if (*p == ',') *p = '.';
    fputs(text, stream);
}

static void put_vectors(FILE* stream, const float* v, int count) {
    fputc('[', stream);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", (" : "(", stream);
        for (int a = 0; a < 3; a++) {
            if (a) fputs(", ", stream);
            put_number(stream, (double)v[3 * i + a]);
        }
        fputc(')', stream);
    }
    fputc(']', stream);
}

static double frame_rate(const ct_cache* c) {
    const double step = c->nframe > 1 ? c->time[1] - c->time[0] : 0;
    return step > 0 ? round(1e6 / step) / 1e6 : 24;
}

static double time_code(const ct_cache* c, int frame) {
    const double code = (c->time[frame] - c->time[0]) * frame_rate(c);
    return fabs(code - round(code)) < 1e-4 ? round(code) : code;
}

static void put_extent(FILE* stream, const float* x, int count) {
    float box[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * count; i++) {
        box[i % 3] = fminf(box[i % 3], x[i]);
        box[3 + i % 3] = fmaxf(box[3 + i % 3], x[i]);
    }
    put_vectors(stream, box, 2);
}

typedef enum what { EXTENT, POINTS, NORMALS } what;

static void put_frame(FILE* stream, const ct_cache* c, const ct_cache_part* part, int frame, what kind) {
    const float* values = ct_cache_of(c, kind == NORMALS ? c->normal : c->x, frame, part);
    if (kind == EXTENT) put_extent(stream, values, part->nvert);
    else put_vectors(stream, values, part->nvert);
}

// An attribute: once where the part stands still, at every frame otherwise.
static void put_attribute(FILE* stream, const ct_cache* c, const ct_cache_part* part, const char* name,
                          what kind, const char* metadata) {
    fprintf(stream, "        %s", name);
    if (!part->moves) {
        fputs(" = ", stream);
        put_frame(stream, c, part, 0, kind);
        fprintf(stream, "%s\n", metadata);
        return;
    }
    if (*metadata) fprintf(stream, "%s\n        %s", metadata, name);
    fputs(".timeSamples = {\n", stream);
    for (int k = 0; k < c->nframe; k++) {
        fputs("            ", stream);
        put_number(stream, time_code(c, k));
        fputs(": ", stream);
        put_frame(stream, c, part, k, kind);
        fputs(",\n", stream);
    }
    fputs("        }\n", stream);
}

static void put_part(FILE* stream, const ct_cache* c, const ct_cache_part* part) {
    const float color[3] = {(float)part->color[0], (float)part->color[1], (float)part->color[2]};
    fprintf(stream, "\n    def Mesh \"%s\"\n    {\n", part->name);
    fputs("        uniform token subdivisionScheme = \"none\"\n", stream);
    fprintf(stream, "        uniform bool doubleSided = %d\n        int[] faceVertexCounts = [", part->sheet);
    for (int t = 0; t < part->ntri; t++) fputs(t ? ", 3" : "3", stream);
    fputs("]\n        int[] faceVertexIndices = [", stream);
    for (int i = 0; i < 3 * part->ntri; i++)
        fprintf(stream, "%s%d", i ? ", " : "", c->tri[3 * part->first_tri + i]);
    fputs("]\n        color3f[] primvars:displayColor = ", stream);
    put_vectors(stream, color, 1);
    fputc('\n', stream);
    put_attribute(stream, c, part, "float3[] extent", EXTENT, "");
    put_attribute(stream, c, part, "point3f[] points", POINTS, "");
    put_attribute(stream, c, part, "normal3f[] normals", NORMALS,
                  " (\n            interpolation = \"vertex\"\n        )");
    fputs("    }\n", stream);
}

ct_status ct_export_usd(const ct_cache* c, const char* path, const char* title, ct_error* error) {
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    fputs("#usda 1.0\n(\n    defaultPrim = \"Scene\"\n    doc = \"Written by Cuttle: ", stream);
    for (; *title; title++)
        if ((unsigned char)*title >= ' ' && *title != '"' && *title != '\\') fputc(*title, stream);
    fputs("\"\n    endTimeCode = ", stream);
    put_number(stream, time_code(c, c->nframe - 1));
    fputs("\n    framesPerSecond = ", stream);
    put_number(stream, frame_rate(c));
    fputs("\n    metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = ", stream);
    put_number(stream, frame_rate(c));
    fprintf(stream, "\n    upAxis = \"%c\"\n)\n\ndef Xform \"Scene\"\n{\n", c->up == 2 ? 'Z' : 'Y');
    if (c->up == 0)
        fputs("    float xformOp:rotateZ = 90\n    uniform token[] xformOpOrder = [\"xformOp:rotateZ\"]\n",
              stream);
    for (int p = 0; p < c->npart; p++) put_part(stream, c, &c->part[p]);
    fputs("}\n", stream);
    const bool good = !ferror(stream);
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}
