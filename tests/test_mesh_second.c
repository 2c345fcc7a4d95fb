// Files of tets of second order: in every format the nodes on the edges of a curved tet are where they
// belong, what is saved reads back exactly, and files that mix orders are refused.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cuttle.h"
#include "shape/mesh.h"
#include "unit.h"

// Corners 1 to 4, then a node near the middle of each of the edges 01 12 02 03 13 23, no two displaced alike.
#define POINTS_ONLY "0 0 0\n1 0 0\n0 1 0\n0 0 1\n" MIDDLES
#define MIDDLES                                                                                              \
    "0.5 0 -0.0625\n0.5625 0.5 0\n-0.03125 0.5 0\n0 -0.125 0.5\n0.5 0.0625 0.5\n0.03125 0.5 0.5625\n"

static const double place[10][3] = {
    {0, 0, 0},        {1, 0, 0},          {0, 1, 0},        {0, 0, 1},          {0.5, 0, -0.0625},
    {0.5625, 0.5, 0}, {-0.03125, 0.5, 0}, {0, -0.125, 0.5}, {0.5, 0.0625, 0.5}, {0.03125, 0.5, 0.5625}};
// Their numbers in the files: corners 1 to 4, then as in the list of edges.
static const int edge_node[6] = {4, 5, 6, 7, 8, 9};

static void check_tet(const char* format, const ct_mesh* mesh, int ntri) {
    if (mesh->nvert != 10 || mesh->ntet != 1 || mesh->ntri != ntri || !mesh->mid)
        fail_msg("%s: %d nodes, %d tets, %d triangles", format, mesh->nvert, mesh->ntet, mesh->ntri);
    for (int k = 0; k < 10; k++) {
        const int node = k < 4 ? mesh->tet[k] : mesh->mid[k - 4];
        if (memcmp(mesh->x + 3 * node, place[k], sizeof place[k]) != 0)
            fail_msg("%s: node %d of the tet is at %g %g %g", format, k, mesh->x[3 * node],
                     mesh->x[3 * node + 1], mesh->x[3 * node + 2]);
    }
    const int tri[3] = {0, 2, 1};
    if (ntri) {
        assert_memory_equal(mesh->tri, tri, sizeof tri);
        assert_int_equal(mesh->tri_tag[0], 7);
    }
    assert_int_equal(mesh->tet_tag[0], 3);
    ct_mesh_report report;
    ct_error error;
    if (ct_mesh_check(mesh, &report, &error) != CT_OK) fail_msg("%s: %s", format, error.message);
    assert_int_equal(report.surface_tri_count, 16);
}

static void read_and_check(const char* name, ct_mesh_format format, const void* bytes, size_t size,
                           const char* second, int ntri) {
    ct_mesh* mesh;
    ct_error error;
    if (ct_mesh_read(&mesh, bytes, size, second, second ? strlen(second) : 0, format, &error) != CT_OK)
        fail_msg("%s: line %d: %s", name, error.line, error.message);
    check_tet(name, mesh, ntri);
    ct_mesh_free(mesh);
}

// ---------------------------------------------------------------------------------------------
// Texts

#define GMSH_NODES                                                                                           \
    "10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0.5 0 -0.0625\n6 0.5625 0.5 0\n7 -0.03125 0.5 0\n"            \
    "8 0 -0.125 0.5\n9 0.5 0.0625 0.5\n10 0.03125 0.5 0.5625\n"

// In Gmsh the last two edges are 23, 13; lines of second order (type 8) are ignored.
static const char gmsh2[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" GMSH_NODES
                            "$EndNodes\n$Elements\n3\n1 8 2 1 1 1 2 5\n2 9 2 7 1 1 3 2 7 6 5\n"
                            "3 11 2 3 1 1 2 3 4 5 6 7 8 10 9\n$EndElements\n";
static const char gmsh4[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 1\n1 0 0 0 1 1 1 1 7 0\n1 0 0 0 1 1 1 1 3 0\n"
    "$EndEntities\n$Nodes\n1 10 1 10\n3 1 0 10\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n" POINTS_ONLY
    "$EndNodes\n$Elements\n2 2 1 2\n2 1 9 1\n1 1 3 2 7 6 5\n3 1 11 1\n2 1 2 3 4 5 6 7 8 10 9\n$EndElements\n";
static const char vtk[] =
    "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 10 double\n" POINTS_ONLY
    "CELLS 2 18\n10 0 1 2 3 4 5 6 7 8 9\n6 0 2 1 6 5 4\nCELL_TYPES 2\n24\n22\n"
    "CELL_DATA 2\nSCALARS tag int 1\nLOOKUP_TABLE default\n3\n7\n";
static const char vtu[] =
    "<VTKFile type='UnstructuredGrid' byte_order='LittleEndian'><UnstructuredGrid><Piece NumberOfPoints='10' "
    "NumberOfCells='2'><Points><DataArray type='Float64' NumberOfComponents='3' format='ascii'>\n" POINTS_ONLY
    "</DataArray></Points><Cells><DataArray type='Int64' Name='connectivity' format='ascii'>0 1 2 3 4 5 6 7 "
    "8 9 "
    "0 2 1 6 5 4</DataArray><DataArray type='Int64' Name='offsets' format='ascii'>10 "
    "16</DataArray><DataArray "
    "type='UInt8' Name='types' format='ascii'>24 22</DataArray></Cells><CellData><DataArray type='Int32' "
    "Name='tag' format='ascii'>3 7</DataArray></CellData></Piece></UnstructuredGrid></VTKFile>";
#define MEDIT_NODES                                                                                          \
    "MeshVersionFormatted 2\nDimension 3\nVertices\n10\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"                \
    "0.5 0 -0.0625 0\n0.5625 0.5 0 0\n-0.03125 0.5 0 0\n0 -0.125 0.5 0\n0.5 0.0625 0.5 0\n"                  \
    "0.03125 0.5 0.5625 0\n"
static const char medit[] = MEDIT_NODES
    "TrianglesP2\n1\n1 3 2 7 6 5 7\nTetrahedraP2Ordering\n10\n2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 2\n1 1 0 0\n"
    "0 1 1 0\n1 0 1 0\n1 0 0 1\n0 1 0 1\n0 0 1 1\nTetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 3\nEnd\n";
// TetGen's edges are 23 03 01 12 13 02.
static const char tetgen_node[] =
    "10 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0.5 0 -0.0625\n6 0.5625 0.5 0\n7 -0.03125 0.5 0\n"
    "8 0 -0.125 0.5\n9 0.5 0.0625 0.5\n10 0.03125 0.5 0.5625\n";
static const char tetgen_ele[] = "1 10 1\n1 1 2 3 4 10 8 5 6 9 7 3\n";

static void every_format_knows_its_order_of_edges(void** state) {
    (void)state;
    read_and_check("Gmsh 2.2", CT_MESH_GMSH, gmsh2, strlen(gmsh2), NULL, 1);
    read_and_check("Gmsh 4.1", CT_MESH_GMSH, gmsh4, strlen(gmsh4), NULL, 1);
    read_and_check("VTK", CT_MESH_VTK, vtk, strlen(vtk), NULL, 1);
    read_and_check("VTU", CT_MESH_VTU, vtu, strlen(vtu), NULL, 1);
    read_and_check("MEDIT", CT_MESH_MEDIT, medit, strlen(medit), NULL, 1);
    read_and_check("TetGen", CT_MESH_TETGEN, tetgen_node, strlen(tetgen_node), tetgen_ele, 0);
}

// ---------------------------------------------------------------------------------------------
// Bytes

typedef struct buffer {
    char data[4096];
    size_t size;
} buffer;

static void put(buffer* b, const void* bytes, size_t size) {
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

static void put_text(buffer* b, const char* text) { put(b, text, strlen(text)); }

static void put_ints(buffer* b, int count, const int* values, bool wide) {
    for (int i = 0; i < count; i++) {
        const int32_t narrow = values[i];
        const uint64_t eight = (uint64_t)values[i];
        if (wide) put(b, &eight, sizeof eight);
        else put(b, &narrow, sizeof narrow);
    }
}
#define INTS(b, ...) put_ints(b, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__}, false)
#define SIZES(b, ...) put_ints(b, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__}, true)

static void begin_binary(buffer* b, const char* version) {
    put_text(b, "$MeshFormat\n");
    put_text(b, version);
    put_text(b, " 1 8\n");
    INTS(b, 1);
    put_text(b, "\n$EndMeshFormat\n");
}

static void binary_gmsh_2_is_read(void** state) {
    (void)state;
    buffer b = {.size = 0};
    begin_binary(&b, "2.2");
    put_text(&b, "$Nodes\n10\n");
    for (int k = 0; k < 10; k++) {
        INTS(&b, k + 1);
        put(&b, place[k], sizeof place[k]);
    }
    put_text(&b, "\n$EndNodes\n$Elements\n2\n");
    INTS(&b, 9, 1, 2, 1, 7, 1, 1, 3, 2, 7, 6, 5);
    INTS(&b, 11, 1, 2, 2, 3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9);
    put_text(&b, "\n$EndElements\n");
    read_and_check("Gmsh 2.2 binary", CT_MESH_GMSH, b.data, b.size, NULL, 1);
}

static void put_entity(buffer* b, int physical) {
    const double box[6] = {0, 0, 0, 1, 1, 1};
    INTS(b, 1);
    put(b, box, sizeof box);
    SIZES(b, 1);
    INTS(b, physical);
    SIZES(b, 0);
}

static void binary_gmsh_4_is_read(void** state) {
    (void)state;
    buffer b = {.size = 0};
    begin_binary(&b, "4.1");
    put_text(&b, "$Entities\n");
    SIZES(&b, 0, 0, 1, 1);
    put_entity(&b, 7);
    put_entity(&b, 3);
    put_text(&b, "\n$EndEntities\n$Nodes\n");
    SIZES(&b, 1, 10, 1, 10);
    INTS(&b, 3, 1, 0);
    SIZES(&b, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    put(&b, place, sizeof place);
    put_text(&b, "\n$EndNodes\n$Elements\n");
    SIZES(&b, 2, 2, 1, 2);
    INTS(&b, 2, 1, 9);
    SIZES(&b, 1, 1, 1, 3, 2, 7, 6, 5);
    INTS(&b, 3, 1, 11);
    SIZES(&b, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9);
    put_text(&b, "\n$EndElements\n");
    read_and_check("Gmsh 4.1 binary", CT_MESH_GMSH, b.data, b.size, NULL, 1);
}

// ---------------------------------------------------------------------------------------------
// Refused

static void mixed_orders_are_refused(void** state) {
    (void)state;
    const struct {
        ct_mesh_format format;
        const char *text, *part;
    } cases[] = {
        {CT_MESH_GMSH,
         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" GMSH_NODES
         "$EndNodes\n$Elements\n2\n1 11 0 1 2 3 4 5 6 7 8 10 9\n2 4 0 1 2 3 4\n$EndElements\n",
         "mixes 1 tets of 4 nodes and 1 of 10"},
        {CT_MESH_GMSH,
         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" GMSH_NODES
         "$EndNodes\n$Elements\n2\n1 9 0 1 3 2 7 6 5\n2 4 0 1 2 3 4\n$EndElements\n",
         "tets of 4 nodes and triangles of 6"},
        {CT_MESH_MEDIT,
         MEDIT_NODES "Tetrahedra\n1\n1 2 3 4 0\nTetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 3\nEnd\n",
         "mixes 1 tets of 4 nodes and 1 of 10"},
        {CT_MESH_MEDIT,
         MEDIT_NODES
         "TetrahedraP2Ordering\n10\n2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 2\n1 1 0 0\n1 0 1 0\n0 1 1 0\n"
         "1 0 0 1\n0 1 0 1\n0 0 1 1\nTetrahedraP2\n1\n1 2 3 4 5 7 6 8 9 10 3\nEnd\n",
         "an order of its own"},
        {CT_MESH_MEDIT, MEDIT_NODES "TetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 11 3\nEnd\n",
         "node 11 of tet 1 is out of range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ct_mesh* mesh;
        ct_error error;
        ct_status status =
            ct_mesh_read(&mesh, cases[i].text, strlen(cases[i].text), NULL, 0, cases[i].format, &error);
        if (status == CT_OK || mesh || !strstr(error.message, cases[i].part))
            fail_msg("case %zu: %s", i, error.message);
    }
}

// Without tets, triangles of second order become linear ones; what was on their edges is unused.
static void triangles_alone_keep_their_corners(void** state) {
    (void)state;
    const char text[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" GMSH_NODES
                        "$EndNodes\n$Elements\n1\n1 9 0 1 3 2 7 6 5\n$EndElements\n";
    ct_mesh* mesh;
    assert_int_equal(ct_mesh_read(&mesh, text, strlen(text), NULL, 0, CT_MESH_GMSH, NULL), CT_OK);
    assert_int_equal(mesh->ntri, 1);
    assert_null(mesh->mid);
    ct_mesh_repair(mesh);
    assert_int_equal(mesh->nvert, 3);
    ct_mesh_free(mesh);
}

// ---------------------------------------------------------------------------------------------
// Saved

static const char* temporary(const char* name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/mesh_second_files", CT_BINARY_DIR);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/mesh_second_files/%s", CT_BINARY_DIR, name);
    return path;
}

// A box of bent edges with tagged triangles: two sides of the box.
static ct_mesh* bent_box(void) {
    ct_mesh *box, *mesh;
    assert_int_equal(ct_mesh_box(&box, (double[3]){0.1, 0.2, 0.3}, (int[3]){2, 1, 1}, NULL), CT_OK);
    int *tri, ntri;
    assert_int_equal(ct_mesh_surface(box, &tri, &ntri, NULL), CT_OK);
    assert_int_equal(ct_mesh_create(&mesh, box->nvert, box->x, box->ntet, box->tet, ntri / 2, tri, NULL),
                     CT_OK);
    for (int t = 0; t < mesh->ntet; t++) mesh->tet_tag[t] = t % 3;
    for (int t = 0; t < mesh->ntri; t++) mesh->tri_tag[t] = t < 3 ? 1 : 40;
    assert_int_equal(ct_mesh_raise(mesh), CT_OK);
    for (int i = 0; i < 3 * mesh->nvert; i++) mesh->x[i] += 0.002 * sin(7.0 * i);
    ct_free(tri);
    ct_mesh_free(box);
    return mesh;
}

static ct_mesh* save_and_load(const ct_mesh* mesh, const char* name) {
    ct_mesh* loaded;
    ct_error error;
    if (ct_mesh_save(mesh, temporary(name), &error) != CT_OK) fail_msg("%s: %s", name, error.message);
    if (ct_mesh_load(&loaded, temporary(name), CT_MESH_AUTO, &error) != CT_OK)
        fail_msg("%s:%d: %s", name, error.line, error.message);
    return loaded;
}

static void what_is_saved_reads_back_exactly(void** state) {
    (void)state;
    const char* const names[] = {"a.msh", "a.vtk", "a.vtu", "a.mesh", "a.node"};
    ct_mesh* mesh = bent_box();
    for (int i = 0; i < 5; i++) {
        ct_mesh* loaded = save_and_load(mesh, names[i]);
        const int ntri = strstr(names[i], ".node") ? 0 : mesh->ntri;
        assert_int_equal(loaded->nvert, mesh->nvert);
        assert_int_equal(loaded->ntet, mesh->ntet);
        assert_int_equal(loaded->ntri, ntri);
        assert_non_null(loaded->mid);
        assert_memory_equal(loaded->x, mesh->x, 3 * (size_t)mesh->nvert * sizeof(double));
        assert_memory_equal(loaded->tet, mesh->tet, 4 * (size_t)mesh->ntet * sizeof(int));
        assert_memory_equal(loaded->mid, mesh->mid, 6 * (size_t)mesh->ntet * sizeof(int));
        assert_memory_equal(loaded->tet_tag, mesh->tet_tag, (size_t)mesh->ntet * sizeof(int));
        assert_memory_equal(loaded->tri, mesh->tri, 3 * (size_t)ntri * sizeof(int));
        assert_memory_equal(loaded->tri_tag, mesh->tri_tag, (size_t)ntri * sizeof(int));
        ct_mesh_free(loaded);
    }
    ct_mesh_free(mesh);
}

// The whole text of a file, freed by free.
static char* text_of(const char* name) {
    FILE* stream = fopen(temporary(name), "rb");
    assert_non_null(stream);
    char* text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, stream) > 0);
    fclose(stream);
    return text;
}

// The elements as the programs that read them number their nodes.
static void what_is_saved_has_the_order_of_the_format(void** state) {
    (void)state;
    const struct {
        const char *name, *tet, *triangle;
    } cases[] = {
        {"t.msh", "\n2 1 2 3 4 5 6 7 8 10 9\n", "\n2 1 9 1\n1 1 3 2 7 6 5\n"},
        {"t.vtk", "\n10 0 1 2 3 4 5 6 7 8 9\n", "\n6 0 2 1 6 5 4\n"},
        {"t.vtu", "\n0 1 2 3 4 5 6 7 8 9\n", "\n0 2 1 6 5 4\n"},
        {"t.mesh", "\nTetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 3\n", "\nTrianglesP2\n1\n1 3 2 7 6 5 7\n"}};
    ct_mesh* mesh;
    ct_error error;
    assert_int_equal(ct_mesh_create(&mesh, 10, place[0], 1, (int[4]){0, 1, 2, 3}, 1, (int[3]){0, 2, 1}, NULL),
                     CT_OK);
    assert_int_equal(ct_mesh_set_middles(mesh, edge_node), CT_OK);
    mesh->tet_tag[0] = 3;
    mesh->tri_tag[0] = 7;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ct_mesh_save(mesh, temporary(cases[i].name), &error), CT_OK);
        char* text = text_of(cases[i].name);
        if (!strstr(text, cases[i].tet) || !strstr(text, cases[i].triangle)) fail_msg("%s", text);
        free(text);
    }
    assert_int_equal(ct_mesh_save(mesh, temporary("t.node"), &error), CT_OK);
    char* text = text_of("t.ele");
    assert_string_equal(text, "1 10 1\n1 1 2 3 4 10 8 5 6 9 7 3\n");
    free(text);
    ct_mesh_free(mesh);
}

// A triangle that is no face of the tets has no nodes on its edges: all are written with their corners.
static void triangles_off_the_tets_stay_linear(void** state) {
    (void)state;
    ct_mesh* mesh;
    const int tri[6] = {0, 2, 1, 0, 1, 4};
    assert_int_equal(ct_mesh_create(&mesh, 10, place[0], 1, (int[4]){0, 1, 2, 3}, 2, tri, NULL), CT_OK);
    assert_int_equal(ct_mesh_set_middles(mesh, edge_node), CT_OK);
    const char* const names[] = {"b.msh", "b.vtk", "b.vtu", "b.mesh"};
    for (int i = 0; i < 4; i++) {
        ct_mesh* loaded = save_and_load(mesh, names[i]);
        assert_int_equal(loaded->ntri, 2);
        assert_memory_equal(loaded->tri, tri, sizeof tri);
        assert_memory_equal(loaded->mid, edge_node, sizeof edge_node);
        ct_mesh_free(loaded);
    }
    ct_mesh_free(mesh);
}

// Surfaces are cut into four triangles a face; STL keeps the tags of the faces.
static void surfaces_are_cut(void** state) {
    (void)state;
    ct_mesh* mesh = bent_box();
    int *tri, ntri, tagged = 0;
    assert_int_equal(ct_mesh_surface(mesh, &tri, &ntri, NULL), CT_OK);
    ct_mesh_report whole, report;
    assert_int_equal(ct_mesh_check(mesh, &whole, NULL), CT_OK);
    const char* const names[] = {"s.obj", "s.stl"};
    for (int i = 0; i < 2; i++) {
        ct_mesh* loaded = save_and_load(mesh, names[i]);
        assert_int_equal(loaded->ntet, 0);
        assert_int_equal(loaded->ntri, ntri);
        assert_int_equal(ct_mesh_check(loaded, &report, NULL), CT_OK);
        assert_true(report.closed_surface && fabs(report.area - whole.area) < 1e-12 * whole.area);
        for (int k = 0; k < loaded->ntri; k++) tagged += loaded->tri_tag[k] == 40;
        ct_mesh_free(loaded);
    }
    assert_int_equal(tagged, 4 * (mesh->ntri - 3));
    ct_free(tri);
    ct_mesh_free(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_knows_its_order_of_edges),
        cmocka_unit_test(binary_gmsh_2_is_read),
        cmocka_unit_test(binary_gmsh_4_is_read),
        cmocka_unit_test(mixed_orders_are_refused),
        cmocka_unit_test(triangles_alone_keep_their_corners),
        cmocka_unit_test(what_is_saved_reads_back_exactly),
        cmocka_unit_test(what_is_saved_has_the_order_of_the_format),
        cmocka_unit_test(triangles_off_the_tets_stay_linear),
        cmocka_unit_test(surfaces_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
