// Simulates a scene for one second and prints where its centre of mass is.
#include <cuttle.h>
#include <stdio.h>

int main(int argc, char** argv) {
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_state* state = NULL;
    ct_work* work = NULL;
    ct_error error;
    ct_step_report report;

    if (argc < 2) return fprintf(stderr, "usage: example SCENE\n"), 2;
    if (ct_scene_load(&scene, argv[1], &error) || ct_model_create(&model, scene, &error) ||
        ct_state_create(&state, model, &error) || ct_work_create(&work, model, 0, &error))
        return fprintf(stderr, "%s:%d: %s: %s\n", error.file, error.line, error.path, error.message), 1;
    while (ct_state_time(state) < 1)
        if (ct_step(model, work, state, NULL, &report)) return fprintf(stderr, "%s\n", report.message), 1;
    ct_measure measure = ct_state_measure(model, state);
    printf("centre %.4f %.4f %.4f m\n", measure.center[0], measure.center[1], measure.center[2]);
    ct_work_free(work);
    ct_state_free(state);
    ct_model_free(model);
    ct_scene_free(scene);
}
