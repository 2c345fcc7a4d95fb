// What the parts of the MJCF reader share; see mjcf.c.
#ifndef CT_READ_MJCF_H
#define CT_READ_MJCF_H

#include "read/robot.h"

typedef struct ct_mjcf {
    ct_robot_reader* reader;
    const ct_xml* root;
    double angle;     // rad in a unit of the file's angles
    char euler[4];    // letters: lower case about moving axes, upper case about fixed ones
    bool autolimits;  // a range alone makes a limit
    enum { CT_MJCF_WHEN_NEEDED, CT_MJCF_ALWAYS, CT_MJCF_NEVER } from_geom;  // where masses come from
} ct_mjcf;

// An attribute of the element or, when it has none, of its default class; NULL: absent.
const char* ct_mjcf_get(ct_mjcf* m, const ct_xml* element, const char* attribute);
int ct_mjcf_numbers(ct_mjcf* m, const ct_xml* element, const char* attribute, int least, int most,
                    double* out);
// pos and one of quat, axisangle, euler, xyaxes, zaxis.
ct_robot_pose ct_mjcf_pose(ct_mjcf* m, const ct_xml* element);
// Mass, centre and inertia of a body's geoms together, in the body's frame.
void ct_mjcf_geoms(ct_mjcf* m, const ct_xml* body, double* mass, double center[3], double inertia[6]);

#endif
