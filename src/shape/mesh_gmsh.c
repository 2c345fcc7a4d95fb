// Gmsh .msh files, versions 2.2 and 4.1, ASCII and binary.
//
// Sections $Name ... $EndName. Read: $MeshFormat (version, binary flag, byte order), $PhysicalNames,
// $Entities and $PartitionedEntities (4.1: entity -> physical group), $Nodes or $ParametricNodes (2.2),
// $Elements; all others are skipped. Node numbers are arbitrary and are looked up in a sorted table. Tets and
// triangles of first and second order are kept, quadrangles split, points and lines ignored; any other
// element type is an error that names it. The nodes of a 10-node tet are on the edges 01 12 02 03 23 13. An
// element has one tag: of several physical groups the first. Version 2.2 repeats an element for each of its
// groups; the copies are dropped. Layout: Gmsh reference manual, "MSH file format".
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh.h"
#include "shape/mesh_io.h"

typedef struct node_entry {
    int64_t tag;
    int index;
} node_entry;

typedef struct entity {
    int dimension, tag, physical;
} entity;

typedef struct physical_name {
    int dimension, id;
    ct_word name;
} physical_name;

typedef struct gmsh {
    ct_scan scan;
    ct_mesh_builder* builder;
    int version;  // 2 or 4
    bool binary;
    node_entry* node;  // one a node, sorted by tag once the section is read
    size_t nnode, node_room;
    bool dense;      // node[i].tag = node[0].tag + i
    entity* entity;  // sorted by dimension, tag
    size_t nentity, entity_room;
    physical_name* name;
    size_t nname, name_room;
    int last_type, last_node[10];  // of the element before this one, version 2
} gmsh;

// Points and lines have no name: they are ignored. Types that are not here are errors too.
typedef struct element_type {
    int type, nnode;
    const char* name;
} element_type;

static const element_type element_types[] = {
    {1, 2, NULL},
    {8, 3, NULL},
    {15, 1, NULL},
    {26, 4, NULL},
    {27, 5, NULL},
    {28, 6, NULL},
    {2, 3, "3-node triangle"},
    {3, 4, "4-node quadrangle"},
    {4, 4, "4-node tetrahedron"},
    {5, 8, "8-node hexahedron"},
    {6, 6, "6-node prism"},
    {7, 5, "5-node pyramid"},
    {9, 6, "6-node second-order triangle"},
    {10, 9, "9-node second-order quadrangle"},
    {11, 10, "10-node second-order tetrahedron"},
    {12, 27, "27-node second-order hexahedron"},
    {16, 8, "8-node second-order quadrangle"},
    {17, 20, "20-node second-order hexahedron"},
    {20, 9, "9-node third-order triangle"},
    {21, 10, "10-node third-order triangle"},
    {29, 20, "20-node third-order tetrahedron"},
    {30, 35, "35-node fourth-order tetrahedron"},
};

// ---------------------------------------------------------------------------------------------
// Numbers in the file's encoding

static ct_status read_int(gmsh* g, int* value) {
    if (g->binary) return ct_scan_int32(&g->scan, value);
    int64_t wide = 0;
    ct_status status = ct_scan_integer(&g->scan, &wide);
    if (status == CT_OK && (wide > INT32_MAX || wide < INT32_MIN))
        status = ct_scan_fail(&g->scan, "the number %lld does not fit 32 bits: renumber the mesh",
                              (long long)wide);
    *value = (int)wide;
    return status;
}

static ct_status read_size(gmsh* g, int64_t* value) {
    if (!g->binary) return ct_scan_integer(&g->scan, value);
    uint64_t bits = 0;
    ct_status status = ct_scan_uint64(&g->scan, &bits);
    *value = (int64_t)bits;
    return status;
}

static ct_status read_real(gmsh* g, double* value) {
    return g->binary ? ct_scan_double(&g->scan, value) : ct_scan_real(&g->scan, value);
}

// A count of things with at least the given sizes in binary and in text.
static ct_status read_count(gmsh* g, const char* things, size_t binary_bytes, size_t text_bytes,
                            int64_t* count) {
    ct_status status = read_size(g, count);
    if (status != CT_OK) return status;
    if (*count < 0)
        return ct_scan_fail(&g->scan, "the number of %s is negative (%lld)", things, (long long)*count);
    return ct_scan_check_count(&g->scan, things, (uint64_t)*count, g->binary ? binary_bytes : text_bytes);
}

static ct_status skip_numbers(gmsh* g, int64_t count) {
    double ignored;
    ct_status status = CT_OK;
    for (int64_t i = 0; i < count && status == CT_OK; i++) status = read_real(g, &ignored);
    return status;
}

// ---------------------------------------------------------------------------------------------
// $MeshFormat, $PhysicalNames, $Entities

static ct_status read_format(gmsh* g) {
    ct_word version;
    int64_t kind, data_size;
    if (!ct_scan_word(&g->scan, &version))
        return ct_scan_fail(&g->scan, "the file ends in $MeshFormat: it was cut short");
    if (ct_word_is(version, "2.2") || ct_word_is(version, "2.1") || ct_word_is(version, "2")) g->version = 2;
    else if (ct_word_is(version, "4.1")) g->version = 4;
    else
        return ct_scan_fail_as(
            &g->scan, CT_UNSUPPORTED,
            "Gmsh format version %.*s is not supported: save the mesh as version 2.2 or 4.1",
            (int)(version.size < 16 ? version.size : 16), version.text);
    ct_status status = ct_scan_integer(&g->scan, &kind);
    if (status == CT_OK) status = ct_scan_integer(&g->scan, &data_size);
    if (status != CT_OK) return status;
    if (data_size != 8)
        return ct_scan_fail_as(&g->scan, CT_UNSUPPORTED,
                               "data size %lld is not supported: save the mesh with 8-byte numbers",
                               (long long)data_size);
    g->binary = kind == 1;
    if (!g->binary) return CT_OK;
    ct_scan_rest(&g->scan);
    int one = 0;
    status = ct_scan_int32(&g->scan, &one);
    if (status != CT_OK || one == 1) return status;
    if (one != 0x01000000) return ct_scan_fail(&g->scan, "the byte-order mark of the binary file is damaged");
    g->scan.swap = true;
    return CT_OK;
}

static ct_status read_physical_names(gmsh* g) {
    int count;
    ct_status status = ct_scan_count(&g->scan, "physical names", 5, &count);
    for (int i = 0; i < count && status == CT_OK; i++) {
        int64_t dimension, id = 0;
        status = ct_scan_integer(&g->scan, &dimension);
        if (status == CT_OK) status = ct_scan_integer(&g->scan, &id);
        if (status != CT_OK) break;
        ct_word rest = ct_scan_rest(&g->scan);
        if (rest.size && rest.text[0] == '"') rest.text++, rest.size--;
        if (rest.size && rest.text[rest.size - 1] == '"') rest.size--;
        if (!ct_reserve((void**)&g->name, &g->name_room, g->nname + 1, sizeof *g->name))
            return ct_scan_out_of_memory(&g->scan);
        if (dimension < 2 || dimension > 3 || id < INT32_MIN || id > INT32_MAX) continue;
        g->name[g->nname++] = (physical_name){(int)dimension, (int)id, rest};
    }
    return status;
}

static int entity_compare(const void* left, const void* right) {
    const entity *a = left, *b = right;
    if (a->dimension != b->dimension) return a->dimension < b->dimension ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static int physical_id(int64_t tag) { return tag < 0 && tag > INT32_MIN ? (int)-tag : (int)tag; }

// Parent entity and parts of an entity that was cut by a partition; its physical groups follow as those of
// others do.
static ct_status skip_partition(gmsh* g) {
    int ignored;
    int64_t count = 0;
    ct_status status = read_int(g, &ignored);
    if (status == CT_OK) status = read_int(g, &ignored);
    if (status == CT_OK) status = read_count(g, "partitions", 4, 2, &count);
    for (int64_t i = 0; i < count && status == CT_OK; i++) status = read_int(g, &ignored);
    return status;
}

static ct_status read_entity(gmsh* g, int dimension, bool partitioned) {
    entity found = {dimension, 0, 0};
    int64_t count;
    ct_status status = read_int(g, &found.tag);
    if (status == CT_OK && partitioned) status = skip_partition(g);
    if (status == CT_OK) status = skip_numbers(g, dimension == 0 ? 3 : 6);
    if (status == CT_OK) status = read_count(g, "physical tags", 4, 2, &count);
    for (int64_t i = 0; status == CT_OK && i < count; i++) {
        int tag;
        status = read_int(g, &tag);
        if (i == 0) found.physical = physical_id(tag);
    }
    if (status == CT_OK && dimension > 0) {
        status = read_count(g, "bounding entities", 4, 2, &count);
        int ignored;
        for (int64_t i = 0; status == CT_OK && i < count; i++) status = read_int(g, &ignored);
    }
    if (status != CT_OK) return status;
    if (!ct_reserve((void**)&g->entity, &g->entity_room, g->nentity + 1, sizeof *g->entity))
        return ct_scan_out_of_memory(&g->scan);
    g->entity[g->nentity++] = found;
    return CT_OK;
}

static ct_status skip_ghosts(gmsh* g) {
    int64_t count;
    ct_status status = read_size(g, &count);  // partitions
    if (status == CT_OK) status = read_count(g, "ghost entities", 8, 4, &count);
    int ignored;
    for (int64_t i = 0; status == CT_OK && i < 2 * count; i++) status = read_int(g, &ignored);
    return status;
}

static ct_status read_entities(gmsh* g, bool partitioned) {
    int64_t count[4];
    ct_status status = partitioned ? skip_ghosts(g) : CT_OK;
    for (int d = 0; d < 4 && status == CT_OK; d++) status = read_count(g, "entities", 12, 8, &count[d]);
    for (int d = 0; d < 4 && status == CT_OK; d++)
        for (int64_t i = 0; i < count[d] && status == CT_OK; i++) status = read_entity(g, d, partitioned);
    if (g->nentity) qsort(g->entity, g->nentity, sizeof *g->entity, entity_compare);
    return status;
}

static int entity_physical(const gmsh* g, int dimension, int tag) {
    entity key = {dimension, tag, 0};
    const entity* found =
        g->nentity ? bsearch(&key, g->entity, g->nentity, sizeof key, entity_compare) : NULL;
    return found ? found->physical : 0;
}

// ---------------------------------------------------------------------------------------------
// $Nodes

static int node_compare(const void* left, const void* right) {
    const node_entry *a = left, *b = right;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static ct_status add_node_tag(gmsh* g, int64_t tag) {
    if (!ct_reserve((void**)&g->node, &g->node_room, g->nnode + 1, sizeof *g->node))
        return ct_scan_out_of_memory(&g->scan);
    g->node[g->nnode] = (node_entry){tag, (int)g->nnode};
    g->nnode++;
    return CT_OK;
}

static ct_status sort_node_tags(gmsh* g) {
    g->dense = true;
    for (size_t i = 1; i < g->nnode; i++)
        g->dense &= (uint64_t)g->node[i].tag == (uint64_t)g->node[0].tag + i;
    if (g->dense) return CT_OK;
    qsort(g->node, g->nnode, sizeof *g->node, node_compare);
    for (size_t i = 1; i < g->nnode; i++)
        if (g->node[i].tag == g->node[i - 1].tag) {
            g->scan.index = g->node[i].index;
            return ct_scan_fail(&g->scan, "node %lld is defined twice: renumber the nodes",
                                (long long)g->node[i].tag);
        }
    return CT_OK;
}

// What follows the position of a node in $ParametricNodes: dimension and number of its entity, u or u v on
// lines and faces.
static ct_status skip_parameters(gmsh* g) {
    int dimension, ignored;
    ct_status status = read_int(g, &dimension);
    if (status == CT_OK) status = read_int(g, &ignored);
    return status == CT_OK && (dimension == 1 || dimension == 2) ? skip_numbers(g, dimension) : status;
}

static ct_status read_nodes_2(gmsh* g, bool parametric) {
    int count;
    ct_status status = ct_scan_count(&g->scan, "nodes", g->binary ? 28 : 8, &count);
    if (status == CT_OK && g->binary) ct_scan_rest(&g->scan);
    for (int i = 0; i < count && status == CT_OK; i++) {
        int tag;
        double x[3];
        ct_scan_item(&g->scan, "node", i);
        status = read_int(g, &tag);
        for (int a = 0; a < 3 && status == CT_OK; a++) status = read_real(g, &x[a]);
        if (status == CT_OK && parametric) status = skip_parameters(g);
        if (status == CT_OK) status = add_node_tag(g, tag);
        if (status == CT_OK) ct_mesh_builder_node(g->builder, x);
    }
    return status;
}

// Tags first, then positions (with `parameters` more numbers each).
static ct_status read_node_block(gmsh* g, int64_t count, int parameters) {
    ct_status status = CT_OK;
    for (int64_t i = 0; i < count && status == CT_OK; i++) {
        int64_t tag;
        ct_scan_item(&g->scan, "node", (long)g->nnode);
        status = read_size(g, &tag);
        if (status == CT_OK) status = add_node_tag(g, tag);
    }
    for (int64_t i = 0; i < count && status == CT_OK; i++) {
        double x[3];
        ct_scan_item(&g->scan, "node", g->builder->mesh->nvert);
        for (int a = 0; a < 3 && status == CT_OK; a++) status = read_real(g, &x[a]);
        if (status == CT_OK) status = skip_numbers(g, parameters);
        if (status == CT_OK) ct_mesh_builder_node(g->builder, x);
    }
    return status;
}

static ct_status read_nodes_4(gmsh* g) {
    int64_t blocks, ignored, count;
    ct_status status = read_count(g, "node blocks", 20, 8, &blocks);
    if (status == CT_OK) status = read_count(g, "nodes", 32, 8, &ignored);
    for (int i = 0; i < 2 && status == CT_OK; i++) status = read_size(g, &ignored);
    for (int64_t b = 0; b < blocks && status == CT_OK; b++) {
        int dimension, tag, parametric;
        ct_scan_item(&g->scan, "node block", (long)b);
        status = read_int(g, &dimension);
        if (status == CT_OK) status = read_int(g, &tag);
        if (status == CT_OK) status = read_int(g, &parametric);
        if (status == CT_OK && (dimension < 0 || dimension > 3))
            status = ct_scan_fail(&g->scan, "the dimension of node block %lld is %d: it must be 0 to 3",
                                  (long long)b + 1, dimension);
        if (status == CT_OK) status = read_count(g, "nodes", 32, 8, &count);
        if (status == CT_OK) status = read_node_block(g, count, parametric ? dimension : 0);
        if (g->builder->out_of_memory) return ct_scan_out_of_memory(&g->scan);
    }
    return status;
}

static ct_status read_nodes(gmsh* g, bool parametric) {
    if (g->nnode) return ct_scan_fail(&g->scan, "the file has two $Nodes sections: keep one");
    ct_status status = g->version == 2 ? read_nodes_2(g, parametric) : read_nodes_4(g);
    return status == CT_OK ? sort_node_tags(g) : status;
}

// ---------------------------------------------------------------------------------------------
// $Elements

static ct_status find_node(const gmsh* g, int64_t tag, int* index) {
    if (g->dense && g->nnode && tag >= g->node[0].tag &&
        (uint64_t)tag - (uint64_t)g->node[0].tag < g->nnode) {
        *index = (int)(tag - g->node[0].tag);
        return CT_OK;
    }
    node_entry key = {tag, 0};
    const node_entry* found = g->nnode ? bsearch(&key, g->node, g->nnode, sizeof key, node_compare) : NULL;
    if (!found)
        return ct_scan_fail(
            &g->scan, "node %lld of element %ld is not in the file, which has %zu nodes: export all nodes",
            (long long)tag, g->scan.index + 1, g->nnode);
    *index = found->index;
    return CT_OK;
}

static const element_type* find_type(const gmsh* g, int type) {
    for (size_t i = 0; i < sizeof element_types / sizeof element_types[0]; i++) {
        const element_type* found = &element_types[i];
        if (found->type != type) continue;
        if (!found->name || (type >= 2 && type <= 4) || type == 9 || type == 11) return found;
        ct_scan_fail_as(
            &g->scan, CT_UNSUPPORTED,
            "element %ld is a %s (type %d); only tets and triangles of first and second order "
            "can be read: export the mesh with tets (Mesh.ElementOrder = 1 or 2, no recombination)",
            g->scan.index + 1, found->name, type);
        return NULL;
    }
    ct_scan_fail_as(&g->scan, CT_UNSUPPORTED,
                    "element %ld has type %d; only tets and triangles of first and second order can be read: "
                    "export those",
                    g->scan.index + 1, type);
    return NULL;
}

static void add_element(gmsh* g, int type, const int node[10], int physical) {
    int ours[10];
    for (int i = 0; i < 10; i++) ours[i] = node[i < 8 ? i : 17 - i];
    if (type == 11) ct_mesh_builder_tet10(g->builder, ours, physical);
    if (type == 9) ct_mesh_builder_tri6(g->builder, node, physical);
    if (type == 4) ct_mesh_builder_tet(g->builder, node, physical);
    if (type == 2) ct_mesh_builder_tri(g->builder, node, physical);
    if (type == 3) ct_mesh_builder_polygon(g->builder, node, 4, physical);
}

static ct_status fail_type(const gmsh* g) { return g->scan.error ? g->scan.error->code : CT_UNSUPPORTED; }

static bool repeats_last(gmsh* g, int type, const int node[10]) {
    bool same = g->last_type == type && memcmp(g->last_node, node, sizeof g->last_node) == 0;
    g->last_type = type;
    memcpy(g->last_node, node, sizeof g->last_node);
    return same;
}

// One element of version 2 after its number; the first tag is the physical group.
static ct_status read_element_2(gmsh* g, const element_type* type, int ntag) {
    int physical = 0, node[10] = {0};
    ct_status status = CT_OK;
    if (ntag < 0)
        return ct_scan_fail(&g->scan, "element %ld has %d tags: the file is damaged", g->scan.index + 1,
                            ntag);
    for (int i = 0; i < ntag && status == CT_OK; i++) {
        int tag;
        status = read_int(g, &tag);
        if (i == 0) physical = physical_id(tag);
    }
    for (int i = 0; i < type->nnode && status == CT_OK; i++) {
        int tag;
        status = read_int(g, &tag);
        if (status == CT_OK && type->name) status = find_node(g, tag, &node[i]);
    }
    if (status == CT_OK && !repeats_last(g, type->type, node)) add_element(g, type->type, node, physical);
    return status;
}

static ct_status read_elements_2_text(gmsh* g, int count) {
    ct_status status = CT_OK;
    for (int i = 0; i < count && status == CT_OK; i++) {
        int number, type, ntag;
        ct_scan_item(&g->scan, "element", i);
        status = read_int(g, &number);
        if (status == CT_OK) status = read_int(g, &type);
        if (status == CT_OK) status = read_int(g, &ntag);
        if (status != CT_OK) break;
        const element_type* found = find_type(g, type);
        status = found ? read_element_2(g, found, ntag) : fail_type(g);
    }
    return status;
}

// Blocks of elements of one type.
static ct_status read_elements_2_binary(gmsh* g, int count) {
    ct_status status = CT_OK;
    for (int i = 0; i < count && status == CT_OK;) {
        int type, following, ntag, number;
        ct_scan_item(&g->scan, "element", i);
        status = ct_scan_int32(&g->scan, &type);
        if (status == CT_OK) status = ct_scan_int32(&g->scan, &following);
        if (status == CT_OK) status = ct_scan_int32(&g->scan, &ntag);
        if (status != CT_OK) break;
        if (following < 1 || following > count - i)
            return ct_scan_fail(&g->scan,
                                "a block announces %d elements where %d are left: the file is damaged",
                                following, count - i);
        const element_type* found = find_type(g, type);
        if (!found) return fail_type(g);
        for (int k = 0; k < following && status == CT_OK; k++) {
            ct_scan_item(&g->scan, "element", i++);
            status = ct_scan_int32(&g->scan, &number);
            if (status == CT_OK) status = read_element_2(g, found, ntag);
        }
    }
    return status;
}

static ct_status read_elements_2(gmsh* g) {
    int count;
    ct_status status = ct_scan_count(&g->scan, "elements", 8, &count);
    if (status != CT_OK) return status;
    if (!g->binary) return read_elements_2_text(g, count);
    ct_scan_rest(&g->scan);
    return read_elements_2_binary(g, count);
}

static ct_status read_element_block(gmsh* g, const element_type* type, int64_t count, int physical,
                                    long* index) {
    ct_status status = CT_OK;
    for (int64_t i = 0; i < count && status == CT_OK; i++) {
        int node[10] = {0};
        int64_t tag;
        ct_scan_item(&g->scan, "element", (*index)++);
        status = read_size(g, &tag);
        for (int k = 0; k < type->nnode && status == CT_OK; k++) {
            status = read_size(g, &tag);
            if (status == CT_OK && type->name) status = find_node(g, tag, &node[k]);
        }
        if (status == CT_OK) add_element(g, type->type, node, physical);
    }
    return status;
}

static ct_status read_elements_4(gmsh* g) {
    int64_t blocks, ignored, count;
    long index = 0;
    ct_status status = read_count(g, "element blocks", 20, 8, &blocks);
    if (status == CT_OK) status = read_count(g, "elements", 16, 4, &ignored);
    for (int i = 0; i < 2 && status == CT_OK; i++) status = read_size(g, &ignored);
    for (int64_t b = 0; b < blocks && status == CT_OK; b++) {
        int dimension, tag, type;
        ct_scan_item(&g->scan, "element", index);
        status = read_int(g, &dimension);
        if (status == CT_OK) status = read_int(g, &tag);
        if (status == CT_OK) status = read_int(g, &type);
        if (status == CT_OK) status = read_count(g, "elements", 16, 4, &count);
        if (status != CT_OK) break;
        const element_type* found = find_type(g, type);
        if (!found) return fail_type(g);
        status = read_element_block(g, found, count, entity_physical(g, dimension, tag), &index);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// The file

static ct_status read_section(gmsh* g, ct_word name) {
    if (ct_word_is(name, "$PhysicalNames")) return read_physical_names(g);
    bool partitioned = ct_word_is(name, "$PartitionedEntities"),
         parametric = ct_word_is(name, "$ParametricNodes");
    bool entities = partitioned || ct_word_is(name, "$Entities"),
         nodes = parametric || ct_word_is(name, "$Nodes");
    // skipped by the search for its end
    if (!entities && !nodes && !ct_word_is(name, "$Elements")) return CT_OK;
    if (g->version == 4 && g->binary) ct_scan_rest(&g->scan);
    if (entities) return read_entities(g, partitioned);
    if (nodes) return read_nodes(g, parametric);
    if (!g->nnode)
        return ct_scan_fail(&g->scan,
                            "$Elements comes before $Nodes, or there are no nodes: export the nodes first");
    return g->version == 2 ? read_elements_2(g) : read_elements_4(g);
}

static ct_status read_sections(gmsh* g) {
    ct_word name;
    while (ct_scan_word(&g->scan, &name)) {
        if (name.text[0] != '$')
            return ct_scan_fail(
                &g->scan, "expected a section ($Nodes, ...): this is not a Gmsh file, or a count is wrong");
        ct_scan_item(&g->scan, NULL, -1);
        ct_status status = CT_OK;
        if (ct_word_is(name, "$MeshFormat")) status = read_format(g);
        else if (!g->version && !ct_word_is(name, "$Comments"))
            status = ct_scan_fail(&g->scan,
                                  "the file does not start with $MeshFormat: save it as version 2.2 or 4.1");
        else status = read_section(g, name);
        if (status != CT_OK) return status;
        if (g->builder->out_of_memory) return ct_scan_out_of_memory(&g->scan);
        char end[40] = "$End";
        ct_word_copy((ct_word){name.text + 1, name.size - 1}, end + 4, sizeof end - 4);
        int line = g->scan.line;
        ct_scan_item(&g->scan, NULL, -1);
        if (ct_scan_seek_line(&g->scan, end)) continue;
        g->scan.line = line;
        return ct_scan_fail(&g->scan, "the section has no %s: the file was cut short", end);
    }
    return CT_OK;
}

static void add_names(gmsh* g) {
    for (int dimension = 3; dimension >= 2; dimension--)
        for (size_t i = 0; i < g->nname; i++)
            if (g->name[i].dimension == dimension)
                ct_mesh_builder_name(g->builder, g->name[i].id, g->name[i].name);
}

ct_status ct_mesh_read_gmsh(ct_mesh_builder* builder, const ct_mesh_source* source) {
    gmsh g = {.scan = ct_scan_begin(source->bytes, source->size, source->file, source->error),
              .builder = builder};
    g.scan.base = builder->base = 1;
    ct_status status = read_sections(&g);
    if (status == CT_OK) add_names(&g);
    ct_free(g.node);
    ct_free(g.entity);
    ct_free(g.name);
    return status;
}
