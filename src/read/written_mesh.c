// Reads a mesh that is written into the scene itself: nodes, tets, triangles and their tags as numbers.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "read/read.h"

enum { MOST = 500000000 };

// Rows of node indices; NULL: there are none, or the reader has failed.
static int* read_elements(ct_json at, size_t width, int nvert, ct_arena* arena, int* count) {
    *count = 0;
    const size_t rows = at.value ? ct_json_length(at) : 0;
    if (rows > MOST) ct_json_fail(at, "has %zu rows: too many", rows);
    if (!rows || at.reader->status) return NULL;
    int* list = ct_arena_alloc(arena, width * rows, sizeof *list);
    if (!list) ct_json_out_of_memory(at);
    else ct_json_integer_rows(at, width, 0, nvert - 1, list);
    *count = (int)rows;
    return list;
}

static void read_numbers(ct_json at, const char* of, int count, int* out) {
    if (!at.value || at.reader->status) return;
    if (ct_json_length(at) != (size_t)count)
        ct_json_fail(at, "has %zu numbers: there are %d %s", ct_json_length(at), count, of);
    for (size_t i = 0; i < (size_t)count && !at.reader->status; i++) {
        const json_t* item = json_array_get(at.value, i);
        const json_int_t value = json_integer_value(item);
        if (json_is_integer(item) && value >= 0 && value <= 2147483647) out[i] = (int)value;
        else ct_json_integer(ct_json_item(at, i), 0, 2147483647, &out[i]);
    }
}

// {"bone": 1, ...}
static void read_names(ct_json at, ct_mesh* mesh) {
    if (!at.value || at.reader->status || !ct_json_is_object(at)) return;
    ct_tag* tags = ct_alloc(json_object_size(at.value), sizeof *tags);
    if (!tags) {
        ct_json_out_of_memory(at);
        return;
    }
    ct_free(mesh->tag);
    mesh->tag = tags;
    const char* name;
    json_t* value;
    json_object_foreach((json_t*)at.value, name, value) {
        ct_json member = ct_json_member(at, name);
        if (at.reader->status) return;
        ct_tag* tag = &mesh->tag[mesh->ntag++];
        if (strlen(name) >= sizeof tag->name) ct_json_fail(member, "has a name of more than 59 bytes");
        snprintf(tag->name, sizeof tag->name, "%s", name);
        ct_json_integer(member, 0, 2147483647, &tag->id);
    }
}

static ct_mesh* make(ct_json at, ct_arena* arena) {
    ct_json nodes = ct_json_required(at, "nodes");
    const size_t rows = nodes.value ? ct_json_length(nodes) : 0;
    if (rows > MOST) ct_json_fail(nodes, "has %zu rows: too many", rows);
    double* x = at.reader->status ? NULL : ct_arena_alloc(arena, 3 * rows, sizeof *x);
    if (!at.reader->status && !x) ct_json_out_of_memory(nodes);
    if (x) ct_json_rows(nodes, 3, x);
    const int nvert = (int)rows;
    int ntet, ntri, nmid;
    const int* tet = read_elements(ct_json_member(at, "tets"), 4, nvert, arena, &ntet);
    const int* tri = read_elements(ct_json_member(at, "triangles"), 3, nvert, arena, &ntri);
    ct_json middles = ct_json_member(at, "middles");
    const int* mid = read_elements(middles, 6, nvert, arena, &nmid);
    if (nmid && nmid != ntet) ct_json_fail(middles, "has %d rows: there are %d tets", nmid, ntet);
    if (at.reader->status) return NULL;
    ct_mesh* mesh = NULL;
    ct_error inner;
    ct_status status = ct_mesh_create(&mesh, nvert, x, ntet, tet, ntri, tri, &inner);
    if (status) ct_json_relay(at, status, &inner);
    if (!status && nmid) status = ct_mesh_set_middles(mesh, mid);
    if (!mesh) return NULL;
    if (status == CT_OUT_OF_MEMORY) ct_json_out_of_memory(at);
    else if (status) ct_json_fail(at, "is no mesh: %s", ct_status_text(status));
    return mesh;
}

ct_mesh* ct_read_written_mesh(ct_json body) {
    ct_json at = ct_json_member(body, "mesh");
    ct_arena arena = {0};
    if (ct_json_has(body, "repair")) ct_json_fail(body, "has \"repair\", which is for meshes of files");
    if (!ct_read_keys(at, CT_OBJECT_MESH)) return NULL;
    ct_mesh* mesh = make(at, &arena);
    ct_arena_free(&arena);
    if (mesh) {
        read_numbers(ct_json_member(at, "tet_tags"), "tets", mesh->ntet, mesh->tet_tag);
        read_numbers(ct_json_member(at, "triangle_tags"), "triangles", mesh->ntri, mesh->tri_tag);
        read_names(ct_json_member(at, "tags"), mesh);
    }
    if (!body.reader->status) return mesh;
    ct_mesh_free(mesh);
    return NULL;
}
