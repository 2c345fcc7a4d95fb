// A soft beam, clamped at one end, swings under gravity for one second.
#include <cuttle.h>
#include <stdio.h>

int main(void) {
    ct_mesh* mesh = NULL;
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_state* state = NULL;
    ct_work* work = NULL;
    ct_error error;
    int *nodes = NULL, count;

    if (ct_mesh_box(&mesh, (double[]){1, 0.2, 0.2}, (int[]){10, 2, 2}) || ct_scene_create(&scene)) return 1;
    ct_body_def body = ct_body_def_default();
    body.mesh = mesh;
    ct_selector wall = {.kind = CT_SELECT_BOX, .body = -1, .a = {0, 0, 0}, .b = {0, 1, 1}};
    ct_motion fixed = {0};
    if (ct_scene_add_body(scene, &body, NULL, &error) || ct_scene_select(scene, &wall, &nodes, &count, &error) ||
        ct_scene_drive(scene, nodes, count, &fixed, &error) || ct_model_create(&model, scene, &error)) {
        return fprintf(stderr, "%s\n", error.message), 1;
    }
    if (ct_state_create(&state, model) || ct_work_create(&work, model, 0)) return 1;

    while (ct_state_time(state) < 1) {
        ct_step_report report;
        if (ct_step(model, work, state, &report)) return fprintf(stderr, "%s\n", report.advice), 1;
    }
    ct_measure measure;
    ct_state_measure(model, state, &measure);
    printf("after %.2f s the centre is at height %.3f m\n", ct_state_time(state), measure.center[1]);

    ct_free(nodes);
    ct_work_free(work), ct_state_free(state), ct_model_free(model), ct_scene_free(scene), ct_mesh_free(mesh);
    return 0;
}
