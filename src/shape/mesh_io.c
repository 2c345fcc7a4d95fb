// What readers and writers of mesh files share: the builder of a mesh, numbers and names of groups.
#include "shape/mesh_io.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh.h"

// ---------------------------------------------------------------------------------------------
// Builder

#define ROOM(builder, array, room, count, width)                                                             \
    ct_reserve((void**)&(builder)->mesh->array, &(builder)->room, (size_t)(count) + 1,                       \
               (width) * sizeof *(builder)->mesh->array)

static bool accept(ct_mesh_builder* builder, bool reserved, int count) {
    if (!reserved || count >= CT_MESH_MAX_COUNT) builder->out_of_memory = true;
    return !builder->out_of_memory;
}

void ct_mesh_builder_node(ct_mesh_builder* builder, const double x[3]) {
    ct_mesh* mesh = builder->mesh;
    if (!accept(builder, ROOM(builder, x, nvert_room, mesh->nvert, 3), mesh->nvert)) return;
    memcpy(mesh->x + 3 * (size_t)mesh->nvert++, x, 3 * sizeof(double));
}

void ct_mesh_builder_tet(ct_mesh_builder* builder, const int node[4], int tag) {
    ct_mesh* mesh = builder->mesh;
    bool reserved =
        ROOM(builder, tet, ntet_room, mesh->ntet, 4) && ROOM(builder, tet_tag, ntet_tag_room, mesh->ntet, 1);
    if (!accept(builder, reserved, mesh->ntet)) return;
    memcpy(mesh->tet + 4 * (size_t)mesh->ntet, node, 4 * sizeof(int));
    mesh->tet_tag[mesh->ntet++] = tag;
}

void ct_mesh_builder_tet10(ct_mesh_builder* builder, const int node[10], int tag) {
    ct_mesh* mesh = builder->mesh;
    if (!accept(builder, ROOM(builder, mid, nmid_room, builder->nmid, 6), builder->nmid)) return;
    memcpy(mesh->mid + 6 * (size_t)builder->nmid++, node + 4, 6 * sizeof(int));
    ct_mesh_builder_tet(builder, node, tag);
}

void ct_mesh_builder_tri6(ct_mesh_builder* builder, const int node[3], int tag) {
    builder->curved = true;
    ct_mesh_builder_tri(builder, node, tag);
}

void ct_mesh_builder_tri(ct_mesh_builder* builder, const int node[3], int tag) {
    ct_mesh* mesh = builder->mesh;
    bool reserved =
        ROOM(builder, tri, ntri_room, mesh->ntri, 3) && ROOM(builder, tri_tag, ntri_tag_room, mesh->ntri, 1);
    if (!accept(builder, reserved, mesh->ntri)) return;
    memcpy(mesh->tri + 3 * (size_t)mesh->ntri, node, 3 * sizeof(int));
    mesh->tri_tag[mesh->ntri++] = tag;
}

void ct_mesh_builder_polygon(ct_mesh_builder* builder, const int* node, int count, int tag) {
    for (int i = 2; i < count; i++)
        ct_mesh_builder_tri(builder, (int[3]){node[0], node[i - 1], node[i]}, tag);
}

void ct_mesh_builder_name(ct_mesh_builder* builder, int id, ct_word name) {
    ct_mesh* mesh = builder->mesh;
    if (!accept(builder, ROOM(builder, tag, ntag_room, mesh->ntag, 1), mesh->ntag)) return;
    ct_tag* tag = &mesh->tag[mesh->ntag++];
    memset(tag, 0, sizeof *tag);
    tag->id = id;
    ct_word_copy(name, tag->name, sizeof tag->name);
}

static bool id_is_taken(const ct_mesh* mesh, int id) {
    for (int i = 0; i < mesh->ntag; i++)
        if (mesh->tag[i].id == id) return true;
    return false;
}

int ct_mesh_builder_group(ct_mesh_builder* builder, ct_word name) {
    const ct_mesh* mesh = builder->mesh;
    if (name.size == 0) return 0;
    int64_t number;
    if (name.size > 3 && memcmp(name.text, "tag", 3) == 0 &&
        ct_word_integer((ct_word){name.text + 3, name.size - 3}, &number) && number > -INT32_MAX &&
        number < INT32_MAX)
        return (int)number;
    char text[sizeof mesh->tag->name];
    ct_word_copy(name, text, sizeof text);
    for (int i = 0; i < mesh->ntag; i++)
        if (strcmp(mesh->tag[i].name, text) == 0) return mesh->tag[i].id;
    if (mesh->ntag >= 1024) return 0;  // names beyond that are not groups anyone selects by hand
    int id = mesh->ntag + 1;
    while (id_is_taken(mesh, id)) id++;
    ct_mesh_builder_name(builder, id, name);
    return id;
}

ct_status ct_mesh_node_index(const ct_scan* scan, const ct_mesh_builder* builder, int64_t value, int base,
                             int* node) {
    int nvert = builder->mesh->nvert;
    if (value < base || value >= (int64_t)nvert + base)
        return ct_scan_fail(scan, "node %lld of %s %ld is out of range: the file has %d nodes (%d to %d)",
                            (long long)value, scan->item, scan->index + scan->base, nvert, base,
                            nvert - 1 + base);
    *node = (int)(value - base);
    return CT_OK;
}

static ct_status check_indices(const ct_mesh_builder* builder, const int* element, int width, int count,
                               const char* item, ct_scan* scan) {
    scan->line = 0;
    scan->base = builder->base;
    for (size_t i = 0; i < (size_t)width * (size_t)count; i++) {
        int node;
        ct_scan_item(scan, item, (long)(i / (size_t)width));
        ct_status status =
            ct_mesh_node_index(scan, builder, (int64_t)element[i] + builder->base, builder->base, &node);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

static void* shrink(void* memory, size_t count, size_t size) {
    void* moved = ct_resize(memory, count, size);
    return moved ? moved : memory;
}

// Tets are all linear, then triangles too, or all of second order.
static ct_status check_orders(const ct_mesh_builder* builder, ct_scan* scan) {
    const int ntet = builder->mesh->ntet;
    scan->line = 0;
    if (builder->nmid && builder->nmid != ntet)
        return ct_scan_fail_as(
            scan, CT_UNSUPPORTED,
            "the file mixes %d tets of 4 nodes and %d of 10: export all tets with one order",
            ntet - builder->nmid, builder->nmid);
    if (builder->curved && ntet && !builder->nmid)
        return ct_scan_fail_as(
            scan, CT_UNSUPPORTED,
            "the file mixes tets of 4 nodes and triangles of 6: export all elements with one order");
    return CT_OK;
}

ct_status ct_mesh_builder_finish(ct_mesh_builder* builder, const ct_mesh_source* source) {
    ct_mesh* mesh = builder->mesh;
    ct_scan scan = ct_scan_begin(source->bytes, source->size, source->file, source->error);
    if (builder->out_of_memory) return ct_scan_out_of_memory(&scan);
    if (mesh->ntet == 0 && mesh->ntri == 0) {
        scan.line = 0;
        return ct_scan_fail(
            &scan,
            "the file holds no tets and no triangles (%d nodes): export the volume or surface elements too",
            mesh->nvert);
    }
    ct_status status = check_orders(builder, &scan);
    if (status == CT_OK) status = check_indices(builder, mesh->tet, 4, mesh->ntet, "tet", &scan);
    if (status == CT_OK) status = check_indices(builder, mesh->mid, 6, builder->nmid, "tet", &scan);
    if (status == CT_OK) status = check_indices(builder, mesh->tri, 3, mesh->ntri, "triangle", &scan);
    if (status != CT_OK) return status;
    mesh->x = shrink(mesh->x, (size_t)mesh->nvert, 3 * sizeof(double));
    mesh->tet = shrink(mesh->tet, (size_t)mesh->ntet, 4 * sizeof(int));
    if (mesh->mid) mesh->mid = shrink(mesh->mid, (size_t)mesh->ntet, 6 * sizeof(int));
    mesh->tri = shrink(mesh->tri, (size_t)mesh->ntri, 3 * sizeof(int));
    mesh->tet_tag = shrink(mesh->tet_tag, (size_t)mesh->ntet, sizeof(int));
    mesh->tri_tag = shrink(mesh->tri_tag, (size_t)mesh->ntri, sizeof(int));
    mesh->tag = shrink(mesh->tag, (size_t)mesh->ntag, sizeof(ct_tag));
    if (mesh->x && mesh->tet && mesh->tri && mesh->tet_tag && mesh->tri_tag && mesh->tag) return CT_OK;
    return ct_scan_out_of_memory(&scan);
}

// ---------------------------------------------------------------------------------------------
// Writing

void ct_mesh_write_number(FILE* stream, double value) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, stream);
}

void ct_mesh_write_point(FILE* stream, const double x[3]) {
    ct_mesh_write_number(stream, x[0]);
    fputc(' ', stream);
    ct_mesh_write_number(stream, x[1]);
    fputc(' ', stream);
    ct_mesh_write_number(stream, x[2]);
}

ct_status ct_mesh_write_middles(const ct_mesh* mesh, int** mid) {
    *mid = NULL;
    if (!mesh->mid || !mesh->ntri) return CT_OK;
    ct_status status = ct_mesh_tri_middles(mesh, mid);
    for (size_t i = 0; status == CT_OK && i < 3 * (size_t)mesh->ntri; i++) {
        if ((*mid)[i] >= 0) continue;
        ct_free(*mid);
        *mid = NULL;
        break;
    }
    return status;
}

void ct_mesh_write_nodes(FILE* stream, const int* node, int count, int base) {
    for (int i = 0; i < count; i++) fprintf(stream, " %d", node[i] + base);
}

const char* ct_mesh_tag_name(const ct_mesh* mesh, int id, bool surface) {
    const char* name = "";
    for (int i = 0; i < mesh->ntag; i++) {
        if (mesh->tag[i].id != id) continue;
        name = mesh->tag[i].name;
        if (!surface) break;
    }
    return name;
}

void ct_mesh_write_group(FILE* stream, const ct_mesh* mesh, int id, bool surface) {
    const char* name = ct_mesh_tag_name(mesh, id, surface);
    if (!name[0]) fprintf(stream, "tag%d", id);
    for (; *name; name++) fputc((unsigned char)*name <= ' ' ? '_' : *name, stream);
}
