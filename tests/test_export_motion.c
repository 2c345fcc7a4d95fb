// Motions as one file: the numbers in a .glb and a .usda are those of the frames, and normals are normal.
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "build.h"
#include "out/trajectory.h"
#include "scene_text.h"

#define FILE_NAME CT_BINARY_DIR "/test_export_motion.h5"
#define GLB CT_BINARY_DIR "/test_export_motion.glb"
#define USDA CT_BINARY_DIR "/test_export_motion.usda"

// Two bodies of one name, a sheet, a plane, a sphere that moves, a link, a cable; z is up.
static const char* const text =
    "{\"name\": \"every part\", \"up\": \"z\", \"gravity\": [0, 0, -9.81], \"time_step\": 0.01,"
    "\"bodies\": [{\"name\": \"a cube\", \"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [1, 1, 1]},"
    "\"translate\": [0, 0, 0.01]},"
    "{\"name\": \"a-cube\", \"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [2, 2, 2]}, \"translate\": [1, "
    "0, "
    "1]},"
    "{\"name\": \"cloth\", \"sheet\": {\"size\": [0.1, 0.1], \"cells\": [1, 1]}, \"translate\": [0.5, 0.2, "
    "0.5],"
    "\"material\": {\"thickness\": 0.001}}],"
    "\"obstacles\": [{\"name\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 0, 1]}},"
    "{\"name\": \"ball\", \"sphere\": {\"center\": [2, 0, 1], \"radius\": 0.3}, \"motion\": {\"keys\": "
    "[{\"time\": 0}, {\"time\": 1, \"translate\": [1, 0, 0]}]}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"rod\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 1, "
    "0],"
    "\"anchor\": [1, 1, 1]}, \"mass\": 1, \"center\": [1.2, 1, 1], \"inertia\": [0.01, 0.01, 0.01]}]}],"
    "\"cables\": [{\"name\": \"string\", \"eyelets\": [{\"point\": [0.05, 0.05, 0.3]},"
    "{\"body\": \"a cube\", \"point\": [0.05, 0.05, 0.1]}], \"tension\": 0.1}]}";

enum { FRAMES = 4 };
static const char* const parts[] = {"a_cube", "a_cube_", "cloth",  "ground",
                                    "ball",   "bones",   "joints", "cables"};

static ct_trajectory* record(void) {
    ct_scene* scene = parse(text);
    sim s = start(scene, 1);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, scene, s.model, FILE_NAME, &error), &error);
    for (int k = 0; k < FRAMES; k++) {
        must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
        must(ct_step(s.model, s.work, s.state, NULL, NULL), NULL);
    }
    stop(&s);
    return file;
}

static char* load(const char* path, size_t* size) {
    FILE* stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char* bytes = calloc(1, *size + 1);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    return bytes;
}

typedef struct glb {
    char *bytes, *bin;
    json_t* json;
} glb;

static int integer(const json_t* object, const char* key) {
    assert_true(json_is_integer(json_object_get(object, key)));
    return (int)json_integer_value(json_object_get(object, key));
}

static const void* accessor(const glb* g, int index, int* count) {
    json_t* a = json_array_get(json_object_get(g->json, "accessors"), (size_t)index);
    json_t* view = json_array_get(json_object_get(g->json, "bufferViews"), (size_t)integer(a, "bufferView"));
    *count = integer(a, "count");
    return g->bin + integer(view, "byteOffset");
}

static glb open_glb(void) {
    size_t size;
    uint32_t head[5], second[2];
    glb g = {.bytes = load(GLB, &size)};
    memcpy(head, g.bytes, sizeof head);
    assert_true(head[0] == 0x46546c67 && head[1] == 2 && head[2] == size && head[3] % 4 == 0);
    g.json = json_loadb(g.bytes + 20, head[3], 0, NULL);
    assert_non_null(g.json);
    memcpy(second, g.bytes + 20 + head[3], sizeof second);
    assert_true(second[1] == 0x004e4942 && 28 + head[3] + second[0] == size);
    g.bin = g.bytes + 28 + head[3];
    return g;
}

// The nearest distance from a point to the nodes of a frame.
static double distance(const ct_frame* frame, int nvert, const double at[3]) {
    double least = INFINITY;
    for (int i = 0; i < nvert; i++) {
        const double* x = frame->x + 3 * i;
        least = fmin(least, hypot(hypot(x[0] - at[0], x[1] - at[1]), x[2] - at[2]));
    }
    return least;
}

static void check_mesh(const glb* g, const json_t* mesh, ct_trajectory* file, bool flesh) {
    json_t* primitive = json_array_get(json_object_get(mesh, "primitives"), 0);
    json_t *attributes = json_object_get(primitive, "attributes"),
           *targets = json_object_get(primitive, "targets");
    int n, m, ntarget = (int)json_array_size(targets);
    assert_true(ntarget == 0 || ntarget == FRAMES - 1);
    const float *x0 = accessor(g, integer(attributes, "POSITION"), &n),
                *n0 = accessor(g, integer(attributes, "NORMAL"), &m);
    assert_int_equal(n, m);
    const uint32_t* index = accessor(g, integer(primitive, "indices"), &m);
    for (int i = 0; i < m; i++) assert_true(index[i] < (uint32_t)n);
    for (int k = 0; k <= ntarget; k++) {
        ct_frame frame;
        const json_t* target = k ? json_array_get(targets, (size_t)k - 1) : NULL;
        const float *dx = k ? accessor(g, integer(target, "POSITION"), &m) : NULL,
                    *dn = k ? accessor(g, integer(target, "NORMAL"), &m) : NULL;
        must(ct_trajectory_read(file, k, &frame, NULL), NULL);
        for (int i = 0; i < n; i++) {
            double at[3], normal[3];
            for (int a = 0; a < 3; a++) {
                at[a] = (double)x0[3 * i + a] + (k ? (double)dx[3 * i + a] : 0);
                normal[a] = (double)n0[3 * i + a] + (k ? (double)dn[3 * i + a] : 0);
            }
            assert_true(fabs(hypot(hypot(normal[0], normal[1]), normal[2]) - 1) < 1e-5);
            if (flesh && distance(&frame, file->info.nvert, at) > 1e-6) fail_msg("frame %d, vertex %d", k, i);
        }
    }
}

static void glb_holds_every_frame_as_a_target(void** unused) {
    ct_trajectory* file = record();
    ct_error error = {0};
    must(ct_trajectory_export(file, GLB, CT_EXPORT_GLB, 0, FRAMES - 1, 1, &error), &error);
    glb g = open_glb();
    size_t found = 0;
    json_t *mesh, *meshes = json_object_get(g.json, "meshes");
    size_t k;
    json_array_foreach(meshes, k, mesh) {
        const char* name = json_string_value(json_object_get(mesh, "name"));
        int kind = -1;
        for (int p = 0; p < (int)(sizeof parts / sizeof parts[0]); p++)
            if (strncmp(name, parts[p], strlen(parts[p])) == 0) kind = p;
        if (kind < 0) fail_msg("%s", name);
        found |= (size_t)1 << kind;
        check_mesh(&g, mesh, file, kind <= 2);
    }
    assert_int_equal(found, 255);
    int n, m;
    const json_t* animation = json_array_get(json_object_get(g.json, "animations"), 0);
    const json_t* sampler = json_array_get(json_object_get(animation, "samplers"), 0);
    const float* time = accessor(&g, integer(sampler, "input"), &n);
    const float* weight = accessor(&g, integer(sampler, "output"), &m);
    assert_true(n == FRAMES && m == FRAMES * (FRAMES - 1));
    for (int f = 0; f < FRAMES; f++) {
        assert_true(fabs((double)time[f] - 0.01 * f) < 1e-6);
        for (int i = 0; i < FRAMES - 1; i++) assert_true(weight[f * (FRAMES - 1) + i] == (i + 1 == f));
    }
    json_decref(g.json);
    free(g.bytes);
    ct_trajectory_close(file, NULL);
}

static void usda_holds_points_and_normals_over_time(void** unused) {
    ct_trajectory* file = record();
    ct_error error = {0};
    size_t size;
    must(ct_trajectory_export(file, USDA, CT_EXPORT_USDA, 0, FRAMES - 1, 1, &error), &error);
    char* all = load(USDA, &size);
    assert_true(strncmp(all, "#usda 1.0\n", 10) == 0);
    assert_non_null(strstr(all, "upAxis = \"Z\""));
    assert_non_null(strstr(all, "timeCodesPerSecond = 100\n"));
    assert_non_null(strstr(all, "endTimeCode = 3\n"));
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        char name[64];
        snprintf(name, sizeof name, "def Mesh \"%s", parts[p]);
        assert_non_null(strstr(all, name));
    }
    const char* cloth = strstr(all, "def Mesh \"cloth");
    const char* points = strstr(cloth, "point3f[] points.timeSamples");
    assert_non_null(strstr(cloth, "doubleSided = 1"));
    ct_frame frame;
    must(ct_trajectory_read(file, 2, &frame, &error), &error);
    double at[3];
    assert_int_equal(sscanf(strstr(points, " 2: [(") + 6, "%lf, %lf, %lf", at, at + 1, at + 2), 3);
    assert_true(distance(&frame, file->info.nvert, at) < 1e-6);
    free(all);
    ct_trajectory_close(file, NULL);
}

static void one_frame_is_a_still(void** unused) {
    ct_trajectory* file = record();
    ct_error error = {0};
    must(ct_trajectory_export(file, GLB, CT_EXPORT_GLB, 1, 1, 1, &error), &error);
    glb g = open_glb();
    assert_null(json_object_get(g.json, "animations"));
    assert_true(json_array_size(json_object_get(g.json, "meshes")) >= 8);
    json_decref(g.json);
    free(g.bytes);
    assert_int_equal(
        ct_trajectory_export(file, CT_BINARY_DIR "/nowhere/a.glb", CT_EXPORT_GLB, 0, 1, 1, &error), CT_IO);
    assert_int_equal(
        ct_trajectory_export(file, CT_BINARY_DIR "/nowhere/a.usda", CT_EXPORT_USDA, 0, 1, 1, &error), CT_IO);
    ct_trajectory_close(file, NULL);
    unlink(GLB), unlink(USDA), unlink(FILE_NAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glb_holds_every_frame_as_a_target),
        cmocka_unit_test(usda_holds_points_and_normals_over_time),
        cmocka_unit_test(one_frame_is_a_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
