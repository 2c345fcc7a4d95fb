// Scenes with contact for tests, through the public API: bodies above planes and other obstacles, and what is
// measured on them. y points up; everything asserts that nothing failed.
#ifndef CT_TESTS_CONTACT_SCENES_H
#define CT_TESTS_CONTACT_SCENES_H

#include "build.h"
#include "unit.h"

// m, of every body here; they start this far and a micrometre above the plane y = 0
static const double thickness = 1e-4;
static const double clearance = 1.01e-4;
static const double gravity = 9.81;

static inline void below(double value, double bound, const char* what) {
    if (!(value < bound)) fail_msg("%s: %g is not below %g", what, value, bound);
}

static inline ct_settings contact_settings(double h, double friction, double tolerance) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.tolerance = tolerance;
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    settings.contact.friction = friction;
    settings.threads = 1;
    return settings;
}

static inline ct_material soft(double young) {
    ct_material material = ct_material_default();
    material.young = young, material.poisson = 0.3, material.density = 1000;
    return material;
}

static inline int add_def(ct_scene* scene, const ct_body_def* def) {
    ct_error error = {0};
    int body;
    must(ct_scene_add_body(scene, def, &body, &error), &error);
    return body;
}

static inline ct_body_def body_of(const ct_mesh* mesh, double young) {
    ct_body_def def = ct_body_def_default();
    def.mesh = mesh;
    def.material = soft(young);
    def.contact_thickness = thickness;
    return def;
}

// A box with its lowest corner at `at`, moving with `velocity` (NULL: at rest).
static inline int add_block(ct_scene* scene, const double size[3], const int cells[3], double young,
                            const double at[3], const double velocity[3]) {
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, size, cells, NULL), NULL);
    ct_body_def def = body_of(mesh, young);
    memcpy(def.translate, at, sizeof def.translate);
    if (velocity) memcpy(def.velocity, velocity, sizeof def.velocity);
    const int body = add_def(scene, &def);
    ct_mesh_free(mesh);
    return body;
}

static inline int add_ball(ct_scene* scene, double radius, double size, double young, const double at[3],
                           const double velocity[3]) {
    ct_mesh* mesh = NULL;
    must(ct_mesh_sphere(&mesh, radius, size, NULL), NULL);
    ct_body_def def = body_of(mesh, young);
    memcpy(def.translate, at, sizeof def.translate);
    if (velocity) memcpy(def.velocity, velocity, sizeof def.velocity);
    const int body = add_def(scene, &def);
    ct_mesh_free(mesh);
    return body;
}

static inline int add_obstacle(ct_scene* scene, const ct_obstacle_def* def) {
    ct_error error = {0};
    int obstacle;
    must(ct_scene_add_obstacle(scene, def, &obstacle, &error), &error);
    return obstacle;
}

// The plane y = 0 or, with an angle, turned about z.
static inline int add_floor(ct_scene* scene, double angle) {
    ct_obstacle_def def = ct_obstacle_def_default();
    def.name = "floor";
    def.normal[0] = -sin(angle), def.normal[1] = cos(angle);
    return add_obstacle(scene, &def);
}

static inline void add_pair(ct_scene* scene, const char* a, const char* b, bool collide, double friction) {
    ct_error error = {0};
    const ct_pair_def def = {.a = a, .b = b, .collide = collide, .friction = friction};
    must(ct_scene_add_pair(scene, &def, &error), &error);
}

// ---- what is measured ----------------------------------------------------------------------

typedef struct moved {  // of one body
    double mass, center[3], velocity[3];
    double momentum[3], angular[3];  // about the origin
    double spin[3];                  // about the centre, as of a rigid body
} moved;

static inline void body_range(const sim* s, int body, int* first, int* end) {
    *first = 0;
    for (int b = 0; b <= body; b++) {
        ct_body_info info;
        must(ct_scene_body_info(s->scene, b, &info), NULL);
        *end = *first + info.nvert;
        if (b < body) *first = *end;
    }
}

// Solves I w = l for a symmetric I, by cofactors.
static inline void solve3(const double I[9], const double l[3], double w[3]) {
    double cof[9], det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            cof[3 * i + j] = I[3 * a + c] * I[3 * b + d] - I[3 * a + d] * I[3 * b + c];
        }
    for (int j = 0; j < 3; j++) det += I[j] * cof[j];
    for (int i = 0; i < 3; i++) w[i] = (cof[i] * l[0] + cof[3 + i] * l[1] + cof[6 + i] * l[2]) / det;
}

static inline moved measure(const sim* s, int body) {
    moved m = {0};
    int first, end;
    body_range(s, body, &first, &end);
    const double *x = ct_state_positions(s->state), *v = ct_state_velocities(s->state),
                 *mass = ct_model_node_mass(s->model);
    for (int i = first; i < end; i++) {
        const double *p = x + 3 * i, *u = v + 3 * i;
        m.mass += mass[i];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            m.center[a] += mass[i] * p[a];
            m.momentum[a] += mass[i] * u[a];
            m.angular[a] += mass[i] * (p[b] * u[c] - p[c] * u[b]);
        }
    }
    double inertia[9] = {0}, own[3];
    for (int a = 0; a < 3; a++) m.center[a] /= m.mass, m.velocity[a] = m.momentum[a] / m.mass;
    for (int i = first; i < end; i++) {
        double d[3], square = 0;
        for (int a = 0; a < 3; a++) d[a] = x[3 * i + a] - m.center[a], square += d[a] * d[a];
        for (int a = 0; a < 9; a++) inertia[a] += mass[i] * ((a % 4 ? 0 : square) - d[a / 3] * d[a % 3]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        own[a] = m.angular[a] - m.mass * (m.center[b] * m.velocity[c] - m.center[c] * m.velocity[b]);
    }
    solve3(inertia, own, m.spin);
    return m;
}

// One step whose report is wanted.
static inline ct_step_report step_once(sim* s) {
    ct_step_report report;
    const ct_status status = ct_step(s->model, s->work, s->state, NULL, &report);
    if (status != CT_OK)
        fail_msg("step %d: %s, residual %g of %g after %d solves: %s", (int)ct_state_step_index(s->state),
                 ct_status_text(status), report.residual, report.reference, report.solves, report.message);
    return report;
}

// Acceleration of a body's centre over `count` steps.
static inline void acceleration(sim* s, int body, int count, double a[3]) {
    const moved before = measure(s, body);
    const double time = ct_state_time(s->state);
    steps(s, count);
    const moved after = measure(s, body);
    for (int k = 0; k < 3; k++)
        a[k] = (after.velocity[k] - before.velocity[k]) / (ct_state_time(s->state) - time);
}

// Nodes of a body below a height stay where they are.
static inline void hold_below(ct_scene* scene, int body, double height) {
    int *nodes = NULL, count = 0;
    ct_error error = {0};
    ct_selector low = {.kind = CT_SELECT_PLANE, .body = body, .a = {0, height, 0}, .b = {0, -1, 0}};
    must(ct_scene_select(scene, &low, &nodes, &count, &error), &error);
    must(ct_scene_drive(scene, nodes, count, NULL, &error), &error);
    ct_free(nodes);
}

#endif
