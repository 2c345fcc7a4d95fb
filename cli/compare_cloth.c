// A soft ball is thrown on a sheet: the paper's table of what contact is worth.
//
//   penetration   m, the deepest that a point of the sheet is inside the ball, in the whole motion; points
//                 are the nodes of triangles cut into 16
//   compression   largest loss of a surface node's distance from the ball's middle, as a share of that at
//                 rest; widening: largest gain. A motion without deformation has neither.
//   stretch       largest gain of an edge of the sheet, as a share of its length
//
// A point is inside where the surface of the ball winds around it (van Oosterom and Strackee 1983); how deep
// is its distance from the nearest of its triangles.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { PENETRATION, COMPRESSION, WIDENING, STRETCH, METRICS };
enum { OURS, RIGID, NODES, MPM, RIVALS };
enum { CUTS = 4 };          // of an edge
enum { ITERATIONS = 300 };  // of nodal contact, which needs tens of thousands to arrive

struct compare_measure {
    const int* tri;
    int nsheet, nball;  // triangles
    int* ball_tri;      // 3 nball
    double* rest;       // 3 nvert
    double* radius;     // 3 nball: of the triangles' corners from the middle at rest, m; as much to work with
    double deepest, compression, widening, stretch;
    double lowest;  // of the ball's centre, m
    int frame;      // where it is that low
};

// ---- scenes --------------------------------------------------------------------------------

static json_t* find_body(const json_t* scene, const char* name) {
    size_t k;
    json_t* body;
    json_array_foreach(json_object_get(scene, "bodies"), k, body) {
        const char* own = json_string_value(json_object_get(body, "name"));
        if (own && strcmp(own, name) == 0) return body;
    }
    return NULL;
}

static void add_to(json_t* list, size_t k, double change) {
    json_array_set_new(list, k, json_real(json_number_value(json_array_get(list, k)) + change));
}

// Starts differ in the ball's place and velocity.
static void vary(json_t* ball, int start) {
    json_t *place = json_object_get(ball, "translate"), *velocity = json_object_get(ball, "velocity");
    for (size_t k = 0; k < 3; k++) {
        add_to(place, k, (k == 1 ? 0.05 : 0.08) * compare_random(start, (int)k));
        add_to(velocity, k, 0.5 * compare_random(start, 3 + (int)k));
    }
}

// The paper's rival for cloth: projective dynamics, contact at the sheet's nodes alone.
static void make_nodal(json_t* scene) {
    compare_make_projective(scene);
    json_object_set_new(
        scene, "solver",
        json_pack("{s:s, s:f, s:i}", "type", "projective", "tolerance", 1e-4, "max_iterations", 50000));
    json_t* contact = json_object_get(scene, "contact");
    json_object_set_new(contact, "method", json_string("split"));
    json_object_set_new(contact, "split", json_string("nodes"));
    json_object_set_new(contact, "truncate", json_integer(ITERATIONS));
}

static void change(json_t* scene, int rival, int start) {
    json_t* ball = find_body(scene, "ball");
    vary(ball, start);
    if (rival == NODES) make_nodal(scene);
    if (rival == RIGID || rival == NODES)  // one link that holds all of the ball's nodes
        json_object_set_new(scene, "skeletons",
                            json_pack("[{s:s, s:[{s:s, s:{s:s, s:O}, s:{s:s, s:b}}]}]", "name", "rigid",
                                      "links", "name", "core", "joint", "type", "free", "anchor",
                                      json_object_get(ball, "translate"), "nodes", "body", "ball", "all", 1));
}

// ---- geometry ------------------------------------------------------------------------------

static void minus(const double* a, const double* b, double* out) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double* a, const double* b, double* out) {
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

// The solid angle of a triangle seen from p.
static double solid_angle(const double* p, const double* const corner[3]) {
    double r[3][3], length[3], normal[3];
    for (int k = 0; k < 3; k++) {
        minus(corner[k], p, r[k]);
        length[k] = sqrt(dot(r[k], r[k]));
    }
    cross(r[1], r[2], normal);
    double below = length[0] * length[1] * length[2] + dot(r[0], r[1]) * length[2] +
                   dot(r[1], r[2]) * length[0] + dot(r[2], r[0]) * length[1];
    return 2 * atan2(dot(r[0], normal), below);
}

static double edge_distance(const double* p, const double* a, const double* b) {
    double ab[3], ap[3], away[3];
    minus(b, a, ab);
    minus(p, a, ap);
    double t = fmax(0, fmin(1, dot(ap, ab) / dot(ab, ab)));
    for (int k = 0; k < 3; k++) away[k] = ap[k] - t * ab[k];
    return sqrt(dot(away, away));
}

// From its plane where the foot is inside, otherwise from the nearest edge.
static double triangle_distance(const double* p, const double* const corner[3]) {
    double e0[3], e1[3], n[3], ap[3], side[3], toward[3];
    bool inside = true;
    minus(corner[1], corner[0], e0);
    minus(corner[2], corner[0], e1);
    cross(e0, e1, n);
    for (int k = 0; k < 3; k++) {
        minus(corner[(k + 1) % 3], corner[k], side);
        minus(p, corner[k], ap);
        cross(side, ap, toward);
        inside = inside && dot(toward, n) >= 0;
    }
    minus(p, corner[0], ap);
    if (inside) return fabs(dot(ap, n)) / sqrt(dot(n, n));
    double least = INFINITY;
    for (int k = 0; k < 3; k++) least = fmin(least, edge_distance(p, corner[k], corner[(k + 1) % 3]));
    return least;
}

// How deep p is inside the ball, m; 0: it is not.
static double depth(const compare_measure* m, const double* x, const double* p) {
    double angle = 0, least = INFINITY;
    for (int t = 0; t < m->nball; t++) {
        const double* const corner[3] = {x + 3 * m->ball_tri[3 * t], x + 3 * m->ball_tri[3 * t + 1],
                                         x + 3 * m->ball_tri[3 * t + 2]};
        angle += solid_angle(p, corner);
        least = fmin(least, triangle_distance(p, corner));
    }
    return fabs(angle) > 2 * acos(-1.0) ? least : 0;
}

// ---- measures ------------------------------------------------------------------------------

static void find_box(const compare_measure* m, const double* x, double lower[3], double upper[3]) {
    for (int k = 0; k < 3; k++) lower[k] = INFINITY, upper[k] = -INFINITY;
    for (int i = 0; i < 3 * m->nball; i++)
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], x[3 * m->ball_tri[i] + k]);
            upper[k] = fmax(upper[k], x[3 * m->ball_tri[i] + k]);
        }
}

// Distances of the triangles' corners from their mean.
static void find_radii(const compare_measure* m, const double* x, double* radius) {
    double middle[3] = {0, 0, 0}, away[3];
    for (int i = 0; i < 3 * m->nball; i++)
        for (int k = 0; k < 3; k++) middle[k] += x[3 * m->ball_tri[i] + k] / (3 * m->nball);
    for (int i = 0; i < 3 * m->nball; i++) {
        minus(x + 3 * m->ball_tri[i], middle, away);
        radius[i] = sqrt(dot(away, away));
    }
}

static void forget(compare_measure* m) {
    if (!m) return;
    free(m->ball_tri);
    free(m->radius);
    free(m->rest);
    free(m);
}

static compare_measure* begin(const ct_scene* scene, const ct_model* model, const json_t* base,
                              ct_error* error) {
    ct_model_info info = ct_model_summary(model);
    const int *surface = ct_model_surface(model), *owner = ct_model_surface_owner(model);
    compare_measure* m = calloc(1, sizeof *m);
    (void)base;
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
    if (!m) return NULL;
    int ball = ct_scene_find_body(scene, "ball");
    m->tri = ct_model_tris(model), m->nsheet = info.ntri;
    m->lowest = INFINITY;
    m->ball_tri = calloc(3 * (size_t)info.nsurface + 1, sizeof(int));
    m->rest = malloc(3 * (size_t)info.nvert * sizeof(double));
    m->radius = malloc(6 * (size_t)info.nsurface * sizeof(double) + 1);
    if (!m->ball_tri || !m->radius || !m->rest) {
        forget(m);
        return NULL;
    }
    memcpy(m->rest, ct_model_rest(model), 3 * (size_t)info.nvert * sizeof(double));
    for (int t = 0; t < info.nsurface; t++)
        if (owner[t] == ball) memcpy(m->ball_tri + 3 * m->nball++, surface + 3 * t, 3 * sizeof(int));
    find_radii(m, m->rest, m->radius);
    return m;
}

static void look_at_sheet(compare_measure* m, const double* x, const double* lower, const double* upper) {
    for (int t = 0; t < m->nsheet; t++) {
        const int* node = m->tri + 3 * t;
        for (int k = 0; k < 3; k++) {
            double now[3], before[3];
            minus(x + 3 * node[(k + 1) % 3], x + 3 * node[k], now);
            minus(m->rest + 3 * node[(k + 1) % 3], m->rest + 3 * node[k], before);
            m->stretch = fmax(m->stretch, sqrt(dot(now, now) / dot(before, before)) - 1);
        }
        for (int i = 0; i <= CUTS; i++)
            for (int j = 0; j <= CUTS - i; j++) {
                double p[3], a = i / (double)CUTS, b = j / (double)CUTS;
                bool near = true;
                for (int k = 0; k < 3; k++) {
                    p[k] = (1 - a - b) * x[3 * node[0] + k] + a * x[3 * node[1] + k] + b * x[3 * node[2] + k];
                    near = near && p[k] >= lower[k] && p[k] <= upper[k];
                }
                if (near) m->deepest = fmax(m->deepest, depth(m, x, p));
            }
    }
}

static void look(compare_measure* m, const ct_model* model, const ct_state* state, int step) {
    const double* x = ct_state_positions(state);
    double lower[3], upper[3], *now = m->radius + 3 * m->nball;
    (void)model;
    find_box(m, x, lower, upper);
    find_radii(m, x, now);
    for (int i = 0; i < 3 * m->nball; i++) {
        m->compression = fmax(m->compression, 1 - now[i] / m->radius[i]);
        m->widening = fmax(m->widening, now[i] / m->radius[i] - 1);
    }
    if (lower[1] + upper[1] < m->lowest) m->lowest = lower[1] + upper[1], m->frame = step;
    look_at_sheet(m, x, lower, upper);
}

static void end(compare_measure* m, compare_row* row) {
    row->value[PENETRATION] = m->deepest;
    row->value[COMPRESSION] = m->compression;
    row->value[WIDENING] = m->widening;
    row->value[STRETCH] = m->stretch;
    row->frame = m->frame;
    forget(m);
}

// ---- the kind ------------------------------------------------------------------------------

static const compare_metric metrics[METRICS] = {
    {.name = "penetration", .title = "penetration, m"},
    {.name = "compression", .title = "ball compresses", .threshold = 0.02, .percent = true},
    {.name = "widening", .title = "ball widens", .threshold = 0.02, .percent = true},
    {.name = "stretch", .title = "sheet stretches", .threshold = 0.002, .percent = true}};

// clang-format off
static const compare_rival rivals[RIVALS] = {
    [OURS] = {"ours", "ours", {"0", "yes", "yes", NULL, "51 ± 3"}, false},
    [RIGID] = {"rigid", "rigid ball", {"0", "no", "no", NULL, "520 ± 135"}, false},
    [NODES] = {"nodes", "nodal contact of cloth", {"0.041 ± 0.004", "no", "no", NULL, "930 ± 52"}, false},
    [MPM] = {"mpm", "MPM", {"NaN", "yes", "yes", NULL, "14 ± 0"}, true}};
// clang-format on

const compare_kind compare_cloth = {
    .name = "cloth",
    .title = "Ball and cloth",
    .scene = "ball_sheet",
    .intro = "A soft ball is thrown on a sheet that is held at its corners; against a rigid "
             "ball, and against contact at the nodes of the sheet alone (Ly et al. 2020, rigid ball).",
    .explain = "Penetration: the deepest that a point of the sheet is inside the ball during the motion. The "
               "ball compresses or widens where the distance of a node of its surface from its middle falls "
               "or grows by more than 2 %; the sheet stretches where an edge gains more than 0.2 %; largest "
               "values of the motion. Nodal contact is cut off after 300 iterations per step.",
    .metric = metrics,
    .nmetric = METRICS,
    .rival = rivals,
    .nrival = RIVALS,
    .change = change,
    .begin = begin,
    .look = look,
    .end = end};
