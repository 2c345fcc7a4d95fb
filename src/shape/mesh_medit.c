// MEDIT .mesh files (ASCII).
//
// Keywords with a count and that many lines; the last number of a line is a reference, which becomes the tag:
//   Vertices  x y z ref      Tetrahedra  a b c d ref      Triangles  a b c ref      Quadrilaterals  a b c d
//   ref
// TetrahedraP2 and TrianglesP2 have nodes on the edges 01 12 20 03 13 23 and 01 12 20 after the corners,
// where TetrahedraP2Ordering and TrianglesP2Ordering, the barycentric coordinates of their nodes, say nothing
// else. Nodes count from 1. Other keywords (Edges, Corners, Normals, ...) are skipped up to the next keyword.
#include <ctype.h>

#include "shape/cell.h"
#include "shape/mesh_io.h"

typedef struct medit {
    ct_scan scan;
    ct_mesh_builder* builder;
} medit;

static ct_status read_reference(medit* m, int* reference) {
    int64_t value;
    ct_status status = ct_scan_integer(&m->scan, &value);
    if (status == CT_OK && (value < INT32_MIN || value > INT32_MAX))
        status = ct_scan_fail(&m->scan, "the reference %lld does not fit 32 bits: use a small number",
                              (long long)value);
    *reference = (int)value;
    return status;
}

static ct_status read_vertices(medit* m) {
    int count, reference;
    if (m->builder->mesh->nvert)
        return ct_scan_fail(&m->scan, "the file has two Vertices sections: keep one");
    ct_status status = ct_scan_count(&m->scan, "nodes", 8, &count);
    for (int i = 0; i < count && status == CT_OK; i++) {
        double x[3];
        ct_scan_item(&m->scan, "node", i);
        for (int a = 0; a < 3 && status == CT_OK; a++) status = ct_scan_real(&m->scan, &x[a]);
        if (status == CT_OK) status = read_reference(m, &reference);
        if (status == CT_OK) ct_mesh_builder_node(m->builder, x);
    }
    return status;
}

static void add_element(medit* m, const int* node, int width, bool solid, int reference) {
    if (solid && width == 10) ct_mesh_builder_tet10(m->builder, node, reference);
    else if (solid) ct_mesh_builder_tet(m->builder, node, reference);
    else if (width == 6) ct_mesh_builder_tri6(m->builder, node, reference);
    else ct_mesh_builder_polygon(m->builder, node, width, reference);
}

static ct_status read_elements(medit* m, const char* things, const char* item, int width, bool solid) {
    int count;
    ct_status status = ct_scan_count(&m->scan, things, 2 * (size_t)width + 2, &count);
    for (int i = 0; i < count && status == CT_OK; i++) {
        int node[10], reference;
        ct_scan_item(&m->scan, item, i);
        for (int k = 0; k < width && status == CT_OK; k++) {
            int64_t value;
            status = ct_scan_integer(&m->scan, &value);
            if (status == CT_OK) status = ct_mesh_node_index(&m->scan, m->builder, value, 1, &node[k]);
        }
        if (status == CT_OK) status = read_reference(m, &reference);
        if (status != CT_OK) break;
        add_element(m, node, width, solid, reference);
    }
    return status;
}

// Twice the barycentric coordinates of the nodes of an element of second order: those in the usual order
// only.
static ct_status check_ordering(medit* m, int corners) {
    const int edges = corners == 4 ? 6 : 3;
    int count;
    ct_status status = ct_scan_count(&m->scan, "nodes of an element", 2 * (size_t)corners, &count);
    bool usual = count == corners + edges;
    for (int i = 0; i < count && status == CT_OK; i++)
        for (int k = 0; k < corners && status == CT_OK; k++) {
            const int* edge = i < corners ? NULL : ct_cell_edge[(i - corners) % edges];
            int64_t value = 0;
            status = ct_scan_integer(&m->scan, &value);
            usual &= value == (edge ? k == edge[0] || k == edge[1] : 2 * (i == k));
        }
    if (status == CT_OK && !usual)
        status = ct_scan_fail_as(&m->scan, CT_UNSUPPORTED,
                                 "the file has an order of its own for the nodes of second order: corners, "
                                 "then the edges %s are needed",
                                 corners == 4 ? "01 12 02 03 13 23" : "01 12 02");
    return status;
}

static void skip_section(medit* m) {
    ct_word word;
    for (ct_scan ahead = m->scan; ct_scan_word(&ahead, &word); m->scan = ahead)
        if (isalpha((unsigned char)word.text[0])) return;
    m->scan.at = m->scan.end;
}

static ct_status read_dimension(medit* m) {
    int64_t dimension;
    ct_status status = ct_scan_integer(&m->scan, &dimension);
    if (status == CT_OK && dimension != 3)
        status = ct_scan_fail_as(&m->scan, CT_UNSUPPORTED, "the mesh has dimension %lld: 3 is needed",
                                 (long long)dimension);
    return status;
}

static ct_status read_keyword(medit* m, ct_word key) {
    static const char* const solids[] = {"Hexahedra",    "Prisms",       "Pyramids",    "HexahedraQ2",
                                         "TetrahedraP3", "TetrahedraP4", "TrianglesP3", "TrianglesP4"};
    if (ct_word_is_nocase(key, "Dimension")) return read_dimension(m);
    if (ct_word_is_nocase(key, "Vertices")) return read_vertices(m);
    if (ct_word_is_nocase(key, "Tetrahedra")) return read_elements(m, "tets", "tet", 4, true);
    if (ct_word_is_nocase(key, "Triangles")) return read_elements(m, "triangles", "triangle", 3, false);
    if (ct_word_is_nocase(key, "TetrahedraP2")) return read_elements(m, "tets", "tet", 10, true);
    if (ct_word_is_nocase(key, "TrianglesP2")) return read_elements(m, "triangles", "triangle", 6, false);
    if (ct_word_is_nocase(key, "TetrahedraP2Ordering")) return check_ordering(m, 4);
    if (ct_word_is_nocase(key, "TrianglesP2Ordering")) return check_ordering(m, 3);
    if (ct_word_is_nocase(key, "Quadrilaterals"))
        return read_elements(m, "quadrilaterals", "quadrilateral", 4, false);
    for (size_t i = 0; i < sizeof solids / sizeof solids[0]; i++)
        if (ct_word_is_nocase(key, solids[i]))
            return ct_scan_fail_as(&m->scan, CT_UNSUPPORTED,
                                   "%s cannot be read, only tets and triangles of first and second order: "
                                   "convert the mesh to those",
                                   solids[i]);
    if (!isalpha((unsigned char)key.text[0]))
        return ct_scan_fail(&m->scan, "expected a keyword, found '%.*s': a count before it is wrong",
                            (int)(key.size < 24 ? key.size : 24), key.text);
    skip_section(m);
    return CT_OK;
}

ct_status ct_mesh_read_medit(ct_mesh_builder* builder, const ct_mesh_source* source) {
    medit m = {ct_scan_begin(source->bytes, source->size, source->file, source->error), builder};
    m.scan.comment = '#';
    m.scan.base = builder->base = 1;
    ct_word key;
    int64_t version;
    if (!ct_scan_word(&m.scan, &key) || !ct_word_is_nocase(key, "MeshVersionFormatted"))
        return ct_scan_fail(
            &m.scan,
            "the file does not start with MeshVersionFormatted: this is not an ASCII MEDIT mesh (convert "
            ".meshb to ASCII)");
    ct_status status = ct_scan_integer(&m.scan, &version);
    while (status == CT_OK && !builder->out_of_memory && ct_scan_word(&m.scan, &key)) {
        ct_scan_item(&m.scan, NULL, -1);
        if (ct_word_is_nocase(key, "End")) break;
        status = read_keyword(&m, key);
    }
    return status;
}

static void write_elements(FILE* stream, const char* key, int count, int corners, const int* node,
                           const int* mid, const int* tag) {
    const int edges = corners == 4 ? 6 : 3;
    if (count) fprintf(stream, "%s\n%d\n", key, count);
    for (int i = 0; i < count; i++, node += corners) {
        fprintf(stream, "%d", node[0] + 1);
        ct_mesh_write_nodes(stream, node + 1, corners - 1, 1);
        if (mid) ct_mesh_write_nodes(stream, mid + (size_t)edges * (size_t)i, edges, 1);
        fprintf(stream, " %d\n", tag[i]);
    }
}

ct_status ct_mesh_write_medit(FILE* stream, const ct_mesh* mesh, int part) {
    (void)part;
    fprintf(stream, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", mesh->nvert);
    for (int v = 0; v < mesh->nvert; v++) {
        ct_mesh_write_point(stream, mesh->x + 3 * (size_t)v);
        fprintf(stream, " 0\n");
    }
    int* tri_mid;
    ct_status status = ct_mesh_write_middles(mesh, &tri_mid);
    write_elements(stream, tri_mid ? "TrianglesP2" : "Triangles", mesh->ntri, 3, mesh->tri, tri_mid,
                   mesh->tri_tag);
    write_elements(stream, mesh->mid ? "TetrahedraP2" : "Tetrahedra", mesh->ntet, 4, mesh->tet, mesh->mid,
                   mesh->tet_tag);
    fprintf(stream, "End\n");
    ct_free(tri_mid);
    return status;
}
