// Selectors: node sets by rest position in the world, by tag, by list, and their combinations.
//
// A selector becomes a mask over the scene's nodes. Its body, and that of the selectors around it, narrow the
// range of nodes it can choose from (so "not" is the rest of that body, "nearest" the nearest of that body).
// Boundaries are inclusive within SLACK times the size of the range's bounding box: nodes that a rotation has
// moved off a face by round-off still belong to it.
#include "scene/select.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/point3.h"
#include "shape/mesh.h"
#include "text/words.h"

static const double SLACK = 1e-9;

ct_selector ct_selector_default(void) { return (ct_selector){.kind = CT_SELECT_ALL, .body = -1}; }

typedef struct range {
    int first, last;  // scene nodes, last excluded
    int body;         // -1: all bodies
    double slack;     // m
} range;

static ct_status evaluate(const ct_scene* scene, const ct_selector* selector, range within, int depth,
                          unsigned char* mask, ct_error* error);

static ct_status narrow(const ct_scene* scene, const ct_selector* selector, range* within, ct_error* error) {
    if (selector->body >= scene->nbody || selector->body < -1)
        return ct_scene_fail(error, "body", "is %d: the scene has bodies 0 to %d", selector->body,
                             scene->nbody - 1);
    if (selector->body < 0 || selector->body == within->body) return CT_OK;
    const ct_scene_body* body = &scene->body[selector->body];
    if (within->body >= 0) within->last = within->first;  // two different bodies: nothing in common
    else
        *within =
            (range){body->first_node, body->first_node + body->mesh->nvert, selector->body, within->slack};
    double lower[3], upper[3], size = 0;
    ct_scene_bounds(scene, within->body, lower, upper);
    for (int i = 0; i < 3; i++) size = fmax(size, upper[i] - lower[i]);
    within->slack = SLACK * size;
    return CT_OK;
}

static const double* node_position(const ct_scene* scene, int node, int* body) {
    while (*body + 1 < scene->nbody && scene->body[*body + 1].first_node <= node) ++*body;
    return scene->body[*body].mesh->x + 3 * (size_t)(node - scene->body[*body].first_node);
}

// -------------------------------------------------------------------------------------------------
// Regions of space

static double distance_to_segment(const double x[3], const double a[3], const double b[3]) {
    double along = 0, square = 0, nearest[3];
    for (int i = 0; i < 3; i++) {
        along += (x[i] - a[i]) * (b[i] - a[i]);
        square += (b[i] - a[i]) * (b[i] - a[i]);
    }
    double t = square > 0 ? fmin(fmax(along / square, 0), 1) : 0;
    for (int i = 0; i < 3; i++) nearest[i] = a[i] + t * (b[i] - a[i]);
    return distance3_hypot(x, nearest);
}

static bool contains(const ct_selector* s, const double x[3], double slack) {
    switch (s->kind) {
    case CT_SELECT_BOX:
        for (int i = 0; i < 3; i++)
            if (!(x[i] >= s->a[i] - slack && x[i] <= s->b[i] + slack)) return false;
        return true;
    case CT_SELECT_SPHERE: return distance3_hypot(x, s->a) <= s->radius + slack;
    case CT_SELECT_CAPSULE: return distance_to_segment(x, s->a, s->b) <= s->radius + slack;
    case CT_SELECT_PLANE: {
        double height = 0, length = hypot(hypot(s->b[0], s->b[1]), s->b[2]);
        for (int i = 0; i < 3; i++) height += (x[i] - s->a[i]) * (s->b[i] / length);
        return height >= -slack;
    }
    default: return true;  // all
    }
}

static ct_status check_region(const ct_selector* s, ct_error* error) {
    const char* name = ct_select_kind_words[s->kind];
    if (s->kind != CT_SELECT_ALL && !(is_finite3(s->a) && is_finite3(s->b)))
        return ct_scene_fail(error, name, "has coordinates that are not finite");
    if ((s->kind == CT_SELECT_SPHERE || s->kind == CT_SELECT_CAPSULE) &&
        !(s->radius >= 0 && isfinite(s->radius)))
        return ct_scene_fail(error, name, "has radius %g: it must be at least 0", s->radius);
    if (s->kind == CT_SELECT_PLANE && !(s->b[0] != 0 || s->b[1] != 0 || s->b[2] != 0))
        return ct_scene_fail(error, name, "has a normal of length 0: give it a direction");
    if (s->kind == CT_SELECT_BOX)
        for (int i = 0; i < 3; i++)
            if (s->a[i] > s->b[i])
                return ct_scene_fail(error, name,
                                     "has its first corner above the second along %c (%g > %g): swap them",
                                     "xyz"[i], s -> a[i], s -> b[i]);
    return CT_OK;
}

static ct_status select_region(const ct_scene* scene, const ct_selector* selector, range within,
                               unsigned char* mask, ct_error* error) {
    ct_status status = check_region(selector, error);
    if (status) return status;
    for (int node = within.first, body = 0; node < within.last; node++)
        mask[node] = contains(selector, node_position(scene, node, &body), within.slack);
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Sets of elements and nodes

static bool in_range(range within, int node) { return node >= within.first && node < within.last; }

// Nodes of elements with the tag; returns whether any element has it.
static bool mark_tagged(const int* element, const int* tag, int count, int corners, int wanted,
                        int first_node, range within, unsigned char* mask) {
    bool found = false;
    for (int e = 0; e < count; e++) {
        if (tag[e] != wanted) continue;
        found = true;
        for (int k = 0; k < corners; k++) {
            int node = first_node + element[corners * (size_t)e + k];
            if (in_range(within, node)) mask[node] = 1;
        }
    }
    return found;
}

// The nodes of second order on the edges of triangles with the tag; false: out of memory.
static bool mark_tagged_edges(const ct_scene_body* body, int wanted, range within, unsigned char* mask) {
    const ct_mesh* mesh = body->mesh;
    int* mid;
    if (ct_mesh_tri_middles(mesh, &mid) != CT_OK) return false;
    for (int i = 0; i < 3 * mesh->ntri; i++) {
        const int node = body->first_node + mid[i];
        if (mesh->tri_tag[i / 3] == wanted && mid[i] >= 0 && in_range(within, node)) mask[node] = 1;
    }
    ct_free(mid);
    return true;
}

static ct_status select_tag(const ct_scene* scene, const ct_selector* selector, range within,
                            unsigned char* mask, ct_error* error) {
    bool found = false;
    for (int b = 0; b < scene->nbody; b++) {
        const ct_mesh* mesh = scene->body[b].mesh;
        if (within.body >= 0 && b != within.body) continue;
        bool tagged = mark_tagged(mesh->tet, mesh->tet_tag, mesh->ntet, 4, selector->tag,
                                  scene->body[b].first_node, within, mask);
        if (tagged && mesh->mid)
            mark_tagged(mesh->mid, mesh->tet_tag, mesh->ntet, 6, selector->tag, scene->body[b].first_node,
                        within, mask);
        if (!tagged) {
            tagged = mark_tagged(mesh->tri, mesh->tri_tag, mesh->ntri, 3, selector->tag,
                                 scene->body[b].first_node, within, mask);
            if (tagged && mesh->mid && !mark_tagged_edges(&scene->body[b], selector->tag, within, mask))
                return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
        }
        found |= tagged;
    }
    if (found) return CT_OK;
    return ct_scene_fail(error, "tag", "is %d: no element %s%s%s has it", selector->tag,
                         within.body < 0 ? "of the scene" : "of body \"",
                         within.body < 0 ? "" : scene->body[within.body].name, within.body < 0 ? "" : "\"");
}

static ct_status select_surface(const ct_scene* scene, range within, unsigned char* mask, ct_error* error) {
    for (int b = 0; b < scene->nbody; b++) {
        if (within.body >= 0 && b != within.body) continue;
        int *triangle, ntriangle;
        const ct_mesh* mesh = scene->body[b].mesh;
        for (int i = 0; i < 3 * ct_scene_sheet_size(&scene->body[b]); i++) {
            int node = scene->body[b].first_node + mesh->tri[i];
            if (in_range(within, node)) mask[node] = 1;
        }
        ct_status status = ct_mesh_surface(mesh, &triangle, &ntriangle, error);
        if (status) return status;
        for (size_t k = 0; k < 3 * (size_t)ntriangle; k++) {
            int node = scene->body[b].first_node + triangle[k];
            if (in_range(within, node)) mask[node] = 1;
        }
        ct_free(triangle);
    }
    return CT_OK;
}

static ct_status select_list(const ct_scene* scene, const ct_selector* selector, range within,
                             unsigned char* mask, ct_error* error) {
    bool local = selector->body >= 0;
    int first = local ? scene->body[selector->body].first_node : 0;
    int count = local ? scene->body[selector->body].mesh->nvert : ct_scene_node_count(scene);
    if (selector->nlist < 1 || !selector->list)
        return ct_scene_fail(error, "list", "is empty: name at least one node");
    for (int i = 0; i < selector->nlist; i++) {
        int index = selector->list[i];
        if (index < 0 || index >= count) {
            char place[32];
            snprintf(place, sizeof place, "list[%d]", i);
            if (error) error->element = index;
            return ct_scene_fail(error, place, "is %d: the nodes of the %s are 0 to %d", index,
                                 local ? "body" : "scene", count - 1);
        }
        if (in_range(within, first + index)) mask[first + index] = 1;
    }
    return CT_OK;
}

typedef struct candidate {
    double distance;
    int node;
} candidate;

static int compare_candidates(const void* left, const void* right) {
    const candidate *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static ct_status select_nearest(const ct_scene* scene, const ct_selector* selector, range within,
                                unsigned char* mask, ct_error* error) {
    int wanted = selector->nlist ? selector->nlist : 1, count = within.last - within.first;
    if (!is_finite3(selector->a))
        return ct_scene_fail(error, "nearest", "has coordinates that are not finite");
    if (wanted < 1 || wanted > count)
        return ct_scene_fail(error, "count", "is %d: it must be from 1 to %d, the number of nodes", wanted,
                             count);
    candidate* list = ct_alloc((size_t)count, sizeof *list);
    if (!list) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int k = 0, body = 0; k < count; k++) {
        list[k].node = within.first + k;
        list[k].distance = distance3_hypot(selector->a, node_position(scene, list[k].node, &body));
    }
    qsort(list, (size_t)count, sizeof *list, compare_candidates);
    for (int k = 0; k < wanted; k++) mask[list[k].node] = 1;
    ct_free(list);
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Combinations

// Puts "and[2]." before the path and the message of an error from an operand.
static void prefix_error(ct_error* error, ct_select_kind kind, int index) {
    if (!error || !error->path[0]) return;
    char prefix[32], path[sizeof error->path], message[sizeof error->message];
    if (kind == CT_SELECT_NOT) snprintf(prefix, sizeof prefix, "not.");
    else snprintf(prefix, sizeof prefix, "%s[%d].", ct_select_kind_words[kind], index);
    int length = (int)strlen(prefix);
    memcpy(path, error->path, sizeof path);
    memcpy(message, error->message, sizeof message);
    snprintf(error->path, sizeof error->path, "%s%.*s", prefix, (int)sizeof path - 1 - length, path);
    snprintf(error->message, sizeof error->message, "%s%.*s", prefix, (int)sizeof message - 1 - length,
             message);
}

static ct_status combine(const ct_scene* scene, const ct_selector* selector, range within, int depth,
                         unsigned char* mask, ct_error* error) {
    const char* name = ct_select_kind_words[selector->kind];
    int count = selector->kind == CT_SELECT_NOT ? 1 : selector->nchild;
    if (depth >= CT_SELECT_MOST_DEPTH)
        return ct_scene_fail(error, name, "is nested more than %d deep", (int)CT_SELECT_MOST_DEPTH);
    if (count < 1 || !selector->child) return ct_scene_fail(error, name, "needs at least one selector");
    size_t nnode = (size_t)ct_scene_node_count(scene);
    unsigned char* operand = ct_alloc(nnode, 1);
    if (!operand) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    bool both = selector->kind == CT_SELECT_AND;
    ct_status status = CT_OK;
    for (int node = within.first; node < within.last; node++) mask[node] = both;
    for (int k = 0; k < count && !status; k++) {
        memset(operand, 0, nnode);
        status = evaluate(scene, &selector->child[k], within, depth + 1, operand, error);
        if (status) prefix_error(error, selector->kind, k);
        for (int node = within.first; node < within.last; node++)
            mask[node] = both ? mask[node] && operand[node] : mask[node] || operand[node];
    }
    for (int node = within.first; node < within.last && selector->kind == CT_SELECT_NOT; node++)
        mask[node] = !mask[node];
    ct_free(operand);
    return status;
}

// Sets mask[node] for the selected nodes of the range; the mask is zero before.
static ct_status evaluate(const ct_scene* scene, const ct_selector* selector, range within, int depth,
                          unsigned char* mask, ct_error* error) {
    ct_status status = narrow(scene, selector, &within, error);
    if (status) return status;
    switch (selector->kind) {
    case CT_SELECT_ALL:
    case CT_SELECT_BOX:
    case CT_SELECT_SPHERE:
    case CT_SELECT_PLANE:
    case CT_SELECT_CAPSULE: return select_region(scene, selector, within, mask, error);
    case CT_SELECT_TAG: return select_tag(scene, selector, within, mask, error);
    case CT_SELECT_NEAREST: return select_nearest(scene, selector, within, mask, error);
    case CT_SELECT_LIST: return select_list(scene, selector, within, mask, error);
    case CT_SELECT_SURFACE: return select_surface(scene, within, mask, error);
    case CT_SELECT_AND:
    case CT_SELECT_OR:
    case CT_SELECT_NOT: return combine(scene, selector, within, depth, mask, error);
    }
    return ct_fail(error, CT_BAD_ARGUMENT, "the selector's kind is not one of ct_select_kind");
}

static ct_status fail_empty(const ct_scene* scene, const ct_selector* selector, ct_error* error) {
    double lower[3], upper[3];
    ct_scene_bounds(scene, selector->body, lower, upper);
    return ct_fail(error, CT_BAD_SCENE, "this selects no node: %s%s%s spans [%g, %g, %g] to [%g, %g, %g]",
                   selector->body < 0 ? "the scene" : "body \"",
                   selector->body < 0 ? "" : scene->body[selector->body].name, selector->body < 0 ? "" : "\"",
                   lower[0], lower[1], lower[2], upper[0], upper[1], upper[2]);
}

ct_status ct_scene_select(const ct_scene* scene, const ct_selector* selector, int** nodes, int* count,
                          ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    *nodes = NULL;
    *count = 0;
    int nnode = ct_scene_node_count(scene), selected = 0;
    if (!nnode)
        return ct_fail(error, CT_BAD_SCENE, "the scene has no nodes yet: add its bodies before selecting");
    unsigned char* mask = ct_alloc((size_t)nnode, 1);
    if (!mask) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    range all = {0, nnode, -1, 0};
    double lower[3], upper[3];
    ct_scene_bounds(scene, -1, lower, upper);
    for (int i = 0; i < 3; i++) all.slack = fmax(all.slack, SLACK * (upper[i] - lower[i]));
    ct_status status = evaluate(scene, selector, all, 0, mask, error);
    for (int node = 0; node < nnode; node++) selected += mask[node];
    if (!status && !selected) status = fail_empty(scene, selector, error);
    if (!status && !(*nodes = ct_alloc((size_t)selected, sizeof **nodes)))
        status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int node = 0; node < nnode && !status; node++)
        if (mask[node]) (*nodes)[(*count)++] = node;
    ct_free(mask);
    return status;
}
