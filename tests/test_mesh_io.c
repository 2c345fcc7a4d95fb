// Mesh files: every format and encoding reads as the known mesh (seeds written by fuzz/make_corpus), what is
// saved reads back exactly, damage is reported with its place and a remedy, and no damage crashes the
// readers.
#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuttle.h"
#include "fuzz/fuzz_mesh.c"
#include "shape/mesh.h"
#include "unit.h"

#define CORPUS CT_SOURCE_DIR "/tests/fuzz/corpus/mesh"
#define CASES CT_SOURCE_DIR "/tests/fuzz/cases/mesh"

static const double known_x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1.125, 1, 1.25};
static const int known_tet[8] = {0, 1, 2, 3, 1, 2, 3, 4};

typedef struct bytes {
    unsigned char* data;
    size_t size;
} bytes;

static bytes slurp(const char* path) {
    FILE* stream = fopen(path, "rb");
    if (!stream) fail_msg("cannot open %s", path);
    bytes b = {malloc(1 << 20), 0};
    b.size = fread(b.data, 1, 1 << 20, stream);
    fclose(stream);
    return b;
}

// Calls visit(name, content) for every file of a directory.
static int for_each_file(const char* directory, void (*visit)(const char*, bytes)) {
    int count = 0;
    DIR* listing = opendir(directory);
    if (!listing) fail_msg("cannot open %s", directory);
    for (struct dirent* entry; (entry = readdir(listing));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        bytes b = slurp(path);
        visit(entry->d_name, b);
        free(b.data);
        count++;
    }
    closedir(listing);
    return count;
}

// A seed through ct_mesh_read; the first byte is the format, a zero byte separates the parts of TetGen.
static ct_status read_seed(ct_mesh** mesh, bytes b, ct_error* error) {
    int format = b.data[0] & 7;
    size_t size = b.size - 1, second = 0;
    const unsigned char* zero = format == CT_MESH_TETGEN ? memchr(b.data + 1, 0, size) : NULL;
    if (zero) {
        size = (size_t)(zero - b.data) - 1;
        second = b.size - 2 - size;
    }
    return ct_mesh_read(mesh, b.data + 1, size, zero ? zero + 1 : NULL, second, (ct_mesh_format)format,
                        error);
}

// ---------------------------------------------------------------------------------------------
// Reading

static void check_solid(const char* name, const ct_mesh* mesh) {
    bool no_triangles = strstr(name, "tetgen") != NULL;
    assert_int_equal(mesh->nvert, 5);
    assert_int_equal(mesh->ntet, 2);
    assert_int_equal(mesh->ntri, no_triangles ? 0 : 1);
    assert_memory_equal(mesh->x, known_x, sizeof known_x);
    assert_memory_equal(mesh->tet, known_tet, sizeof known_tet);
    assert_int_equal(mesh->tet_tag[0], 7);
    assert_int_equal(mesh->tet_tag[1], 8);
    if (no_triangles) return;
    assert_memory_equal(mesh->tri, ((int[3]){0, 2, 1}), 3 * sizeof(int));
    assert_int_equal(mesh->tri_tag[0], strstr(name, "obj") ? 1 : 3);  // groups of OBJ have names only
}

// Nodes may come in another order (STL), so faces are compared by position.
static void check_surface(const ct_mesh* mesh) {
    assert_int_equal(mesh->nvert, 4);
    assert_int_equal(mesh->ntri, 4);
    assert_int_equal(mesh->ntet, 0);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            assert_memory_equal(mesh->x + 3 * mesh->tri[3 * i + k], known_x + 3 * ct_tet_face[i][k],
                                3 * sizeof(double));
    ct_mesh_report report;
    assert_int_equal(ct_mesh_check(mesh, &report, NULL), CT_OK);
    assert_true(report.closed_surface);
}

static void visit_known(const char* name, bytes b) {
    ct_mesh* mesh;
    ct_error error;
    if (strncmp(name, "solid_", 6) != 0 && strncmp(name, "surface_", 8) != 0) return;
    if (read_seed(&mesh, b, &error) != CT_OK) fail_msg("%s: line %d: %s", name, error.line, error.message);
    if (name[1] == 'o') check_solid(name, mesh);
    else check_surface(mesh);
    ct_mesh_free(mesh);
}

static void every_format_reads_as_the_known_mesh(void** state) {
    (void)state;
    assert_true(for_each_file(CORPUS, visit_known) >= 49);
}

static void gmsh_names_come_with_their_tags(void** state) {
    (void)state;
    const char* const files[] = {"solid_gmsh22_ascii", "solid_gmsh22_binary", "solid_gmsh41_ascii",
                                 "solid_gmsh41_binary_big"};
    for (int i = 0; i < 4; i++) {
        char path[1024];
        snprintf(path, sizeof path, CORPUS "/%s", files[i]);
        bytes b = slurp(path);
        ct_mesh* mesh;
        assert_int_equal(read_seed(&mesh, b, NULL), CT_OK);
        const ct_tag expected[3] = {{7, "body"}, {8, "head"}, {3, "skin"}};  // volumes first, lines left out
        assert_int_equal(mesh->ntag, 3);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(mesh->tag[k].id, expected[k].id);
            assert_string_equal(mesh->tag[k].name, expected[k].name);
        }
        ct_mesh_free(mesh);
        free(b.data);
    }
}

// Gmsh numbers the nodes of a partitioned mesh anew; both versions, text and binary.
static void gmsh_partitions_keep_the_groups(void** state) {
    (void)state;
    const char* const files[] = {"parts_by_gmsh22_ascii", "parts_by_gmsh22_binary", "parts_by_gmsh41_ascii",
                                 "parts_by_gmsh41_binary"};
    for (int i = 0; i < 4; i++) {
        char path[1024];
        snprintf(path, sizeof path, CORPUS "/%s", files[i]);
        bytes b = slurp(path);
        ct_mesh* mesh;
        assert_int_equal(read_seed(&mesh, b, NULL), CT_OK);
        assert_int_equal(mesh->ntet, 2);
        assert_int_equal(mesh->ntri, 1);
        assert_int_equal(mesh->tet_tag[0], 7);
        assert_int_equal(mesh->tet_tag[1], 8);
        assert_int_equal(mesh->tri_tag[0], 3);
        for (int k = 0; k < 8; k++) {
            const double* x = mesh->x + 3 * mesh->tet[k];
            assert_memory_equal(x, known_x + 3 * known_tet[k], 3 * sizeof(double));
        }
        ct_mesh_free(mesh);
        free(b.data);
    }
}

static ct_mesh* read_text(ct_mesh_format format, const char* text) {
    ct_mesh* mesh;
    ct_error error;
    if (ct_mesh_read(&mesh, text, strlen(text), NULL, 0, format, &error) != CT_OK)
        fail_msg("%s", error.message);
    return mesh;
}

static void obj_polygons_become_fans(void** state) {
    (void)state;
    ct_mesh* mesh = read_text(
        CT_MESH_OBJ, "v 0 0 0\r\nv 2 0 0\r\nv 3 1 0\r\nv 2 2 0\r\nv 0 2 0\r\nf 1/1 2/2 3/3 4/4 5/5\r\n");
    assert_int_equal(mesh->ntri, 3);
    assert_memory_equal(mesh->tri, ((int[9]){0, 1, 2, 0, 2, 3, 0, 3, 4}), 9 * sizeof(int));
    ct_mesh_free(mesh);
}

static void stl_merges_minus_zero_and_reads_several_solids(void** state) {
    (void)state;
    ct_mesh* mesh = read_text(CT_MESH_STL, "solid one\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex "
                                           "1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid one\n"
                                           "solid two words\nfacet normal 0 0 1\nouter loop\nvertex 1 -0.0 "
                                           "0\nvertex 1e0 1 0\nvertex 0 1 -0\nendloop\nendfacet\nendsolid\n");
    assert_int_equal(mesh->nvert, 4);
    assert_int_equal(mesh->ntag, 2);
    assert_string_equal(mesh->tag[1].name, "two words");
    assert_int_equal(mesh->tri_tag[1], mesh->tag[1].id);
    ct_mesh_free(mesh);
}

static void vtk_strips_alternate_their_sense(void** state) {
    (void)state;
    ct_mesh* mesh = read_text(
        CT_MESH_VTK,
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 0\n"
        "TRIANGLE_STRIPS 1 5\n4 0 1 2 3\n");
    assert_memory_equal(mesh->tri, ((int[6]){0, 1, 2, 2, 1, 3}), 6 * sizeof(int));
    ct_mesh_free(mesh);
}

static void vtk_data_of_no_interest_is_skipped(void** state) {
    (void)state;
    ct_mesh* mesh = read_text(
        CT_MESH_VTK,
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nPOLYGONS "
        "1 4\n3 0 1 2\n"
        "POINT_DATA 3\nCOLOR_SCALARS c 2\n0 0 1 1 0 0\nLOOKUP_TABLE t 1\n0 0 0 1\nTEXTURE_COORDINATES u 2 "
        "float\n0 0 1 0 0 1\n"
        "CELL_DATA 1\nFIELD f 2\nx 2 1 double\n1 2\nMETADATA\nINFORMATION 0\n\nregion 1 1 float\n6\n");
    assert_int_equal(mesh->ntri, 1);
    assert_int_equal(mesh->tri_tag[0], 6);
    ct_mesh_free(mesh);
}

static void vtu_pieces_are_joined(void** state) {
    (void)state;
#define PIECE                                                                                                \
    "<Piece NumberOfPoints='3' NumberOfCells='1'><Points><DataArray type='Float32' format='ascii'>0 0 0 1 "  \
    "0 0 0 1 0</DataArray></Points>"                                                                         \
    "<Cells><DataArray type='Int32' Name='connectivity' format='ascii'>0 1 2</DataArray><DataArray "         \
    "type='Int32' Name='offsets' format='ascii'>3"                                                           \
    "</DataArray><DataArray type='UInt8' Name='types' format='ascii'>5</DataArray></Cells></Piece>"
    ct_mesh* mesh = read_text(CT_MESH_VTU, "<VTKFile type='UnstructuredGrid'><UnstructuredGrid>" PIECE PIECE
                                           "</UnstructuredGrid></VTKFile>");
    assert_int_equal(mesh->nvert, 6);
    assert_memory_equal(mesh->tri, ((int[6]){0, 1, 2, 3, 4, 5}), 6 * sizeof(int));
    ct_mesh_free(mesh);
}

// ---------------------------------------------------------------------------------------------
// Saving

static const char* temporary(const char* name) {
    static char path[512];
    static bool made;
    if (!made) {
        char directory[400];
        snprintf(directory, sizeof directory, "%s/mesh_io_files", CT_BINARY_DIR);
        mkdir(directory, 0777);
        made = true;
    }
    snprintf(path, sizeof path, "%s/mesh_io_files/%s", CT_BINARY_DIR, name);
    return path;
}

// A box with awkward coordinates, mixed tags with names, and triangles of its surface.
static ct_mesh* awkward_mesh(void) {
    ct_mesh *box, *mesh;
    assert_int_equal(ct_mesh_box(&box, (double[3]){0.1, 1e-7, 12345.678901234567}, (int[3]){2, 1, 1}, NULL),
                     CT_OK);
    for (int i = 0; i < 3 * box->nvert; i++) box->x[i] = box->x[i] / 3 - 0.01;
    int *tri, ntri;
    assert_int_equal(ct_mesh_surface(box, &tri, &ntri, NULL), CT_OK);
    assert_int_equal(ct_mesh_create(&mesh, box->nvert, box->x, box->ntet, box->tet, ntri, tri, NULL), CT_OK);
    for (int t = 0; t < mesh->ntet; t++) mesh->tet_tag[t] = t % 3;
    for (int t = 0; t < mesh->ntri; t++) mesh->tri_tag[t] = t < 5 ? 1 : 40;
    ct_free(mesh->tag);
    const ct_tag tags[4] = {{1, "soft body"}, {2, "bone"}, {1, "skin"}, {40, "rest"}};
    mesh->ntag = 4;
    mesh->tag = malloc(sizeof tags);
    memcpy(mesh->tag, tags, sizeof tags);
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
    const char* const names[] = {"a.msh", "a.vtk", "a.VTU", "a.mesh", "a.node", "a.obj"};
    ct_mesh* mesh = awkward_mesh();
    for (int i = 0; i < 6; i++) {
        ct_mesh* loaded = save_and_load(mesh, names[i]);
        bool tetgen = strstr(names[i], ".node"), obj = strstr(names[i], ".obj");
        assert_int_equal(loaded->nvert, mesh->nvert);
        assert_int_equal(loaded->ntet, mesh->ntet);
        assert_int_equal(loaded->ntri, tetgen ? 0 : mesh->ntri);
        assert_memory_equal(loaded->x, mesh->x, 3 * (size_t)mesh->nvert * sizeof(double));
        assert_memory_equal(loaded->tet, mesh->tet, 4 * (size_t)mesh->ntet * sizeof(int));
        if (!obj) assert_memory_equal(loaded->tet_tag, mesh->tet_tag, (size_t)mesh->ntet * sizeof(int));
        if (!tetgen) assert_memory_equal(loaded->tri, mesh->tri, 3 * (size_t)mesh->ntri * sizeof(int));
        if (!tetgen && !obj)
            assert_memory_equal(loaded->tri_tag, mesh->tri_tag, (size_t)mesh->ntri * sizeof(int));
        ct_mesh_free(loaded);
    }
    ct_mesh_free(mesh);
}

static const char* name_of(const ct_mesh* mesh, int id) {
    for (int i = 0; i < mesh->ntag; i++)
        if (mesh->tag[i].id == id) return mesh->tag[i].name;
    return "";
}

static void names_survive_in_gmsh_and_obj_and_stl(void** state) {
    (void)state;
    ct_mesh* mesh = awkward_mesh();
    ct_mesh* loaded = save_and_load(mesh, "names.msh");
    const ct_tag expected[4] = {{1, "soft body"}, {2, "bone"}, {1, "skin"}, {40, "rest"}};
    assert_int_equal(loaded->ntag, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(loaded->tag[i].id, expected[i].id);
        assert_string_equal(loaded->tag[i].name, expected[i].name);
    }
    ct_mesh_free(loaded);

    loaded = save_and_load(mesh, "names.obj");  // blanks cannot be part of a group's name
    assert_string_equal(name_of(loaded, loaded->tet_tag[1]), "soft_body");
    assert_string_equal(name_of(loaded, loaded->tet_tag[2]), "bone");
    assert_int_equal(loaded->tet_tag[0], 0);
    assert_string_equal(name_of(loaded, loaded->tri_tag[0]), "skin");
    assert_string_equal(name_of(loaded, loaded->tri_tag[5]), "rest");
    ct_mesh_free(loaded);

    mesh->ntet = 0;  // with tets the boundary is written, sorted by tag
    loaded = save_and_load(mesh, "names.stl");
    assert_int_equal(loaded->ntri, mesh->ntri);
    assert_int_equal(loaded->nvert, mesh->nvert);
    assert_string_equal(name_of(loaded, loaded->tri_tag[0]), "skin");
    assert_string_equal(name_of(loaded, loaded->tri_tag[5]), "rest");
    for (int i = 0; i < 3 * mesh->ntri; i++)
        assert_memory_equal(loaded->x + 3 * loaded->tri[i], mesh->x + 3 * mesh->tri[i], 3 * sizeof(double));
    ct_mesh_free(loaded);
    ct_mesh_free(mesh);
}

// Tagged triangles of a mesh with tets, here an inward one of the boundary and one within, only name solids.
static void stl_of_tets_is_their_boundary(void** state) {
    (void)state;
    ct_mesh *box, *mesh;
    int *boundary, count;
    assert_int_equal(ct_mesh_box(&box, (double[3]){1, 1, 1}, (int[3]){1, 1, 1}, NULL), CT_OK);
    assert_int_equal(ct_mesh_surface(box, &boundary, &count, NULL), CT_OK);
    for (int given = 0; given < 2; given++) {
        const int tri[6] = {boundary[0], boundary[2], boundary[1], 0, 7, 1};
        assert_int_equal(ct_mesh_create(&mesh, box->nvert, box->x, box->ntet, box->tet, 2 * given, tri, NULL),
                         CT_OK);
        if (given) mesh->tri_tag[0] = 5, mesh->tri_tag[1] = 6;
        ct_mesh* loaded = save_and_load(mesh, "box.stl");
        ct_mesh_report report;
        assert_int_equal(ct_mesh_check(loaded, &report, NULL), CT_OK);
        assert_int_equal(loaded->ntri, 12);
        assert_true(report.closed_surface && fabs(report.area - 6) < 1e-14);
        int tagged = 0;
        for (int i = 0; i < 12; i++) tagged += loaded->tri_tag[i] == 5;
        assert_int_equal(tagged, given);
        ct_mesh_free(loaded);
        ct_mesh_free(mesh);
    }
    ct_free(boundary);
    ct_mesh_free(box);
}

static void numbers_do_not_depend_on_the_locale(void** state) {
    (void)state;
    const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "cs_CZ.UTF-8"};
    const char* set = NULL;
    for (int i = 0; i < 4 && !set; i++) set = setlocale(LC_ALL, names[i]);
    if (!set) skip();
    ct_mesh* mesh = awkward_mesh();
    ct_mesh* loaded = save_and_load(mesh, "locale.msh");
    setlocale(LC_ALL, "C");
    assert_memory_equal(loaded->x, mesh->x, 3 * (size_t)mesh->nvert * sizeof(double));
    ct_mesh_free(loaded);
    loaded = save_and_load(mesh, "locale.msh");
    ct_mesh_free(loaded);
    ct_mesh_free(mesh);
}

static void a_failed_save_leaves_nothing_behind(void** state) {
    (void)state;
    ct_mesh* mesh = awkward_mesh();
    ct_error error;
    assert_int_equal(ct_mesh_save(mesh, temporary("no/such/directory.msh"), &error), CT_IO);
    assert_non_null(strstr(error.message, "does not exist"));
    assert_int_equal(ct_mesh_save(mesh, temporary("a.xyz"), &error), CT_UNSUPPORTED);
    char directory[600];
    snprintf(directory, sizeof directory, "%s", temporary("taken.msh"));
    mkdir(directory, 0777);  // the name cannot be taken by a file
    assert_int_equal(ct_mesh_save(mesh, directory, &error), CT_IO);
    *strrchr(directory, '/') = 0;
    DIR* listing = opendir(directory);
    for (struct dirent* entry; (entry = readdir(listing));) assert_null(strstr(entry->d_name, ".part"));
    closedir(listing);
    ct_mesh_free(mesh);
}

static void load_reports_files_that_are_not_there(void** state) {
    (void)state;
    ct_mesh* mesh = (ct_mesh*)1;
    ct_error error;
    assert_int_equal(ct_mesh_load(&mesh, "/nowhere/at/all.msh", CT_MESH_AUTO, &error), CT_IO);
    assert_null(mesh);
    assert_string_equal(error.file, "/nowhere/at/all.msh");
    assert_int_equal(ct_mesh_load(&mesh, "/nowhere/at/all.ele", CT_MESH_AUTO, &error), CT_IO);
    assert_string_equal(error.file, "/nowhere/at/all.node");
    assert_int_equal(ct_mesh_load(&mesh, CORPUS, CT_MESH_AUTO, &error), CT_IO);
    assert_non_null(strstr(error.message, "directory"));
}

static void errors_of_a_file_carry_its_name_and_line(void** state) {
    (void)state;
    FILE* stream = fopen(temporary("broken.mesh"), "w");
    fputs("MeshVersionFormatted 1\nDimension 3\nVertices 2\n0 0 0 0\n1 x 0 0\n", stream);
    fclose(stream);
    ct_mesh* mesh;
    ct_error error;
    assert_int_equal(ct_mesh_load(&mesh, temporary("broken.mesh"), CT_MESH_AUTO, &error), CT_BAD_FILE);
    assert_string_equal(error.file, temporary("broken.mesh"));
    assert_int_equal(error.line, 5);
    assert_int_equal(error.element, 1);
    assert_non_null(strstr(error.message, "node 2: expected a finite number, found 'x'"));
}

// ---------------------------------------------------------------------------------------------
// Damage

#define GMSH22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define GMSH41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES22 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define VTK "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_POINTS "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define MEDIT "MeshVersionFormatted 1\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
#define VTU(attributes, body)                                                                                \
    "<VTKFile type='UnstructuredGrid' " attributes "><UnstructuredGrid>\n" body                              \
    "</UnstructuredGrid></VTKFile>"

typedef struct damage {
    ct_mesh_format format;
    const char* text;
    ct_status status;
    int line;  // -1: any
    long element;
    const char* part;  // of the message
} damage;

static const damage damages[] = {
    {CT_MESH_AUTO, "hello world", CT_BAD_FILE, 0, -1, "not a known mesh format"},
    {CT_MESH_AUTO, "", CT_BAD_FILE, 0, -1, "not a known mesh format"},
    {CT_MESH_GMSH, "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", CT_UNSUPPORTED, 2, -1,
     "version 4.0 is not supported: save the mesh as version 2.2 or 4.1"},
    {CT_MESH_GMSH, "$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", CT_UNSUPPORTED, 2, -1, "8-byte"},
    {CT_MESH_GMSH, "$Nodes\n0\n$EndNodes\n", CT_BAD_FILE, 1, -1, "does not start with $MeshFormat"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n1000000\n1 0 0 0\n$EndNodes\n", CT_BAD_FILE, 5, -1,
     "announces 1000000 nodes but only"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n99999999999\n1 0 0 0\n$EndNodes\n", CT_BAD_FILE, 5, -1,
     "more than can be handled"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n-1\n$EndNodes\n", CT_BAD_FILE, 5, -1, "negative"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n1\n1 0 nan 0\n$EndNodes\n", CT_BAD_FILE, 6, 0,
     "node 1: expected a finite number, found 'nan'"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n1\n1 0 1e999 0\n$EndNodes\n", CT_BAD_FILE, 6, 0, "found '1e999'"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n1\n1 0 0x10 0\n$EndNodes\n", CT_BAD_FILE, 6, 0, "found '0x10'"},
    {CT_MESH_GMSH, GMSH22 "$Nodes\n2\n5 0 0 0\n5 0 0 0\n$EndNodes\n", CT_BAD_FILE, -1, 1,
     "node 5 is defined twice"},
    {CT_MESH_GMSH, GMSH22 NODES22 "$Elements\n1\n1 4 0 1 2 3 17\n$EndElements\n", CT_BAD_FILE, 13, 0,
     "node 17 of element 1 is not in the file, which has 4 nodes"},
    {CT_MESH_GMSH, GMSH22 NODES22 "$Elements\n1\n1 29 0 1 2 3 4 1 2 3 4 1 2\n$EndElements\n", CT_UNSUPPORTED,
     13, 0, "20-node third-order tetrahedron"},
    {CT_MESH_GMSH, GMSH22 NODES22 "$Elements\n1\n1 5 0 1 2 3 4 1 2 3 4\n$EndElements\n", CT_UNSUPPORTED, 13,
     0, "8-node hexahedron"},
    {CT_MESH_GMSH, GMSH22 NODES22 "$Elements\n1\n1 99 0 1\n$EndElements\n", CT_UNSUPPORTED, 13, 0,
     "has type 99"},
    {CT_MESH_GMSH, GMSH22 NODES22 "$Elements\n1\n1 4 0 1 2 3 4\n", CT_BAD_FILE, 13, -1, "no $EndElements"},
    {CT_MESH_GMSH, GMSH22 NODES22, CT_BAD_FILE, 0, -1, "no tets and no triangles (4 nodes)"},
    {CT_MESH_GMSH, GMSH22 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n", CT_BAD_FILE, -1, -1,
     "before $Nodes"},
    {CT_MESH_GMSH, GMSH41 "$Nodes\n1 1 1 1\n3 1 0 99\n1\n0 0 0\n$EndNodes\n", CT_BAD_FILE, 6, -2,
     "announces 99 nodes"},
    {CT_MESH_GMSH, GMSH41 "$Nodes\n1 1 1 1\n7 1 1 1\n1\n0 0 0\n$EndNodes\n", CT_BAD_FILE, 6, -2,
     "it must be 0 to 3"},
    {CT_MESH_VTK, "hello\n", CT_BAD_FILE, -1, -1, "not a legacy VTK file"},
    {CT_MESH_VTK, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n", CT_UNSUPPORTED, 4, -1,
     "save an unstructured grid"},
    {CT_MESH_VTK, VTK "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 inf\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
     CT_BAD_FILE, 6, 3, "node 3: expected a finite number"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 17\nCELL_TYPES 1\n10\n", CT_BAD_FILE, 0, 0,
     "node 17 of cell 0 is out of range: the file has 4 nodes"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24\n", CT_BAD_FILE, 0, 0,
     "cell 0 has 4 nodes, its type needs 10"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n71\n", CT_UNSUPPORTED, 0, 0,
     "Lagrange tetrahedron"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n", CT_UNSUPPORTED, 0, 0,
     "hexahedron"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n", CT_BAD_FILE, 0, 0,
     "cell 0 has 3 nodes, its type needs 4"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 5\n9 0 1 2 3\nCELL_TYPES 1\n10\n", CT_BAD_FILE, 8, 0,
     "announces 9 nodes"},
    {CT_MESH_VTK, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n", CT_BAD_FILE, 9, -1,
     "1 cells but 2 cell types"},
    {CT_MESH_VTU, "<html></html>", CT_BAD_FILE, 1, -1, "not a .vtu file"},
    {CT_MESH_VTU, "<VTKFile type='PolyData'></VTKFile>", CT_UNSUPPORTED, 1, -1, "not an UnstructuredGrid"},
    {CT_MESH_VTU, VTU("compressor='vtkLZ4DataCompressor'", ""), CT_UNSUPPORTED, 1, -1, "save with zlib"},
    {CT_MESH_VTU, VTU("", "<Piece NumberOfPoints='x' NumberOfCells='1'></Piece>"), CT_BAD_FILE, 2, -1,
     "needs NumberOfPoints"},
    {CT_MESH_VTU, VTU("", "<Piece NumberOfPoints='3' NumberOfCells='1'></Piece>"), CT_BAD_FILE, 2, -1,
     "<Points> holds 0 numbers, 3 nodes need 9"},
    {CT_MESH_VTU,
     VTU("", "<Piece NumberOfPoints='1' NumberOfCells='1'><Points><DataArray type='Float64' "
             "format='binary'>////fwAA</DataArray></Points></Piece>"),
     CT_BAD_FILE, 2, -1, "announces 2147483647 bytes, more than the file holds"},
    {CT_MESH_VTU,
     VTU("", "<Piece NumberOfPoints='1' NumberOfCells='1'><Points><DataArray type='Float64' "
             "format='appended' offset='3'/></Points></Piece>"),
     CT_BAD_FILE, 2, -1, "no <AppendedData>"},
    {CT_MESH_VTU, VTU("", "<Piece NumberOfPoints='1' NumberOfCells='1'>"), CT_BAD_FILE, -1, -1,
     "a <Piece> is not closed"},
    {CT_MESH_TETGEN, "1 3 0 0\n0 0 0 0\n", CT_BAD_FILE, -1, -1, "the .ele part is missing"},
    {CT_MESH_MEDIT, "Vertices 1\n", CT_BAD_FILE, -1, -1, "does not start with MeshVersionFormatted"},
    {CT_MESH_MEDIT, "MeshVersionFormatted 1\nDimension 2\n", CT_UNSUPPORTED, 2, -1,
     "dimension 2: 3 is needed"},
    {CT_MESH_MEDIT, MEDIT "Tetrahedra 4\n1 2 3 4 0\n1 2 3 4 0\n1 2 3 4 0\n1 2 3 17 0\n", CT_BAD_FILE, 12, 3,
     "node 17 of tet 4 is out of range: the file has 4 nodes (1 to 4)"},
    {CT_MESH_MEDIT, MEDIT "Tetrahedra 1\n0 1 2 3 0\n", CT_BAD_FILE, 9, 0, "node 0 of tet 1 is out of range"},
    {CT_MESH_MEDIT, MEDIT "Hexahedra 1\n1 2 3 4 1 2 3 4 0\n", CT_UNSUPPORTED, 8, -1,
     "Hexahedra cannot be read"},
    {CT_MESH_MEDIT, MEDIT "Triangles 2\n1 2 3 0\n1 2 3        ", CT_BAD_FILE, 10, 1,
     "file ends where an integer should be"},
    {CT_MESH_OBJ, "v 0 0\nf 1 2 3\n", CT_BAD_FILE, 1, 0, "node 1: expected three finite numbers"},
    {CT_MESH_OBJ, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", CT_BAD_FILE, 0, 0,
     "node 4 of triangle 1 is out of range: the file has 3 nodes (1 to 3)"},
    {CT_MESH_OBJ, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", CT_BAD_FILE, 0, 0,
     "node 0 of triangle 1 is out of range"},
    {CT_MESH_OBJ, "v 0 0 0\nf 1 -2 1\n", CT_BAD_FILE, 0, 0, "out of range"},
    {CT_MESH_OBJ, "v 0 0 0\nf 1 1\n", CT_BAD_FILE, 2, 0, "face 1 has 2 nodes: at least 3"},
    {CT_MESH_OBJ, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nt 0 1 2 4\n", CT_BAD_FILE, 0, 0,
     "node 4 of tet 0 is out of range"},
    {CT_MESH_OBJ, "v 0 0 0\nt 1 1 1\n", CT_BAD_FILE, 2, 0, "4 are needed"},
    {CT_MESH_STL, "short", CT_BAD_FILE, 0, -1, "too short for an STL"},
    {CT_MESH_STL,
     "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n",
     CT_BAD_FILE, 9, -1, "no 'endsolid'"},
    {CT_MESH_STL, "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", CT_BAD_FILE, 4, 0,
     "found 'inf'"},
    {CT_MESH_STL, "solid a\nfacet normal 0 0 1\nouter\nvertex 0 0 0\n", CT_BAD_FILE, 4, 0,
     "expected 'outer loop'"},
};

static void damage_is_named_with_place_and_remedy(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const damage* d = &damages[i];
        ct_mesh* mesh = (ct_mesh*)1;
        ct_error error;
        ct_status status = ct_mesh_read(&mesh, d->text, strlen(d->text), NULL, 0, d->format, &error);
        bool good = status == d->status && !mesh && error.code == status && strstr(error.message, d->part) &&
                    (d->line < 0 || error.line == d->line) &&
                    (d->element < -1 || error.element == d->element);
        if (!good)
            fail_msg("damage %zu: status %d line %d element %ld: %s", i, status, error.line, error.element,
                     error.message);
    }
}

static void tetgen_damage_is_named(void** state) {
    (void)state;
    static const struct {
        const char *node, *ele;
        int line;
        long element;
        const char* part;
    } cases[] = {
        {"2 3 0 0\n1 0 0 0\n2 1 0 0\n", "1 4 0\n1 1 2 2 17\n", 2, 0,
         "node 17 of tet 1 is out of range: the file has 2 nodes (1 to 2)"},
        {"2 3 0 0\n0 0 0 0\n1 1 0 0\n", "1 4 0\n0 0 1 1 2\n", 2, 0,
         "node 2 of tet 0 is out of range: the file has 2 nodes (0 to 1)"},
        {"2 3 0 0\n1 0 0 0\n3 1 0 0\n", "1 4 0\n1 1 2 2 1\n", 3, 1, "must be numbered in order"},
        {"1 2 0 0\n1 0 0 0\n", "1 4 0\n1 1 1 1 1\n", 1, -1, "3 are needed"},
        {"1 3 0 0\n1 0 0 0\n", "1 20 0\n1 1 1 1 1 1 1 1 1 1 1\n", 1, -1, "the tets have 20 nodes"},
        {"1 3 0 0\n1 0 0 0\n", "9 4 0\n1 1 1 1 1\n", 1, -1, "announces 9 tets"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ct_mesh* mesh;
        ct_error error;
        ct_status status = ct_mesh_read(&mesh, cases[i].node, strlen(cases[i].node), cases[i].ele,
                                        strlen(cases[i].ele), CT_MESH_TETGEN, &error);
        if (status == CT_OK || !strstr(error.message, cases[i].part) || error.line != cases[i].line ||
            error.element != cases[i].element)
            fail_msg("case %zu: line %d element %ld: %s", i, error.line, error.element, error.message);
    }
}

static void binary_nan_is_refused(void** state) {
    (void)state;
    const char* const names[] = {"solid_gmsh22_binary", "solid_gmsh41_binary", "solid_vtk_binary",
                                 "solid_vtu_raw", "surface_stl_binary"};
    for (int i = 0; i < 5; i++) {
        char path[1024];
        snprintf(path, sizeof path, CORPUS "/%s", names[i]);
        bytes b = slurp(path);
        // 1.125 (or, in STL, the first 1.0) in the file's encoding becomes a NaN
        const double wide = 1.125;
        const float narrow = 1;
        unsigned char big[4] = {0x3f, 0x90, 0, 0};  // 1.125f, big-endian
        const void* pattern = i == 2 ? (const void*)big : i == 4 ? (const void*)&narrow : (const void*)&wide;
        size_t size = i == 2 || i == 4 ? 4 : 8;
        unsigned char* found = memmem(b.data, b.size, pattern, size);
        if (i == 0 || i == 1) {  // the last one: the bounding boxes of the entities hold it too
            for (unsigned char* next;
                 (next = memmem(found + 1, b.size - (size_t)(found + 1 - b.data), pattern, size));)
                found = next;
        }
        assert_non_null(found);
        memset(found, 0xff, size);
        ct_mesh* mesh;
        ct_error error;
        assert_int_equal(read_seed(&mesh, b, &error), CT_BAD_FILE);
        if (!strstr(error.message, "finite")) fail_msg("%s: %s", names[i], error.message);
        free(b.data);
    }
}

static void visit_truncated(const char* name, bytes b) {
    (void)name;
    // a copy of the exact size, so that the sanitizers see a read beyond the end
    for (size_t size = 0; size <= b.size; size++) {
        unsigned char* cut = malloc(size ? size : 1);
        memcpy(cut, b.data, size);
        LLVMFuzzerTestOneInput(cut, size);
        free(cut);
    }
}

static void files_cut_at_any_length_do_not_crash(void** state) {
    (void)state;
    for_each_file(CORPUS, visit_truncated);
}

static void visit_flipped(const char* name, bytes b) {
    (void)name;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 400; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t at = 1 + (size_t)(random % (b.size - 1));
        unsigned char kept = b.data[at];
        b.data[at] = (unsigned char)(random >> 40);
        LLVMFuzzerTestOneInput(b.data, b.size);
        b.data[at] = kept;
    }
}

static void files_with_a_changed_byte_do_not_crash(void** state) {
    (void)state;
    for_each_file(CORPUS, visit_flipped);
}

static void visit_case(const char* name, bytes b) {
    (void)name;
    LLVMFuzzerTestOneInput(b.data, b.size);
}

static void former_crashes_stay_fixed(void** state) {
    (void)state;
    for_each_file(CORPUS, visit_case);
    for_each_file(CASES, visit_case);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_reads_as_the_known_mesh),
        cmocka_unit_test(gmsh_names_come_with_their_tags),
        cmocka_unit_test(gmsh_partitions_keep_the_groups),
        cmocka_unit_test(obj_polygons_become_fans),
        cmocka_unit_test(stl_merges_minus_zero_and_reads_several_solids),
        cmocka_unit_test(vtk_strips_alternate_their_sense),
        cmocka_unit_test(vtk_data_of_no_interest_is_skipped),
        cmocka_unit_test(vtu_pieces_are_joined),
        cmocka_unit_test(what_is_saved_reads_back_exactly),
        cmocka_unit_test(names_survive_in_gmsh_and_obj_and_stl),
        cmocka_unit_test(stl_of_tets_is_their_boundary),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(a_failed_save_leaves_nothing_behind),
        cmocka_unit_test(load_reports_files_that_are_not_there),
        cmocka_unit_test(errors_of_a_file_carry_its_name_and_line),
        cmocka_unit_test(damage_is_named_with_place_and_remedy),
        cmocka_unit_test(tetgen_damage_is_named),
        cmocka_unit_test(binary_nan_is_refused),
        cmocka_unit_test(files_cut_at_any_length_do_not_crash),
        cmocka_unit_test(files_with_a_changed_byte_do_not_crash),
        cmocka_unit_test(former_crashes_stay_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
