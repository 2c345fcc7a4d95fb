// What grad, check and optimize share; see problem.h.
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search_files.h"

static ct_status apply_settings(ct_scene* scene, const cli_problem_def* def, ct_error* error) {
    ct_settings settings = ct_scene_settings(scene);
    if (def->tolerance > 0) settings.tolerance = fmin(settings.tolerance, def->tolerance);
    if (def->threads > 0) settings.threads = def->threads;
    return ct_scene_set_settings(scene, &settings, error);
}

int cli_problem_open(cli_problem* p, const cli_problem_def* def) {
    ct_error error = {.element = -1};
    *p = (cli_problem){0};
    if (ct_scene_load(&p->scene, def->scene, &error)) return cli_report_input_error(&error, def->json);
    if (apply_settings(p->scene, def, &error)) return cli_report_error(&error, def->json);
    if (ct_problem_create(&p->problem, p->scene, (size_t)(1e6 * def->memory), &error))
        return cli_report_error(&error, def->json);
    p->size = ct_problem_size(p->problem);
    p->nslice = ct_problem_slice_count(p->problem);
    p->y = calloc((size_t)p->size, sizeof(double));
    p->gradient = calloc((size_t)p->size, sizeof(double));
    p->values = calloc((size_t)p->size, sizeof(double));
    if (!p->y || !p->gradient || !p->values)
        return cli_report_status(CT_OUT_OF_MEMORY, "preparing the problem", def->json);
    ct_problem_start(p->problem, p->y);
    search_best best;
    if (def->from && search_files_read_best(def->from, p->size, p->y, &best, &error))
        return cli_report_input_error(&error, def->json);
    return CLI_OK;
}

void cli_problem_close(cli_problem* p) {
    free(p->y);
    free(p->gradient);
    free(p->values);
    ct_problem_free(p->problem);
    ct_scene_free(p->scene);
}

json_t* cli_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

double cli_norm(const double* values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

uint64_t cli_point(const double* y, int size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < size; i++) {
        uint64_t bits;
        memcpy(&bits, y + i, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}
