// Settings of the optimiser, checked when they are set.
#include <math.h>

#include "base/status.h"
#include "scene/scene.h"

ct_optimize_def ct_optimize_def_default(void) {
    return (ct_optimize_def){.method = CT_METHOD_LBFGS,
                             .iterations = 100,
                             .target = -INFINITY,
                             .rate = 0.05,
                             .tolerance = 1e-8,
                             .spread = 0.3};
}

ct_optimize_def ct_scene_optimize_def(const ct_scene* scene) { return scene->optimize; }

ct_status ct_scene_set_optimize_def(ct_scene* scene, const ct_optimize_def* def, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    if ((unsigned)def->method > CT_METHOD_NELDER_MEAD)
        return ct_scene_fail(error, "method", "is not one of ct_method");
    if (def->iterations < 1)
        return ct_scene_fail(error, "iterations", "is %d: it must be 1 or more", def->iterations);
    if (isnan(def->target)) return ct_scene_fail(error, "target", "must be a number");
    if (!(def->rate > 0 && isfinite(def->rate)))
        return ct_scene_fail(error, "rate", "is %g: it must be above 0", def->rate);
    if (!(def->tolerance >= 0 && def->tolerance < 1))
        return ct_scene_fail(error, "tolerance", "is %g: it must be from 0 to below 1", def->tolerance);
    if (def->restarts < 0)
        return ct_scene_fail(error, "restarts", "is %d: it must be 0 or more", def->restarts);
    if (!(def->noise >= 0 && isfinite(def->noise)))
        return ct_scene_fail(error, "noise", "is %g: it must be 0 or more", def->noise);
    if (!(def->spread > 0 && isfinite(def->spread)))
        return ct_scene_fail(error, "spread", "is %g: it must be above 0", def->spread);
    if (def->population != 0 && (def->population < 4 || def->population > 1000000))
        return ct_scene_fail(
            error, "population",
            "is %d: it must be from 4 to 1000000, or 0 to choose it from the number of parameters",
            def->population);
    scene->optimize = *def;
    return CT_OK;
}
