// Where public structs keep the numbers of quantities; see fields.h.
#include "quantity/fields.h"

double* ct_fields_material(ct_material* material, ct_quantity quantity) {
    switch (quantity) {
    case CT_QUANTITY_YOUNG: return &material->young;
    case CT_QUANTITY_POISSON: return &material->poisson;
    case CT_QUANTITY_DENSITY: return &material->density;
    case CT_QUANTITY_DAMPING_MASS: return &material->damping_mass;
    case CT_QUANTITY_DAMPING_STIFFNESS: return &material->damping_stiffness;
    case CT_QUANTITY_BENDING: return &material->bending;
    case CT_QUANTITY_BENDING_WARP: return &material->bending_warp;
    case CT_QUANTITY_BENDING_WEFT: return &material->bending_weft;
    case CT_QUANTITY_BENDING_SHEAR: return &material->bending_shear;
    case CT_QUANTITY_CURVATURE_WARP: return &material->curvature_warp;
    case CT_QUANTITY_CURVATURE_WEFT: return &material->curvature_weft;
    case CT_QUANTITY_CURVATURE_TWIST: return &material->curvature_twist;
    case CT_QUANTITY_THICKNESS: return &material->thickness;
    default: return NULL;
    }
}

double* ct_fields_joint(ct_joint_def* joint, ct_quantity quantity) {
    switch (quantity) {
    case CT_QUANTITY_JOINT_STIFFNESS: return &joint->stiffness;
    case CT_QUANTITY_JOINT_DAMPING: return &joint->damping;
    case CT_QUANTITY_ARMATURE: return &joint->armature;
    case CT_QUANTITY_JOINT_REST: return &joint->rest;
    case CT_QUANTITY_SERVO_STIFFNESS: return &joint->servo_stiffness;
    case CT_QUANTITY_SERVO_DAMPING: return &joint->servo_damping;
    case CT_QUANTITY_LIMIT_STIFFNESS: return &joint->limit_stiffness;
    default: return NULL;
    }
}

bool ct_fields_of_actuators(ct_quantity quantity, ct_actuator_kind* kind) {
    ct_quantity_of of = ct_quantity_row(quantity)->of;
    *kind = of == CT_OF_MUSCLES    ? CT_ACTUATOR_MUSCLE
            : of == CT_OF_CHAMBERS ? CT_ACTUATOR_CHAMBER
                                   : CT_ACTUATOR_CABLE;
    return of == CT_OF_MUSCLES || of == CT_OF_CHAMBERS || of == CT_OF_CABLES;
}

bool ct_fields_of_links(ct_quantity quantity) {
    ct_quantity_of of = ct_quantity_row(quantity)->of;
    return of == CT_OF_LINKS || of == CT_OF_RATES;
}

bool ct_fields_of_elements(ct_quantity quantity) {
    ct_quantity_of of = ct_quantity_row(quantity)->of;
    return of == CT_OF_ELEMENTS || of == CT_OF_SHEETS;
}
