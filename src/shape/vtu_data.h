// The values of one <DataArray> of a VTK XML file, decoded into memory.
#ifndef CT_SHAPE_VTU_DATA_H
#define CT_SHAPE_VTU_DATA_H

#include "shape/vtk_array.h"
#include "text/scan.h"

typedef struct ct_vtu_coding {
    bool swap;           // byte_order is not this machine's
    bool compressed;     // vtkZLibDataCompressor
    size_t header_size;  // 4 or 8: bytes of each number of a block header
} ct_vtu_coding;

typedef struct ct_vtu_array {
    ct_vtk_type type;
    char* bytes;  // freed by ct_free; NULL: not read
    size_t size;  // bytes
    bool swap;
} ct_vtu_array;

// ASCII values; the text runs to the end of `text`. They are stored as type, in native order.
ct_status ct_vtu_read_text(ct_scan* text, ct_vtu_array* array);
// A block at the beginning of `text`: base64 or raw, compressed or not.
ct_status ct_vtu_read_binary(ct_scan* text, bool base64, const ct_vtu_coding* coding, ct_vtu_array* array);

#endif
