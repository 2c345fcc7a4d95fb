// cuttle bench contact --part scenes: what contact costs, scene by scene, against the same steps without it.
// Some scenes are made here, the others are files. Each runs in a process of its own, so that its peak memory
// is known.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_contact.h"

static ct_settings block_settings(double h, double lean, double friction) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.gravity[0] = 9.81 * sin(lean);
    settings.gravity[1] = -9.81 * cos(lean);
    settings.gravity[2] = 0;
    settings.contact.method = CT_CONTACT_METHOD_NEWTON;
    settings.contact.friction = friction;
    return settings;
}

typedef struct slab {
    double size[3], at[3];  // m, of the lowest corner before it is turned
    int cells[3];
    double turn;  // rad, about the vertical through its middle
    double young;
    bool held;  // by its lower face
} slab;

static ct_status hold_below(ct_scene* scene, int body, double height, ct_error* error) {
    int *nodes = NULL, count = 0;
    ct_selector low = {.kind = CT_SELECT_PLANE, .body = body, .a = {0, height, 0}, .b = {0, -1, 0}};
    ct_status status = ct_scene_select(scene, &low, &nodes, &count, error);
    if (status == CT_OK) status = ct_scene_drive(scene, nodes, count, NULL, error);
    ct_free(nodes);
    return status;
}

static ct_status add_slab(ct_scene* scene, const slab* s, ct_error* error) {
    ct_mesh* mesh = NULL;
    ct_status status = ct_mesh_box(&mesh, s->size, s->cells, NULL);
    if (status != CT_OK) return status;
    for (int v = 0; v < mesh->nvert; v++)
        mesh->x[3 * v] -= s->size[0] / 2, mesh->x[3 * v + 2] -= s->size[2] / 2;
    ct_body_def body = ct_body_def_default();
    int index;
    body.mesh = mesh;
    body.material.energy = CT_ENERGY_COROTATED;
    body.material.young = s->young;
    body.material.poisson = 0.4;
    body.material.damping_stiffness = 2e-3;
    body.rotate[0] = cos(s->turn / 2), body.rotate[2] = sin(s->turn / 2);
    for (int a = 0; a < 3; a++) body.translate[a] = s->at[a] + (a == 1 ? 0 : s->size[a] / 2);
    status = ct_scene_add_body(scene, &body, &index, error);
    ct_mesh_free(mesh);
    return status == CT_OK && s->held ? hold_below(scene, index, s->at[1] + 1e-6, error) : status;
}

static ct_status add_ground(ct_scene* scene, ct_error* error) {
    ct_obstacle_def def = ct_obstacle_def_default();
    def.normal[0] = def.normal[2] = 0;
    def.normal[1] = 1;
    return ct_scene_add_obstacle(scene, &def, NULL, error);
}

// A block of 10,404 tets on a plane.
static ct_status on_plane(ct_scene* scene, double lean, double friction, ct_error* error) {
    ct_settings settings = block_settings(0.01, lean, friction);
    slab block = {.size = {0.34, 0.12, 0.34}, .cells = {17, 6, 17}, .at = {0, 2e-4, 0}, .young = 1e5};
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    if (status == CT_OK) status = add_slab(scene, &block, error);
    return status == CT_OK ? add_ground(scene, error) : status;
}

static ct_status plane_rest(ct_scene* scene, ct_error* error) { return on_plane(scene, 0, 0.5, error); }
static ct_status plane_slide(ct_scene* scene, ct_error* error) { return on_plane(scene, 0.35, 0.1, error); }

// A block of `across` cells on a larger one that is held; their meshes do not match, unless it is not turned.
static ct_status on_block(ct_scene* scene, int across, int high, double turn, double lean, double friction,
                          ct_error* error) {
    ct_settings settings = block_settings(0.01, lean, friction);
    const double cell = 0.04, side = cell * across, deep = cell * high;
    slab lower = {.size = {1.5 * side, deep, 1.5 * side}, .young = 3e5, .held = true},
         upper = {.size = {side, deep, side}, .young = 3e5, .turn = turn};
    for (int a = 0; a < 3; a++) {
        lower.cells[a] = a == 1 ? high : (int)lround(1.4 * across);
        upper.cells[a] = a == 1 ? high : across;
        upper.at[a] = a == 1 ? deep + 1e-3 : 0.25 * side;
    }
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    if (status == CT_OK) status = add_slab(scene, &lower, error);
    return status == CT_OK ? add_slab(scene, &upper, error) : status;
}

static ct_status block_rest(ct_scene* scene, ct_error* error) {
    return on_block(scene, 6, 3, 0.3, 0, 0.5, error);
}
static ct_status block_slide(ct_scene* scene, ct_error* error) {
    return on_block(scene, 6, 3, 0.3, 0.35, 0.1, error);
}
static ct_status thousand(ct_scene* scene, ct_error* error) {
    return on_block(scene, 26, 2, 0.3, 0, 0.5, error);
}
static ct_status thousands(ct_scene* scene, ct_error* error) {
    return on_block(scene, 58, 1, 0.3, 0, 0.5, error);
}

// Six balls of 648 tets fall on one another and on a plane.
static ct_status six_balls(ct_scene* scene, ct_error* error) {
    static const double aside[6][2] = {{0, 0},        {0.03, 0.01},  {-0.04, 0.02},
                                       {0.02, -0.05}, {-0.01, 0.03}, {0.05, 0}};
    ct_settings settings = block_settings(0.005, 0, 0.4);
    ct_mesh* mesh = NULL;
    ct_status status = ct_scene_set_settings(scene, &settings, error);
    if (status == CT_OK) status = ct_mesh_sphere(&mesh, 0.1, 0.04, NULL);
    for (int i = 0; i < 6 && status == CT_OK; i++) {
        ct_body_def body = ct_body_def_default();
        body.mesh = mesh;
        body.material.energy = CT_ENERGY_COROTATED;
        body.material.young = 1e5;
        body.material.poisson = 0.4;
        body.translate[0] = aside[i][0], body.translate[1] = 0.11 + 0.215 * i,
        body.translate[2] = aside[i][1];
        status = ct_scene_add_body(scene, &body, NULL, error);
    }
    ct_mesh_free(mesh);
    return status == CT_OK ? add_ground(scene, error) : status;
}

typedef struct entry {
    const char* name;
    ct_status (*make)(ct_scene* scene, ct_error* error);  // NULL: a file of that name
    int steps;                                            // 0: its duration
} entry;
static const entry entries[] = {{"plane_rest", plane_rest, 40},
                                {"plane_slide", plane_slide, 40},
                                {"block_rest", block_rest, 60},
                                {"block_slide", block_slide, 60},
                                {"six_balls", six_balls, 160},
                                {"humanoid_fall", NULL, 0},
                                {"drop", NULL, 0},
                                {"squeeze", NULL, 0},
                                {"knot", NULL, 0},
                                {"hand", NULL, 0},
                                {"drape", NULL, 0},
                                {"pile", NULL, 0},
                                {"bullet", NULL, 0},
                                {"ball_sheet", NULL, 0},
                                {"contacts_1000", thousand, 10},
                                {"contacts_5000", thousands, 4}};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

typedef struct job {
    const entry* entry;
    const bench_contact_def* def;
} job;

static ct_status make_scene(const job* j, ct_scene** scene, ct_error* error) {
    char path[1024];
    if (!j->entry->make) {
        snprintf(path, sizeof path, "%s/%s.json", j->def->directory, j->entry->name);
        return ct_scene_load(scene, path, error);
    }
    ct_status status = ct_scene_create(scene, NULL);
    return status == CT_OK ? j->entry->make(*scene, error) : status;
}

static void run_job(const void* what, void* into) {
    const job* j = what;
    bench_cost* cost = into;
    ct_scene* scene = NULL;
    ct_error error = {.element = -1};
    bench_cost_def def = {.steps = j->def->steps > 0 ? j->def->steps : j->entry->steps,
                          .passes = 2,
                          .gradient = true,
                          .check = true,
                          .seconds = j->def->seconds};
    ct_status status = make_scene(j, &scene, &error);
    if (status == CT_OK) bench_cost_measure(scene, &def, cost, &error);
    else {
        *cost = (bench_cost){.status = status};
        snprintf(cost->message, sizeof cost->message, "%.255s", error.message);
    }
    ct_scene_free(scene);
}

static void print_heading(void) {
    static const char* const names[] = {
        "steps",      "touch",  "contacts",  "ms",  "free ms",     "ratio",  "worst",     "solves", "free",
        "iterations", "passes", "sub-steps", "gap", "backward ms", "solves", "/ forward", "MB"};
    static const int widths[] = {5, 5, 8, 8, 7, 6, 6, 6, 5, 10, 6, 9, 4, 11, 6, 9, 5};
    enum { NAMES = sizeof names / sizeof names[0] };
    printf("| %-13s |", "scene");
    for (int i = 0; i < NAMES; i++) printf(" %*s |", widths[i], names[i]);
    printf("\n| %-13s |", "---");
    for (int i = 0; i < NAMES; i++) printf(" %*s |", widths[i], "---:");
    printf("\n");
}

static void print_cost(const char* name, const bench_cost* c) {
    double n = c->touching > 0 ? c->touching : 1;
    printf("| %-13s | %5d | %5d | %8d | %8.2f | %7.2f | %6.2f | %6.1f | %6.1f | %5.1f | %10.1f | %6d | %9d | "
           "%4.2f | ",
           name, c->steps, c->touching, c->contacts, 1e3 * c->seconds / n, 1e3 * c->free_seconds / n,
           c->free_seconds > 0 ? c->seconds / c->free_seconds : 0, c->worst, c->solves / n,
           c->free_solves / n, c->iterations / n, c->passes, c->substeps, c->nearest);
    if (c->backward > 0 && c->gradient == CT_OK)
        printf("%11.2f | %6.1f | %9.2f", 1e3 * c->backward / c->steps, c->backward_solves,
               c->backward / c->forward);
    else printf("%11s | %6s | %9s", c->gradient == CT_OK ? "" : "fails", "", "");
    printf(" | %5.0f |\n", c->peak_bytes / 1e6);
    if (c->crossed) printf("  %s: surfaces cross in %d steps\n", name, c->crossed);
    if (c->free_failed)
        printf("  %s: %d free steps do not converge and are left out\n", name, c->free_failed);
    if (c->status != CT_OK) printf("  %s: step %d: %s\n", name, c->failed_step, c->message);
    fflush(stdout);
}

ct_status bench_contact_scenes(const bench_contact_def* def, ct_error* error) {
    bool known = false;
    for (int i = 0; i < ENTRIES; i++) {
        if (def->only && strcmp(def->only, entries[i].name) != 0) continue;
        if (!known) print_heading();
        known = true;
        job j = {&entries[i], def};
        bench_cost cost;
        double peak;
        if (!bench_apart(run_job, &j, &cost, sizeof cost, &peak)) {
            snprintf(error->message, sizeof error->message, "%s: the measurement ended early",
                     entries[i].name);
            return CT_OUT_OF_MEMORY;
        }
        cost.peak_bytes = peak;
        print_cost(entries[i].name, &cost);
    }
    if (known) return CT_OK;
    int at =
        snprintf(error->message, sizeof error->message, "there is no scene '%.40s'; there are", def->only);
    for (int i = 0; i < ENTRIES && at < (int)sizeof error->message; i++)
        at += snprintf(error->message + at, sizeof error->message - (size_t)at, " %s", entries[i].name);
    return CT_BAD_ARGUMENT;
}
