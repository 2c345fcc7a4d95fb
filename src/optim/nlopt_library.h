// NLopt, loaded while it is used: its licence is another than ours, and not every machine has it.
#ifndef CT_OPTIM_NLOPT_LIBRARY_H
#define CT_OPTIM_NLOPT_LIBRARY_H

#include "cuttle.h"

// What is used of nlopt.h, whose numbers of algorithms differ between versions: they are asked for by name.
typedef struct nlopt_opt_s* ct_nlopt_optimizer;
typedef double (*ct_nlopt_function)(unsigned n, const double* x, double* gradient, void* user);

// nlopt_result
typedef enum ct_nlopt_result {
    CT_NLOPT_FAILURE = -1,
    CT_NLOPT_INVALID_ARGS = -2,
    CT_NLOPT_OUT_OF_MEMORY = -3,
    CT_NLOPT_ROUNDOFF_LIMITED = -4,
    CT_NLOPT_FTOL_REACHED = 3,
    CT_NLOPT_XTOL_REACHED = 4
} ct_nlopt_result;

typedef struct ct_nlopt {
    void* handle;
    int (*algorithm_from_string)(const char* name);
    ct_nlopt_optimizer (*create)(int algorithm, unsigned n);
    void (*destroy)(ct_nlopt_optimizer optimizer);
    int (*set_min_objective)(ct_nlopt_optimizer optimizer, ct_nlopt_function function, void* user);
    int (*set_lower_bounds)(ct_nlopt_optimizer optimizer, const double* bounds);
    int (*set_upper_bounds)(ct_nlopt_optimizer optimizer, const double* bounds);
    int (*set_ftol_rel)(ct_nlopt_optimizer optimizer, double tolerance);
    int (*set_maxeval)(ct_nlopt_optimizer optimizer, int count);
    int (*set_initial_step)(ct_nlopt_optimizer optimizer, const double* step);
    int (*force_stop)(ct_nlopt_optimizer optimizer);
    int (*optimize)(ct_nlopt_optimizer optimizer, double* x, double* least);
} ct_nlopt;

// `file`: the library; NULL: where the system has it. CT_UNSUPPORTED says what `method` needs.
ct_status ct_nlopt_open(ct_nlopt* nlopt, const char* file, const char* method, ct_error* error);
void ct_nlopt_close(ct_nlopt* nlopt);

#endif
