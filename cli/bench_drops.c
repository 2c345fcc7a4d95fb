// cuttle bench contact --part drops: random bodies fall on one another and on an obstacle. A seed determines
// everything: two to six bodies (balls, blocks, rings, rods, sheets), between half and three halves of a size
// of 3 to 30 cm, 1e4 to 1e7 Pa, friction 0 to 1, time steps of 1 to 20 ms, speeds of 0.3 to 10 m/s, each body
// turned and spinning. They start in a column, the higher ones faster, so close that all of them meet within
// the run.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench_contact.h"

static const double CORE = 0.499;  // of the thickness: how near surfaces may come
enum { MOST_BODIES = 6, STEPS = 60 };

// ---- random numbers: splitmix64 ----

static uint64_t bits(uint64_t* state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double between(uint64_t* state, double low, double high) {
    return low + (high - low) * (double)(bits(state) >> 11) * 0x1p-53;
}
// Evenly in the logarithm.
static double scaled(uint64_t* state, double low, double high) {
    return low * pow(high / low, between(state, 0, 1));
}
static int choice(uint64_t* state, int count) { return (int)(bits(state) % (uint64_t)count); }

static void turn(uint64_t* state, double q[4]) {
    double norm = 0;
    for (int a = 0; a < 4; a++) q[a] = between(state, -1, 1), norm += q[a] * q[a];
    for (int a = 0; a < 4; a++) q[a] /= sqrt(norm);
}

// ---- one drop ----

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

typedef enum kind { BALL, BLOCK, RING, ROD, SHEET, KINDS } kind;

static ct_status make_mesh(uint64_t* random, kind what, double size, ct_mesh** out) {
    double r = size / 2;
    if (what == BALL) return ct_mesh_sphere(out, r, r * between(random, 0.4, 0.7), NULL);
    if (what == BLOCK) {
        double side[3];
        int cells[3];
        for (int a = 0; a < 3; a++) {
            side[a] = size * between(random, 0.4, 1);
            cells[a] = 1 + choice(random, 4);
        }
        return ct_mesh_box(out, side, cells, NULL);
    }
    if (what == RING) return ct_mesh_torus(out, 0.7 * r, 0.3 * r, 0.3 * r, NULL);
    if (what == SHEET) return ct_mesh_sheet(out, (double[]){size, size}, (int[]){8, 8}, NULL);
    return ct_mesh_cylinder(out, 0.3 * r, size, 0.25 * r, NULL);
}

static const char* const kind_name[KINDS] = {"ball", "block", "ring", "rod", "sheet"};

typedef struct drop {
    double top;                 // m, above everything so far
    double size;                // m
    double speed[MOST_BODIES];  // m/s, ascending
    double h, damping;
    bool print;
} drop;

// Lowest and highest point of the turned mesh.
static void extent(const ct_mesh* mesh, const double q[4], double* low, double* high) {
    double row[3] = {2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                     2 * (q[2] * q[3] - q[0] * q[1])};
    *low = INFINITY, *high = -INFINITY;
    for (int v = 0; v < mesh->nvert; v++) {
        const double* x = mesh->x + 3 * (size_t)v;
        double y = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
        *low = fmin(*low, y), *high = fmax(*high, y);
    }
}

static void centre(ct_mesh* mesh) {
    double mean[3] = {0};
    for (int i = 0; i < 3 * mesh->nvert; i++) mean[i % 3] += mesh->x[i] / mesh->nvert;
    for (int i = 0; i < 3 * mesh->nvert; i++) mesh->x[i] -= mean[i % 3];
}

static ct_status add_body(ct_scene* scene, uint64_t* random, drop* d, int index, ct_error* error) {
    ct_mesh* mesh = NULL;
    int draw = choice(random, 9);
    kind what = draw < 8 ? (kind)(draw % 4) : SHEET;
    double size = d->size * between(random, 0.5, 1.5), low, high;
    ct_status status = make_mesh(random, what, size, &mesh);
    if (status != CT_OK) return status;
    centre(mesh);
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    body.material.young = scaled(random, 1e4, 1e7);
    body.material.poisson = between(random, 0.2, 0.45);
    body.material.density = scaled(random, 300, 2000);
    body.material.damping_stiffness = d->damping;
    body.material.thickness = 0.02 * size;
    // flesh bears being crushed
    body.material.energy = what == SHEET ? CT_ENERGY_COROTATED : CT_ENERGY_NEOHOOKEAN;
    turn(random, body.rotate);
    extent(mesh, body.rotate, &low, &high);
    double speed = d->speed[index], closing = speed - (index ? d->speed[index - 1] : 0);
    body.velocity[1] = -speed;
    for (int a = 0; a < 3; a += 2) {
        body.velocity[a] = between(random, -0.2, 0.2) * speed;
        body.translate[a] = between(random, -0.2, 0.2) * size;
    }
    for (int a = 0; a < 3; a++) body.angular_velocity[a] = between(random, -10, 10);
    if (d->print)
        printf("%-5s of %.3f m, %.2g Pa, %4.0f kg/m^3, %5d nodes, %5.2f m/s\n", kind_name[what], size,
               body.material.young, body.material.density, mesh->nvert, speed);
    double gap = 0.05 * size + closing * d->h * between(random, 0, 5);
    body.translate[1] = d->top + gap - low;
    d->top = body.translate[1] + high;
    status = ct_scene_add_body(scene, &body, NULL, error);
    ct_mesh_free(mesh);
    return status;
}

// A plane, a sphere, a capsule, a box or a ring under the column; its highest point is the origin's.
static ct_status add_obstacle(ct_scene* scene, uint64_t* random, bool print, ct_error* error) {
    ct_obstacle_def def = ct_obstacle_def_default();
    ct_mesh* ring = NULL;
    int draw = choice(random, 8);
    ct_status status = CT_OK;
    def.radius = between(random, 0.05, 0.2);
    def.center[1] = def.ends[0][1] = def.ends[1][1] = -def.radius;
    def.ends[0][0] = -0.3, def.ends[1][0] = 0.3;
    for (int a = 0; a < 3; a++) def.half[a] = a == 1 ? def.radius : 0.2;
    def.kind = draw == 0   ? CT_OBSTACLE_SPHERE
               : draw == 1 ? CT_OBSTACLE_CAPSULE
               : draw == 2 ? CT_OBSTACLE_BOX
               : draw == 3 ? CT_OBSTACLE_MESH
                           : CT_OBSTACLE_PLANE;
    if (def.kind == CT_OBSTACLE_PLANE) def.center[1] = 0;
    if (print) printf("on a %s\n", ct_obstacle_kind_name(def.kind));
    if (def.kind == CT_OBSTACLE_MESH) {
        status = ct_mesh_torus(&ring, 0.06, 0.03, 0.02, NULL);
        def.mesh = ring;
        def.rotate[0] = def.rotate[1] = sqrt(0.5);
        def.translate[1] = -0.031;
    }
    if (status == CT_OK) status = ct_scene_add_obstacle(scene, &def, NULL, error);
    ct_mesh_free(ring);
    return status;
}

static ct_status make_drop(ct_scene* scene, uint64_t seed, bool print, ct_error* error) {
    uint64_t random = seed * 0x2545f4914f6cdd1du;
    ct_settings settings = ct_settings_default();
    settings.gravity[0] = settings.gravity[2] = 0;
    settings.gravity[1] = -9.81;
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    settings.contact.friction = between(&random, 0, 1);
    settings.time_step = scaled(&random, 1e-3, 2e-2);
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    drop d = {.h = settings.time_step,
              .damping = choice(&random, 2) ? scaled(&random, 1e-4, 1e-2) : 0,
              .print = print};
    if (print)
        printf("time step %.2g s, friction %.2f, damping %.2g s\n", d.h, settings.contact.friction,
               d.damping);
    int bodies = 2 + choice(&random, MOST_BODIES - 1);
    d.size = scaled(&random, 0.03, 0.3);
    for (int i = 0; i < bodies; i++) d.speed[i] = scaled(&random, 0.3, 10);
    qsort(d.speed, (size_t)bodies, sizeof(double), ascending);
    for (int i = 0; i < bodies && status == CT_OK; i++) status = add_body(scene, &random, &d, i, error);
    return status == CT_OK ? add_obstacle(scene, &random, print, error) : status;
}

typedef struct job {
    const bench_contact_def* def;
    int seed;
} job;

// In a process of its own, which ends where a single step takes much longer than the whole drop may.
static void run_drop(const void* what, void* into) {
    const job* j = what;
    bench_cost* cost = into;
    ct_scene* scene = NULL;
    ct_error error = {.element = -1};
    bench_cost_def measured = {.steps = j->def->steps > 0 ? j->def->steps : STEPS,
                               .passes = 1,
                               .check = true,
                               .verbose = j->def->alone,
                               .seconds = j->def->seconds};
    rlim_t most = (rlim_t)(2 * j->def->seconds) + 1;
    setrlimit(RLIMIT_CPU, &(struct rlimit){most, most});
    ct_status status = ct_scene_create(&scene, NULL);
    if (status == CT_OK) status = make_drop(scene, (uint64_t)j->seed, j->def->alone, &error);
    if (status == CT_OK) bench_cost_measure(scene, &measured, cost, &error);
    else {
        *cost = (bench_cost){.status = status};
        snprintf(cost->message, sizeof cost->message, "%.255s", error.message);
    }
    ct_scene_free(scene);
    fflush(stdout);
}

// ---- all of them ----

typedef struct column {
    const char* name;
    double* value;  // of each drop
} column;
enum { RATIO, WORST, SOLVES, MOST_SOLVES, SUBSTEPS, NEAREST, COLUMNS };

static void print_quantiles(const column* columns, int count) {
    static const double shares[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
    enum { SHARES = sizeof shares / sizeof shares[0] };
    printf("\n| %-42s |", "over the drops");
    for (int k = 0; k < SHARES; k++) printf(" %5.0f %% |", 100 * shares[k]);
    printf("\n| %-42s |", "---");
    for (int k = 0; k < SHARES; k++) printf(" %7s |", "---:");
    for (int i = 0; i < COLUMNS; i++) {
        qsort(columns[i].value, (size_t)count, sizeof(double), ascending);
        printf("\n| %-42s |", columns[i].name);
        for (int k = 0; k < SHARES; k++)
            printf(" %7.3g |", columns[i].value[(int)lround(shares[k] * (count - 1))]);
    }
    printf("\n");
}

static void note(column* columns, int at, const bench_cost* cost) {
    double n = cost->touching > 0 ? cost->touching : 1;
    const double values[COLUMNS] = {
        [RATIO] = cost->free_seconds > 0 ? cost->seconds / cost->free_seconds : 0,
        [WORST] = cost->worst,
        [SOLVES] = cost->solves / n,
        [MOST_SOLVES] = cost->most_solves,
        [SUBSTEPS] = cost->substeps,
        [NEAREST] = cost->nearest,
    };
    for (int i = 0; i < COLUMNS; i++) columns[i].value[at] = values[i];
}

static void print_drop(int seed, const bench_cost* cost) {
    double n = cost->touching > 0 ? cost->touching : 1;
    printf("seed %d: %d steps, %d with contact (%d at most); %.2f ms, free %.2f ms, ratio %.1f, worst %.1f "
           "(step "
           "%d); solves %.1f, most %.0f, free %.1f; sub-steps %d, most %d; gap/thickness %.2f%s\n",
           seed, cost->steps, cost->touching, cost->contacts, 1e3 * cost->seconds / n,
           1e3 * cost->free_seconds / n, cost->free_seconds > 0 ? cost->seconds / cost->free_seconds : 0,
           cost->worst, cost->worst_step, cost->solves / n, cost->most_solves, cost->free_solves / n,
           cost->substeps, cost->most_substeps, cost->nearest, cost->crossed ? "; surfaces cross" : "");
}

static void print_failure(int seed, const bench_cost* cost, const bench_contact_def* def) {
    int wanted = def->steps > 0 ? def->steps : STEPS;
    if (cost->status != CT_OK)
        printf("seed %d: fails in step %d: %s\n", seed, cost->failed_step, cost->message);
    else if (cost->crossed) printf("seed %d: surfaces cross in %d steps\n", seed, cost->crossed);
    else if (cost->nearest < CORE)
        printf("seed %d: surfaces come as near as %.2f of their thickness\n", seed, cost->nearest);
    else if (cost->steps < wanted)
        printf("seed %d: stopped after %d of %d steps and %g s\n", seed, cost->steps, wanted, def->seconds);
    else if (!cost->touching) printf("seed %d: nothing touches\n", seed);
    fflush(stdout);
}

ct_status bench_contact_drops(const bench_contact_def* def, ct_error* error) {
    column columns[COLUMNS] = {[RATIO] = {.name = "time over that of the free step, mean"},
                               [WORST] = {.name = "the same, worst step"},
                               [SOLVES] = {.name = "solves per step with contact"},
                               [MOST_SOLVES] = {.name = "the same, most in a step"},
                               [SUBSTEPS] = {.name = "sub-steps beyond one per step"},
                               [NEAREST] = {.name = "least distance over thickness"}};
    int count = def->alone ? 1 : def->count, good = 0, failed = 0, crossed = 0, slow = 0;
    ct_status status = CT_OK;
    (void)error;
    for (int i = 0; i < COLUMNS; i++) {
        columns[i].value = calloc((size_t)count, sizeof(double));
        if (!columns[i].value) status = CT_OUT_OF_MEMORY;
    }
    for (int i = 0; i < count && status == CT_OK; i++) {
        bench_cost cost;
        double peak;
        job j = {def, def->seed + i};
        if (!bench_apart(run_drop, &j, &cost, sizeof cost, &peak)) cost = (bench_cost){.nearest = 1};
        if (def->alone) print_drop(def->seed, &cost);
        print_failure(def->seed + i, &cost, def);
        failed += cost.status != CT_OK;
        crossed += cost.crossed > 0 || cost.nearest < CORE;
        slow += cost.status == CT_OK && cost.steps < (def->steps > 0 ? def->steps : STEPS);
        if (cost.touching) note(columns, good++, &cost);
    }
    if (status == CT_OK && !def->alone) {
        printf("%d drops: %d fail, %d cross or come too near, %d stopped for time\n", count, failed, crossed,
               slow);
        if (good) print_quantiles(columns, good);
    }
    for (int i = 0; i < COLUMNS; i++) free(columns[i].value);
    return status;
}
