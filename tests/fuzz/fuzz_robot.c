// Fuzz target of the robot reader: any bytes either give links that a scene accepts or refuses with a reason,
// or an error that says why.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "read/robot.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void expect_reason(ct_status status, const ct_error* error) {
    if (error->code != status || !error->message[0] || error->line < 0) abort();
}

static void use(ct_robot* robot) {
    ct_scene* scene;
    ct_error error;
    if (ct_scene_create(&scene, NULL)) return;
    ct_robot_place(robot, (double[]){1, 2, 3}, (double[]){1, 1, 0, 0}, 0.5);
    ct_status status = ct_robot_add(scene, robot, "robot", &error);
    if (status) expect_reason(status, &error);
    else if (scene->nlink != robot->nlink) abort();
    for (int k = 0; k < scene->nlink; k++)
        if (scene->link[k].parent >= k || !isfinite(scene->link[k].mass)) abort();
    ct_scene_check(scene, NULL);
    ct_scene_free(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ct_robot robot;
    ct_error error;
    ct_status status = ct_robot_read(&robot, (const char*)data, size, "", &error);
    if (status) expect_reason(status, &error);
    else use(&robot);
    ct_robot_free(&robot);
    return 0;
}
