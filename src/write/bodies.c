// Bodies as JSON: their meshes in the world, materials of elements, velocities of nodes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "quantity/fields.h"
#include "scene/keys.h"
#include "write/write.h"

// -------------------------------------------------------------------------------------------------
// Meshes

static void write_tags(ct_json_put* out, const char* key, const int* tag, int count) {
    bool any = false;
    for (int e = 0; e < count; e++) any = any || tag[e];
    if (any) ct_put_integers(out, key, tag, (size_t)count);
}

static void write_mesh(ct_json_put* out, const ct_mesh* mesh) {
    ct_put_object(out, "mesh");
    ct_put_rows(out, "nodes", mesh->x, (size_t)mesh->nvert, 3);
    if (mesh->ntet) ct_put_integer_rows(out, "tets", mesh->tet, (size_t)mesh->ntet, 4);
    if (mesh->mid) ct_put_integer_rows(out, "middles", mesh->mid, (size_t)mesh->ntet, 6);
    if (mesh->ntri) ct_put_integer_rows(out, "triangles", mesh->tri, (size_t)mesh->ntri, 3);
    write_tags(out, "tet_tags", mesh->tet_tag, mesh->ntet);
    write_tags(out, "triangle_tags", mesh->tri_tag, mesh->ntri);
    bool named = false;
    for (int i = 0; i < mesh->ntag; i++) named = named || mesh->tag[i].name[0];
    if (named) ct_put_object(out, "tags");
    for (int i = 0; i < mesh->ntag; i++)
        if (mesh->tag[i].name[0]) ct_put_integer(out, mesh->tag[i].name, mesh->tag[i].id);
    if (named) ct_put_end(out);
    ct_put_end(out);
}

// -------------------------------------------------------------------------------------------------
// Materials

static void write_bending(ct_json_put* out, const ct_material* m) {
    ct_put_object(out, "bending");
    ct_put_number(out, "factor", m->bending);
    ct_put_number(out, "warp", m->bending_warp);
    ct_put_number(out, "weft", m->bending_weft);
    ct_put_number(out, "shear", m->bending_shear);
    ct_put_numbers(out, "direction", m->direction, 3);
    ct_put_end(out);
}

static void write_material(ct_json_put* out, const char* key, const ct_material* m, bool sheet) {
    ct_put_object(out, key);
    ct_put_text(out, "energy", ct_energy_name(m->energy));
    ct_put_number(out, "young", m->young);
    ct_put_number(out, "poisson", m->poisson);
    ct_put_number(out, "density", m->density);
    ct_put_object(out, "damping");
    ct_put_number(out, "mass", m->damping_mass);
    ct_put_number(out, "stiffness", m->damping_stiffness);
    ct_put_end(out);
    ct_put_bool(out, "paper_weights", m->paper_weights);
    if (sheet) {
        ct_put_number(out, "thickness", m->thickness);
        write_bending(out, m);
        const double curvature[3] = {m->curvature_warp, m->curvature_weft, m->curvature_twist};
        ct_put_numbers(out, "curvature", curvature, 3);
    }
    ct_put_end(out);
}

// What no number of an element says.
static bool is_alike(const ct_material* a, const ct_material* b) {
    return a->energy == b->energy && a->paper_weights == b->paper_weights &&
           !memcmp(a->direction, b->direction, sizeof a->direction);
}

// Materials by tag, where elements are not alike but for their numbers: by the first of each tag.
static void write_tag_materials(ct_json_put* out, const ct_scene_body* body) {
    const bool sheet = ct_scene_sheet_size(body) > 0;
    const int count = ct_scene_body_elements(body), *tag = sheet ? body->mesh->tri_tag : body->mesh->tet_tag;
    bool alike = true;
    for (int e = 1; e < count; e++) alike = alike && is_alike(&body->tet_material[0], &body->tet_material[e]);
    if (alike) return;
    ct_key_map seen = {0};
    ct_put_object(out, "tags");
    for (int e = 0; e < count && !out->status; e++) {
        int* first = ct_key_map_at(&seen, (uint64_t)tag[e] + 1);
        if (!first) {
            out->status = ct_fail(out->error, CT_OUT_OF_MEMORY, "out of memory");
        } else if (*first < 0) {
            char name[16];
            snprintf(name, sizeof name, "%d", tag[e]);
            *first = e;
            write_material(out, name, &body->tet_material[e], sheet);
        } else if (!is_alike(&body->tet_material[*first], &body->tet_material[e])) {
            out->status = ct_fail(out->error, CT_UNSUPPORTED,
                                  "elements %d and %d of body \"%.60s\" have the same tag and another energy "
                                  "or direction: a scene file gives these by tag",
                                  *first, e, body->name);
        }
    }
    ct_put_end(out);
    ct_key_map_clear(&seen);
}

// Numbers that elements have of their own.
static void write_values(ct_json_put* out, const ct_scene_body* body) {
    const bool sheet = ct_scene_sheet_size(body) > 0;
    const size_t count = (size_t)ct_scene_body_elements(body);
    bool open = false;
    double* values = ct_alloc(count, sizeof *values);
    if (!values) out->status = ct_fail(out->error, CT_OUT_OF_MEMORY, "out of memory");
    for (const char* const* word = ct_scene_keys[CT_OBJECT_VALUES].words; *word && !out->status; word++) {
        const ct_quantity quantity = ct_quantity_find(*word);
        if (!sheet && ct_quantity_row(quantity)->of == CT_OF_SHEETS) continue;
        bool same = true;
        for (size_t e = 0; e < count; e++) {
            values[e] = *ct_fields_material(&body->tet_material[e], quantity);
            same = same && values[e] == values[0];
        }
        if (same) continue;
        if (!open) ct_put_object(out, "values");
        open = true;
        ct_put_numbers(out, *word, values, count);
    }
    if (open) ct_put_end(out);
    ct_free(values);
}

// -------------------------------------------------------------------------------------------------
// Bodies

static void write_velocity(ct_json_put* out, const ct_scene_body* body) {
    const double* v = body->velocity;
    bool uniform = ct_write_is_zero(body->angular_velocity);
    for (int k = 1; uniform && k < body->mesh->nvert; k++)
        for (int i = 0; i < 3; i++) uniform = uniform && v[3 * (size_t)k + (size_t)i] == v[i];
    if (uniform) ct_write_vector(out, "velocity", v);
    else ct_put_rows(out, "velocity", v, (size_t)body->mesh->nvert, 3);
    ct_write_vector(out, "angular_velocity", body->angular_velocity);
}

static void write_body(ct_json_put* out, const ct_scene_body* body) {
    ct_put_object(out, NULL);
    ct_put_text(out, "name", body->name);
    if (body->group) ct_put_text(out, "group", body->group);
    write_mesh(out, body->mesh);
    write_material(out, "material", &body->tet_material[0], ct_scene_sheet_size(body) > 0);
    write_tag_materials(out, body);
    write_values(out, body);
    write_velocity(out, body);
    ct_put_numbers(out, "color", body->color, 3);
    if (!isnan(body->contact_thickness)) ct_put_number(out, "contact_thickness", body->contact_thickness);
    ct_put_end(out);
}

void ct_write_bodies(ct_json_put* out, const ct_scene* scene) {
    if (!scene->nbody) return;
    ct_put_array(out, "bodies");
    for (int b = 0; b < scene->nbody; b++) write_body(out, &scene->body[b]);
    ct_put_end(out);
}
