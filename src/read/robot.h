// Robots read from MJCF (MuJoCo, <mujoco>) and URDF (<robot>) files: links with joints, masses and inertias,
// and the motors that become controls. All lengths and directions are those of the rest pose (all joints at
// their reference) in the file's world, until ct_robot_place moves them to the scene's.
#ifndef CT_READ_ROBOT_H
#define CT_READ_ROBOT_H

#include "base/memory.h"
#include "cuttle.h"
#include "math/mat3.h"
#include "text/xml.h"

typedef struct ct_robot_link {
    const char* name;  // NULL: none given
    int parent;        // below its own index, -1: the world
    ct_joint_def joint;
    const char* joint_name;  // NULL: none given
    bool force_limited;      // the file limits what actuators do to the joint
    double mass, center[3], inertia[6];
    const int* nodes;  // scene nodes on it: none from a file, a scene adds them; borrowed
    int count;
    int line;  // where the file has it
} ct_robot_link;

typedef struct ct_robot_eyelet {
    int link;         // -1: in the world
    double point[3];  // rest
} ct_robot_eyelet;

typedef struct ct_robot_cable {
    const char* name;  // NULL: none given
    ct_robot_eyelet* eyelet;
    int count;
    bool held;                 // by a spring beyond `length`, otherwise by a tension
    double stiffness, length;  // N/m, m
    int line;
} ct_robot_cable;

typedef struct ct_robot_control {
    const char* name;
    ct_control_kind kind;
    int link;  // of a tension: the cable
    int line;
} ct_robot_control;

typedef struct ct_robot {
    ct_arena arena;  // names
    char* file;      // for messages
    ct_robot_link* link;
    int nlink;
    size_t link_capacity;
    ct_robot_control* control;
    int ncontrol;
    size_t control_capacity;
    ct_robot_cable* cable;
    int ncable;
    size_t cable_capacity;
} ct_robot;

ct_status ct_robot_load(ct_robot* robot, const char* path, ct_error* error);
ct_status ct_robot_read(ct_robot* robot, const char* text, size_t size, const char* file, ct_error* error);
void ct_robot_free(ct_robot* robot);
int ct_robot_find_link(const ct_robot* robot, const char* name);  // -1: none
// Lengths times `scale` (masses times its cube, inertias times its fifth power), then rotated, then
// translated.
void ct_robot_place(ct_robot* robot, const double translate[3], const double rotate[4], double scale);
// Adds links and controls to the scene; a name that the scene has already gets "prefix." before it (NULL: an
// error). On failure the scene is as it was.
ct_status ct_robot_add(ct_scene* scene, const ct_robot* robot, const char* prefix, ct_error* error);

// ---- for the readers of the two formats ----

enum { CT_ROBOT_INCLUDES = 64 };  // files that one file may include

typedef struct ct_robot_reader {
    ct_xml_document document;
    ct_xml_document included[CT_ROBOT_INCLUDES];
    int nincluded;
    ct_robot* robot;
    ct_error* error;
    ct_status status;  // CT_OK until the first failure, after which all reads do nothing
} ct_robot_reader;

typedef struct ct_robot_pose {  // x -> R x + t
    ct_mat3 R;
    ct_vec3 t;
} ct_robot_pose;

static inline ct_robot_pose ct_robot_pose_compose(ct_robot_pose outer, ct_robot_pose inner) {
    return (ct_robot_pose){ct_mat3_multiply(outer.R, inner.R),
                           ct_vec3_add(ct_mat3_apply(outer.R, inner.t), outer.t)};
}

void ct_mjcf_read(ct_robot_reader* reader, ct_xml* root);
void ct_urdf_read(ct_robot_reader* reader, const ct_xml* root);
void ct_robot_fail(ct_robot_reader* reader, const ct_xml* element, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void ct_robot_out_of_memory(ct_robot_reader* reader);
// Between `least` and `most` finite numbers of an attribute's text into `out`; returns how many. NULL text:
// 0, `out` stays.
int ct_robot_numbers(ct_robot_reader* reader, const ct_xml* element, const char* attribute, const char* text,
                     int least, int most, double* out);
// Elements below it have only these names; the message names the one that is not supported. NULL-terminated
// lists.
void ct_robot_check_children(ct_robot_reader* reader, const ct_xml* element, const char* const* known);
// The new link's index, -1 after a failure. Names are copied.
int ct_robot_new_link(ct_robot_reader* reader, const ct_xml* element, const ct_robot_link* link);
void ct_robot_new_control(ct_robot_reader* reader, const ct_xml* element, const char* name,
                          ct_control_kind kind, int link);
// Eyelets are added to a cable before the cable to the robot. Names are copied.
void ct_robot_new_eyelet(ct_robot_reader* reader, ct_robot_cable* cable, int link, const double point[3]);
void ct_robot_new_cable(ct_robot_reader* reader, const ct_xml* element, const ct_robot_cable* cable);
// Puts a mass with centre and inertia, given in the link's frame, at the pose of that frame.
void ct_robot_set_mass(ct_robot_link* link, ct_robot_pose pose, double mass, const double center[3],
                       const double inertia[6]);

#endif
