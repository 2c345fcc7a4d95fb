// What grad, check and optimize share.
#ifndef CUTTLE_CLI_PROBLEM_H
#define CUTTLE_CLI_PROBLEM_H

#include "cli.h"

typedef struct cli_problem {
    ct_scene* scene;
    ct_problem* problem;
    int size, nslice;
    double *y, *gradient, *values;  // size; y: where it begins
} cli_problem;

typedef struct cli_problem_def {
    const char* scene;  // file
    const char* from;   // best.json of an optimisation, where y begins; NULL: at the scene's start
    double tolerance;   // of the solver at most; 0: the scene's
    double memory;      // MB of stored states at most; 0: no limit
    int threads;        // 0: the scene's
    bool json;
} cli_problem_def;

// Loads the scene and makes its problem; failures are reported. Returns the exit code.
int cli_problem_open(cli_problem* p, const cli_problem_def* def);
void cli_problem_close(cli_problem* p);

json_t* cli_json_number(double value);  // null where JSON has no number
double cli_norm(const double* values, int count);
uint64_t cli_point(const double* y, int size);  // a hash that tells points apart

#endif
