// Reading and writing mesh files: the format by extension or content, files to and from memory.
//
// A file is written under a temporary name beside the target and renamed at the end, so a failure leaves
// the target as it was. Numbers are in the C locale whatever the program's locale is.
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"
#include "shape/mesh_io.h"

typedef struct format_entry {
    const char* extension;
    ct_mesh_format format;
    ct_mesh_reader read;
    ct_mesh_writer write;  // NULL: only read
} format_entry;

static const format_entry formats[] = {
    {".msh", CT_MESH_GMSH, ct_mesh_read_gmsh, ct_mesh_write_gmsh},
    {".vtk", CT_MESH_VTK, ct_mesh_read_vtk, ct_mesh_write_vtk},
    {".vtu", CT_MESH_VTU, ct_mesh_read_vtu, ct_mesh_write_vtu},
    {".node", CT_MESH_TETGEN, ct_mesh_read_tetgen, ct_mesh_write_tetgen},
    {".ele", CT_MESH_TETGEN, ct_mesh_read_tetgen, ct_mesh_write_tetgen},
    {".mesh", CT_MESH_MEDIT, ct_mesh_read_medit, ct_mesh_write_medit},
    {".obj", CT_MESH_OBJ, ct_mesh_read_obj, ct_mesh_write_obj},
    {".stl", CT_MESH_STL, ct_mesh_read_stl, ct_mesh_write_stl},
};
#define NFORMAT (sizeof formats / sizeof formats[0])

static const format_entry* format_by_extension(const char* path) {
    const char* dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < NFORMAT; i++)
        if (strcasecmp(dot, formats[i].extension) == 0) return &formats[i];
    return NULL;
}

static const format_entry* format_by_kind(ct_mesh_format format) {
    for (size_t i = 0; i < NFORMAT; i++)
        if (formats[i].format == format) return &formats[i];
    return NULL;
}

static ct_mesh_format format_by_content(const void* bytes, size_t size) {
    if (ct_mesh_is_binary_stl(bytes, size)) return CT_MESH_STL;
    ct_scan scan = ct_scan_begin(bytes, size, NULL, NULL);
    if (size > 5 && memcmp(bytes, "# vtk", 5) == 0) return CT_MESH_VTK;
    scan.comment = '#';
    ct_word word;
    if (!ct_scan_word(&scan, &word)) return CT_MESH_AUTO;
    if (ct_word_is(word, "$MeshFormat") || ct_word_is(word, "$Comments")) return CT_MESH_GMSH;
    if (word.text[0] == '<') return CT_MESH_VTU;
    if (ct_word_is(word, "MeshVersionFormatted")) return CT_MESH_MEDIT;
    if (ct_word_is(word, "solid")) return CT_MESH_STL;
    const char* const obj[] = {"v", "f", "g", "o", "vn", "vt", "mtllib"};
    for (size_t i = 0; i < sizeof obj / sizeof obj[0]; i++)
        if (ct_word_is(word, obj[i])) return CT_MESH_OBJ;
    return CT_MESH_AUTO;
}

// ---------------------------------------------------------------------------------------------
// Reading

static ct_status read_source(ct_mesh** out, ct_mesh_format format, const ct_mesh_source* source) {
    if (format == CT_MESH_AUTO) format = format_by_content(source->bytes, source->size);
    const format_entry* entry = format_by_kind(format);
    if (!entry)
        return ct_fail_at(
            source->error, CT_BAD_FILE, source->file, 0,
            "this is not a known mesh format (.msh .vtk .vtu .node/.ele .mesh .obj .stl): convert the file");
    ct_mesh_builder builder = {.mesh = ct_alloc(1, sizeof(ct_mesh))};
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!builder.mesh || !c_locale) {
        if (c_locale) freelocale(c_locale);
        ct_free(builder.mesh);
        return ct_fail_at(source->error, CT_OUT_OF_MEMORY, source->file, 0,
                          "not enough memory to read the mesh");
    }
    locale_t previous = uselocale(c_locale);
    ct_status status = entry->read(&builder, source);
    if (status == CT_OK || builder.out_of_memory) status = ct_mesh_builder_finish(&builder, source);
    uselocale(previous);
    freelocale(c_locale);
    if (status == CT_OK) *out = builder.mesh;
    else ct_mesh_free(builder.mesh);
    return status;
}

ct_status ct_mesh_read(ct_mesh** out, const void* bytes, size_t size, const void* second, size_t second_size,
                       ct_mesh_format format, ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    if (!out) return ct_fail(error, CT_BAD_ARGUMENT, "no place for the mesh was given");
    *out = NULL;
    if ((!bytes && size) || (!second && second_size))
        return ct_fail(error, CT_BAD_ARGUMENT, "no bytes were given");
    ct_mesh_source source = {size ? bytes : "", size, "", second, second_size, "", error};
    return read_source(out, format, &source);
}

enum { MOST_GIGABYTES = 4 };

// The path with its extension replaced by `extension`, freed by ct_free; NULL: out of memory.
static char* replace_extension(const char* path, const char* extension) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    if (dot && slash && dot < slash) dot = NULL;
    size_t stem = dot ? (size_t)(dot - path) : strlen(path);
    char* text = ct_alloc(stem + strlen(extension) + 1, 1);
    if (!text) return NULL;
    memcpy(text, path, stem);
    strcpy(text + stem, extension);
    return text;
}

static ct_status load_tetgen(ct_mesh** out, const char* path, ct_error* error) {
    char *node_path = replace_extension(path, ".node"), *ele_path = replace_extension(path, ".ele");
    char *node_bytes = NULL, *ele_bytes = NULL;
    size_t node_size = 0, ele_size = 0;
    ct_status status = CT_OUT_OF_MEMORY;
    if (!node_path || !ele_path) ct_fail_at(error, status, path, 0, "not enough memory to read the mesh");
    else status = ct_file_read(node_path, MOST_GIGABYTES, &node_bytes, &node_size, error);
    if (status == CT_OK) status = ct_file_read(ele_path, MOST_GIGABYTES, &ele_bytes, &ele_size, error);
    if (status == CT_OK) {
        ct_mesh_source source = {node_bytes, node_size, node_path, ele_bytes, ele_size, ele_path, error};
        status = read_source(out, CT_MESH_TETGEN, &source);
    }
    ct_free(node_path);
    ct_free(ele_path);
    ct_free(node_bytes);
    ct_free(ele_bytes);
    return status;
}

ct_status ct_mesh_load(ct_mesh** out, const char* path, ct_mesh_format format, ct_error* error) {
    CT_NEED(error, out, path);
    ct_error_clear(error);
    if (!out) return ct_fail(error, CT_BAD_ARGUMENT, "no place for the mesh was given");
    *out = NULL;
    if (!path) return ct_fail(error, CT_BAD_ARGUMENT, "no path was given");
    const format_entry* entry = format_by_extension(path);
    if (format == CT_MESH_AUTO && entry) format = entry->format;
    if (format == CT_MESH_TETGEN) return load_tetgen(out, path, error);
    ct_mesh_source source = {.file = path, .error = error};
    char* bytes;
    ct_status status = ct_file_read(path, MOST_GIGABYTES, &bytes, &source.size, error);
    if (status != CT_OK) return status;
    source.bytes = bytes;
    status = read_source(out, format, &source);
    ct_free(bytes);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Writing

// Writes to `temporary` in the C locale; removes it on failure.
static ct_status write_temporary(const ct_mesh* mesh, const format_entry* entry, int part,
                                 const char* temporary, const char* path, ct_error* error) {
    FILE* stream = fopen(temporary, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "cannot write the file: %s", strerror(errno));
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    ct_status status = CT_OUT_OF_MEMORY;
    if (c_locale) {
        locale_t previous = uselocale(c_locale);
        status = entry->write(stream, mesh, part);
        uselocale(previous);
        freelocale(c_locale);
    }
    bool failed = ferror(stream) != 0;
    failed |= fclose(stream) != 0;
    if (status != CT_OK) ct_fail_at(error, status, path, 0, "not enough memory to write the file");
    else if (failed)
        status = ct_fail_at(error, CT_IO, path, 0, "writing the file failed: %s; is the disk full?",
                            strerror(errno));
    if (status != CT_OK) remove(temporary);
    return status;
}

typedef struct target {
    char* path;
    char* temporary;
} target;

static void target_free(target* t) {
    ct_free(t->path);
    ct_free(t->temporary);
}

static ct_status target_init(target* t, const char* path, const char* extension, ct_error* error) {
    char place[CT_PLACE_SIZE];
    char* named = extension ? replace_extension(path, extension) : ct_duplicate_text(path);
    if (!named) return ct_fail_at(error, CT_OUT_OF_MEMORY, path, 0, "not enough memory to write the file");
    ct_status status = ct_place_find(named, place, error);
    ct_free(named);
    if (status) return status;
    t->path = ct_duplicate_text(place);
    size_t size = t->path ? strlen(t->path) + 32 : 0;
    t->temporary = size ? ct_alloc(size, 1) : NULL;
    if (t->temporary) snprintf(t->temporary, size, "%s.%ld.part", t->path, (long)getpid());
    if (t->temporary) return CT_OK;
    return ct_fail_at(error, CT_OUT_OF_MEMORY, path, 0, "not enough memory to write the file");
}

// All parts are written before the first is renamed.
static ct_status save_parts(const ct_mesh* mesh, const format_entry* entry, target* targets, int count,
                            ct_error* error) {
    ct_status status = CT_OK;
    int written = 0;
    for (; written < count && status == CT_OK; written++)
        status =
            write_temporary(mesh, entry, written, targets[written].temporary, targets[written].path, error);
    for (int i = 0; i < written; i++) {
        if (status == CT_OK && rename(targets[i].temporary, targets[i].path) != 0)
            status =
                ct_fail_at(error, CT_IO, targets[i].path, 0, "cannot rename the file: %s", strerror(errno));
        if (status != CT_OK) remove(targets[i].temporary);
    }
    return status;
}

ct_status ct_mesh_save(const ct_mesh* mesh, const char* path, ct_error* error) {
    CT_NEED(error, mesh, path);
    ct_error_clear(error);
    if (!mesh || !path) return ct_fail(error, CT_BAD_ARGUMENT, "no mesh or no path was given");
    const format_entry* entry = format_by_extension(path);
    if (!entry)
        return ct_fail_at(error, CT_UNSUPPORTED, path, 0,
                          "the extension names no mesh format: use .msh .vtk .vtu .node .mesh .obj or .stl");
    bool pair = entry->format == CT_MESH_TETGEN;
    target targets[2] = {{NULL, NULL}, {NULL, NULL}};
    ct_status status = target_init(&targets[0], path, pair ? ".node" : NULL, error);
    if (!status && pair) status = target_init(&targets[1], path, ".ele", error);
    if (!status) status = save_parts(mesh, entry, targets, pair ? 2 : 1, error);
    target_free(&targets[0]);
    target_free(&targets[1]);
    return status;
}
