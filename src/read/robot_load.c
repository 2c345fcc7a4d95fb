// Robots from MJCF or URDF, by the file's outermost element, into scenes; see robot.h.
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "read/read.h"
#include "read/robot.h"
#include "scene/scene.h"

static void read_root(ct_robot_reader* reader) {
    ct_xml* root = reader->document.root;
    if (!strcmp(root->name, "mujoco")) ct_mjcf_read(reader, root);
    else if (!strcmp(root->name, "robot")) ct_urdf_read(reader, root);
    else
        reader->status = ct_xml_fail(
            &reader->document, root, reader->error,
            "is neither <mujoco> (MJCF) nor <robot> (URDF): a skeleton file must be one of these");
    if (!reader->status && !reader->robot->nlink) ct_robot_fail(reader, root, "has no links");
}

ct_status ct_robot_read(ct_robot* robot, const char* text, size_t size, const char* file, ct_error* error) {
    ct_error_clear(error);
    *robot = (ct_robot){.file = ct_duplicate_text(file)};
    ct_robot_reader reader = {.robot = robot, .error = error};
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain || !robot->file) ct_robot_out_of_memory(&reader);
    else {
        locale_t before = uselocale(plain);
        reader.status = ct_xml_read(&reader.document, text, size, robot->file, error);
        if (!reader.status) {
            read_root(&reader);
            for (int i = 0; i < reader.nincluded; i++) ct_xml_free(&reader.included[i]);
            ct_xml_free(&reader.document);
        }
        uselocale(before);
    }
    if (plain) freelocale(plain);
    if (reader.status) ct_robot_free(robot);
    return reader.status;
}

ct_status ct_robot_load(ct_robot* robot, const char* path, ct_error* error) {
    *robot = (ct_robot){0};
    ct_error_clear(error);
    char* text;
    size_t size;
    ct_status status = ct_file_read(path, CT_READ_GIGABYTES, &text, &size, error);
    if (status) return status;
    status = ct_robot_read(robot, text, size, path, error);
    ct_free(text);
    return status;
}

ct_status ct_scene_import_skeleton(ct_scene* scene, const char* path, const double translate[3],
                                   const double rotate[4], double scale, ct_error* error) {
    CT_NEED(error, scene, path);
    static const double nowhere[3], unturned[4] = {1, 0, 0, 0};
    ct_error_clear(error);
    if (!(scale > 0 && isfinite(scale)))
        return ct_scene_fail(error, "scale", "is %g: it must be above 0", scale);
    ct_robot robot;
    ct_status status = ct_robot_load(&robot, path, error);
    if (status) return status;
    ct_robot_place(&robot, translate ? translate : nowhere, rotate ? rotate : unturned, scale);
    status = ct_robot_add(scene, &robot, NULL, error);
    ct_robot_free(&robot);
    return status;
}
