// Evaluates points of a scene on all ranks of an mpirun and prints the results to the last bit, for
// comparison with a run without. usage: mpi_batch SCENE DURATION WORKERS POINTS; the time goes to stderr.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../cli/team.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Points around the start.
static void spread(const ct_problem* problem, int count, double* y) {
    unsigned seed = 1;
    size_t n = (size_t)ct_problem_size(problem);
    for (size_t k = 0; k < (size_t)count; k++) {
        ct_problem_start(problem, y + k * n);
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            y[k * n + i] += 0.4 * ((seed >> 8) / 16777216.0 - 0.5);
        }
    }
}

static ct_status ask(ct_batch* batch, int count, ct_error* error) {
    const ct_problem* problem = ct_batch_problem(batch);
    size_t n = (size_t)ct_problem_size(problem);
    double *y = calloc((size_t)count * n, sizeof(double)),
           *gradients = calloc((size_t)count * n, sizeof(double));
    ct_evaluation* results = calloc((size_t)count, sizeof *results);
    spread(problem, count, y);
    double begun = now();
    ct_status status = ct_batch_evaluate(batch, count, y, gradients, results, error);
    fprintf(stderr, "%d workers, %d evaluations: %.3f s\n", ct_batch_workers(batch), count, now() - begun);
    for (size_t k = 0; status == CT_OK && k < (size_t)count; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += (double)(i % 7 + 1) * gradients[k * n + i];
        printf("%zu %d %a %a %a\n", k, (int)results[k].status, results[k].loss, results[k].measure, sum);
    }
    free(y), free(gradients), free(results);
    return status;
}

static ct_status run(const ct_transport* transport, char** arguments, ct_error* error) {
    ct_scene* scene = NULL;
    ct_batch* batch = NULL;
    ct_settings settings;
    ct_status status = ct_scene_load(&scene, arguments[1], error);
    if (status == CT_OK) {
        settings = ct_scene_settings(scene);
        settings.duration = atof(arguments[2]);
        status = ct_scene_set_settings(scene, &settings, error);
    }
    if (!team_agrees(status == CT_OK)) goto done;
    status = ct_batch_create(&batch, scene, atoi(arguments[3]), transport, error);
    if (status != CT_OK) goto done;
    status = transport->rank == 0 ? ask(batch, atoi(arguments[4]), error) : ct_batch_serve(batch, error);
done:
    ct_batch_free(batch);
    ct_scene_free(scene);
    return status;
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    ct_transport transport;
    ct_error error = {0};
    ct_status status = team_begin(&transport, &error);
    if (status == CT_OK) status = run(&transport, argv, &error);
    if (status != CT_OK) fprintf(stderr, "rank %d: %s\n", transport.rank, error.message);
    team_end();
    return status == CT_OK ? 0 : 1;
}
