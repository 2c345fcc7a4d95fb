// What the parts of the MJCF reader share; see mjcf.c.
#ifndef CT_READ_MJCF_H
#define CT_READ_MJCF_H

#include "base/place.h"
#include "read/robot.h"

typedef struct ct_mjcf_site {
    const char* name;
    int link;         // -1: in the world
    double point[3];  // rest, world
    struct ct_mjcf_site* next;
} ct_mjcf_site;

typedef struct ct_mjcf {
    ct_robot_reader* reader;
    const ct_xml* root;
    double angle;         // rad in a unit of the file's angles
    char euler[4];        // letters: lower case about moving axes, upper case about fixed ones
    bool autolimits;      // a range alone makes a limit
    const char* meshdir;  // folder of mesh files, NULL: that of the file
    bool strippath;       // folders in the names of mesh files do not count
    ct_mjcf_site* site;   // those with names
    double group[2];      // geoms of the groups between these have mass
    double total_mass;    // kg, that masses are scaled to; 0: they stay
    enum { CT_MJCF_WHEN_NEEDED, CT_MJCF_ALWAYS, CT_MJCF_NEVER } from_geom;  // where masses come from
} ct_mjcf;

// An attribute of the element or, when it has none, of its default class; NULL: absent.
const char* ct_mjcf_get(ct_mjcf* m, const ct_xml* element, const char* attribute);
int ct_mjcf_numbers(ct_mjcf* m, const ct_xml* element, const char* attribute, int least, int most,
                    double* out);
// Whether a range is given and counts: the word of `limited` says so or, without one, autolimits.
bool ct_mjcf_has_range(ct_mjcf* m, const ct_xml* element, const char* range, const char* limited);
// pos and one of quat, axisangle, euler, xyaxes, zaxis.
ct_robot_pose ct_mjcf_pose(ct_mjcf* m, const ct_xml* element);
// Mass, centre and inertia of a body's geoms together, in the body's frame.
void ct_mjcf_geoms(ct_mjcf* m, const ct_xml* body, double* mass, double center[3], double inertia[6]);
// The volume of a geom's mesh, its centre and its inertia about that for a density of 1, in the geom's frame.
void ct_mjcf_mesh_mass(ct_mjcf* m, const ct_xml* geom, double* volume, double center[3], double inertia[6]);
// Fails when the element has an attribute that is not known.
void ct_mjcf_check(ct_mjcf* m, const ct_xml* element);
// Fails when one of the attributes is neither absent nor 0 nor "false". NULL-terminated list.
void ct_mjcf_refuse(ct_mjcf* m, const ct_xml* element, const char* const* attributes);

// Included files in their places.
void ct_mjcf_include(ct_robot_reader* reader, ct_xml* root);
// Frames in the place of replicates.
void ct_mjcf_replicate(ct_mjcf* m, ct_xml* root);
// A file that an element names, relative to the main file: its path. False after a failure.
bool ct_mjcf_find_file(ct_robot_reader* reader, const ct_xml* element, const char* folder, const char* name,
                       char path[CT_PLACE_SIZE]);
// A <tendon> as cables, an <actuator> as controls.
void ct_mjcf_tendons(ct_mjcf* m, const ct_xml* part);
void ct_mjcf_actuators(ct_mjcf* m, const ct_xml* part);

#endif
