// Whoever passes NULL for an object that a function needs is told so.
#include "build.h"

static void refused(ct_status status) { assert_int_equal(status, CT_BAD_ARGUMENT); }

static void null_for_what_is_needed_is_a_bad_argument(void** state) {
    refused(ct_backward(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_backward_many(NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_backward_states(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_batch_create(NULL, NULL, 0, NULL, NULL));
    refused(ct_batch_evaluate(NULL, 0, NULL, NULL, NULL, NULL));
    refused(ct_batch_optimize(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_batch_serve(NULL, NULL));
    refused(ct_function_optimize(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_mesh_box(NULL, NULL, NULL, NULL));
    refused(ct_mesh_check(NULL, NULL, NULL));
    refused(ct_mesh_copy(NULL, NULL, NULL));
    refused(ct_mesh_create(NULL, 0, NULL, 0, NULL, 0, NULL, NULL));
    refused(ct_mesh_cylinder(NULL, 0, 0, 0, NULL));
    refused(ct_mesh_load(NULL, NULL, 0, NULL));
    refused(ct_mesh_mass(NULL, 0, NULL, NULL, NULL, NULL));
    refused(ct_mesh_raise(NULL));
    refused(ct_mesh_read(NULL, NULL, 0, NULL, 0, 0, NULL));
    refused(ct_mesh_save(NULL, NULL, NULL));
    refused(ct_mesh_set_middles(NULL, NULL));
    refused(ct_mesh_sheet(NULL, NULL, NULL, NULL));
    refused(ct_mesh_sphere(NULL, 0, 0, NULL));
    refused(ct_mesh_surface(NULL, NULL, NULL, NULL));
    refused(ct_mesh_torus(NULL, 0, 0, 0, NULL));
    refused(ct_model_create(NULL, NULL, NULL));
    refused(ct_model_set(NULL, 0, NULL, NULL));
    refused(ct_model_set_values(NULL, NULL, NULL, NULL));
    refused(ct_movie_append(NULL, NULL, NULL));
    refused(ct_movie_create(NULL, NULL, 0, 0, 0, NULL));
    refused(ct_picture_draw(NULL, 0, NULL, NULL, NULL));
    refused(ct_picture_save(NULL, NULL, 0, 0, NULL));
    refused(ct_plot_save(NULL, NULL, NULL, 0, NULL));
    refused(ct_pool_create(NULL, NULL, 0, NULL));
    refused(ct_problem_check(NULL, NULL, NULL, NULL, NULL));
    refused(ct_problem_create(NULL, NULL, 0, NULL));
    refused(ct_problem_evaluate(NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_problem_optimize(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_problem_record(NULL, NULL, NULL, NULL, NULL));
    refused(ct_problem_rollout(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_problem_state(NULL, 0, NULL, NULL, NULL));
    refused(ct_rollout(NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    refused(ct_rollout_many(NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    refused(ct_scene_add_actuator_control(NULL, NULL, 0, NULL));
    refused(ct_scene_add_body(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_cable(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_cavity(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_chamber(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_drive_control(NULL, NULL, 0, NULL));
    refused(ct_scene_add_force(NULL, NULL, 0, NULL, NULL));
    refused(ct_scene_add_force_control(NULL, NULL, NULL, 0, NULL));
    refused(ct_scene_add_joint_control(NULL, NULL, 0, 0, NULL));
    refused(ct_scene_add_link(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_masses(NULL, NULL, 0, 0, NULL));
    refused(ct_scene_add_move_control(NULL, NULL, 0, 0, NULL));
    refused(ct_scene_add_muscle(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_objective(NULL, NULL, NULL));
    refused(ct_scene_add_obstacle(NULL, NULL, NULL, NULL));
    refused(ct_scene_add_pair(NULL, NULL, NULL));
    refused(ct_scene_add_parameter(NULL, NULL, NULL));
    refused(ct_scene_add_root_control(NULL, NULL, 0, NULL));
    refused(ct_scene_body_info(NULL, 0, NULL));
    refused(ct_scene_create(NULL, NULL));
    refused(ct_scene_drive(NULL, NULL, 0, NULL, NULL));
    refused(ct_scene_import_skeleton(NULL, NULL, NULL, NULL, 0, NULL));
    refused(ct_scene_load(NULL, NULL, NULL));
    refused(ct_scene_parse(NULL, NULL, 0, NULL, NULL));
    refused(ct_scene_save(NULL, NULL, NULL));
    refused(ct_scene_write(NULL, NULL, NULL, NULL));
    refused(ct_observation_create(NULL, NULL, NULL, 0, NULL));
    refused(ct_observation_state(NULL, NULL, NULL));
    refused(ct_observation_many(NULL, 0, NULL, NULL));
    refused(ct_observation_vjp(NULL, NULL, NULL, NULL));
    refused(ct_problem_state_term(NULL, 0, 0, NULL, NULL, NULL));
    refused(ct_scene_set_velocities(NULL, 0, NULL, 0, NULL));
    refused(ct_scene_select(NULL, NULL, NULL, NULL, NULL));
    refused(ct_scene_set_control_values(NULL, NULL, NULL, NULL, 0, false, NULL));
    refused(ct_scene_set_mass(NULL, 0, 0, NULL));
    refused(ct_scene_set_name(NULL, NULL));
    refused(ct_scene_set_optimize_def(NULL, NULL, NULL));
    refused(ct_scene_set_policy(NULL, NULL, NULL));
    refused(ct_scene_set_settings(NULL, NULL, NULL));
    refused(ct_scene_set_tag_material(NULL, 0, 0, NULL, NULL));
    refused(ct_scene_set_tet_values(NULL, 0, 0, NULL, 0, NULL));
    refused(ct_scene_set_velocity(NULL, NULL, 0, NULL, NULL, NULL));
    refused(ct_scene_set_water(NULL, NULL, NULL));
    refused(ct_settle(NULL, NULL, NULL, NULL, NULL));
    refused(ct_shape_fill(NULL, NULL, NULL, NULL, NULL));
    refused(ct_shape_load(NULL, NULL, NULL));
    refused(ct_shape_surface(NULL, NULL, NULL));
    refused(ct_state_begin(NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_state_cable(NULL, NULL, 0, NULL, NULL, NULL));
    refused(ct_state_cavity(NULL, NULL, 0, NULL, NULL, NULL));
    refused(ct_state_check_start(NULL, NULL, NULL, NULL));
    refused(ct_state_copy(NULL, NULL));
    refused(ct_state_create(NULL, NULL, NULL));
    refused(ct_state_get_vector(NULL, NULL, NULL));
    refused(ct_state_link_pose(NULL, NULL, 0, NULL, NULL));
    refused(ct_state_link_poses(NULL, NULL, NULL));
    refused(ct_state_restore(NULL, NULL, 0));
    refused(ct_state_set(NULL, NULL, NULL));
    refused(ct_state_set_joints(NULL, NULL, NULL, NULL));
    refused(ct_state_set_vector(NULL, NULL, NULL));
    refused(ct_state_tet_field(NULL, NULL, 0, NULL));
    refused(ct_step(NULL, NULL, NULL, NULL, NULL));
    refused(ct_step_jvp(NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    refused(ct_step_many(NULL, 0, NULL, NULL, NULL, NULL));
    refused(ct_step_vjp(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    refused(ct_tape_create(NULL, NULL, 0, 0, NULL));
    refused(ct_trajectory_append(NULL, NULL, NULL, NULL, NULL));
    refused(ct_trajectory_create(NULL, NULL, NULL, NULL, NULL));
    refused(ct_trajectory_export(NULL, NULL, 0, 0, 0, 0, NULL));
    refused(ct_trajectory_open(NULL, NULL, NULL));
    refused(ct_trajectory_read(NULL, 0, NULL, NULL));
    refused(ct_trajectory_read_cables(NULL, 0, NULL, NULL));
    refused(ct_trajectory_read_cavities(NULL, 0, NULL, NULL));
    refused(ct_trajectory_read_contacts(NULL, 0, NULL, NULL, NULL));
    refused(ct_trajectory_read_field(NULL, 0, NULL, NULL, NULL, NULL, NULL));
    refused(ct_trajectory_read_inverted(NULL, 0, NULL, NULL));
    refused(ct_trajectory_read_links(NULL, 0, NULL, NULL, NULL));
    refused(ct_trajectory_read_obstacles(NULL, 0, NULL, NULL));
    refused(ct_trajectory_read_scene(NULL, NULL, NULL));
    refused(ct_trajectory_resume(NULL, NULL, NULL, NULL, NULL));
    refused(ct_work_create(NULL, NULL, 0, NULL));
}

static void the_error_names_what_is_needed(void** state) {
    ct_error error;
    refused(ct_scene_add_body(NULL, NULL, NULL, &error));
    assert_string_equal(error.message, "none of these may be NULL: scene, def");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_for_what_is_needed_is_a_bad_argument),
        cmocka_unit_test(the_error_names_what_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
