// Loading NLopt; see nlopt_library.h.
#include "optim/nlopt_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"

static const char* const files[] = {"libnlopt.so.0", "libnlopt.so.1", "libnlopt.so", "libnlopt.dylib"};

static void* open_any(const char* file) {
    if (file) return dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void* handle = NULL;
    for (size_t i = 0; !handle && i < sizeof files / sizeof files[0]; i++)
        handle = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

// POSIX has functions in pointers to data.
static bool look_up(void* handle, const char* name, void* function) {
    void* found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

ct_status ct_nlopt_open(ct_nlopt* nlopt, const char* file, const char* method, ct_error* error) {
    *nlopt = (ct_nlopt){.handle = open_any(file)};
    void* h = nlopt->handle;
    if (!h)
        return ct_fail(
            error, CT_UNSUPPORTED,
            "%s needs the library NLopt, which is not installed: install it (Debian: libnlopt0), or "
            "use lbfgs, adam or cmaes",
            method);
    if (look_up(h, "nlopt_algorithm_from_string", &nlopt->algorithm_from_string) &&
        look_up(h, "nlopt_create", &nlopt->create) && look_up(h, "nlopt_destroy", &nlopt->destroy) &&
        look_up(h, "nlopt_set_min_objective", &nlopt->set_min_objective) &&
        look_up(h, "nlopt_set_lower_bounds", &nlopt->set_lower_bounds) &&
        look_up(h, "nlopt_set_upper_bounds", &nlopt->set_upper_bounds) &&
        look_up(h, "nlopt_set_ftol_rel", &nlopt->set_ftol_rel) &&
        look_up(h, "nlopt_set_maxeval", &nlopt->set_maxeval) &&
        look_up(h, "nlopt_set_initial_step", &nlopt->set_initial_step) &&
        look_up(h, "nlopt_force_stop", &nlopt->force_stop) && look_up(h, "nlopt_optimize", &nlopt->optimize))
        return CT_OK;
    ct_nlopt_close(nlopt);
    return ct_fail(error, CT_UNSUPPORTED,
                   "%s needs the library NLopt, and the one that is installed is too old: it must be 2.7 or "
                   "newer",
                   method);
}

void ct_nlopt_close(ct_nlopt* nlopt) {
    if (nlopt->handle) dlclose(nlopt->handle);
    *nlopt = (ct_nlopt){0};
}
