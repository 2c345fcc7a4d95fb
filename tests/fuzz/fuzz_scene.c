// Fuzz target of the scene loader: any bytes either give a scene that can be used, or an error that says why.
// Inputs that ask for large meshes are passed over: they are slow, not wrong.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cuttle.h"
#include "fuzz_small.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void use(ct_scene* scene) {
    double lower[3], upper[3], x[3];
    ct_scene_bounds(scene, -1, lower, upper);
    for (int i = 0; i < 3; i++)
        if (!isfinite(lower[i]) || !isfinite(upper[i])) abort();
    for (int d = 0; d < scene->ndrive; d++)
        for (double time = -1; time < 3; time += 0.37)
            ct_scene_drive_position(&scene->drive[d], time, lower, x);
    if (ct_scene_check(scene, NULL)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (!fuzz_is_small(data, size)) return 0;
    ct_scene* scene;
    ct_error error;
    ct_status status = ct_scene_parse(&scene, (const char*)data, size, "/nonexistent", &error);
    if (status == CT_OK) {
        use(scene);
    } else if (scene || error.code != status || !error.message[0] || error.line < 0) {
        abort();
    }
    ct_scene_free(scene);
    return 0;
}
