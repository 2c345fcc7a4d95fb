// Legacy VTK files (.vtk): UNSTRUCTURED_GRID and POLYDATA, ASCII and binary, versions 1 to 5.1.
//
// Binary numbers are big-endian. Before version 5 cells are lists "n i0 .. in-1"; since 5.1 there are OFFSETS
// and CONNECTIVITY arrays. A scalar array of CELL_DATA with a name such as "tag" or "gmsh:physical" gives the
// tags.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh_io.h"
#include "shape/vtk_array.h"

typedef struct vtk {
    ct_scan scan;
    ct_mesh_builder* builder;
    bool binary, polydata;
    ct_vtk_cells cells;
    size_t connectivity_room, offset_room, type_room;
    int cell_data_count;  // of the CELL_DATA section that is being read, -1 outside one
} vtk;

// ---------------------------------------------------------------------------------------------
// Arrays

// Starts an array of `count` values: checks that the file can hold it; in binary, *bytes points at it.
static ct_status begin_array(vtk* v, ct_vtk_type type, const char* things, uint64_t count,
                             const char** bytes) {
    *bytes = NULL;
    size_t size = ct_vtk_type_size(type);
    if (!size) return ct_scan_fail(&v->scan, "the number type of the %s is not known", things);
    if (!v->binary) return ct_scan_check_count(&v->scan, things, count, 2);
    ct_scan_rest(&v->scan);
    ct_status status = ct_scan_check_count(&v->scan, things, count, size);
    if (status != CT_OK) return status;
    *bytes = ct_scan_bytes(&v->scan, (size_t)count * size);
    return *bytes ? CT_OK : ct_scan_fail(&v->scan, "the file ends within the %s: it was cut short", things);
}

// The numbers of binary files are big-endian.
static bool swapped(void) {
    const uint16_t probe = 1;
    return *(const unsigned char*)&probe == 1;
}

static ct_status next_integer(vtk* v, ct_vtk_type type, const char* bytes, size_t i, int64_t* value) {
    if (!bytes) return ct_scan_integer(&v->scan, value);
    if (ct_vtk_integer(type, bytes, i, swapped(), value)) return CT_OK;
    return ct_scan_fail(&v->scan, "entry %zu is not an integer", i);
}

static ct_status next_real(vtk* v, ct_vtk_type type, const char* bytes, size_t i, double* value) {
    if (!bytes) return ct_scan_real(&v->scan, value);
    *value = ct_vtk_real(type, bytes, i, swapped());
    if (isfinite(*value)) return CT_OK;
    return ct_scan_fail(&v->scan, "node %ld: a coordinate is not a finite number: correct or remove it",
                        v->scan.index);
}

static ct_status skip_array(vtk* v, ct_vtk_type type, uint64_t count) {
    const char* bytes;
    ct_status status = begin_array(v, type, "values", count, &bytes);
    ct_word word;
    for (uint64_t i = 0; status == CT_OK && !v->binary && i < count; i++)
        if (!ct_scan_word(&v->scan, &word))
            status = ct_scan_fail(&v->scan, "the file ends within an array: it was cut short");
    return status;
}

static ct_status read_word(vtk* v, const char* what, ct_word* word) {
    return ct_scan_word(&v->scan, word)
               ? CT_OK
               : ct_scan_fail(&v->scan, "the file ends where %s should be: it was cut short", what);
}

// METADATA and the lines after it, up to a blank one.
static void skip_metadata(vtk* v) {
    ct_scan_rest(&v->scan);
    while (ct_scan_rest(&v->scan).size) {
    }
}

// A non-negative count that is small enough to multiply.
static ct_status read_number(vtk* v, const char* things, int* count) {
    return ct_scan_count(&v->scan, things, 0, count);
}

// ---------------------------------------------------------------------------------------------
// Geometry

static ct_status read_points(vtk* v) {
    int count;
    ct_word type_word;
    const char* bytes;
    if (v->builder->mesh->nvert) return ct_scan_fail(&v->scan, "the file has two POINTS sections: keep one");
    ct_status status = read_number(v, "nodes", &count);
    if (status == CT_OK) status = read_word(v, "the type of the points", &type_word);
    if (status != CT_OK) return status;
    ct_vtk_type type = ct_vtk_type_of(type_word);
    status = begin_array(v, type, "coordinates", 3 * (uint64_t)count, &bytes);
    for (int i = 0; i < count && status == CT_OK; i++) {
        double x[3];
        ct_scan_item(&v->scan, "node", i);
        for (size_t a = 0; a < 3 && status == CT_OK; a++)
            status = next_real(v, type, bytes, 3 * (size_t)i + a, &x[a]);
        if (status == CT_OK) ct_mesh_builder_node(v->builder, x);
    }
    return status;
}

static ct_status reserve_cells(vtk* v, size_t ncell, size_t nconnectivity) {
    ct_vtk_cells* cells = &v->cells;
    bool enough =
        ct_reserve((void**)&cells->offset, &v->offset_room, cells->ncell + ncell + 1, sizeof(int64_t)) &&
        ct_reserve((void**)&cells->type, &v->type_room, cells->ncell + ncell + 1, sizeof(int64_t)) &&
        ct_reserve((void**)&cells->connectivity, &v->connectivity_room,
                   cells->nconnectivity + nconnectivity + 1, sizeof(int64_t));
    return enough ? CT_OK : ct_scan_out_of_memory(&v->scan);
}

// "n i0 .. in-1" for each of `count` cells, `size` numbers in all.
static ct_status read_cell_lists(vtk* v, int count, int size, int64_t type) {
    ct_vtk_cells* cells = &v->cells;
    const char* bytes;
    ct_status status = begin_array(v, CT_VTK_INT32, "cell entries", (uint64_t)size, &bytes);
    if (status == CT_OK && count > size)
        status = ct_scan_fail(&v->scan, "%d cells cannot fit in %d numbers", count, size);
    if (status == CT_OK) status = reserve_cells(v, (size_t)count, (size_t)size);
    size_t used = 0;
    for (int i = 0; i < count && status == CT_OK; i++) {
        int64_t length;
        ct_scan_item(&v->scan, "cell", i);
        if (used == (size_t)size)
            return ct_scan_fail(&v->scan,
                                "the cells need more than the %d numbers announced: correct the count", size);
        status = next_integer(v, CT_VTK_INT32, bytes, used++, &length);
        if (status != CT_OK) return status;
        if (length < 0 || length > (int64_t)((size_t)size - used))
            return ct_scan_fail(
                &v->scan, "cell %d announces %lld nodes, more than the section holds: the count is wrong", i,
                (long long)length);
        cells->offset[cells->ncell] = (int64_t)cells->nconnectivity;
        cells->type[cells->ncell++] = type;
        for (int64_t k = 0; k < length && status == CT_OK; k++)
            status =
                next_integer(v, CT_VTK_INT32, bytes, used++, &cells->connectivity[cells->nconnectivity++]);
        cells->offset[cells->ncell] = (int64_t)cells->nconnectivity;
    }
    return status;
}

static ct_status read_integers(vtk* v, const char* keyword, int count, int64_t* values) {
    ct_word word, type_word;
    const char* bytes;
    ct_status status = read_word(v, keyword, &word);
    if (status == CT_OK && !ct_word_is_nocase(word, keyword))
        status = ct_scan_fail(&v->scan, "expected %s", keyword);
    if (status == CT_OK) status = read_word(v, "a number type", &type_word);
    if (status != CT_OK) return status;
    ct_vtk_type type = ct_vtk_type_of(type_word);
    status = begin_array(v, type, keyword, (uint64_t)count, &bytes);
    for (int i = 0; i < count && status == CT_OK; i++)
        status = next_integer(v, type, bytes, (size_t)i, &values[i]);
    return status;
}

// Version 5.1: `count` offsets (one more than there are cells) and `size` node indices.
static ct_status read_cell_offsets(vtk* v, int count, int size, int64_t type) {
    ct_vtk_cells* cells = &v->cells;
    if (count == 0) return CT_OK;
    ct_status status = ct_scan_check_count(&v->scan, "cells", (uint64_t)count, v->binary ? 4 : 2);
    if (status == CT_OK)
        status = ct_scan_check_count(&v->scan, "cell entries", (uint64_t)size, v->binary ? 4 : 2);
    if (status == CT_OK) status = reserve_cells(v, (size_t)count, (size_t)size);
    if (status == CT_OK) status = read_integers(v, "OFFSETS", count, cells->offset + cells->ncell);
    if (status == CT_OK)
        status = read_integers(v, "CONNECTIVITY", size, cells->connectivity + cells->nconnectivity);
    if (status != CT_OK) return status;
    for (int i = 0; i < count; i++) {
        int64_t* offset = &cells->offset[cells->ncell + (size_t)i];
        if (*offset < 0 || *offset > size)
            return ct_scan_fail(&v->scan, "the offset of cell %d is out of range: the file is damaged", i);
        *offset += (int64_t)cells->nconnectivity;
        if (i < count - 1) cells->type[cells->ncell + (size_t)i] = type;
    }
    cells->ncell += (size_t)count - 1;
    cells->nconnectivity += (size_t)size;
    return CT_OK;
}

// CELLS, POLYGONS, ...: both layouts; type is that of every cell, 0 when CELL_TYPES follows.
static ct_status read_cells(vtk* v, int64_t type) {
    int count, size;
    ct_status status = read_number(v, "cells", &count);
    if (status == CT_OK) status = read_number(v, "cell entries", &size);
    if (status != CT_OK) return status;
    ct_scan ahead = v->scan;
    ct_word word;
    if (ct_scan_word(&ahead, &word) && ct_word_is_nocase(word, "OFFSETS"))
        return read_cell_offsets(v, count, size, type);
    return read_cell_lists(v, count, size, type);
}

static ct_status read_cell_types(vtk* v) {
    int count;
    const char* bytes;
    ct_status status = read_number(v, "cell types", &count);
    if (status == CT_OK && (size_t)count != v->cells.ncell)
        status = ct_scan_fail(&v->scan, "the file has %zu cells but %d cell types: one each is needed",
                              v->cells.ncell, count);
    if (status == CT_OK) status = begin_array(v, CT_VTK_INT32, "cell types", (uint64_t)count, &bytes);
    for (int i = 0; i < count && status == CT_OK; i++)
        status = next_integer(v, CT_VTK_INT32, bytes, (size_t)i, &v->cells.type[i]);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Attributes

// A line each in text; in binary the length stands in front, its two highest bits say in how many bytes.
static ct_status skip_strings(vtk* v, uint64_t count) {
    ct_status status = ct_scan_check_count(&v->scan, "strings", count, 1);
    ct_scan_rest(&v->scan);
    for (uint64_t i = 0; i < count && status == CT_OK; i++) {
        if (!v->binary) {
            ct_scan_rest(&v->scan);
            continue;
        }
        static const size_t following[] = {7, 3, 1, 0};
        const char* head = ct_scan_bytes(&v->scan, 1);
        const char* more = head ? ct_scan_bytes(&v->scan, following[(unsigned char)*head >> 6]) : NULL;
        uint64_t length = head ? (unsigned char)*head & 63 : 0;
        for (size_t k = 0; more && k < following[(unsigned char)*head >> 6]; k++)
            length = length << 8 | (unsigned char)more[k];
        if (!more || length > ct_scan_left(&v->scan))
            return ct_scan_fail(&v->scan, "the file ends within a string: it was cut short");
        ct_scan_bytes(&v->scan, (size_t)length);
    }
    return status;
}

static ct_status read_array(vtk* v, ct_word name, ct_word type_word, int components, int count) {
    ct_vtk_cells* cells = &v->cells;
    uint64_t total = (uint64_t)components * (uint64_t)count;
    if (ct_word_is_nocase(type_word, "string") || ct_word_is_nocase(type_word, "utf8_string"))
        return skip_strings(v, total);
    if (ct_word_is_nocase(type_word, "bit"))
        return skip_array(v, CT_VTK_UINT8, v->binary ? (total + 7) / 8 : total);
    ct_vtk_type type = ct_vtk_type_of(type_word);
    bool wanted = v->cell_data_count >= 0 && !cells->tag && components == 1 &&
                  (size_t)count == cells->ncell && ct_vtk_is_tag(name);
    if (!wanted) return skip_array(v, type, total);
    const char* bytes;
    ct_status status = begin_array(v, type, "tags", (uint64_t)count, &bytes);
    if (status != CT_OK) return status;
    cells->tag = ct_alloc((size_t)count, sizeof(int64_t));
    if (!cells->tag) return ct_scan_out_of_memory(&v->scan);
    for (int i = 0; i < count && status == CT_OK; i++) {
        double real;
        ct_scan_item(&v->scan, "tag of cell", i);
        status = next_real(v, type, bytes, (size_t)i, &real);
        if (status == CT_OK && !(fabs(real) < 2e9))
            status = ct_scan_fail(&v->scan, "the tag of cell %d does not fit 32 bits", i);
        if (status == CT_OK) cells->tag[i] = (int64_t)real;
    }
    return status;
}

// SCALARS name type [components] / LOOKUP_TABLE name / values
static ct_status read_scalars(vtk* v, int count) {
    ct_word name, type_word, word;
    int64_t components = 1;
    ct_status status = read_word(v, "a name", &name);
    if (status == CT_OK) status = read_word(v, "a number type", &type_word);
    if (status != CT_OK) return status;
    if (ct_scan_word_here(&v->scan, &word) &&
        (!ct_word_integer(word, &components) || components < 1 || components > 9))
        return ct_scan_fail(&v->scan, "SCALARS has 1 to 4 components");
    ct_scan ahead = v->scan;
    if (ct_scan_word(&ahead, &word) && ct_word_is_nocase(word, "LOOKUP_TABLE")) {
        if (!ct_scan_word_here(&ahead, &word)) return ct_scan_fail(&v->scan, "LOOKUP_TABLE needs a name");
        v->scan = ahead;
    }
    return read_array(v, name, type_word, (int)components, count);
}

// FIELD name n, then n times: name components tuples type / values
static ct_status read_field(vtk* v) {
    ct_word word, name, type_word;
    int narray, components, tuples;
    ct_status status = read_word(v, "a name", &word);
    if (status == CT_OK) status = read_number(v, "arrays", &narray);
    for (int i = 0; status == CT_OK && i < narray; i++) {
        status = read_word(v, "the name of an array", &name);
        if (status == CT_OK && ct_word_is(name, "METADATA")) {
            skip_metadata(v);
            status = read_word(v, "the name of an array", &name);
        }
        if (status == CT_OK) status = read_number(v, "components", &components);
        if (status == CT_OK) status = read_number(v, "tuples", &tuples);
        if (status == CT_OK) status = read_word(v, "a number type", &type_word);
        if (status == CT_OK) status = read_array(v, name, type_word, components, tuples);
    }
    return status;
}

// Attributes with a number of components after the name; nothing in them matters here. Colours are floats in
// text and bytes in binary, a table of colours has its own count.
static ct_status skip_colors(vtk* v, ct_word key, int count) {
    ct_word name, type_word;
    int number;
    ct_vtk_type type = v->binary ? CT_VTK_UINT8 : CT_VTK_FLOAT32;
    ct_status status = read_word(v, "a name", &name);
    if (status == CT_OK) status = read_number(v, "components", &number);
    if (status != CT_OK) return status;
    if (ct_word_is(key, "LOOKUP_TABLE")) return skip_array(v, type, 4 * (uint64_t)number);
    if (ct_word_is(key, "TEXTURE_COORDINATES")) {
        status = read_word(v, "a number type", &type_word);
        if (status != CT_OK) return status;
        type = ct_vtk_type_of(type_word);
    }
    return skip_array(v, type, (uint64_t)number * (uint64_t)count);
}

static ct_status read_attribute(vtk* v, ct_word key, int count) {
    static const struct {
        const char* key;
        int components;
    } fixed[] = {{"VECTORS", 3},  {"NORMALS", 3},    {"TENSORS", 9},
                 {"TENSORS6", 6}, {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}};
    if (ct_word_is(key, "SCALARS")) return read_scalars(v, count);
    if (ct_word_is(key, "FIELD")) return read_field(v);
    if (ct_word_is(key, "COLOR_SCALARS") || ct_word_is(key, "LOOKUP_TABLE") ||
        ct_word_is(key, "TEXTURE_COORDINATES"))
        return skip_colors(v, key, count);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        ct_word name, type_word;
        if (!ct_word_is(key, fixed[i].key)) continue;
        ct_status status = read_word(v, "a name", &name);
        if (status == CT_OK) status = read_word(v, "a number type", &type_word);
        return status == CT_OK ? read_array(v, name, type_word, fixed[i].components, count) : status;
    }
    return ct_scan_fail_as(&v->scan, CT_UNSUPPORTED,
                           "the keyword '%.*s' cannot be read: save the mesh without that data",
                           (int)(key.size < 32 ? key.size : 32), key.text);
}

// ---------------------------------------------------------------------------------------------
// The file

static ct_status read_header(vtk* v) {
    ct_word line = ct_scan_rest(&v->scan), word;
    if (line.size < 5 || memcmp(line.text, "# vtk", 5) != 0)
        return ct_scan_fail(
            &v->scan, "the first line is not '# vtk DataFile Version ...': this is not a legacy VTK file");
    ct_scan_rest(&v->scan);  // title
    ct_word kind = ct_scan_rest(&v->scan);
    v->binary = ct_word_is_nocase(kind, "BINARY");
    if (!v->binary && !ct_word_is_nocase(kind, "ASCII"))
        return ct_scan_fail(&v->scan, "the third line must be ASCII or BINARY");
    if (!ct_scan_word(&v->scan, &word) || !ct_word_is_nocase(word, "DATASET") ||
        !ct_scan_word(&v->scan, &word))
        return ct_scan_fail(&v->scan, "expected DATASET UNSTRUCTURED_GRID or DATASET POLYDATA");
    v->polydata = ct_word_is_nocase(word, "POLYDATA");
    if (v->polydata || ct_word_is_nocase(word, "UNSTRUCTURED_GRID")) return CT_OK;
    return ct_scan_fail_as(&v->scan, CT_UNSUPPORTED,
                           "DATASET %.*s is not a mesh of tets or triangles: save an unstructured grid",
                           (int)(word.size < 32 ? word.size : 32), word.text);
}

static ct_status read_keyword(vtk* v, ct_word key, int* count) {
    if (ct_word_is_nocase(key, "METADATA")) {
        skip_metadata(v);
        return CT_OK;
    }
    if (ct_word_is_nocase(key, "POINTS")) return read_points(v);
    if (ct_word_is_nocase(key, "CELLS")) return read_cells(v, 0);
    if (ct_word_is_nocase(key, "CELL_TYPES")) return read_cell_types(v);
    if (ct_word_is_nocase(key, "VERTICES")) return read_cells(v, 2);
    if (ct_word_is_nocase(key, "LINES")) return read_cells(v, 4);
    if (ct_word_is_nocase(key, "POLYGONS")) return read_cells(v, 7);
    if (ct_word_is_nocase(key, "TRIANGLE_STRIPS")) return read_cells(v, 6);
    bool cell_data = ct_word_is_nocase(key, "CELL_DATA");
    if (cell_data || ct_word_is_nocase(key, "POINT_DATA")) {
        ct_status status = read_number(v, "values", count);
        v->cell_data_count = cell_data ? *count : -1;
        return status;
    }
    return read_attribute(v, key, *count);
}

static ct_status read_file(vtk* v) {
    ct_status status = read_header(v);
    ct_word key;
    int count = 0;
    while (status == CT_OK && ct_scan_word(&v->scan, &key)) {
        ct_scan_item(&v->scan, NULL, -1);
        status = read_keyword(v, key, &count);
        if (v->builder->out_of_memory) status = ct_scan_out_of_memory(&v->scan);
    }
    return status == CT_OK ? ct_vtk_cells_build(&v->cells, v->builder, 0, &v->scan) : status;
}

ct_status ct_mesh_read_vtk(ct_mesh_builder* builder, const ct_mesh_source* source) {
    vtk v = {.scan = ct_scan_begin(source->bytes, source->size, source->file, source->error),
             .builder = builder,
             .cell_data_count = -1};
    ct_status status = read_file(&v);
    ct_vtk_cells_free(&v.cells);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Writing: ASCII, version 3, tets first

ct_status ct_mesh_write_vtk(FILE* stream, const ct_mesh* mesh, int part) {
    (void)part;
    int ncell = mesh->ntet + mesh->ntri, *tri_mid;
    ct_status status = ct_mesh_write_middles(mesh, &tri_mid);
    const int tet_size = mesh->mid ? 10 : 4, tri_size = tri_mid ? 6 : 3;
    fprintf(stream, "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n",
            mesh->nvert);
    for (int v = 0; v < mesh->nvert; v++) {
        ct_mesh_write_point(stream, mesh->x + 3 * (size_t)v);
        fputc('\n', stream);
    }
    fprintf(stream, "CELLS %d %lld\n", ncell,
            (tet_size + 1) * (long long)mesh->ntet + (tri_size + 1) * (long long)mesh->ntri);
    for (int i = 0; i < ncell; i++) {
        fprintf(stream, "%d ", i < mesh->ntet ? tet_size : tri_size);
        ct_vtk_write_cell(stream, mesh, tri_mid, i);
    }
    fprintf(stream, "CELL_TYPES %d\n", ncell);
    for (int i = 0; i < ncell; i++) fprintf(stream, "%d\n", ct_vtk_cell_type(mesh, tri_mid, i));
    fprintf(stream, "CELL_DATA %d\nSCALARS tag int 1\nLOOKUP_TABLE default\n", ncell);
    for (int i = 0; i < ncell; i++)
        fprintf(stream, "%d\n", i < mesh->ntet ? mesh->tet_tag[i] : mesh->tri_tag[i - mesh->ntet]);
    ct_free(tri_mid);
    return status;
}
