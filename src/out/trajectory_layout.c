// Where the arrays of a trajectory file lie, and what their rows are; see trajectory.h.
#include "out/trajectory.h"

const ct_array_layout ct_trajectory_layout[CT_ARRAY_COUNT] = {
    [CT_ARRAY_POINTS] = {"VTKHDF/Points", 3, CT_PER_NODE, CT_TYPE_DOUBLE},
    [CT_ARRAY_VELOCITY] = {"VTKHDF/PointData/velocity", 3, CT_PER_NODE, CT_TYPE_DOUBLE},
    [CT_ARRAY_DISPLACEMENT] = {"VTKHDF/PointData/displacement", 3, CT_PER_NODE, CT_TYPE_FLOAT},
    [CT_ARRAY_STRESS] = {"VTKHDF/CellData/stress", 0, CT_PER_CELL, CT_TYPE_FLOAT},
    [CT_ARRAY_ENERGY] = {"VTKHDF/CellData/energy", 0, CT_PER_CELL, CT_TYPE_FLOAT},
    [CT_ARRAY_VOLUME] = {"VTKHDF/CellData/volume", 0, CT_PER_CELL, CT_TYPE_FLOAT},
    [CT_ARRAY_TIME] = {"VTKHDF/Steps/Values", 0, CT_PER_FRAME, CT_TYPE_DOUBLE},
    [CT_ARRAY_PARTS] = {"VTKHDF/Steps/NumberOfParts", 0, CT_PER_FRAME, CT_TYPE_INTEGER},
    [CT_ARRAY_ZERO] = {"VTKHDF/Steps/PartOffsets", 0, CT_PER_FRAME, CT_TYPE_INTEGER},
    [CT_ARRAY_POINT_OFFSET] = {"VTKHDF/Steps/PointOffsets", 0, CT_PER_FRAME, CT_TYPE_INTEGER},
    [CT_ARRAY_CELL_OFFSET] = {"VTKHDF/Steps/CellDataOffsets/stress", 0, CT_PER_FRAME, CT_TYPE_INTEGER},
    [CT_ARRAY_FRAMES] = {"Cuttle/Frames", 0, CT_PER_FRAME, CT_TYPE_RECORD},
    [CT_ARRAY_COORDINATES] = {"Cuttle/JointCoordinates", 0, CT_PER_COORDINATE, CT_TYPE_DOUBLE},
    [CT_ARRAY_POSES] = {"Cuttle/LinkPoses", 12, CT_PER_LINK, CT_TYPE_DOUBLE},
    [CT_ARRAY_OBSTACLE_POSES] = {"Cuttle/ObstaclePoses", 6, CT_PER_OBSTACLE, CT_TYPE_DOUBLE},
    [CT_ARRAY_CONTACT_FORCE] = {"VTKHDF/PointData/ContactForce", 3, CT_PER_NODE, CT_TYPE_FLOAT},
    [CT_ARRAY_ACTIVATION] = {"VTKHDF/CellData/Activation", 0, CT_PER_CELL, CT_TYPE_FLOAT},
    [CT_ARRAY_CAVITIES] = {"Cuttle/Cavities", 2, CT_PER_CAVITY, CT_TYPE_DOUBLE},
    [CT_ARRAY_CABLES] = {"Cuttle/Cables", 4, CT_PER_EYELET, CT_TYPE_DOUBLE},
    [CT_ARRAY_CONTACT_OFFSET] = {"Cuttle/Contacts/Offsets", 0, CT_PER_FRAME, CT_TYPE_INTEGER},
    [CT_ARRAY_CONTACT_COUNT] = {"Cuttle/Contacts/Counts", 0, CT_PER_FRAME, CT_TYPE_INTEGER},
};

hid_t ct_trajectory_record_type(void) {
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(ct_frame_record));
    if (type < 0) return type;
    herr_t bad = 0;
#define FIELD(name, kind) bad |= H5Tinsert(type, #name, HOFFSET(ct_frame_record, name), kind)
    FIELD(step, H5T_NATIVE_INT64);
    FIELD(converged, H5T_NATIVE_INT32);
    FIELD(substeps, H5T_NATIVE_INT32);
    FIELD(iterations, H5T_NATIVE_INT32);
    FIELD(solves, H5T_NATIVE_INT32);
    FIELD(gradients, H5T_NATIVE_INT32);
    FIELD(hessian_products, H5T_NATIVE_INT32);
    FIELD(line_searches, H5T_NATIVE_INT32);
    FIELD(refactors, H5T_NATIVE_INT32);
    FIELD(inverted, H5T_NATIVE_INT32);
    FIELD(residual, H5T_NATIVE_DOUBLE);
    FIELD(reference, H5T_NATIVE_DOUBLE);
    FIELD(seconds, H5T_NATIVE_DOUBLE);
    FIELD(state_hash, H5T_NATIVE_UINT64);
#undef FIELD
    if (bad < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

hid_t ct_trajectory_file_type(const ct_trajectory* file, ct_array_type type) {
    switch (type) {
    case CT_TYPE_DOUBLE: return H5T_IEEE_F64LE;
    case CT_TYPE_FLOAT: return H5T_IEEE_F32LE;
    case CT_TYPE_INTEGER: return H5T_STD_I64LE;
    default: return file->record_type;
    }
}

hid_t ct_trajectory_stored_type(const ct_trajectory* file, ct_trajectory_array array) {
    const ct_array_layout* layout = &ct_trajectory_layout[array];
    const bool narrow =
        file->info.compressed && layout->unit == CT_PER_NODE && layout->type == CT_TYPE_DOUBLE;
    return ct_trajectory_file_type(file, narrow ? CT_TYPE_FLOAT : layout->type);
}

size_t ct_trajectory_rows(const ct_trajectory_info* info, ct_trajectory_array array) {
    switch (ct_trajectory_layout[array].unit) {
    case CT_PER_NODE: return (size_t)info->nvert;
    case CT_PER_CELL: return (size_t)info->ntet + (size_t)info->ntri;
    case CT_PER_COORDINATE: return (size_t)info->ncoordinate;
    case CT_PER_LINK: return (size_t)info->nlink;
    case CT_PER_OBSTACLE: return (size_t)info->nobstacle;
    case CT_PER_CAVITY: return (size_t)info->ncavity;
    case CT_PER_EYELET: return (size_t)info->neyelet;
    default: return 1;
    }
}

bool ct_trajectory_has(const ct_trajectory_info* info, ct_trajectory_array array) {
    switch (array) {
    case CT_ARRAY_DISPLACEMENT: return !info->compressed;
    case CT_ARRAY_COORDINATES:
    case CT_ARRAY_POSES: return info->nlink > 0;
    case CT_ARRAY_OBSTACLE_POSES: return info->nobstacle > 0;
    case CT_ARRAY_CONTACT_FORCE:
    case CT_ARRAY_CONTACT_OFFSET:
    case CT_ARRAY_CONTACT_COUNT: return info->contact;
    case CT_ARRAY_ACTIVATION: return info->activation;
    case CT_ARRAY_CAVITIES: return info->ncavity > 0;
    case CT_ARRAY_CABLES: return info->ncable > 0;
    default: return true;
    }
}
