// VTK XML files (.vtu): ASCII, base64 and appended (raw or base64) data, plain or zlib-compressed.
//
// Of the XML only these elements matter:
//   VTKFile(type byte_order header_type compressor), UnstructuredGrid, Piece(NumberOfPoints NumberOfCells),
//   Points, Cells, CellData, DataArray(Name type format offset NumberOfComponents), AppendedData(encoding).
// What follows the '_' of AppendedData may be raw bytes: reading the XML ends there. Several pieces are put
// one after another. Integer cell data with a name such as "tag" gives the tags.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh_io.h"
#include "shape/vtu_data.h"
#include "text/xml.h"

enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, TAGS, NARRAY };

typedef struct vtu {
    ct_scan scan;  // of the whole file; `line` is that of the element at hand
    ct_mesh_builder* builder;
    ct_vtu_coding coding;
    const char* appended;  // the character after '_' of AppendedData, NULL: none
    bool appended_base64;
    int64_t npoint, ncell;  // of the present piece
    ct_vtu_array array[NARRAY];
} vtu;

// ---------------------------------------------------------------------------------------------
// Header

// An attribute's value; nothing when it is absent.
static ct_word attribute(const ct_xml* from, const char* name) {
    const char* value = ct_xml_get(from, name);
    return value ? (ct_word){value, strlen(value)} : (ct_word){"", 0};
}

static ct_status count_attribute(const vtu* v, const ct_xml* from, const char* name, int64_t* value) {
    if (!ct_word_integer(attribute(from, name), value) || *value < 0)
        return ct_scan_fail(&v->scan, "<%s> needs %s as a non-negative integer", from->name, name);
    return ct_scan_check_count(&v->scan, name, (uint64_t)*value, 0);
}

static ct_status read_file_element(vtu* v, const ct_xml* root) {
    ct_word order = attribute(root, "byte_order"), header = attribute(root, "header_type"),
            compressor = attribute(root, "compressor");
    const uint16_t probe = 1;
    bool little = *(const unsigned char*)&probe == 1;
    if (strcmp(root->name, "VTKFile"))
        return ct_scan_fail(&v->scan, "the file does not start with <VTKFile>: this is not a .vtu file");
    if (!ct_word_is(attribute(root, "type"), "UnstructuredGrid"))
        return ct_scan_fail_as(&v->scan, CT_UNSUPPORTED,
                               "the VTK file is not an UnstructuredGrid: save the mesh as .vtu");
    if (order.size) v->coding.swap = ct_word_is(order, "BigEndian") ? little : !little;
    if (header.size && !ct_word_is(header, "UInt64") && !ct_word_is(header, "UInt32"))
        return ct_scan_fail(&v->scan, "header_type must be UInt32 or UInt64");
    v->coding.header_size = ct_word_is(header, "UInt64") ? 8 : 4;
    v->coding.compressed = compressor.size > 0;
    if (compressor.size && !ct_word_is(compressor, "vtkZLibDataCompressor"))
        return ct_scan_fail_as(&v->scan, CT_UNSUPPORTED,
                               "the compressor %.40s is not supported: save with zlib or without compression",
                               compressor.text);
    return CT_OK;
}

static ct_status find_appended(vtu* v, const ct_xml* root) {
    const ct_xml* from = ct_xml_child(root, "AppendedData");
    if (!from) return CT_OK;
    const char* mark = memchr(from->text, '_', from->text_size);
    v->scan.line = from->line;
    if (!mark)
        return ct_scan_fail(&v->scan, "<AppendedData> has no '_' before its data: the file is damaged");
    v->appended_base64 = !ct_word_is(attribute(from, "encoding"), "raw");
    v->appended = mark + 1;
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Arrays

// Which array this is, NARRAY when it is of no interest.
static int array_slot(const ct_xml* from) {
    const char* group = from->parent->name;
    ct_word name = attribute(from, "Name"), components = attribute(from, "NumberOfComponents");
    if (strcmp(from->name, "DataArray")) return NARRAY;
    if (!strcmp(group, "Points")) return POINTS;
    bool cells = !strcmp(group, "Cells"), scalar = !components.size || ct_word_is(components, "1");
    if (cells && ct_word_is(name, "connectivity")) return CONNECTIVITY;
    if (cells && ct_word_is(name, "offsets")) return OFFSETS;
    if (cells && ct_word_is(name, "types")) return TYPES;
    return !strcmp(group, "CellData") && scalar && ct_vtk_is_tag(name) ? TAGS : NARRAY;
}

static ct_status read_appended(const vtu* v, const ct_xml* from, ct_vtu_array* array) {
    int64_t offset;
    ct_scan data = v->scan;
    if (!v->appended)
        return ct_scan_fail(
            &v->scan, "a data array is appended, but there is no <AppendedData>: the file was cut short");
    if (!ct_word_integer(attribute(from, "offset"), &offset) || offset < 0 || offset > data.end - v->appended)
        return ct_scan_fail(
            &v->scan,
            "the offset of a data array is missing or beyond the end of the file: it was cut short");
    data.at = v->appended + offset;
    data.line = 0;
    return ct_vtu_read_binary(&data, v->appended_base64, &v->coding, array);
}

static ct_status read_array(vtu* v, const ct_xml* from) {
    int slot = array_slot(from);
    if (slot == NARRAY || v->array[slot].bytes) return CT_OK;
    ct_vtu_array* array = &v->array[slot];
    ct_word format = attribute(from, "format");
    v->scan.line = from->line;
    array->type = ct_vtk_type_of(attribute(from, "type"));
    if (array->type == CT_VTK_UNKNOWN)
        return ct_scan_fail(&v->scan, "a <DataArray> has no known type (Float64, Int64, ...)");
    if (ct_word_is(format, "appended")) return read_appended(v, from, array);
    if (!from->text_size) return CT_OK;
    ct_scan text = v->scan;
    text.at = from->text;
    text.end = from->text + from->text_size;
    text.line = from->text_line;
    return ct_word_is(format, "binary") ? ct_vtu_read_binary(&text, true, &v->coding, array)
                                        : ct_vtu_read_text(&text, array);
}

// ---------------------------------------------------------------------------------------------
// Pieces

static void free_arrays(vtu* v) {
    for (int i = 0; i < NARRAY; i++) ct_free(v->array[i].bytes);
    memset(v->array, 0, sizeof v->array);
}

static size_t array_count(const ct_vtu_array* array) {
    return array->bytes ? array->size / ct_vtk_type_size(array->type) : 0;
}

static ct_status add_points(vtu* v) {
    const ct_vtu_array* points = &v->array[POINTS];
    if (array_count(points) < 3 * (uint64_t)v->npoint)
        return ct_scan_fail(&v->scan,
                            "<Points> holds %zu numbers, %lld nodes need %lld: the file was cut short or the "
                            "counts are wrong",
                            array_count(points), (long long)v->npoint, 3 * (long long)v->npoint);
    for (size_t i = 0; i < (size_t)v->npoint; i++) {
        double x[3];
        for (size_t a = 0; a < 3; a++) {
            x[a] = ct_vtk_real(points->type, points->bytes, 3 * i + a, points->swap);
            if (isfinite(x[a])) continue;
            v->scan.index = (long)i;
            return ct_scan_fail(&v->scan,
                                "node %zu: a coordinate is not a finite number: correct or remove it", i);
        }
        ct_mesh_builder_node(v->builder, x);
    }
    return CT_OK;
}

// The integers of an array; *values is freed by the caller and has room for one more in front.
static ct_status integers(vtu* v, int slot, size_t count, size_t front, const char* name, int64_t** values) {
    const ct_vtu_array* array = &v->array[slot];
    if (array_count(array) < count)
        return ct_scan_fail(&v->scan,
                            "the array '%s' holds %zu numbers, %zu are needed: the file was cut short or the "
                            "counts are wrong",
                            name, array_count(array), count);
    *values = ct_alloc(count + front, sizeof **values);
    if (!*values) return ct_scan_out_of_memory(&v->scan);
    for (size_t i = 0; i < count; i++)
        if (!ct_vtk_integer(array->type, array->bytes, i, array->swap, &(*values)[front + i]))
            return ct_scan_fail(&v->scan, "entry %zu of the array '%s' is not an integer", i, name);
    return CT_OK;
}

static ct_status add_cells(vtu* v, int first_node) {
    ct_vtk_cells cells = {.ncell = (size_t)v->ncell, .nconnectivity = array_count(&v->array[CONNECTIVITY])};
    ct_status status = integers(v, CONNECTIVITY, cells.nconnectivity, 0, "connectivity", &cells.connectivity);
    // offset[0] stays 0
    if (status == CT_OK) status = integers(v, OFFSETS, cells.ncell, 1, "offsets", &cells.offset);
    if (status == CT_OK) status = integers(v, TYPES, cells.ncell, 0, "types", &cells.type);
    if (status == CT_OK && v->array[TAGS].bytes)
        status = integers(v, TAGS, cells.ncell, 0, "tag", &cells.tag);
    if (status == CT_OK) status = ct_vtk_cells_build(&cells, v->builder, first_node, &v->scan);
    ct_vtk_cells_free(&cells);
    return status;
}

static ct_status read_arrays(vtu* v, const ct_xml* piece) {
    ct_status status = CT_OK;
    for (const ct_xml* group = piece->child; group && status == CT_OK; group = group->next)
        for (const ct_xml* array = group->child; array && status == CT_OK; array = array->next)
            status = read_array(v, array);
    return status;
}

static ct_status read_piece(vtu* v, const ct_xml* piece) {
    int first_node = v->builder->mesh->nvert;
    v->scan.line = piece->line;
    v->scan.index = -1;
    ct_status status = count_attribute(v, piece, "NumberOfPoints", &v->npoint);
    if (status == CT_OK) status = count_attribute(v, piece, "NumberOfCells", &v->ncell);
    if (status == CT_OK) status = read_arrays(v, piece);
    v->scan.line = piece->line;
    if (status == CT_OK) status = add_points(v);
    if (status == CT_OK && v->builder->out_of_memory) status = ct_scan_out_of_memory(&v->scan);
    if (status == CT_OK) status = add_cells(v, first_node);
    free_arrays(v);
    return status;
}

static ct_status read_document(vtu* v, const ct_xml* root) {
    v->scan.line = root->line;
    ct_status status = read_file_element(v, root);
    if (status == CT_OK) status = find_appended(v, root);
    const ct_xml* grid = ct_xml_child(root, "UnstructuredGrid");
    const ct_xml* piece = grid ? ct_xml_child(grid, "Piece") : NULL;
    for (; piece && status == CT_OK; piece = ct_xml_next(piece, "Piece")) status = read_piece(v, piece);
    return status;
}

ct_status ct_mesh_read_vtu(ct_mesh_builder* builder, const ct_mesh_source* source) {
    vtu v = {.scan = ct_scan_begin(source->bytes, source->size, source->file, source->error),
             .builder = builder};
    ct_xml_document document;
    ct_status status =
        ct_xml_read_until(&document, v.scan.begin, source->size, "AppendedData", source->file, source->error);
    if (status != CT_OK) return status;
    status = read_document(&v, document.root);
    ct_xml_free(&document);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Writing: ASCII, one piece, tets first

static void begin_data(FILE* stream, const char* type, const char* name, const char* more) {
    fprintf(stream, "<DataArray type=\"%s\" Name=\"%s\"%s format=\"ascii\">\n", type, name, more);
}

static void end_data(FILE* stream) { fprintf(stream, "</DataArray>\n"); }

static void write_cells(FILE* stream, const ct_mesh* mesh, const int* tri_mid) {
    int ncell = mesh->ntet + mesh->ntri;
    fprintf(stream, "<Cells>\n");
    begin_data(stream, "Int64", "connectivity", "");
    for (int i = 0; i < ncell; i++) ct_vtk_write_cell(stream, mesh, tri_mid, i);
    end_data(stream);
    begin_data(stream, "Int64", "offsets", "");
    long long offset = 0;
    const int tet_size = mesh->mid ? 10 : 4, tri_size = tri_mid ? 6 : 3;
    for (int i = 0; i < ncell; i++) fprintf(stream, "%lld\n", offset += i < mesh->ntet ? tet_size : tri_size);
    end_data(stream);
    begin_data(stream, "UInt8", "types", "");
    for (int i = 0; i < ncell; i++) fprintf(stream, "%d\n", ct_vtk_cell_type(mesh, tri_mid, i));
    end_data(stream);
    fprintf(stream, "</Cells>\n<CellData Scalars=\"tag\">\n");
    begin_data(stream, "Int32", "tag", "");
    for (int i = 0; i < ncell; i++)
        fprintf(stream, "%d\n", i < mesh->ntet ? mesh->tet_tag[i] : mesh->tri_tag[i - mesh->ntet]);
    end_data(stream);
    fprintf(stream, "</CellData>\n");
}

ct_status ct_mesh_write_vtu(FILE* stream, const ct_mesh* mesh, int part) {
    (void)part;
    int* tri_mid;
    ct_status status = ct_mesh_write_middles(mesh, &tri_mid);
    fprintf(stream,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" "
            "NumberOfCells=\"%d\">\n<Points>\n",
            mesh->nvert, mesh->ntet + mesh->ntri);
    begin_data(stream, "Float64", "Points", " NumberOfComponents=\"3\"");
    for (int v = 0; v < mesh->nvert; v++) {
        ct_mesh_write_point(stream, mesh->x + 3 * (size_t)v);
        fputc('\n', stream);
    }
    end_data(stream);
    fprintf(stream, "</Points>\n");
    write_cells(stream, mesh, tri_mid);
    fprintf(stream, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    ct_free(tri_mid);
    return status;
}
