// TetGen .node/.ele pairs.
//
//   .node:  <nodes> <dimension = 3> <attributes> <markers 0|1>   then   <index> <x> <y> <z> [attributes]
//   [marker] .ele:   <tets> <nodes per tet = 4|10> <attributes>              then   <index> <a> <b> <c> <d>
//   [attributes]
// '#' starts a comment. The first index of the .node file (0 or 1) is what both files count from. The first
// attribute of a tet is its region, which becomes the tag. Tets of 10 nodes have those of the edges
// 23 03 01 12 13 02 after the corners.
#include <math.h>
#include <string.h>

#include "shape/mesh_io.h"

typedef struct header {
    int count;
    int64_t second;  // dimension, or nodes per tet
    int64_t attributes;
    int64_t markers;
} header;

// The counts of one file; attributes and markers may be left out.
static ct_status read_header(ct_scan* scan, const char* things, size_t bytes, header* head) {
    ct_word word;
    *head = (header){0};
    ct_status status = ct_scan_count(scan, things, bytes, &head->count);
    if (status == CT_OK) status = ct_scan_integer(scan, &head->second);
    if (status != CT_OK) return status;
    if (ct_scan_word_here(scan, &word) && !ct_word_integer(word, &head->attributes))
        return ct_scan_fail(scan, "the number of attributes must be an integer");
    if (ct_scan_word_here(scan, &word) && !ct_word_integer(word, &head->markers))
        return ct_scan_fail(scan, "the number of markers must be 0 or 1");
    if (head->attributes < 0 || head->attributes > 1000 || head->markers < 0 || head->markers > 1000)
        return ct_scan_fail(scan, "the number of attributes or markers is out of range (0 to 1000)");
    return CT_OK;
}

static ct_status read_nodes(ct_scan* scan, ct_mesh_builder* builder, int* base) {
    header head;
    ct_status status = read_header(scan, "nodes", 8, &head);
    if (status == CT_OK && head.second != 3)
        status = ct_scan_fail_as(scan, CT_UNSUPPORTED, "the nodes have %lld coordinates: 3 are needed",
                                 (long long)head.second);
    *base = 0;
    for (int i = 0; i < head.count && status == CT_OK; i++) {
        int64_t index;
        double x[3], ignored;
        ct_scan_item(scan, "node", i);
        status = ct_scan_integer(scan, &index);
        if (status == CT_OK && i == 0) scan->base = *base = index == 1;
        if (status == CT_OK && index != i + *base)
            status =
                ct_scan_fail(scan, "node %d has the number %lld: nodes must be numbered in order from 0 or 1",
                             i + *base, (long long)index);
        for (int a = 0; a < 3 && status == CT_OK; a++) status = ct_scan_real(scan, &x[a]);
        for (int64_t k = 0; k < head.attributes + head.markers && status == CT_OK; k++)
            status = ct_scan_real(scan, &ignored);
        if (status == CT_OK) ct_mesh_builder_node(builder, x);
    }
    return status;
}

// Where the nodes on the edges 01 12 02 03 13 23 are among the ten.
static const int place_of[6] = {6, 7, 9, 5, 8, 4};

static void add_tet(ct_mesh_builder* builder, const int node[10], bool second, int region) {
    int ours[10];
    memcpy(ours, node, 4 * sizeof(int));
    for (int k = 0; second && k < 6; k++) ours[4 + k] = node[place_of[k]];
    if (second) ct_mesh_builder_tet10(builder, ours, region);
    else ct_mesh_builder_tet(builder, node, region);
}

static ct_status read_tets(ct_scan* scan, ct_mesh_builder* builder) {
    header head;
    ct_status status = read_header(scan, "tets", 10, &head);
    if (status == CT_OK && head.second != 4 && head.second != 10)
        status = ct_scan_fail_as(scan, CT_UNSUPPORTED,
                                 "the tets have %lld nodes; only tets of 4 and of 10 nodes can be read",
                                 (long long)head.second);
    for (int i = 0; i < head.count && status == CT_OK; i++) {
        int64_t index;
        int node[10];
        double region = 0, value;
        ct_scan_item(scan, "tet", i);
        status = ct_scan_integer(scan, &index);
        for (int k = 0; k < head.second && status == CT_OK; k++) {
            status = ct_scan_integer(scan, &index);
            if (status == CT_OK) status = ct_mesh_node_index(scan, builder, index, builder->base, &node[k]);
        }
        for (int64_t k = 0; k < head.attributes && status == CT_OK; k++) {
            status = ct_scan_real(scan, &value);
            if (k == 0) region = value;
        }
        if (status == CT_OK && !(fabs(region) < 2e9))
            status = ct_scan_fail(scan, "the region of tet %d does not fit 32 bits: use a small number",
                                  i + builder->base);
        if (status == CT_OK) add_tet(builder, node, head.second == 10, (int)lrint(region));
    }
    return status;
}

ct_status ct_mesh_read_tetgen(ct_mesh_builder* builder, const ct_mesh_source* source) {
    ct_scan nodes = ct_scan_begin(source->bytes, source->size, source->file, source->error);
    ct_scan tets = ct_scan_begin(source->second, source->second_size, source->second_file, source->error);
    nodes.comment = tets.comment = '#';
    if (!source->second_size)
        return ct_scan_fail(&tets,
                            "the .ele part is missing or empty: TetGen meshes are a .node and an .ele file");
    ct_status status = read_nodes(&nodes, builder, &builder->base);
    if (status != CT_OK || builder->out_of_memory) return status;
    tets.base = builder->base;
    return read_tets(&tets, builder);
}

// Counts from 1; triangles are not part of the pair.
ct_status ct_mesh_write_tetgen(FILE* stream, const ct_mesh* mesh, int part) {
    if (part == 0) {
        fprintf(stream, "%d 3 0 0\n", mesh->nvert);
        for (int v = 0; v < mesh->nvert; v++) {
            fprintf(stream, "%d ", v + 1);
            ct_mesh_write_point(stream, mesh->x + 3 * (size_t)v);
            fputc('\n', stream);
        }
        return CT_OK;
    }
    fprintf(stream, "%d %d 1\n", mesh->ntet, mesh->mid ? 10 : 4);
    for (int t = 0; t < mesh->ntet; t++) {
        int node[10];
        memcpy(node, mesh->tet + 4 * (size_t)t, 4 * sizeof(int));
        for (int k = 0; mesh->mid && k < 6; k++) node[place_of[k]] = mesh->mid[6 * (size_t)t + (size_t)k];
        fprintf(stream, "%d", t + 1);
        ct_mesh_write_nodes(stream, node, mesh->mid ? 10 : 4, 1);
        fprintf(stream, " %d\n", mesh->tet_tag[t]);
    }
    return CT_OK;
}
