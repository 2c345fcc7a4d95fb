// Where public structs keep the numbers of quantities.
#ifndef CT_QUANTITY_FIELDS_H
#define CT_QUANTITY_FIELDS_H

#include "cuttle.h"

// The number of a quantity of elements or sheets in a material; NULL: it has no such.
double* ct_fields_material(ct_material* material, ct_quantity quantity);
// The number of a quantity of links in a joint; NULL: it has no such.
double* ct_fields_joint(ct_joint_def* joint, ct_quantity quantity);
// Whether a quantity is one of actuators; *kind: of which.
bool ct_fields_of_actuators(ct_quantity quantity, ct_actuator_kind* kind);
// Whether it belongs to links or to their joint rates.
bool ct_fields_of_links(ct_quantity quantity);
// Whether it belongs to elements or to sheets.
bool ct_fields_of_elements(ct_quantity quantity);

#endif
