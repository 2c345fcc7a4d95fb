// A made-up motion for the tests of files and pictures with contacts: a cube of tets and a waving sheet above
// a plane, beside a sphere, a capsule, a box and a hidden wall, with a list of contacts that changes its
// length.
#ifndef CT_TESTS_CONTACT_FILE_H
#define CT_TESTS_CONTACT_FILE_H

#include "synthetic.h"
#include "unit.h"

enum { OBSTACLES = 5, MAX_CONTACTS = 32, SHEET = 12, SHEET_NODES = (SHEET + 1) * (SHEET + 1), BOX_NODES = 8 };

static const ct_obstacle_info contact_obstacle[OBSTACLES] = {
    {.name = "floor", .kind = CT_OBSTACLE_PLANE, .color = {0.6, 0.6, 0.6}},
    {.name = "a ball of lead", .kind = CT_OBSTACLE_SPHERE, .radius = 0.3, .color = {0.5, 0.55, 0.6}},
    {.name = "rod", .kind = CT_OBSTACLE_CAPSULE, .radius = 0.12, .color = {0.62, 0.5, 0.36}},
    {.name = "step", .kind = CT_OBSTACLE_BOX, .color = {0.45, 0.6, 0.45}},
    {.name = "wall", .kind = CT_OBSTACLE_PLANE, .color = {0.5, 0.5, 0.8}, .hidden = true},
};

typedef struct contact_scene {
    synthetic cube;
    int nvert, ntri, nsurface;
    double *rest, *x, *v, *force, *field;
    int *tri, *tri_body, *surface, *owner;
    double poses[6 * OBSTACLES];
    ct_contact contact[MAX_CONTACTS];
} contact_scene;

static inline contact_scene contact_scene_create(void) {
    static const int box[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    contact_scene s = {.cube = synthetic_grid(3, 3, 3, false), .ntri = 2 * SHEET * SHEET};
    int first = s.cube.nvert, corner = first + SHEET_NODES, count = 0;
    s.nvert = corner + BOX_NODES;
    s.nsurface = s.cube.nsurface + s.ntri + 12;
    size_t nvert = (size_t)s.nvert, ntri = (size_t)s.ntri, nsurface = (size_t)s.nsurface;
    s.rest = calloc(3 * nvert, sizeof(double)), s.x = calloc(3 * nvert, sizeof(double)),
    s.v = calloc(3 * nvert, sizeof(double));
    s.force = calloc(3 * nvert, sizeof(double)), s.field = calloc((size_t)s.cube.ntet + ntri, sizeof(double));
    s.tri = calloc(3 * ntri, sizeof(int)), s.tri_body = calloc(ntri, sizeof(int));
    s.surface = calloc(3 * nsurface, sizeof(int)), s.owner = calloc(nsurface, sizeof(int));
    for (int i = 0; i < 3 * first; i++) s.rest[i] = s.cube.rest[i];
    for (int i = 0; i < SHEET_NODES; i++) {  // in the plane y = 1.3
        double* p = s.rest + 3 * (first + i);
        p[0] = -0.5 + 2.0 * (i % (SHEET + 1)) / SHEET, p[1] = 1.3,
        p[2] = -0.5 + 2.0 * (double)(i / (SHEET + 1)) / SHEET;
    }
    for (int i = 0; i < BOX_NODES; i++) {
        double* p = s.rest + 3 * (corner + i);
        p[0] = 2.2 + 0.8 * (i & 1), p[1] = 0.4 * (i >> 1 & 1), p[2] = 0.2 + 0.8 * (i >> 2);
    }
    for (int j = 0; j < SHEET; j++)
        for (int i = 0; i < SHEET; i++) {
            int a = first + i + (SHEET + 1) * j, b = a + 1, c = a + SHEET + 1, d = c + 1;
            const int both[6] = {a, c, b, b, c, d};
            memcpy(s.tri + 3 * count, both, sizeof both);
            count += 2;
        }
    for (int t = 0; t < s.ntri; t++) s.tri_body[t] = 1;
    memcpy(s.surface, s.cube.surface, 3 * (size_t)s.cube.nsurface * sizeof(int));
    memcpy(s.surface + 3 * s.cube.nsurface, s.tri, 3 * ntri * sizeof(int));
    for (int k = 0; k < 36; k++) s.surface[3 * (s.cube.nsurface + s.ntri) + k] = corner + box[k / 3][k % 3];
    for (int t = 0; t < s.nsurface; t++)
        s.owner[t] = t < s.cube.nsurface ? 0 : t < s.cube.nsurface + s.ntri ? 1 : 2 + 3;
    return s;
}

static inline void contact_scene_free(contact_scene* s) {
    synthetic_free(&s->cube);
    free(s->rest), free(s->x), free(s->v), free(s->force), free(s->field);
    free(s->tri), free(s->tri_body), free(s->surface), free(s->owner);
}

static inline ct_trajectory_def contact_scene_def(const contact_scene* s) {
    static const char* const name[2] = {"cube", "sheet"};
    ct_trajectory_def def = synthetic_def(&s->cube, 0);
    def.info.nvert = s->nvert, def.info.ntri = s->ntri, def.info.nsurface = s->nsurface,
    def.info.nobstacle = OBSTACLES;
    def.info.contact = true;
    def.rest = s->rest, def.tri = s->tri, def.tri_body = s->tri_body, def.surface = s->surface,
    def.surface_owner = s->owner;
    def.obstacle = contact_obstacle;
    def.body_name = name;
    return def;
}

static inline int contact_count(int frame) { return frame % 3 == 2 ? 0 : 4 + 5 * (frame % 4); }

// Under the cube's floor, half of them sticking, half slipping.
static inline void contact_list(ct_contact* list, int frame) {
    for (int i = 0; i < contact_count(frame); i++) {
        list[i] = (ct_contact){.type = (ct_contact_type)(i % 5),
                               .set = i % 2 ? CT_CONTACT_SET_SLIP : CT_CONTACT_SET_STICK,
                               .node = {i, 1, -1, -1},
                               .a = 0,
                               .b = 2,
                               .position = {0.5 + 0.5 * cos(i), 0, 0.5 + 0.5 * sin(i)},
                               .normal = {0, 1, 0},
                               .gap = 1e-9 * i / 7,
                               .force = {i % 2 ? 0.4 : 0.1 / 3, 1 + 0.1 * i + frame, 0.01 * i},
                               .friction = 0.3};
    }
}

static inline ct_trajectory_sample contact_scene_frame(contact_scene* s, int k) {
    for (int i = 0; i < 3 * s->nvert; i++)
        s->x[i] = s->rest[i], s->v[i] = cos(0.3 * k + i) / 3, s->force[i] = 0;
    for (int i = s->cube.nvert; i < s->cube.nvert + SHEET_NODES; i++)
        s->x[3 * i + 1] += 0.12 * sin(4 * s->rest[3 * i] + 0.3 * k) + 0.1 * cos(3 * s->rest[3 * i + 2]);
    contact_list(s->contact, k);
    for (int i = 0; i < contact_count(k); i++)
        for (int a = 0; a < 3; a++) s->force[3 * s->contact[i].node[0] + a] += s->contact[i].force[a];
    for (int i = 0; i < s->cube.ntet + s->ntri; i++) s->field[i] = 1 + sin(i + 0.1 * k);
    const double poses[6 * OBSTACLES] = {
        0, 0, 0, 0, 1,  0, -0.9, 0.3, 0.5 + 0.05 * k, 0, 0, 0, -0.6, 0.12, 1.6, 1.2, 0.5, 1.6, 0, 0, 0, 0,
        0, 0, 0, 0, -1, 0, 0,    1};
    memcpy(s->poses, poses, sizeof poses);
    return (ct_trajectory_sample){.time = 0.01 * k,
                                  .step = k,
                                  .x = s->x,
                                  .v = s->v,
                                  .stress = s->field,
                                  .energy = s->field,
                                  .volume = s->field,
                                  .obstacle_poses = s->poses,
                                  .contact_force = s->force,
                                  .contact = s->contact,
                                  .ncontact = contact_count(k)};
}

static inline ct_trajectory* contact_scene_record(contact_scene* s, const char* path, int frames) {
    ct_trajectory_def def = contact_scene_def(s);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    if (ct_trajectory_create_arrays(&file, path, &def, &error)) fail_msg("%s", error.message);
    for (int k = 0; k < frames; k++) {
        ct_trajectory_sample sample = contact_scene_frame(s, k);
        if (ct_trajectory_append_sample(file, &sample, &error)) fail_msg("%s", error.message);
    }
    return file;
}

#endif
