// VTK XML files (.vtu): ASCII, base64 and appended (raw or base64) data, plain or zlib-compressed.
//
// The XML is scanned tag by tag; only the elements that matter are looked at:
//   VTKFile(type byte_order header_type compressor), Piece(NumberOfPoints NumberOfCells), Points, Cells,
//   CellData, DataArray(Name type format offset NumberOfComponents), AppendedData(encoding).
// Several pieces are put one after another. Integer cell data with a name such as "tag" gives the tags.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh_io.h"
#include "shape/vtu_data.h"

typedef enum place { ELSEWHERE, IN_POINTS, IN_CELLS, IN_CELL_DATA } place;
enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, TAGS, NARRAY };

typedef struct element {
    ct_word name;        // with a leading '/' for an end tag
    ct_word attributes;  // text between the name and '>'
    bool empty;          // <.../>
} element;

typedef struct vtu {
    ct_scan scan;
    ct_mesh_builder* builder;
    ct_vtu_coding coding;
    const char* appended;  // the character after '_' of AppendedData, NULL: none
    bool appended_base64;
    place place;
    int64_t npoint, ncell;  // of the present piece
    bool in_piece;
    ct_vtu_array array[NARRAY];
} vtu;

// ---------------------------------------------------------------------------------------------
// XML

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void advance(ct_scan* scan, const char* to) {
    for (; scan->at < to; scan->at++)
        if (*scan->at == '\n' && scan->line > 0) scan->line++;
}

// The next tag; comments and declarations are skipped. false: no more.
static bool next_element(ct_scan* scan, element* found) {
    for (;;) {
        const char* open = memchr(scan->at, '<', ct_scan_left(scan));
        if (!open) return false;
        bool comment = scan->end - open >= 4 && memcmp(open, "<!--", 4) == 0;
        const char* close = comment ? memmem(open, (size_t)(scan->end - open), "-->", 3)
                                    : memchr(open, '>', (size_t)(scan->end - open));
        if (!close) return false;
        advance(scan, comment ? close + 3 : close + 1);
        if (comment || open[1] == '?' || open[1] == '!') continue;
        const char* name = open + 1;
        const char* stop = name;
        while (stop < close && !is_space(*stop) && !(*stop == '/' && stop > name)) stop++;
        found->empty = close[-1] == '/' && close - 1 > name;
        found->name = (ct_word){name, (size_t)(stop - name)};
        found->attributes = (ct_word){stop, (size_t)(close - stop)};
        return true;
    }
}

// The value of an attribute; false when it is not there.
static bool attribute(const element* from, const char* name, ct_word* value) {
    const char *at = from->attributes.text, *end = at + from->attributes.size;
    while (at < end) {
        while (at < end && (is_space(*at) || *at == '/')) at++;
        const char* key = at;
        while (at < end && *at != '=' && !is_space(*at)) at++;
        ct_word key_word = {key, (size_t)(at - key)};
        while (at < end && *at != '"' && *at != '\'') at++;
        if (at == end) return false;
        char quote = *at++;
        const char* text = at;
        while (at < end && *at != quote) at++;
        if (at == end) return false;
        *value = (ct_word){text, (size_t)(at - text)};
        at++;
        if (ct_word_is(key_word, name)) return true;
    }
    return false;
}

static ct_status count_attribute(vtu* v, const element* from, const char* name, int64_t* value) {
    ct_word word;
    if (!attribute(from, name, &word) || !ct_word_integer(word, value) || *value < 0)
        return ct_scan_fail(&v->scan, "<%.*s> needs %s as a non-negative integer", (int)from->name.size,
                            from->name.text, name);
    return ct_scan_check_count(&v->scan, name, (uint64_t)*value, 0);
}

// ---------------------------------------------------------------------------------------------
// Header

static ct_status read_file_element(vtu* v, const element* from) {
    ct_word word;
    const uint16_t probe = 1;
    bool little = *(const unsigned char*)&probe == 1;
    if (!attribute(from, "type", &word) || !ct_word_is(word, "UnstructuredGrid"))
        return ct_scan_fail_as(&v->scan, CT_UNSUPPORTED,
                               "the VTK file is no UnstructuredGrid: save the mesh as .vtu");
    if (attribute(from, "byte_order", &word))
        v->coding.swap = ct_word_is(word, "BigEndian") ? little : !little;
    if (attribute(from, "header_type", &word)) {
        v->coding.header_size = ct_word_is(word, "UInt64") ? 8 : 4;
        if (!ct_word_is(word, "UInt64") && !ct_word_is(word, "UInt32"))
            return ct_scan_fail(&v->scan, "header_type must be UInt32 or UInt64");
    }
    if (attribute(from, "compressor", &word) && word.size) {
        v->coding.compressed = true;
        if (!ct_word_is(word, "vtkZLibDataCompressor"))
            return ct_scan_fail_as(
                &v->scan, CT_UNSUPPORTED,
                "the compressor %.*s is not supported: save with zlib or without compression",
                (int)(word.size < 40 ? word.size : 40), word.text);
    }
    return CT_OK;
}

// Finds AppendedData before the arrays that point into it are read.
static ct_status find_appended(vtu* v) {
    static const char open[] = "<AppendedData";
    const char* found = memmem(v->scan.begin, (size_t)(v->scan.end - v->scan.begin), open, sizeof open - 1);
    if (!found) return CT_OK;
    ct_scan scan = v->scan;
    scan.at = found;
    scan.line = 0;
    element from;
    ct_word encoding;
    if (!next_element(&scan, &from))
        return ct_scan_fail(&scan, "<AppendedData> is not closed: the file was cut short");
    v->appended_base64 = !attribute(&from, "encoding", &encoding) || !ct_word_is(encoding, "raw");
    const char* mark = memchr(scan.at, '_', ct_scan_left(&scan));
    if (!mark) return ct_scan_fail(&scan, "<AppendedData> has no '_' before its data: the file is damaged");
    v->appended = mark + 1;
    v->scan.end = found;  // raw bytes are not XML
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Arrays

// Which array this is, NARRAY when it is of no interest.
static int array_slot(const vtu* v, const element* from) {
    ct_word name = {"", 0}, components;
    attribute(from, "Name", &name);
    if (v->place == IN_POINTS) return POINTS;
    if (v->place == IN_CELLS && ct_word_is(name, "connectivity")) return CONNECTIVITY;
    if (v->place == IN_CELLS && ct_word_is(name, "offsets")) return OFFSETS;
    if (v->place == IN_CELLS && ct_word_is(name, "types")) return TYPES;
    bool scalar = !attribute(from, "NumberOfComponents", &components) || ct_word_is(components, "1");
    return v->place == IN_CELL_DATA && scalar && ct_vtk_is_tag(name) ? TAGS : NARRAY;
}

static ct_status read_appended(vtu* v, const element* from, ct_vtu_array* array, const ct_scan* whole) {
    ct_word word;
    int64_t offset;
    ct_scan data = *whole;
    if (!v->appended)
        return ct_scan_fail(
            &v->scan, "a data array is appended, but there is no <AppendedData>: the file was cut short");
    if (!attribute(from, "offset", &word) || !ct_word_integer(word, &offset) || offset < 0 ||
        offset > data.end - v->appended)
        return ct_scan_fail(
            &v->scan,
            "the offset of a data array is missing or beyond the end of the file: it was cut short");
    data.at = v->appended + offset;
    data.line = 0;
    return ct_vtu_read_binary(&data, v->appended_base64, &v->coding, array);
}

static ct_status read_array(vtu* v, const element* from, const ct_scan* whole) {
    int slot = array_slot(v, from);
    ct_word format = {"", 0}, type = {"", 0};
    if (slot == NARRAY || v->array[slot].bytes) return CT_OK;
    ct_vtu_array* array = &v->array[slot];
    attribute(from, "format", &format);
    attribute(from, "type", &type);
    array->type = ct_vtk_type_of(type);
    if (array->type == CT_VTK_UNKNOWN)
        return ct_scan_fail(&v->scan, "a <DataArray> has no known type (Float64, Int64, ...)");
    if (ct_word_is(format, "appended")) return read_appended(v, from, array, whole);
    if (from->empty) return CT_OK;
    ct_scan text = v->scan;
    const char* stop = memchr(text.at, '<', ct_scan_left(&text));
    if (!stop) return ct_scan_fail(&v->scan, "a <DataArray> is not closed: the file was cut short");
    text.end = stop;
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

static ct_status finish_piece(vtu* v) {
    int first_node = v->builder->mesh->nvert, line = v->scan.line;
    ct_status status = add_points(v);
    if (status == CT_OK && v->builder->out_of_memory) status = ct_scan_out_of_memory(&v->scan);
    if (status == CT_OK) status = add_cells(v, first_node);
    v->scan.line = line;
    v->in_piece = false;
    free_arrays(v);
    return status;
}

static ct_status handle(vtu* v, const element* from, const ct_scan* whole) {
    if (ct_word_is(from->name, "VTKFile")) return read_file_element(v, from);
    if (ct_word_is(from->name, "Piece")) {
        ct_status status = count_attribute(v, from, "NumberOfPoints", &v->npoint);
        if (status == CT_OK) status = count_attribute(v, from, "NumberOfCells", &v->ncell);
        v->in_piece = true;
        return status;
    }
    if (ct_word_is(from->name, "/Piece") && v->in_piece) return finish_piece(v);
    if (ct_word_is(from->name, "DataArray")) return v->in_piece ? read_array(v, from, whole) : CT_OK;
    // Elements within these, such as the InformationKey of an array, do not change the place.
    static const struct {
        const char *begin, *end;
        place place;
    } places[] = {{"Points", "/Points", IN_POINTS},
                  {"Cells", "/Cells", IN_CELLS},
                  {"CellData", "/CellData", IN_CELL_DATA},
                  {"PointData", "/PointData", ELSEWHERE},
                  {"FieldData", "/FieldData", ELSEWHERE}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (ct_word_is(from->name, places[i].begin) && !from->empty) v->place = places[i].place;
        if (ct_word_is(from->name, places[i].end)) v->place = ELSEWHERE;
    }
    return CT_OK;
}

static ct_status read_file(vtu* v) {
    const ct_scan whole = v->scan;
    element found;
    ct_status status = find_appended(v);
    bool any = false;
    while (status == CT_OK && next_element(&v->scan, &found)) {
        if (!any && !ct_word_is(found.name, "VTKFile"))
            return ct_scan_fail(&v->scan, "the file does not start with <VTKFile>: this is no .vtu file");
        any = true;
        status = handle(v, &found, &whole);
    }
    if (status == CT_OK && !any)
        status = ct_scan_fail(&v->scan, "there is no <VTKFile>: this is no .vtu file");
    if (status == CT_OK && v->in_piece)
        status = ct_scan_fail(&v->scan, "a <Piece> is not closed: the file was cut short");
    return status;
}

ct_status ct_mesh_read_vtu(ct_mesh_builder* builder, const ct_mesh_source* source) {
    vtu v = {.scan = ct_scan_begin(source->bytes, source->size, source->file, source->error),
             .builder = builder,
             .coding = {.header_size = 4}};
    ct_status status = read_file(&v);
    free_arrays(&v);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Writing: ASCII, one piece, tets first

static void begin_data(FILE* stream, const char* type, const char* name, const char* more) {
    fprintf(stream, "<DataArray type=\"%s\" Name=\"%s\"%s format=\"ascii\">\n", type, name, more);
}

static void end_data(FILE* stream) { fprintf(stream, "</DataArray>\n"); }

static void write_cells(FILE* stream, const ct_mesh* mesh) {
    int ncell = mesh->ntet + mesh->ntri;
    fprintf(stream, "<Cells>\n");
    begin_data(stream, "Int64", "connectivity", "");
    for (const int* t = mesh->tet; t < mesh->tet + 4 * (size_t)mesh->ntet; t += 4)
        fprintf(stream, "%d %d %d %d\n", t[0], t[1], t[2], t[3]);
    for (const int* t = mesh->tri; t < mesh->tri + 3 * (size_t)mesh->ntri; t += 3)
        fprintf(stream, "%d %d %d\n", t[0], t[1], t[2]);
    end_data(stream);
    begin_data(stream, "Int64", "offsets", "");
    long long offset = 0;
    for (int i = 0; i < ncell; i++) fprintf(stream, "%lld\n", offset += i < mesh->ntet ? 4 : 3);
    end_data(stream);
    begin_data(stream, "UInt8", "types", "");
    for (int i = 0; i < ncell; i++) fprintf(stream, "%d\n", i < mesh->ntet ? 10 : 5);
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
    write_cells(stream, mesh);
    fprintf(stream, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    return CT_OK;
}
