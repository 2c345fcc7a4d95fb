// Skeletons in trajectory files: joint coordinates and link poses come back bit for bit, and a run goes on
// exactly.
#include <hdf5.h>
#include <unistd.h>

#include "build.h"
#include "old_file.h"

#define FILE_NAME CT_BINARY_DIR "/test_trajectory_links.h5"
#define OTHER_NAME CT_BINARY_DIR "/test_trajectory_links_other.h5"

static ct_settings small_settings(void) {
    ct_settings settings = ct_settings_default();
    settings.time_step = 0.01;
    settings.threads = 1;
    for (int a = 0; a < 3; a++) settings.gravity[a] = a == 1 ? -9.81 : 0;
    return settings;
}

static int add_bone(ct_scene* scene, const char* name, int parent, ct_joint_kind kind, double x,
                    const int* nodes, int count) {
    ct_error error = {0};
    ct_link_def def = ct_link_def_default();
    def.name = name;
    def.parent = parent;
    def.joint.kind = kind;
    def.joint.anchor[0] = x;
    def.nodes = nodes;
    def.count = count;
    if (!count) def.mass = 0.4;
    def.center[0] = x + 0.1;
    for (int a = 0; a < 3; a++) def.inertia[a] = a ? 0.4 * 0.04 / 12 : 1e-5;
    def.inertia[1] = def.inertia[2];
    int link;
    must(ct_scene_add_link(scene, &def, &link, &error), &error);
    return link;
}

// A bar of flesh on a hinge, then a slider, a ball and, loose, a free link with masses of their own.
static sim mixed_tree(void) {
    ct_settings settings = small_settings();
    ct_scene* scene = new_scene(&settings);
    ct_material material = ct_material_default();
    ct_error error = {0};
    material.young = 2e4;
    add_box(scene, (double[]){0.4, 0.1, 0.1}, (int[]){4, 2, 2}, &material);
    ct_selector selector = {.kind = CT_SELECT_BOX, .body = -1, .a = {-1, -1, -1}, .b = {0.15, 1, 1}};
    int *nodes = NULL, count = 0;
    must(ct_scene_select(scene, &selector, &nodes, &count, &error), &error);
    int root = add_bone(scene, "root", -1, CT_JOINT_REVOLUTE, 0, nodes, count);
    ct_free(nodes);
    int slide = add_bone(scene, "slider with a rather long name", root, CT_JOINT_PRISMATIC, 0.2, NULL, 0);
    add_bone(scene, "ball", slide, CT_JOINT_BALL, 0.4, NULL, 0);
    add_bone(scene, NULL, -1, CT_JOINT_FREE, 0.8, NULL, 0);
    return start(scene, 1);
}

static ct_trajectory* record(sim* s, const char* path, int frames) {
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_create(&file, s->scene, s->model, path, &error), &error);
    for (int k = 0; k < frames; k++) {
        if (k) steps(s, 1);
        must(ct_trajectory_append(file, s->model, s->state, NULL, &error), &error);
    }
    return file;
}

static void links_read_back_as_they_are_in_the_model(void** unused) {
    sim s = mixed_tree();
    ct_trajectory* file = record(&s, FILE_NAME, 1);
    must(ct_trajectory_close(file, NULL), NULL);
    must(ct_trajectory_open(&file, FILE_NAME, NULL), NULL);
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.nlink, 4);
    assert_int_equal(info.ncoordinate, 1 + 1 + 4 + 7);
    const ct_link_info* link = ct_trajectory_links(file);
    for (int k = 0; k < 4; k++) {
        ct_link_info model = ct_model_link_info(s.model, k);
        assert_string_equal(link[k].name, model.name);
        assert_int_equal(link[k].parent, model.parent);
        assert_int_equal(link[k].joint, model.joint);
        assert_int_equal(link[k].coordinate, model.coordinate);
        assert_int_equal(link[k].ncoordinate, model.ncoordinate);
        assert_memory_equal(link[k].anchor, model.anchor, sizeof model.anchor);
        assert_memory_equal(link[k].axis, model.axis, sizeof model.axis);
        assert_int_equal(link[k].count, model.count);
        assert_memory_equal(link[k].nodes, model.nodes, (size_t)model.count * sizeof(int));
    }
    assert_string_equal(link[1].name, "slider with a rather long name");
    assert_int_equal(link[3].count, 4);
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

static void coordinates_and_poses_read_back_every_bit(void** unused) {
    enum { FRAMES = 6, LINKS = 4, COORDINATES = 13 };
    sim s = mixed_tree();
    double q[FRAMES][COORDINATES], poses[FRAMES][12 * LINKS];
    ct_trajectory* file = NULL;
    must(ct_trajectory_create(&file, s.scene, s.model, FILE_NAME, NULL), NULL);
    for (int k = 0; k < FRAMES; k++) {
        steps(&s, 1);
        memcpy(q[k], ct_state_coordinates(s.state), sizeof q[k]);
        for (int l = 0; l < LINKS; l++)
            must(ct_state_link_pose(s.model, s.state, l, poses[k] + 12 * l, poses[k] + 12 * l + 9), NULL);
        must(ct_trajectory_append(file, s.model, s.state, NULL, NULL), NULL);
    }
    must(ct_trajectory_close(file, NULL), NULL);
    must(ct_trajectory_open(&file, FILE_NAME, NULL), NULL);
    for (int k = FRAMES - 1; k >= 0; k--) {
        const double *coordinates, *read;
        must(ct_trajectory_read_links(file, k, &coordinates, &read, NULL), NULL);
        assert_memory_equal(coordinates, q[k], sizeof q[k]);
        assert_memory_equal(read, poses[k], sizeof poses[k]);
    }
    assert_true(fabs(q[FRAMES - 1][0]) > 1e-3);  // it does move
    ct_error error = {0};
    assert_int_equal(ct_trajectory_read_links(file, FRAMES, NULL, NULL, &error), CT_BAD_ARGUMENT);
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

// A pose takes a link's rest points to where its nodes are in the same frame.
static void poses_move_the_nodes_of_their_links(void** unused) {
    sim s = mixed_tree();
    ct_trajectory* file = record(&s, FILE_NAME, 5);
    const double *poses, *rest = ct_trajectory_rest(file);
    ct_frame frame;
    must(ct_trajectory_read(file, 4, &frame, NULL), NULL);
    must(ct_trajectory_read_links(file, 4, NULL, &poses, NULL), NULL);
    const ct_link_info* link = ct_trajectory_links(file);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < link[k].count; i++) {
            const double *X = rest + 3 * link[k].nodes[i], *x = frame.x + 3 * link[k].nodes[i],
                         *R = poses + 12 * k, *t = R + 9;
            for (int a = 0; a < 3; a++)
                assert_true(fabs(R[3 * a] * X[0] + R[3 * a + 1] * X[1] + R[3 * a + 2] * X[2] + t[a] - x[a]) <
                            1e-12);
        }
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

static void run_with_a_skeleton_resumes_exactly(void** unused) {
    sim whole = mixed_tree(), part = mixed_tree(), later = mixed_tree();
    ct_error error = {0};
    must(ct_trajectory_close(record(&whole, FILE_NAME, 9), NULL), NULL);
    must(ct_trajectory_close(record(&part, OTHER_NAME, 5), NULL), NULL);
    ct_trajectory* file = NULL;
    must(ct_trajectory_resume(&file, later.model, later.state, OTHER_NAME, &error), &error);
    for (int k = 5; k < 9; k++) {
        steps(&later, 1);
        must(ct_trajectory_append(file, later.model, later.state, NULL, &error), &error);
    }
    must(ct_trajectory_close(file, NULL), NULL);
    assert_memory_equal(ct_state_bytes(whole.state), ct_state_bytes(later.state), ct_state_size(whole.state));
    ct_trajectory *a = NULL, *b = NULL;
    must(ct_trajectory_open(&a, FILE_NAME, NULL), NULL);
    must(ct_trajectory_open(&b, OTHER_NAME, NULL), NULL);
    for (int k = 0; k < 9; k++) {
        const double *qa, *qb, *pa, *pb;
        must(ct_trajectory_read_links(a, k, &qa, &pa, NULL), NULL);
        must(ct_trajectory_read_links(b, k, &qb, &pb, NULL), NULL);
        assert_memory_equal(qa, qb, 13 * sizeof(double));
        assert_memory_equal(pa, pb, 48 * sizeof(double));
    }
    must(ct_trajectory_close(a, NULL), NULL);
    must(ct_trajectory_close(b, NULL), NULL);
    stop(&whole), stop(&part), stop(&later);
}

static void resume_refuses_another_skeleton(void** unused) {
    ct_settings settings = small_settings();
    sim chain[2];
    for (int i = 0; i < 2; i++) {
        ct_scene* scene = new_scene(&settings);
        int first = add_bone(scene, "a", -1, CT_JOINT_REVOLUTE, 0, NULL, 0);
        add_bone(scene, "b", i ? -1 : first, CT_JOINT_REVOLUTE, 0.2, NULL, 0);
        chain[i] = start(scene, 1);
    }
    must(ct_trajectory_close(record(&chain[0], FILE_NAME, 2), NULL), NULL);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    assert_int_equal(ct_trajectory_resume(&file, chain[1].model, chain[1].state, FILE_NAME, &error),
                     CT_BAD_ARGUMENT);
    assert_null(file);
    stop(&chain[0]), stop(&chain[1]);
}

static void skeleton_without_flesh_has_a_trajectory(void** unused) {
    ct_settings settings = small_settings();
    ct_scene* scene = new_scene(&settings);
    add_bone(scene, "stem", -1, CT_JOINT_FIXED, 0, NULL, 0);
    sim s = start(scene, 1);
    ct_trajectory* file = record(&s, FILE_NAME, 1);
    must(ct_trajectory_close(file, NULL), NULL);
    must(ct_trajectory_open(&file, FILE_NAME, NULL), NULL);
    const double *q, *poses;
    must(ct_trajectory_read_links(file, 0, &q, &poses, NULL), NULL);
    assert_true(poses[0] == 1 && poses[4] == 1 && poses[9] == 0);
    assert_int_equal(access(FILE_NAME, R_OK), 0);
    must(ct_trajectory_export(file, CT_BINARY_DIR "/test_trajectory_links_export", CT_EXPORT_VTU, 0, 0, 1,
                              NULL),
         NULL);
    must(ct_trajectory_export(file, CT_BINARY_DIR "/test_trajectory_links_export", CT_EXPORT_OBJ, 0, 0, 1,
                              NULL),
         NULL);
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

// Files from before links were stored are those without anything of them.
static void file_without_links_opens_and_continues(void** unused) {
    sim s = mixed_tree();
    must(ct_trajectory_close(record(&s, FILE_NAME, 3), NULL), NULL);
    assert_true(old_file(FILE_NAME) > 20);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(raw >= 0);
    static const char* const arrays[] = {"LinkName",   "LinkParent",       "LinkJoint",
                                         "LinkAnchor", "LinkAxis",         "LinkNodeStart",
                                         "LinkNode",   "JointCoordinates", "LinkPoses"};
    static const char* const attributes[] = {"NumberOfLinks", "NumberOfCoordinates", "NumberOfLinkNodes",
                                             "LinkNameSize"};
    hid_t group = H5Gopen2(raw, "Cuttle", H5P_DEFAULT);
    for (int k = 0; k < 9; k++) assert_true(H5Ldelete(group, arrays[k], H5P_DEFAULT) >= 0);
    for (int k = 0; k < 4; k++) assert_true(H5Adelete(group, attributes[k]) >= 0);
    H5Gclose(group);
    H5Fclose(raw);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    must(ct_trajectory_open(&file, FILE_NAME, &error), &error);
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.nlink, 0);
    assert_int_equal(info.nframe, 3);
    must(ct_trajectory_close(file, NULL), NULL);
    must(ct_trajectory_resume(&file, s.model, s.state, FILE_NAME, &error), &error);
    steps(&s, 1);
    must(ct_trajectory_append(file, s.model, s.state, NULL, &error), &error);
    must(ct_trajectory_close(file, NULL), NULL);
    stop(&s);
}

static void damaged_links_are_reported(void** unused) {
    sim s = mixed_tree();
    must(ct_trajectory_close(record(&s, FILE_NAME, 1), NULL), NULL);
    assert_true(old_file(FILE_NAME) > 20);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t parents = H5Dopen2(raw, "Cuttle/LinkParent", H5P_DEFAULT);
    int parent[4] = {2, 0, 1, -1};  // a ring
    assert_true(H5Dwrite(parents, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, parent) >= 0);
    H5Dclose(parents);
    H5Fclose(raw);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "links"));
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_read_back_as_they_are_in_the_model),
        cmocka_unit_test(coordinates_and_poses_read_back_every_bit),
        cmocka_unit_test(poses_move_the_nodes_of_their_links),
        cmocka_unit_test(run_with_a_skeleton_resumes_exactly),
        cmocka_unit_test(resume_refuses_another_skeleton),
        cmocka_unit_test(skeleton_without_flesh_has_a_trajectory),
        cmocka_unit_test(file_without_links_opens_and_continues),
        cmocka_unit_test(damaged_links_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
