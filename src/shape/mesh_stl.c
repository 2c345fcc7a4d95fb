// STL surfaces, ASCII and binary.
//
//   ASCII:   solid name / facet normal n / outer loop / vertex x y z (three times) / endloop / endfacet /
//   endsolid binary:  80 bytes of text, uint32 count, count * (12 float32: normal and corners, uint16),
//   little-endian
// Corners at exactly the same place become one node (-0 equals 0). Solids become tags. A file is binary when
// its length fits the count; many binary files also begin with "solid".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "shape/mesh.h"
#include "shape/mesh_io.h"

#define HEADER 84
#define FACET 50

typedef struct stl {
    ct_scan scan;
    ct_mesh_builder* builder;
    int* slot;     // hash table of node indices, -1: free
    size_t nslot;  // a power of two
} stl;

// ---------------------------------------------------------------------------------------------
// Merging corners

static size_t hash_position(const double x[3]) {
    uint64_t hash = 0;
    for (int a = 0; a < 3; a++) {
        uint64_t bits;
        memcpy(&bits, &x[a], sizeof bits);
        hash = (hash ^ bits ^ (bits >> 32)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

// The slot that holds x, or the free one where it belongs.
static size_t find_slot(const stl* s, const double x[3]) {
    size_t i = hash_position(x) & (s->nslot - 1);
    while (s->slot[i] >= 0 &&
           memcmp(s->builder->mesh->x + 3 * (size_t)s->slot[i], x, 3 * sizeof(double)) != 0)
        i = (i + 1) & (s->nslot - 1);
    return i;
}

static bool grow_table(stl* s) {
    size_t nslot = s->nslot ? 2 * s->nslot : 1024;
    int* slot = ct_alloc(nslot, sizeof(int));
    if (!slot) return false;
    memset(slot, 0xff, nslot * sizeof(int));
    ct_free(s->slot);
    s->slot = slot;
    s->nslot = nslot;
    for (int v = 0; v < s->builder->mesh->nvert; v++)
        s->slot[find_slot(s, s->builder->mesh->x + 3 * (size_t)v)] = v;
    return true;
}

static ct_status add_corner(stl* s, double x[3], int* node) {
    for (int a = 0; a < 3; a++) {
        if (!isfinite(x[a]))
            return ct_scan_fail(&s->scan,
                                "triangle %ld: a corner is not a finite number: correct or remove it",
                                s->scan.index);
        x[a] += 0.0;  // -0 becomes 0
    }
    int nvert = s->builder->mesh->nvert;
    if (2 * ((size_t)nvert + 1) > s->nslot && !grow_table(s)) return ct_scan_out_of_memory(&s->scan);
    size_t i = find_slot(s, x);
    if (s->slot[i] < 0) {
        ct_mesh_builder_node(s->builder, x);
        if (s->builder->out_of_memory) return ct_scan_out_of_memory(&s->scan);
        s->slot[i] = nvert;
    }
    *node = s->slot[i];
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Binary

static uint32_t load_little(const char* bytes) {
    const unsigned char* b = (const unsigned char*)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double load_float(const char* bytes) {
    uint32_t bits = load_little(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool ct_mesh_is_binary_stl(const void* bytes, size_t size) {
    if (size < HEADER + FACET) return false;
    uint64_t count = load_little((const char*)bytes + 80);
    return HEADER + FACET * count == size;
}

static ct_status read_binary(stl* s) {
    const char* head = ct_scan_bytes(&s->scan, HEADER);
    if (!head) return ct_scan_fail(&s->scan, "the file is too short for an STL: it was cut short");
    uint32_t count = load_little(head + 80);
    ct_status status = ct_scan_check_count(&s->scan, "triangles", count, FACET);
    for (uint32_t i = 0; i < count && status == CT_OK; i++) {
        const char* facet = ct_scan_bytes(&s->scan, FACET);
        int node[3];
        ct_scan_item(&s->scan, "triangle", (long)i);
        if (!facet) return ct_scan_fail(&s->scan, "the file ends within triangle %u: it was cut short", i);
        for (int k = 0; k < 3 && status == CT_OK; k++) {
            const char* corner = facet + 12 + 12 * k;
            double x[3] = {load_float(corner), load_float(corner + 4), load_float(corner + 8)};
            status = add_corner(s, x, &node[k]);
        }
        if (status == CT_OK) ct_mesh_builder_tri(s->builder, node, 0);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// ASCII

static ct_status expect(stl* s, const char* words) {
    ct_word word;
    for (const char* at = words; *at;) {
        size_t size = strcspn(at, " ");
        char wanted[16];
        ct_word_copy((ct_word){at, size}, wanted, sizeof wanted);
        if (!ct_scan_word(&s->scan, &word) || !ct_word_is_nocase(word, wanted))
            return ct_scan_fail(&s->scan, "triangle %ld: expected '%s': the file is damaged or was cut short",
                                s->scan.index, words);
        at += size + (at[size] == ' ');
    }
    return CT_OK;
}

// After "facet".
static ct_status read_facet(stl* s, int tag) {
    int node[3];
    double x[3];
    ct_word ignored;
    ct_scan_item(&s->scan, "triangle", s->builder->mesh->ntri);
    ct_status status = expect(s, "normal");
    for (int a = 0; a < 3 && status == CT_OK; a++)  // normals may be nan: they are not used
        if (!ct_scan_word(&s->scan, &ignored))
            status = ct_scan_fail(&s->scan, "the file ends within a normal: it was cut short");
    if (status == CT_OK) status = expect(s, "outer loop");
    for (int k = 0; k < 3 && status == CT_OK; k++) {
        status = expect(s, "vertex");
        for (int a = 0; a < 3 && status == CT_OK; a++) status = ct_scan_real(&s->scan, &x[a]);
        if (status == CT_OK) status = add_corner(s, x, &node[k]);
    }
    if (status == CT_OK) status = expect(s, "endloop endfacet");
    if (status == CT_OK) ct_mesh_builder_tri(s->builder, node, tag);
    return status;
}

static ct_status read_text(stl* s) {
    ct_word word;
    ct_status status = CT_OK;
    int tag = 0;
    bool open = false;
    while (status == CT_OK && !s->builder->out_of_memory && ct_scan_word(&s->scan, &word)) {
        ct_scan_item(&s->scan, NULL, -1);
        if (ct_word_is_nocase(word, "solid")) {
            tag = ct_mesh_builder_group(s->builder, ct_scan_rest(&s->scan));
            open = true;
        } else if (ct_word_is_nocase(word, "facet") && open) {
            status = read_facet(s, tag);
        } else if (ct_word_is_nocase(word, "endsolid")) {
            ct_scan_rest(&s->scan);
            open = false;
        } else {
            status = ct_scan_fail(&s->scan, "expected 'solid', 'facet' or 'endsolid': this is not an STL "
                                            "file, or a binary one of the wrong "
                                            "length");
        }
    }
    ct_scan_item(&s->scan, NULL, status == CT_OK ? -1 : s->scan.index);
    if (status == CT_OK && open)
        status = ct_scan_fail(&s->scan, "there is no 'endsolid': the file was cut short");
    return status;
}

ct_status ct_mesh_read_stl(ct_mesh_builder* builder, const ct_mesh_source* source) {
    stl s = {.scan = ct_scan_begin(source->bytes, source->size, source->file, source->error),
             .builder = builder};
    ct_scan ahead = s.scan;
    ct_word word;
    bool text = ct_scan_word(&ahead, &word) && ct_word_is_nocase(word, "solid");
    bool binary = ct_mesh_is_binary_stl(source->bytes, source->size) || !text;
    ct_status status = binary ? read_binary(&s) : read_text(&s);
    ct_free(s.slot);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Writing: ASCII, a solid for each run of one tag. Of a mesh with tets the closed boundary is written, in
// which the given triangles only say the tags; those inside are left out.

static void write_facet(FILE* stream, const double* x, const int* tri) {
    const double *a = x + 3 * (size_t)tri[0], *b = x + 3 * (size_t)tri[1], *c = x + 3 * (size_t)tri[2];
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    double scale = length > 0 && isfinite(length) ? 1 / length : 0;
    fprintf(stream, "facet normal %.9g %.9g %.9g\n outer loop\n", n[0] * scale, n[1] * scale, n[2] * scale);
    for (int k = 0; k < 3; k++) {
        fprintf(stream, "  vertex ");
        ct_mesh_write_point(stream, x + 3 * (size_t)tri[k]);
        fputc('\n', stream);
    }
    fprintf(stream, " endloop\nendfacet\n");
}

static void write_solid_name(FILE* stream, const char* keyword, const ct_mesh* mesh, int tag) {
    fprintf(stream, "%s", keyword);
    if (tag) {
        fputc(' ', stream);
        ct_mesh_write_group(stream, mesh, tag, true);
    }
    fputc('\n', stream);
}

typedef struct facet {
    int node[3];    // as written
    int sorted[3];  // ascending, to compare by
    int tag, order;
} facet;

static int facet_compare_nodes(const void* left, const void* right) {
    const facet *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->sorted[k] != b->sorted[k]) return a->sorted[k] < b->sorted[k] ? -1 : 1;
    return 0;
}

static int facet_compare_tags(const void* left, const void* right) {
    const facet *a = left, *b = right;
    if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static void swap_if_greater(int* a, int* b) {
    int low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}

// The triangles as facets; NULL: out of memory.
static facet* facets_create(const int* tri, const int* tag, int count) {
    facet* facets = ct_alloc((size_t)count, sizeof *facets);
    for (int i = 0; facets && i < count; i++) {
        facet* f = &facets[i];
        memcpy(f->node, tri + 3 * (size_t)i, sizeof f->node);
        memcpy(f->sorted, f->node, sizeof f->sorted);
        swap_if_greater(&f->sorted[0], &f->sorted[1]);
        swap_if_greater(&f->sorted[1], &f->sorted[2]);
        swap_if_greater(&f->sorted[0], &f->sorted[1]);
        f->tag = tag ? tag[i] : 0;
        f->order = i;
    }
    return facets;
}

// Four facets instead of each of those of tets of second order, with its tag.
static ct_status facets_cut(const ct_mesh* mesh, int** boundary, const int* owner, facet** facets,
                            int* count) {
    const int before = *count;
    ct_status status = ct_mesh_cut_surface(mesh, owner, boundary, count);
    facet* cut = status == CT_OK ? facets_create(*boundary, NULL, *count) : NULL;
    if (!cut) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < 4 * before; i++) cut[i].tag = (*facets)[i / 4].tag;
    ct_free(*facets);
    *facets = cut;
    return CT_OK;
}

// The boundary of the tets, sorted by the tags of the given triangles.
static ct_status facets_of_tets(const ct_mesh* mesh, facet** facets, int* count) {
    int *boundary = NULL, *owner = NULL;
    ct_status status = ct_mesh_boundary(mesh->nvert, mesh->ntet, mesh->tet, &boundary, &owner, count);
    if (status != CT_OK) return status;
    facet* given = facets_create(mesh->tri, mesh->tri_tag, mesh->ntri);
    *facets = facets_create(boundary, NULL, *count);
    if (!given || !*facets) status = CT_OUT_OF_MEMORY;
    if (status == CT_OK) {
        if (mesh->ntri) qsort(given, (size_t)mesh->ntri, sizeof *given, facet_compare_nodes);
        for (int i = 0; i < *count; i++) {
            const facet* found =
                bsearch(&(*facets)[i], given, (size_t)mesh->ntri, sizeof *given, facet_compare_nodes);
            if (found) (*facets)[i].tag = found->tag;
        }
        if (mesh->mid) status = facets_cut(mesh, &boundary, owner, facets, count);
        if (*count && status == CT_OK) qsort(*facets, (size_t)*count, sizeof **facets, facet_compare_tags);
    }
    ct_free(boundary);
    ct_free(owner);
    ct_free(given);
    return status;
}

ct_status ct_mesh_write_stl(FILE* stream, const ct_mesh* mesh, int part) {
    (void)part;
    facet* facets = NULL;
    int count = mesh->ntri;
    ct_status status = CT_OK;
    if (mesh->ntet) status = facets_of_tets(mesh, &facets, &count);
    else facets = facets_create(mesh->tri, mesh->tri_tag, count);
    if (status == CT_OK && !facets) status = CT_OUT_OF_MEMORY;
    int tag = 0;
    for (int i = 0; status == CT_OK && i < count; i++) {
        const facet* f = &facets[i];
        if (i && f->tag != tag) write_solid_name(stream, "endsolid", mesh, tag);
        if (!i || f->tag != tag) write_solid_name(stream, "solid", mesh, f->tag);
        tag = f->tag;
        write_facet(stream, mesh->x, f->node);
    }
    if (status == CT_OK && count) write_solid_name(stream, "endsolid", mesh, tag);
    ct_free(facets);
    return status;
}
