// Writes Gmsh .msh 4.1 in ASCII.
//
// Every tag in use becomes one entity with that tag as its physical group: volumes for tets, surfaces for
// triangles (tag 0: an entity without a group). Tets of second order are type 11, their triangles type 9.
// Nodes stand in one block, numbered from 1.
#include <stdlib.h>

#include "base/memory.h"
#include "shape/mesh_io.h"

typedef struct group {
    int* tag;  // distinct tags, ascending; entity i + 1 carries tag[i]
    int count;
} group;

static int int_compare(const void* left, const void* right) {
    int a = *(const int*)left, b = *(const int*)right;
    return (a > b) - (a < b);
}

static bool group_init(group* g, const int* tag, int count) {
    *g = (group){ct_duplicate(tag, (size_t)count, sizeof(int)), 0};
    if (!g->tag) return false;
    if (count) qsort(g->tag, (size_t)count, sizeof(int), int_compare);
    for (int i = 0; i < count; i++)
        if (i == 0 || g->tag[i] != g->tag[g->count - 1]) g->tag[g->count++] = g->tag[i];
    return true;
}

static int entity_of(const group* g, int tag) {
    const int* found = bsearch(&tag, g->tag, (size_t)g->count, sizeof(int), int_compare);
    return (int)(found - g->tag) + 1;
}

static void bounds(const ct_mesh* mesh, double lower[3], double upper[3]) {
    for (int a = 0; a < 3; a++) {
        lower[a] = upper[a] = mesh->nvert ? mesh->x[a] : 0;
        for (int v = 1; v < mesh->nvert; v++) {
            double x = mesh->x[3 * (size_t)v + (size_t)a];
            if (x < lower[a]) lower[a] = x;
            if (x > upper[a]) upper[a] = x;
        }
    }
}

// groups[0]: surfaces (dimension 2), groups[1]: volumes (dimension 3).
static void write_names(FILE* stream, const ct_mesh* mesh, const group groups[2]) {
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) fprintf(stream, "$PhysicalNames\n%d\n", count);
        for (int d = 0; d < 2; d++)
            for (int i = 0; i < groups[d].count; i++) {
                const char* name = ct_mesh_tag_name(mesh, groups[d].tag[i], d == 0);
                if (!name[0] || groups[d].tag[i] == 0) continue;
                if (pass == 1) fprintf(stream, "%d %d \"%s\"\n", d + 2, groups[d].tag[i], name);
                count++;
            }
    }
    fprintf(stream, "$EndPhysicalNames\n");
}

static void write_entities(FILE* stream, const ct_mesh* mesh, const group groups[2]) {
    double lower[3], upper[3];
    bounds(mesh, lower, upper);
    fprintf(stream, "$Entities\n0 0 %d %d\n", groups[0].count, groups[1].count);
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < groups[d].count; i++) {
            int tag = groups[d].tag[i];
            fprintf(stream, "%d ", i + 1);
            ct_mesh_write_point(stream, lower);
            fputc(' ', stream);
            ct_mesh_write_point(stream, upper);
            if (tag) fprintf(stream, " 1 %d 0\n", tag);
            else fprintf(stream, " 0 0\n");
        }
    fprintf(stream, "$EndEntities\n");
}

static void write_nodes(FILE* stream, const ct_mesh* mesh, int dimension) {
    fprintf(stream, "$Nodes\n1 %d 1 %d\n%d 1 0 %d\n", mesh->nvert, mesh->nvert, dimension, mesh->nvert);
    for (int v = 0; v < mesh->nvert; v++) fprintf(stream, "%d\n", v + 1);
    for (int v = 0; v < mesh->nvert; v++) {
        ct_mesh_write_point(stream, mesh->x + 3 * (size_t)v);
        fputc('\n', stream);
    }
    fprintf(stream, "$EndNodes\n");
}

static int run_end(const int* tag, int first, int count) {
    int last = first;
    while (last < count && tag[last] == tag[first]) last++;
    return last;
}

static int count_runs(const int* tag, int count) {
    int runs = 0;
    for (int i = 0; i < count; i = run_end(tag, i, count)) runs++;
    return runs;
}

typedef struct elements {
    int dimension, count;
    const int *node, *mid, *tag;  // mid: nodes on the edges, NULL: none
} elements;

// One block a run of equal tags, so that the order of the elements is kept.
static void write_runs(FILE* stream, const group* g, elements e, int* number) {
    const size_t width = (size_t)e.dimension + 1;
    const int linear = e.dimension == 2 ? 2 : 4, second = e.dimension == 2 ? 9 : 11;
    for (int first = 0, last; first < e.count; first = last) {
        last = run_end(e.tag, first, e.count);
        fprintf(stream, "%d %d %d %d\n", e.dimension, entity_of(g, e.tag[first]), e.mid ? second : linear,
                last - first);
        for (int i = first; i < last; i++) {
            fprintf(stream, "%d", ++*number);
            ct_mesh_write_nodes(stream, e.node + width * (size_t)i, e.dimension + 1, 1);
            if (e.mid && e.dimension == 2) ct_mesh_write_nodes(stream, e.mid + 3 * (size_t)i, 3, 1);
            if (e.mid && e.dimension == 3) {
                const int* mid = e.mid + 6 * (size_t)i;
                ct_mesh_write_nodes(stream, (int[6]){mid[0], mid[1], mid[2], mid[3], mid[5], mid[4]}, 6, 1);
            }
            fputc('\n', stream);
        }
    }
}

static void write_elements(FILE* stream, const ct_mesh* mesh, const int* tri_mid, const group groups[2]) {
    int total = mesh->ntri + mesh->ntet, number = 0;
    int blocks = count_runs(mesh->tri_tag, mesh->ntri) + count_runs(mesh->tet_tag, mesh->ntet);
    fprintf(stream, "$Elements\n%d %d 1 %d\n", blocks, total, total);
    write_runs(stream, &groups[0], (elements){2, mesh->ntri, mesh->tri, tri_mid, mesh->tri_tag}, &number);
    write_runs(stream, &groups[1], (elements){3, mesh->ntet, mesh->tet, mesh->mid, mesh->tet_tag}, &number);
    fprintf(stream, "$EndElements\n");
}

ct_status ct_mesh_write_gmsh(FILE* stream, const ct_mesh* mesh, int part) {
    (void)part;
    group groups[2] = {{0}, {0}};
    int* tri_mid = NULL;
    bool enough = ct_mesh_write_middles(mesh, &tri_mid) == CT_OK &&
                  group_init(&groups[0], mesh->tri_tag, mesh->ntri) &&
                  group_init(&groups[1], mesh->tet_tag, mesh->ntet);
    if (enough) {
        fprintf(stream, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
        write_names(stream, mesh, groups);
        write_entities(stream, mesh, groups);
        write_nodes(stream, mesh, mesh->ntet ? 3 : 2);
        write_elements(stream, mesh, tri_mid, groups);
    }
    ct_free(tri_mid);
    ct_free(groups[0].tag);
    ct_free(groups[1].tag);
    return enough ? CT_OK : CT_OUT_OF_MEMORY;
}
