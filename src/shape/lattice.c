// Building the lattice of lattice.h. Faces between equal leaves are visited from the lower leaf, faces
// between unequal ones from the smaller leaf.
#include "shape/lattice.h"

#include "base/cancel.h"
#include "base/memory.h"
#include "math/point3.h"

typedef struct lattice_builder {
    ct_lattice* lattice;
    const ct_octree* octree;
    const ct_shape* shape;
    bool failed;  // out of memory
} lattice_builder;

// Index of the vertex at a place; its distance is evaluated when it is new.
static int vertex_at(lattice_builder* builder, const int place[3]) {
    ct_lattice* lattice = builder->lattice;
    uint64_t key = (uint64_t)place[0] | (uint64_t)place[1] << 21 | (uint64_t)place[2] << 42;
    int* known = ct_key_map_at(&lattice->map, key);
    if (known && *known >= 0) return *known;
    size_t n = (size_t)lattice->nvert;
    if (!known || !ct_reserve((void**)&lattice->place, &lattice->place_capacity, 3 * (n + 1), sizeof(int)) ||
        !ct_reserve((void**)&lattice->x, &lattice->x_capacity, 3 * (n + 1), sizeof(double)) ||
        !ct_reserve((void**)&lattice->distance, &lattice->distance_capacity, n + 1, sizeof(double))) {
        builder->failed = true;
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        lattice->place[3 * n + i] = place[i];
        lattice->x[3 * n + i] = builder->octree->origin[i] + lattice->unit * place[i];
    }
    lattice->distance[n] = ct_shape_distance(builder->shape, lattice->x + 3 * n);
    return *known = lattice->nvert++;
}

static void center_place(const ct_octree_cell* cell, int place[3]) {
    for (int i = 0; i < 3; i++) place[i] = 2 * cell->corner[i] + (1 << cell->shift);
}

// Adds a tet, turned to positive volume, if any of its vertices is inside.
static void add_tet(lattice_builder* builder, const int a[3], const int b[3], const int c[3],
                    const int d[3]) {
    ct_lattice* lattice = builder->lattice;
    int v[4] = {vertex_at(builder, a), vertex_at(builder, b), vertex_at(builder, c), vertex_at(builder, d)};
    if (builder->failed) return;
    const double* f = lattice->distance;
    if (f[v[0]] >= 0 && f[v[1]] >= 0 && f[v[2]] >= 0 && f[v[3]] >= 0) return;
    size_t n = (size_t)lattice->ntet;
    if (!ct_reserve((void**)&lattice->tet, &lattice->tet_capacity, 4 * (n + 1), sizeof(int))) {
        builder->failed = true;
        return;
    }
    const double* x = lattice->x;
    bool inverted = tet_volume6(x + 3 * v[0], x + 3 * v[1], x + 3 * v[2], x + 3 * v[3]) < 0;
    for (int i = 0; i < 4; i++) lattice->tet[4 * n + (size_t)i] = v[inverted && i < 2 ? 1 - i : i];
    lattice->ntet++;
}

// Whether a cell of the same width as the leaf, shifted by `direction`, has been split.
static bool split_at(const ct_octree* octree, const ct_octree_cell* cell, const int direction[3]) {
    int width = 1 << cell->shift;
    int index =
        ct_octree_find(octree, cell->corner[0] + direction[0] * width, cell->corner[1] + direction[1] * width,
                       cell->corner[2] + direction[2] * width, cell->shift);
    return index >= 0 && octree->cell[index].shift == cell->shift && octree->cell[index].child >= 0;
}

// The four tets around the line between the centres of two equal leaves, the second one up along `axis`.
static void join_equal(lattice_builder* builder, const ct_octree_cell* cell, const ct_octree_cell* above,
                       int axis) {
    int low[3], high[3], width = 2 << cell->shift;
    center_place(cell, low);
    center_place(above, high);
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int edge = 0; edge < 4; edge++) {
        int along = edge < 2 ? u : v, across = edge < 2 ? v : u, side = edge & 1;
        int start[3], end[3], middle[3], direction[3] = {0, 0, 0};
        start[axis] = 2 * cell->corner[axis] + width;
        start[across] = 2 * cell->corner[across] + side * width;
        start[along] = 2 * cell->corner[along];
        for (int k = 0; k < 3; k++) end[k] = middle[k] = start[k];
        end[along] += width;
        middle[along] += width / 2;
        direction[across] = side ? 1 : -1;
        bool halved =
            split_at(builder->octree, cell, direction) || split_at(builder->octree, above, direction);
        if (halved) {
            add_tet(builder, low, high, start, middle);
            add_tet(builder, low, high, middle, end);
        } else {
            add_tet(builder, low, high, start, end);
        }
    }
}

// The face of a small leaf towards a larger one, on side `side` of `axis`.
static void join_larger(lattice_builder* builder, const ct_octree_cell* cell, const ct_octree_cell* larger,
                        int axis, int side) {
    int low[3], high[3], width = 2 << cell->shift;
    center_place(cell, low);
    center_place(larger, high);
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    // Corner of the small face at the larger face's centre, then the others in order around the square.
    int near_u = high[u] > low[u], near_v = high[v] > low[v];
    int corner[4][3];
    for (int i = 0; i < 4; i++) {
        int at_u = (i == 1 || i == 2) ? !near_u : near_u, at_v = i >= 2 ? !near_v : near_v;
        corner[i][axis] = 2 * cell->corner[axis] + side * width;
        corner[i][u] = 2 * cell->corner[u] + at_u * width;
        corner[i][v] = 2 * cell->corner[v] + at_v * width;
    }
    for (int half = 0; half < 2; half++) {
        add_tet(builder, low, corner[0], corner[1 + half], corner[2 + half]);
        add_tet(builder, high, corner[0], corner[1 + half], corner[2 + half]);
    }
}

static bool far_outside(const ct_octree* octree, const ct_octree_cell* cell) {
    return cell->distance > 0.5 * sqrt(3.0) * octree->finest * (double)(1 << cell->shift) * (1 + 1e-9);
}

static void visit_leaf(lattice_builder* builder, int index) {
    const ct_octree* octree = builder->octree;
    const ct_octree_cell* cell = octree->cell + index;
    int width = 1 << cell->shift;
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, side = face & 1, at[3] = {cell->corner[0], cell->corner[1], cell->corner[2]};
        at[axis] += side ? width : -width;
        int neighbor = ct_octree_find(octree, at[0], at[1], at[2], cell->shift);
        if (neighbor < 0) continue;
        const ct_octree_cell* other = octree->cell + neighbor;
        if (other->child >= 0 || (far_outside(octree, cell) && far_outside(octree, other))) continue;
        if (other->shift > cell->shift) join_larger(builder, cell, other, axis, side);
        else if (side) join_equal(builder, cell, other, axis);
    }
}

ct_status ct_lattice_create(ct_lattice* lattice, const ct_octree* octree, const ct_shape* shape) {
    *lattice = (ct_lattice){.unit = octree->finest / 2};
    lattice_builder builder = {lattice, octree, shape, false};
    bool cancelled = false;
    for (size_t i = 0; i < octree->ncell && !builder.failed && !cancelled; i++) {
        if (octree->cell[i].child < 0) visit_leaf(&builder, (int)i);
        cancelled = ct_cancelled_at(i);
    }
    ct_key_map_clear(&lattice->map);
    if (!builder.failed && !cancelled) return CT_OK;
    ct_lattice_clear(lattice);
    return cancelled ? CT_CANCELLED : CT_OUT_OF_MEMORY;
}

void ct_lattice_clear(ct_lattice* lattice) {
    ct_free(lattice->place);
    ct_free(lattice->x);
    ct_free(lattice->distance);
    ct_free(lattice->tet);
    ct_key_map_clear(&lattice->map);
    *lattice = (ct_lattice){0};
}
