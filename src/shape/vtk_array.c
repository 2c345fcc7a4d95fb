// Typed arrays and cells of the VTK formats; see vtk_array.h.
#include "shape/vtk_array.h"

#include <string.h>

#include "base/memory.h"

typedef struct type_name {
    const char* name;
    ct_vtk_type type;
} type_name;

static const type_name type_names[] = {
    {"Int8", CT_VTK_INT8},
    {"UInt8", CT_VTK_UINT8},
    {"Int16", CT_VTK_INT16},
    {"UInt16", CT_VTK_UINT16},
    {"Int32", CT_VTK_INT32},
    {"UInt32", CT_VTK_UINT32},
    {"Int64", CT_VTK_INT64},
    {"UInt64", CT_VTK_UINT64},
    {"Float32", CT_VTK_FLOAT32},
    {"Float64", CT_VTK_FLOAT64},
    {"char", CT_VTK_INT8},
    {"unsigned_char", CT_VTK_UINT8},
    {"short", CT_VTK_INT16},
    {"unsigned_short", CT_VTK_UINT16},
    {"int", CT_VTK_INT32},
    {"unsigned_int", CT_VTK_UINT32},
    {"long", CT_VTK_INT64},
    {"unsigned_long", CT_VTK_UINT64},
    {"vtkIdType", CT_VTK_INT32},  // legacy files store ids as int
    {"vtktypeint8", CT_VTK_INT8},
    {"vtktypeuint8", CT_VTK_UINT8},
    {"vtktypeint16", CT_VTK_INT16},
    {"vtktypeuint16", CT_VTK_UINT16},
    {"vtktypeint32", CT_VTK_INT32},
    {"vtktypeuint32", CT_VTK_UINT32},
    {"vtktypeint64", CT_VTK_INT64},
    {"vtktypeuint64", CT_VTK_UINT64},
    {"vtktypefloat32", CT_VTK_FLOAT32},
    {"vtktypefloat64", CT_VTK_FLOAT64},
    {"signed_char", CT_VTK_INT8},
    {"float", CT_VTK_FLOAT32},
    {"double", CT_VTK_FLOAT64},
};

ct_vtk_type ct_vtk_type_of(ct_word name) {
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (ct_word_is_nocase(name, type_names[i].name)) return type_names[i].type;
    return CT_VTK_UNKNOWN;
}

size_t ct_vtk_type_size(ct_vtk_type type) {
    static const size_t size[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return size[type];
}

static uint64_t load_bits(size_t size, const char* bytes, size_t i, bool swap) {
    unsigned char b[8];
    memcpy(b, bytes + size * i, size);
    const uint16_t probe = 1;
    bool little = *(const unsigned char*)&probe == 1;
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++) bits |= (uint64_t)b[little != swap ? k : size - 1 - k] << (8 * k);
    return bits;
}

static double load_float(ct_vtk_type type, uint64_t bits) {
    if (type == CT_VTK_FLOAT32) {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t sign_extend(ct_vtk_type type, uint64_t bits) {
    switch (type) {
    case CT_VTK_INT8: return (int8_t)bits;
    case CT_VTK_INT16: return (int16_t)bits;
    case CT_VTK_INT32: return (int32_t)bits;
    default: return (int64_t)bits;
    }
}

double ct_vtk_real(ct_vtk_type type, const char* bytes, size_t i, bool swap) {
    uint64_t bits = load_bits(ct_vtk_type_size(type), bytes, i, swap);
    if (type == CT_VTK_FLOAT32 || type == CT_VTK_FLOAT64) return load_float(type, bits);
    return type == CT_VTK_UINT64 ? (double)bits : (double)sign_extend(type, bits);
}

bool ct_vtk_integer(ct_vtk_type type, const char* bytes, size_t i, bool swap, int64_t* value) {
    uint64_t bits = load_bits(ct_vtk_type_size(type), bytes, i, swap);
    if (type == CT_VTK_FLOAT32 || type == CT_VTK_FLOAT64) {
        double real = load_float(type, bits);
        if (!(real > -9e15 && real < 9e15)) return false;
        *value = (int64_t)real;
        return (double)*value == real;
    }
    *value = sign_extend(type, bits);
    return type != CT_VTK_UINT64 || *value >= 0;
}

// ---------------------------------------------------------------------------------------------
// Cells

enum {
    VERTEX = 1,
    POLY_VERTEX,
    LINE,
    POLY_LINE,
    TRIANGLE,
    STRIP,
    POLYGON,
    PIXEL,
    QUAD,
    TET,
    QUADRATIC_TRIANGLE = 22,
    QUADRATIC_TET = 24
};

bool ct_vtk_is_tag(ct_word name) {
    static const char* const known[] = {"tag",       "tags",        "gmsh:physical", "CellEntityIds",
                                        "medit:ref", "region",      "regions",       "RegionId",
                                        "material",  "MaterialIds", "cell_scalars"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (ct_word_is_nocase(name, known[i])) return true;
    return false;
}

void ct_vtk_cells_free(ct_vtk_cells* cells) {
    ct_free(cells->connectivity);
    ct_free(cells->offset);
    ct_free(cells->type);
    ct_free(cells->tag);
    *cells = (ct_vtk_cells){0};
}

static const char* cell_name(int64_t type) {
    switch (type) {
    case 11: return "voxel";
    case 12: return "hexahedron";
    case 13: return "wedge";
    case 14: return "pyramid";
    case 25: return "second-order hexahedron";
    case 42: return "polyhedron";
    case 71: return "Lagrange tetrahedron";
    default: return "cell of another kind";
    }
}

// The node at place k of the cell, range-checked against the nodes of this piece.
static ct_status cell_node(const ct_vtk_cells* cells, size_t cell, size_t k, const ct_mesh_builder* builder,
                           int first_node, const ct_scan* scan, int* node) {
    int64_t value = cells->connectivity[(size_t)cells->offset[cell] + k];
    int nvert = builder->mesh->nvert - first_node;
    if (value < 0 || value >= nvert)
        return ct_scan_fail(scan, "node %lld of cell %zu is out of range: the file has %d nodes (0 to %d)",
                            (long long)value, cell, nvert, nvert - 1);
    *node = (int)value + first_node;
    return CT_OK;
}

// Triangles (0, k - 1, k) of a polygon; (k - 2, k - 1, k), every other one turned, of a strip.
static ct_status add_triangles(const ct_vtk_cells* cells, size_t cell, size_t size, ct_mesh_builder* builder,
                               int first_node, const ct_scan* scan, int tag) {
    bool strip = cells->type[cell] == STRIP;
    for (size_t k = 2; k < size; k++) {
        size_t place[3] = {strip ? k - 2 : 0, k - 1, k};
        if (strip && k % 2) place[0] = k - 1, place[1] = k - 2;
        int node[3];
        for (int i = 0; i < 3; i++) {
            ct_status status = cell_node(cells, cell, place[i], builder, first_node, scan, &node[i]);
            if (status != CT_OK) return status;
        }
        ct_mesh_builder_tri(builder, node, tag);
    }
    return CT_OK;
}

// How many nodes a cell of this type has, 0: any number.
static size_t nodes_of(int64_t type) {
    switch (type) {
    case TRIANGLE: return 3;
    case QUAD:
    case TET: return 4;
    case QUADRATIC_TRIANGLE: return 6;
    case QUADRATIC_TET: return 10;
    default: return 0;
    }
}

static ct_status add_cell(const ct_vtk_cells* cells, size_t cell, ct_mesh_builder* builder, int first_node,
                          const ct_scan* scan) {
    int64_t type = cells->type[cell], tag = cells->tag ? cells->tag[cell] : 0;
    size_t size = (size_t)(cells->offset[cell + 1] - cells->offset[cell]);
    if (tag < INT32_MIN || tag > INT32_MAX)
        return ct_scan_fail(scan, "the tag of cell %zu does not fit 32 bits: use small numbers", cell);
    if (type >= VERTEX && type <= POLY_LINE) return CT_OK;
    const size_t wanted = nodes_of(type);
    if (wanted && size != wanted)
        return ct_scan_fail(scan, "cell %zu has %zu nodes, its type needs %zu: the file is damaged", cell,
                            size, wanted);
    if (type == TET || type == QUADRATIC_TET || type == QUADRATIC_TRIANGLE) {
        int node[10];
        for (size_t k = 0; k < wanted; k++) {
            ct_status status = cell_node(cells, cell, k, builder, first_node, scan, &node[k]);
            if (status != CT_OK) return status;
        }
        if (type == TET) ct_mesh_builder_tet(builder, node, (int)tag);
        else if (type == QUADRATIC_TET) ct_mesh_builder_tet10(builder, node, (int)tag);
        else ct_mesh_builder_tri6(builder, node, (int)tag);
        return CT_OK;
    }
    if (wanted || type == STRIP || type == POLYGON)
        return add_triangles(cells, cell, size, builder, first_node, scan, (int)tag);
    return ct_scan_fail_as(scan, CT_UNSUPPORTED,
                           "cell %zu is a %s (type %lld); only tets and triangles of first and second order "
                           "can be read: convert "
                           "it to tets",
                           cell, cell_name(type), (long long)type);
}

ct_status ct_vtk_cells_build(const ct_vtk_cells* cells, ct_mesh_builder* builder, int first_node,
                             ct_scan* scan) {
    scan->line = 0;
    for (size_t i = 0; i < cells->ncell; i++) {
        ct_scan_item(scan, "cell", (long)i);
        if (cells->offset[i] < 0 || cells->offset[i + 1] < cells->offset[i] ||
            cells->offset[i + 1] > (int64_t)cells->nconnectivity)
            return ct_scan_fail(scan, "the offset of cell %zu is out of range: the file is damaged", i);
        ct_status status = add_cell(cells, i, builder, first_node, scan);
        if (status != CT_OK) return status;
        if (builder->out_of_memory) return ct_scan_out_of_memory(scan);
    }
    return CT_OK;
}

int ct_vtk_cell_type(const ct_mesh* mesh, const int* tri_mid, int i) {
    if (i < mesh->ntet) return mesh->mid ? QUADRATIC_TET : TET;
    return tri_mid ? QUADRATIC_TRIANGLE : TRIANGLE;
}

void ct_vtk_write_cell(FILE* stream, const ct_mesh* mesh, const int* tri_mid, int i) {
    const bool tet = i < mesh->ntet;
    const size_t corners = tet ? 4 : 3, edges = tet ? 6 : 3, k = (size_t)(tet ? i : i - mesh->ntet);
    const int* mid = tet ? mesh->mid : tri_mid;
    const int* node = (tet ? mesh->tet : mesh->tri) + corners * k;
    fprintf(stream, "%d", node[0]);
    ct_mesh_write_nodes(stream, node + 1, (int)corners - 1, 0);
    if (mid) ct_mesh_write_nodes(stream, mid + edges * k, (int)edges, 0);
    fputc('\n', stream);
}
