// OBJ surfaces, and the tetrahedral variant with `t` lines.
//
//   v x y z        node (further numbers, weight or colour, are ignored)
//   f a b c ...    polygon, cut into a fan of triangles; entries a, a/t, a/t/n, a//n; counted from 1,
//   negative from the end t a b c d      tet, counted from 0 when index 0 occurs in some `t` line of the
//   file, else from 1 g name         the following elements form a group, which becomes a tag
// All other lines are ignored. A backslash at the end of a line joins it with the next.
#include <string.h>

#include "base/memory.h"
#include "shape/mesh_io.h"

typedef struct obj {
    ct_scan scan;
    ct_mesh_builder* builder;
    int group;       // present tag
    bool tet_zero;   // index 0 occurs in `t` lines
    bool face_zero;  // index 0 occurs in `f` lines
    int* polygon;    // 0-based nodes of the present face
    size_t polygon_room;
} obj;

static bool next_word(obj* o, ct_word* word) {
    while (ct_scan_word_here(&o->scan, word)) {
        if (!ct_word_is(*word, "\\")) return true;
        ct_scan_rest(&o->scan);  // the line goes on
    }
    return false;
}

static void skip_line(obj* o) {
    ct_word rest;
    do rest = ct_scan_rest(&o->scan);
    while (rest.size && rest.text[rest.size - 1] == '\\');
}

static ct_status read_node(obj* o) {
    double x[3];
    ct_scan_item(&o->scan, "node", o->builder->mesh->nvert);
    for (int a = 0; a < 3; a++) {
        ct_word word = {"", 0};
        if (!next_word(o, &word) || !ct_word_real(word, &x[a]))
            return ct_scan_fail(&o->scan, "node %ld: expected three finite numbers after 'v', found '%.*s'",
                                o->scan.index + 1, (int)(word.size < 24 ? word.size : 24), word.text);
    }
    ct_mesh_builder_node(o->builder, x);
    return CT_OK;
}

// Index of a face entry or tet corner up to the first '/', as the file gives it.
static ct_status parse_index(obj* o, ct_word word, int64_t* value) {
    const char* slash = memchr(word.text, '/', word.size);
    ct_word index = {word.text, slash ? (size_t)(slash - word.text) : word.size};
    if (ct_word_integer(index, value)) return CT_OK;
    return ct_scan_fail(&o->scan, "%s %ld: expected a node number, found '%.*s'", o->scan.item,
                        o->scan.index + 1, (int)(word.size < 24 ? word.size : 24), word.text);
}

static ct_status read_face(obj* o, long face) {
    int count = 0;
    ct_word word;
    ct_scan_item(&o->scan, "face", face);
    while (next_word(o, &word)) {
        int64_t value;
        ct_status status = parse_index(o, word, &value);
        if (status != CT_OK) return status;
        if (value == 0) o->face_zero = true;
        if (value < 0) value += (int64_t)o->builder->mesh->nvert + 1;
        if (value < 0 || value > INT32_MAX)
            return ct_scan_fail(&o->scan,
                                "node %lld of face %ld is out of range: the file has %d nodes so far",
                                (long long)value, face + 1, o->builder->mesh->nvert);
        if (!ct_reserve((void**)&o->polygon, &o->polygon_room, (size_t)count + 1, sizeof(int)))
            return ct_scan_out_of_memory(&o->scan);
        o->polygon[count++] = (int)value;
    }
    if (count < 3)
        return ct_scan_fail(&o->scan, "face %ld has %d nodes: at least 3 are needed", face + 1, count);
    ct_mesh_builder_polygon(o->builder, o->polygon, count, o->group);
    return CT_OK;
}

static ct_status read_tet(obj* o) {
    int node[4];
    ct_scan_item(&o->scan, "tet", o->builder->mesh->ntet);
    for (int k = 0; k < 4; k++) {
        ct_word word;
        int64_t value;
        if (!next_word(o, &word))
            return ct_scan_fail(&o->scan, "tet %ld has %d nodes: 4 are needed", o->scan.index + 1, k);
        ct_status status = parse_index(o, word, &value);
        if (status != CT_OK) return status;
        if (value < 0 || value > INT32_MAX)
            return ct_scan_fail(&o->scan, "node %lld of tet %ld is out of range", (long long)value,
                                o->scan.index + 1);
        if (value == 0) o->tet_zero = true;
        node[k] = (int)value;
    }
    ct_mesh_builder_tet(o->builder, node, o->group);
    return CT_OK;
}

// Brings the stored indices, counted from `base`, to 0; out of range is named here.
static ct_status rebase(obj* o, int* node, int width, int count, int base, const char* item) {
    o->scan.line = 0;
    o->scan.base = base;
    for (size_t i = 0; i < (size_t)width * (size_t)count; i++) {
        ct_scan_item(&o->scan, item, (long)(i / (size_t)width));
        ct_status status = ct_mesh_node_index(&o->scan, o->builder, node[i], base, &node[i]);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

static ct_status read_lines(obj* o) {
    ct_word key, name = {"", 0};
    ct_status status = CT_OK;
    long face = 0;
    while (status == CT_OK && !o->builder->out_of_memory && ct_scan_word(&o->scan, &key)) {
        if (ct_word_is(key, "v")) status = read_node(o);
        else if (ct_word_is(key, "f")) status = read_face(o, face++);
        else if (ct_word_is(key, "t")) status = read_tet(o);
        else if (ct_word_is(key, "g"))
            o->group = next_word(o, &name) ? ct_mesh_builder_group(o->builder, name) : 0;
        if (status == CT_OK) skip_line(o);
    }
    return status;
}

ct_status ct_mesh_read_obj(ct_mesh_builder* builder, const ct_mesh_source* source) {
    obj o = {.scan = ct_scan_begin(source->bytes, source->size, source->file, source->error),
             .builder = builder};
    o.scan.comment = '#';
    ct_status status = read_lines(&o);
    ct_mesh* mesh = builder->mesh;
    if (status == CT_OK) status = rebase(&o, mesh->tet, 4, mesh->ntet, !o.tet_zero, "tet");
    if (status == CT_OK)
        status = rebase(&o, mesh->tri, 3, mesh->ntri, !(o.face_zero && o.tet_zero), "triangle");
    ct_free(o.polygon);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Writing: `g` before each run of elements of one tag; of tets of second order the surface, four triangles a
// face, without tags

static ct_status write_surface(FILE* stream, const ct_mesh* mesh) {
    int *tri = NULL, ntri;
    ct_mesh* surface = NULL;
    ct_status status = ct_mesh_surface(mesh, &tri, &ntri, NULL);
    if (status == CT_OK) status = ct_mesh_create(&surface, mesh->nvert, mesh->x, 0, NULL, ntri, tri, NULL);
    if (status == CT_OK) {
        ct_mesh_repair(surface);
        status = ct_mesh_write_obj(stream, surface, 0);
    }
    ct_mesh_free(surface);
    ct_free(tri);
    return status;
}

ct_status ct_mesh_write_obj(FILE* stream, const ct_mesh* mesh, int part) {
    (void)part;
    if (mesh->mid) return write_surface(stream, mesh);
    for (int v = 0; v < mesh->nvert; v++) {
        fprintf(stream, "v ");
        ct_mesh_write_point(stream, mesh->x + 3 * (size_t)v);
        fputc('\n', stream);
    }
    int tag = 0;
    for (int i = 0; i < mesh->ntri + mesh->ntet; i++) {
        bool surface = i < mesh->ntri;
        int k = surface ? i : i - mesh->ntri, own = surface ? mesh->tri_tag[k] : mesh->tet_tag[k];
        if (own != tag || (k == 0 && own)) {
            fprintf(stream, "g ");
            ct_mesh_write_group(stream, mesh, own, surface);
            fputc('\n', stream);
        }
        tag = own;
        const int* node = surface ? mesh->tri + 3 * (size_t)k : mesh->tet + 4 * (size_t)k;
        if (surface) fprintf(stream, "f %d %d %d\n", node[0] + 1, node[1] + 1, node[2] + 1);
        else fprintf(stream, "t %d %d %d %d\n", node[0] + 1, node[1] + 1, node[2] + 1, node[3] + 1);
    }
    return CT_OK;
}
