// Masses of MJCF's mesh geoms, as MuJoCo computes them: a pyramid from the mesh's centre to every triangle.
//
// With c the mean of the triangles' centroids by area, a triangle (u, v, w) bounds a pyramid of the volume
// V = (u - c).((v - c) x (w - c))/6, its centre (u + v + w + c)/4 and, about a point o, the second moment
//     V/20 (sum_k a_k a_k^T + s s^T),   a_k the corners less o, s their sum.
// inertia="legacy", the default, takes |V|, inertia="exact" takes V: the same for convex meshes. The second
// pass has its pyramids at the centre of mass instead of c.
#include <math.h>
#include <string.h>

#include "base/place.h"
#include "base/status.h"
#include "read/mjcf.h"

typedef struct solid {
    const ct_mesh* mesh;
    const double* scale;  // 3
    bool exact;
} solid;

static void corners(const solid* s, int tri, ct_vec3 origin, ct_vec3 out[3]) {
    for (int k = 0; k < 3; k++) {
        const double* x = s->mesh->x + 3 * (size_t)s->mesh->tri[3 * tri + k];
        out[k] = ct_vec3_sub((ct_vec3){x[0] * s->scale[0], x[1] * s->scale[1], x[2] * s->scale[2]}, origin);
    }
}

static ct_vec3 area_center(const solid* s) {
    ct_vec3 sum = {0, 0, 0}, a[3];
    double area = 0;
    for (int t = 0; t < s->mesh->ntri; t++) {
        corners(s, t, (ct_vec3){0, 0, 0}, a);
        const double part = ct_vec3_norm(ct_vec3_cross(ct_vec3_sub(a[1], a[0]), ct_vec3_sub(a[2], a[0])));
        sum = ct_vec3_axpy(sum, part / 3, ct_vec3_add(a[0], ct_vec3_add(a[1], a[2])));
        area += part;
    }
    return area > 0 ? ct_vec3_scale(1 / area, sum) : sum;
}

static double pyramid(const solid* s, const ct_vec3 a[3]) {
    const double volume = ct_vec3_dot(a[0], ct_vec3_cross(a[1], a[2])) / 6;
    return s->exact ? volume : fabs(volume);
}

static double volume_and_center(const solid* s, ct_vec3* center) {
    const ct_vec3 c = area_center(s);
    ct_vec3 first = {0, 0, 0}, a[3];
    double volume = 0;
    for (int t = 0; t < s->mesh->ntri; t++) {
        corners(s, t, c, a);
        const double part = pyramid(s, a);
        first = ct_vec3_axpy(first, part / 4, ct_vec3_add(a[0], ct_vec3_add(a[1], a[2])));
        volume += part;
    }
    *center = volume > 0 ? ct_vec3_axpy(c, 1 / volume, first) : c;
    return volume;
}

// J about the centre of mass, for a density of 1.
static void inertia_about(const solid* s, ct_vec3 center, double J[6]) {
    double P[6] = {0};  // xx yy zz xy xz yz
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int t = 0; t < s->mesh->ntri; t++) {
        ct_vec3 a[4];
        corners(s, t, center, a);
        a[3] = ct_vec3_add(a[0], ct_vec3_add(a[1], a[2]));
        const double part = pyramid(s, a) / 20;
        for (int k = 0; k < 4; k++) {
            const double v[3] = {a[k].x, a[k].y, a[k].z};
            for (int i = 0; i < 6; i++) P[i] += part * v[row[i]] * v[column[i]];
        }
    }
    const double J0[6] = {P[1] + P[2], P[0] + P[2], P[0] + P[1], -P[3], -P[4], -P[5]};
    memcpy(J, J0, sizeof J0);
}

// The <mesh> of that name: by its name, else by its file without folder and extension.
static const ct_xml* find_mesh(ct_mjcf* m, const char* name) {
    for (const ct_xml* asset = ct_xml_child(m->root, "asset"); asset; asset = ct_xml_next(asset, "asset"))
        for (const ct_xml* at = ct_xml_child(asset, "mesh"); at; at = ct_xml_next(at, "mesh")) {
            const char *own = ct_xml_get(at, "name"), *file = ct_xml_get(at, "file");
            if (own && !strcmp(own, name)) return at;
            if (own || !file) continue;
            const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file,
                       *dot = strrchr(stem, '.');
            const size_t length = dot ? (size_t)(dot - stem) : strlen(stem);
            if (strlen(name) == length && !strncmp(stem, name, length)) return at;
        }
    return NULL;
}

static void check_mesh(ct_mjcf* m, const ct_xml* mesh, const ct_xml* geom, bool* exact) {
    static const char* const refused[] = {"vertex", "face", "refpos", "refquat", "builtin", "params", NULL};
    const char *inertia = ct_mjcf_get(m, mesh, "inertia"), *file = ct_mjcf_get(m, mesh, "file");
    for (int i = 0; refused[i]; i++)
        if (ct_mjcf_get(m, mesh, refused[i]))
            ct_robot_fail(m->reader, mesh,
                          "has %s, which is not supported: give the body of its geom an "
                          "<inertial>",
                          refused[i]);
    if (!file) ct_robot_fail(m->reader, mesh, "lacks its file: give the body of its geom an <inertial>");
    *exact = inertia && !strcmp(inertia, "exact");
    if (inertia && !*exact && strcmp(inertia, "legacy"))
        ct_robot_fail(m->reader, mesh,
                      "has inertia=\"%.20s\": supported are legacy and exact; give the body of "
                      "its geom an <inertial>",
                      inertia);
    (void)geom;
}

void ct_mjcf_mesh_mass(ct_mjcf* m, const ct_xml* geom, double* volume, double center[3], double J[6]) {
    const char* name = ct_mjcf_get(m, geom, "mesh");
    const ct_xml* mesh = name ? find_mesh(m, name) : NULL;
    double scale[3] = {1, 1, 1};
    solid s = {.scale = scale};
    if (!mesh)
        ct_robot_fail(m->reader, geom, "has the mesh \"%.60s\", which no <asset> has", name ? name : "");
    if (m->reader->status) return;
    check_mesh(m, mesh, geom, &s.exact);
    ct_mjcf_numbers(m, mesh, "scale", 3, 3, scale);
    if (m->reader->status) return;
    char path[CT_PLACE_SIZE];
    const char *file = ct_mjcf_get(m, mesh, "file"), *slash = m->strippath ? strrchr(file, '/') : NULL;
    if (!ct_mjcf_find_file(m->reader, mesh, m->meshdir, slash ? slash + 1 : file, path)) return;
    ct_mesh* loaded = NULL;
    m->reader->status = ct_mesh_load(&loaded, path, CT_MESH_AUTO, m->reader->error);
    if (m->reader->status) return;
    ct_vec3 at;
    s.mesh = loaded;
    *volume = volume_and_center(&s, &at);
    inertia_about(&s, at, J);
    ct_vec3_store(center, at);
    ct_mesh_free(loaded);
    if (!(*volume > 0 && isfinite(*volume)))
        ct_robot_fail(m->reader, mesh, "encloses no volume: give the body of its geom an <inertial>");
}
