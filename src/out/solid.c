// Solids of revolution for pictures; see solid.h.
//
// A profile, the distance from the axis over the way along it, is turned around the axis. Where it has an
// edge two rings lie in one place, with different normals.
#include "out/solid.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"

#define PI 3.14159265358979323846
#define MAX_RINGS 65
#define MAX_SIDES 96
#define ARROW_RINGS 8

typedef struct profile {  // along the axis from `a`, off it, and the normal
    double along[MAX_RINGS], off[MAX_RINGS], normal[MAX_RINGS][2];
} profile;

static double shaft_radius(double z, double length, double r) {
    double end = 0.8 * r, knob = fmax(0, r * r - z * z),
           tip = fmax(0, end * end - (z - length) * (z - length));
    double shaft = z > 0 && z < length ? r * (0.66 - 0.14 * z / length) : 0;
    return pow(pow(knob, 3) + pow(tip, 3) + pow(shaft, 6), 1.0 / 6);
}

// Normals from the neighbouring rings.
static void smooth(profile* p, int rings) {
    p->off[0] = p->off[rings - 1] = 0;
    for (int i = 0; i < rings; i++) {
        int before = i ? i - 1 : i, after = i < rings - 1 ? i + 1 : i;
        double dz = p->along[after] - p->along[before], dr = p->off[after] - p->off[before],
               length_of = hypot(dz, dr);
        p->normal[i][0] = i == 0 ? -1 : i == rings - 1 ? 1 : length_of > 0 ? -dr / length_of : 0;
        p->normal[i][1] = i == 0 || i == rings - 1 ? 0 : length_of > 0 ? dz / length_of : 1;
    }
}

// Half spheres, each with its half of the rings.
static void capsule(profile* p, int rings, double length, double r) {
    int half = rings / 2;
    for (int i = 0; i < rings; i++) {
        bool far = i >= half;
        double angle =
            0.5 * PI * (far ? 1 + (double)(i - half) / (rings - half - 1) : (double)i / (half - 1));
        p->normal[i][0] = -cos(angle);
        p->normal[i][1] = sin(angle);
        p->along[i] = (far ? length : 0) - r * cos(angle);
        p->off[i] = i == 0 || i == rings - 1 ? 0 : r * sin(angle);
    }
}

static void arrow(profile* p, double length, double r) {
    double shaft = fmin(r, 0.11 * length), head = fmin(6 * shaft, 0.5 * length), wide = 2.3 * shaft,
           slope = hypot(head, wide);
    const double ring[ARROW_RINGS][4] = {{0, 0, -1, 0},
                                         {0, shaft, -1, 0},
                                         {0, shaft, 0, 1},
                                         {length - head, shaft, 0, 1},
                                         {length - head, shaft, -1, 0},
                                         {length - head, wide, -1, 0},
                                         {length - head, wide, wide / slope, head / slope},
                                         {length, 0, wide / slope, head / slope}};
    for (int i = 0; i < ARROW_RINGS; i++) {
        p->along[i] = ring[i][0];
        p->off[i] = ring[i][1];
        p->normal[i][0] = ring[i][2];
        p->normal[i][1] = ring[i][3];
    }
}

static void outline(const ct_solid* s, int rings, profile* p) {
    double length = distance3(s->a, s->b), r = s->radius;
    if (s->shape == CT_SOLID_ARROW) arrow(p, length, r);
    if (s->shape == CT_SOLID_CAPSULE) capsule(p, rings, length, r);
    if (s->shape == CT_SOLID_ARROW || s->shape == CT_SOLID_CAPSULE) return;
    for (int i = 0; i < rings; i++) {
        double angle = PI * i / (rings - 1), c = -cos(angle), half = 0.5 * length;
        if (s->shape == CT_SOLID_SHAFT) {  // rings close together at the knobs
            double first = -r, last = length + 0.8 * r, t = 0.5 + 0.5 * c, span = last - first;
            p->along[i] = first + span * (0.8 * t + 0.2 * t * t * (3 - 2 * t));
            p->off[i] = shaft_radius(p->along[i], length, r);
        } else if (s->shape == CT_SOLID_BALL) {
            p->along[i] = r * c;
            p->off[i] = r * sin(angle);
        } else {
            p->along[i] = half + half * copysign(pow(fabs(c), 0.25), c);
            p->off[i] = r * pow(fabs(sin(angle)), 0.25);
        }
    }
    smooth(p, rings);
}

// Two directions across the axis.
static void across(const double axis[3], double u[3], double v[3]) {
    int least = fabs(axis[0]) < fabs(axis[1]) ? (fabs(axis[0]) < fabs(axis[2]) ? 0 : 2)
                                              : (fabs(axis[1]) < fabs(axis[2]) ? 1 : 2);
    double length;
    for (int a = 0; a < 3; a++) u[a] = (a == least) - axis[least] * axis[a];
    length = length3(u);
    for (int a = 0; a < 3; a++) u[a] /= length;
    for (int a = 0; a < 3; a++)
        v[a] = axis[(a + 1) % 3] * u[(a + 2) % 3] - axis[(a + 2) % 3] * u[(a + 1) % 3];
}

static void revolve(const ct_solid* s, int rings, int sides, ct_skin_room* out) {
    profile p;
    double axis[3], u[3], v[3], length = distance3(s->a, s->b);
    float normals[MAX_RINGS * MAX_SIDES][3];
    for (int a = 0; a < 3; a++) axis[a] = length > 0 ? (s->b[a] - s->a[a]) / length : a == 2;
    across(axis, u, v);
    outline(s, rings, &p);
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            double c = cos(2 * PI * j / sides), d = sin(2 * PI * j / sides);
            for (int a = 0; a < 3; a++) {
                double radial = c * u[a] + d * v[a];
                *out->x++ = s->a[a] + p.along[i] * axis[a] + p.off[i] * radial;
                normals[i * sides + j][a] = (float)(p.normal[i][0] * axis[a] + p.normal[i][1] * radial);
            }
        }
    for (int i = 0; i + 1 < rings; i++)
        for (int j = 0; j < sides; j++) {
            int q[4] = {i * sides + j, i * sides + (j + 1) % sides, (i + 1) * sides + (j + 1) % sides,
                        (i + 1) * sides + j};
            const int corner[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
            for (int k = 0; k < 6; k++) {
                *out->tri++ = out->vertex + corner[k];
                for (int a = 0; a < 3; a++) *out->normal++ = normals[corner[k]][a];
            }
            *out->body++ = s->material;
            *out->body++ = s->material;
        }
    out->vertex += rings * sides;
}

bool ct_skin_grow(ct_skin* skin, ct_arena* arena, size_t vertices, size_t triangles, ct_skin_room* room) {
    size_t before = (size_t)skin->ntri, nv = (size_t)skin->nvert, ntri = before + triangles;
    double* x = ct_arena_alloc(arena, 3 * (nv + vertices), sizeof(double));
    int* tri = ct_arena_alloc(arena, 3 * ntri, sizeof(int));
    int* body = ct_arena_alloc(arena, ntri, sizeof(int));
    float* normal = ct_arena_alloc(arena, 9 * ntri, sizeof(float));
    if (arena->failed) return false;
    if (nv) memcpy(x, skin->x, 3 * nv * sizeof(double));
    if (before) {
        memcpy(tri, skin->tri, 3 * before * sizeof(int));
        memcpy(body, skin->body, before * sizeof(int));
        memcpy(normal, skin->normal, 9 * before * sizeof(float));
    }
    *room = (ct_skin_room){.x = x + 3 * nv,
                           .tri = tri + 3 * before,
                           .body = body + before,
                           .normal = normal + 9 * before,
                           .vertex = (int)nv};
    skin->x = x;
    skin->tri = tri;
    skin->body = body;
    skin->normal = normal;
    skin->ntri = (int)ntri;
    skin->nvert = (int)(nv + vertices);
    return true;
}

static int rings_of(const ct_solid* solid, int rings) {
    return solid->shape == CT_SOLID_ARROW ? ARROW_RINGS : rings;
}

void ct_solid_append(ct_skin* skin, ct_arena* arena, const ct_solid* solids, int count, int rings,
                     int sides) {
    size_t vertices = 0, triangles = 0;
    ct_skin_room room;
    for (int i = 0; i < count; i++) {
        vertices += (size_t)(rings_of(&solids[i], rings) * sides);
        triangles += (size_t)(2 * (rings_of(&solids[i], rings) - 1) * sides);
    }
    if (!count || !ct_skin_grow(skin, arena, vertices, triangles, &room)) return;
    for (int i = 0; i < count; i++) revolve(&solids[i], rings_of(&solids[i], rings), sides, &room);
}
