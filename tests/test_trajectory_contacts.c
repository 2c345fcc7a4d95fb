// Sheets, obstacles and contacts in trajectory files: they come back bit for bit, whatever their number from
// frame to frame.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <hdf5.h>

#include "contact_file.h"
#include "old_file.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_trajectory_contacts.h5"
#define DIRECTORY CT_BINARY_DIR "/test_trajectory_contacts_export"

static ct_trajectory* reopen(ct_trajectory* file) {
    assert_int_equal(ct_trajectory_close(file, NULL), CT_OK);
    ct_error error = {0};
    if (ct_trajectory_open(&file, FILE_NAME, &error)) fail_msg("%s", error.message);
    return file;
}

static void contacts_read_back_every_bit(void** unused) {
    enum { FRAMES = 7 };
    contact_scene s = contact_scene_create();
    ct_trajectory* file = reopen(contact_scene_record(&s, FILE_NAME, FRAMES));
    ct_trajectory_info info = ct_trajectory_summary(file);
    int64_t sum = 0;
    for (int k = 0; k < FRAMES; k++) sum += contact_count(k);
    assert_true(info.contact);
    assert_int_equal(info.ncontact, sum);
    for (int k = FRAMES - 1; k >= 0; k--) {
        const ct_contact* list;
        int count;
        ct_contact expected[MAX_CONTACTS];
        contact_list(expected, k);
        assert_int_equal(ct_trajectory_read_contacts(file, k, &list, &count, NULL), CT_OK);
        assert_int_equal(count, contact_count(k));
        for (int i = 0; i < count; i++) {
            assert_int_equal(list[i].type, expected[i].type);
            assert_int_equal(list[i].set, expected[i].set);
            assert_memory_equal(list[i].node, expected[i].node, sizeof expected[i].node);
            assert_int_equal(list[i].a, expected[i].a);
            assert_int_equal(list[i].b, expected[i].b);
            assert_memory_equal(list[i].position, expected[i].position, sizeof(double[3]));
            assert_memory_equal(list[i].normal, expected[i].normal, sizeof(double[3]));
            assert_memory_equal(list[i].force, expected[i].force, sizeof(double[3]));
            assert_true(list[i].gap == expected[i].gap && list[i].friction == expected[i].friction);
        }
    }
    const ct_contact* list;
    int count;
    ct_error error = {0};
    assert_int_equal(ct_trajectory_read_contacts(file, FRAMES, &list, &count, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "frame"));
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

static void nodal_contact_forces_are_a_field(void** unused) {
    contact_scene s = contact_scene_create();
    ct_trajectory* file = reopen(contact_scene_record(&s, FILE_NAME, 3));
    const double* values;
    int count;
    bool per_tet = true;
    assert_int_equal(ct_trajectory_read_field(file, 2, "contact", &values, &count, &per_tet, NULL), CT_OK);
    assert_false(per_tet);
    assert_int_equal(count, 3 * s.nvert);
    contact_scene_frame(&s, 2);
    for (int i = 0; i < count; i++) assert_true(fabs(values[i] - s.force[i]) <= 1e-7 * fabs(s.force[i]));
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

static void sheets_are_cells_behind_the_tets(void** unused) {
    contact_scene s = contact_scene_create();
    ct_trajectory* file = reopen(contact_scene_record(&s, FILE_NAME, 2));
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.ntri, s.ntri);
    assert_memory_equal(ct_trajectory_tris(file), s.tri, 3 * (size_t)s.ntri * sizeof(int));
    assert_memory_equal(ct_trajectory_surface_owner(file), s.owner, (size_t)info.nsurface * sizeof(int));
    const double* values;
    int count;
    bool per_tet = false;
    assert_int_equal(ct_trajectory_read_field(file, 1, "stress", &values, &count, &per_tet, NULL), CT_OK);
    assert_true(per_tet);
    assert_int_equal(count, info.ntet + info.ntri);
    contact_scene_frame(&s, 1);
    for (int i = 0; i < count; i++) assert_true((float)values[i] == (float)s.field[i]);
    ct_trajectory_close(file, NULL);

    // as VTK sees it: offsets end at all the cells' corners, types are tets, then triangles
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
    int ncell = info.ntet + info.ntri;
    int64_t* offset = calloc((size_t)ncell + 1, sizeof *offset);
    uint8_t* type = calloc((size_t)ncell, 1);
    hid_t array = H5Dopen2(raw, "VTKHDF/Offsets", H5P_DEFAULT);
    assert_true(H5Dread(array, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, offset) >= 0);
    H5Dclose(array);
    array = H5Dopen2(raw, "VTKHDF/Types", H5P_DEFAULT);
    assert_true(H5Dread(array, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, type) >= 0);
    H5Dclose(array);
    H5Fclose(raw);
    assert_int_equal(offset[ncell], 4 * info.ntet + 3 * info.ntri);
    for (int k = 0; k < ncell; k++) assert_int_equal(type[k], k < info.ntet ? 10 : 5);
    free(offset), free(type);
    contact_scene_free(&s);
}

static void obstacles_read_back_with_their_poses(void** unused) {
    contact_scene s = contact_scene_create();
    ct_trajectory* file = reopen(contact_scene_record(&s, FILE_NAME, 4));
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.nobstacle, OBSTACLES);
    const ct_obstacle_info* obstacle = ct_trajectory_obstacles(file);
    for (int k = 0; k < OBSTACLES; k++) {
        assert_string_equal(obstacle[k].name, contact_obstacle[k].name);
        assert_int_equal(obstacle[k].kind, contact_obstacle[k].kind);
        assert_true(obstacle[k].radius == contact_obstacle[k].radius);
        assert_int_equal(obstacle[k].hidden, contact_obstacle[k].hidden);
        assert_memory_equal(obstacle[k].color, contact_obstacle[k].color, sizeof obstacle[k].color);
        assert_string_equal(ct_trajectory_collider_name(file, info.nbody + k), contact_obstacle[k].name);
    }
    assert_string_equal(ct_trajectory_collider_name(file, 0), "cube");
    assert_string_equal(ct_trajectory_collider_name(file, 1), "sheet");
    assert_string_equal(ct_trajectory_collider_name(file, info.nbody + OBSTACLES), "");
    assert_string_equal(ct_trajectory_collider_name(file, -1), "");
    for (int k = 3; k >= 0; k--) {
        const double* poses;
        assert_int_equal(ct_trajectory_read_obstacles(file, k, &poses, NULL), CT_OK);
        contact_scene_frame(&s, k);
        assert_memory_equal(poses, s.poses, sizeof s.poses);
    }
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

// A frame whose rows were written but whose NSteps was not: it does not exist, and is written over.
static void unfinished_frame_is_written_over(void** unused) {
    enum { FRAMES = 6 };
    contact_scene s = contact_scene_create();
    assert_int_equal(ct_trajectory_close(contact_scene_record(&s, FILE_NAME, FRAMES), NULL), CT_OK);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t steps = H5Gopen2(raw, "VTKHDF/Steps", H5P_DEFAULT),
          attribute = H5Aopen(steps, "NSteps", H5P_DEFAULT);
    int64_t kept = 4;
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, &kept) >= 0);
    H5Aclose(attribute), H5Gclose(steps), H5Fclose(raw);

    ct_trajectory* file = NULL;
    ct_error error = {0};
    ct_trajectory_def def = contact_scene_def(&s);
    if (ct_trajectory_resume_arrays(&file, FILE_NAME, &def, NULL, &error)) fail_msg("%s", error.message);
    for (int k = 4; k < FRAMES; k++) {
        ct_trajectory_sample sample = contact_scene_frame(&s, k);
        assert_int_equal(ct_trajectory_append_sample(file, &sample, NULL), CT_OK);
    }
    file = reopen(file);
    int64_t sum = 0;
    for (int k = 0; k < FRAMES; k++) {
        const ct_contact* list;
        int count;
        ct_contact expected[MAX_CONTACTS];
        contact_list(expected, k);
        assert_int_equal(ct_trajectory_read_contacts(file, k, &list, &count, NULL), CT_OK);
        assert_int_equal(count, contact_count(k));
        for (int i = 0; i < count; i++)
            assert_memory_equal(list[i].force, expected[i].force, sizeof(double[3]));
        sum += count;
    }
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.ncontact, sum);
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

static void resume_refuses_other_obstacles(void** unused) {
    contact_scene s = contact_scene_create();
    assert_int_equal(ct_trajectory_close(contact_scene_record(&s, FILE_NAME, 2), NULL), CT_OK);
    ct_trajectory_def def = contact_scene_def(&s);
    ct_obstacle_info other[OBSTACLES];
    memcpy(other, contact_obstacle, sizeof other);
    other[1].kind = CT_OBSTACLE_BOX;
    def.obstacle = other;
    ct_trajectory* file = NULL;
    ct_error error = {0};
    assert_int_equal(ct_trajectory_resume_arrays(&file, FILE_NAME, &def, NULL, &error), CT_BAD_ARGUMENT);
    assert_null(file);
    contact_scene_free(&s);
}

// Files from before there were contacts say nothing of them: the surface belongs to the bodies, forces are
// zero.
static void file_without_contacts_opens_as_before(void** unused) {
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory_def def = synthetic_def(&s, 0);
    ct_trajectory* file = NULL;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL), CT_OK);
    ct_trajectory_sample sample = synthetic_frame(&s, 0, NULL, 0);
    assert_int_equal(ct_trajectory_append_sample(file, &sample, NULL), CT_OK);
    assert_int_equal(ct_trajectory_close(file, NULL), CT_OK);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT), group = H5Gopen2(raw, "Cuttle", H5P_DEFAULT);
    static const char* const attributes[] = {"NumberOfSheetTriangles", "NumberOfObstacles", "HasContact"};
    for (int k = 0; k < 3; k++) assert_true(H5Adelete(group, attributes[k]) >= 0);
    H5Gclose(group), H5Fclose(raw);
    ct_error error = {0};
    if (ct_trajectory_open(&file, FILE_NAME, &error)) fail_msg("%s", error.message);
    const ct_contact* list;
    const double *values, *poses;
    int count = -1;
    bool per_tet;
    assert_int_equal(ct_trajectory_read_contacts(file, 0, &list, &count, NULL), CT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ct_trajectory_read_obstacles(file, 0, &poses, NULL), CT_OK);
    assert_int_equal(ct_trajectory_read_field(file, 0, "contact", &values, &count, &per_tet, NULL), CT_OK);
    for (int i = 0; i < count; i++) assert_true(values[i] == 0);
    for (int t = 0; t < s.nsurface; t++) assert_int_equal(ct_trajectory_surface_owner(file)[t], 0);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void overwrite(const char* path, hid_t type, const void* values) {
    assert_true(old_file(FILE_NAME) > 20);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT), array = H5Dopen2(raw, path, H5P_DEFAULT);
    assert_true(H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(array), H5Fclose(raw);
}

static void damaged_contacts_are_reported(void** unused) {
    contact_scene s = contact_scene_create();
    ct_trajectory* file = NULL;
    ct_error error = {0};
    const ct_contact* list;
    int count, total = contact_count(0) + contact_count(1), index[MAX_CONTACTS * 8] = {0};
    for (int i = 0; i < 4 * total; i++) index[i] = s.nvert + 5;
    assert_int_equal(ct_trajectory_close(contact_scene_record(&s, FILE_NAME, 2), NULL), CT_OK);
    overwrite("Cuttle/Contacts/Nodes", H5T_NATIVE_INT, index);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    assert_int_equal(ct_trajectory_read_contacts(file, 1, &list, &count, &error), CT_BAD_FILE);
    assert_null(list);
    ct_trajectory_close(file, NULL);

    assert_int_equal(ct_trajectory_close(contact_scene_record(&s, FILE_NAME, 2), NULL), CT_OK);
    int64_t counts[2] = {1, 1000000};
    overwrite("Cuttle/Contacts/Counts", H5T_NATIVE_INT64, counts);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "contacts"));

    assert_int_equal(ct_trajectory_close(contact_scene_record(&s, FILE_NAME, 2), NULL), CT_OK);
    int kind[OBSTACLES] = {0, 77};
    overwrite("Cuttle/ObstacleKind", H5T_NATIVE_INT, kind);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "obstacles"));
    contact_scene_free(&s);
    unlink(FILE_NAME);
}

static char* read_text(const char* path) {
    FILE* stream = fopen(path, "rb");
    assert_non_null(stream);
    char* text = calloc(1, 1 << 22);
    assert_true(fread(text, 1, (1 << 22) - 1, stream) > 0);
    fclose(stream);
    return text;
}

static void export_holds_sheets_obstacles_and_contacts(void** unused) {
    contact_scene s = contact_scene_create();
    ct_trajectory* file = contact_scene_record(&s, FILE_NAME, 2);
    ct_error error = {0};
    ct_mesh* mesh = NULL;
    if (ct_trajectory_export(file, DIRECTORY, CT_EXPORT_VTU, 1, 1, 1, &error)) fail_msg("%s", error.message);
    if (ct_mesh_load(&mesh, DIRECTORY "/frame_000001.vtu", CT_MESH_AUTO, &error))
        fail_msg("%s", error.message);
    contact_scene_frame(&s, 1);
    assert_int_equal(mesh->ntet, s.cube.ntet);
    assert_int_equal(mesh->ntri, s.ntri);
    assert_memory_equal(mesh->tri, s.tri, 3 * (size_t)s.ntri * sizeof(int));
    assert_memory_equal(mesh->x, s.x, 3 * (size_t)s.nvert * sizeof(double));
    ct_mesh_free(mesh);
    char* text = read_text(DIRECTORY "/frames.pvd");
    assert_non_null(strstr(text, "obstacles_000001.vtp"));
    assert_non_null(strstr(text, "contacts_000001.vtp"));
    free(text);
    text = read_text(DIRECTORY "/contacts_000001.vtp");
    assert_non_null(strstr(text, "NumberOfPoints=\"9\" NumberOfVerts=\"9\""));
    assert_non_null(strstr(text, "Name=\"Force\" NumberOfComponents=\"3\""));
    free(text);

    // the .obj has the bodies, the box, and the round obstacles, in groups of their names
    if (ct_trajectory_export(file, DIRECTORY, CT_EXPORT_OBJ, 1, 1, 1, &error)) fail_msg("%s", error.message);
    if (ct_mesh_load(&mesh, DIRECTORY "/frame_000001.obj", CT_MESH_AUTO, &error))
        fail_msg("%s", error.message);
    assert_true(mesh->ntri > s.nsurface + 2000);
    bool ball = false, wall = false;
    double lowest = INFINITY;
    for (int k = 0; k < mesh->ntag; k++) {
        ball |= strcmp(mesh->tag[k].name, "a_ball_of_lead") == 0;
        wall |= strcmp(mesh->tag[k].name, "wall") == 0;
    }
    for (int i = 0; i < mesh->nvert; i++) lowest = fmin(lowest, mesh->x[3 * i]);
    assert_true(ball && !wall);
    assert_true(lowest < -1.19);
    ct_mesh_free(mesh);
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_read_back_every_bit),
        cmocka_unit_test(nodal_contact_forces_are_a_field),
        cmocka_unit_test(sheets_are_cells_behind_the_tets),
        cmocka_unit_test(obstacles_read_back_with_their_poses),
        cmocka_unit_test(unfinished_frame_is_written_over),
        cmocka_unit_test(resume_refuses_other_obstacles),
        cmocka_unit_test(file_without_contacts_opens_as_before),
        cmocka_unit_test(damaged_contacts_are_reported),
        cmocka_unit_test(export_holds_sheets_obstacles_and_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
