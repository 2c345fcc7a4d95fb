// Reads a body: its mesh (a file, a box, a sphere, ..., a sheet, a shape to fill), transform, materials,
// velocity, colour.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"
#include "read/shape.h"
#include "text/scan.h"

// -------------------------------------------------------------------------------------------------
// Meshes

static ct_mesh* read_mesh_file(ct_json body, const char* directory) {
    ct_json at = ct_json_member(body, "mesh");
    const char* name = NULL;
    bool repair = false;
    ct_json_text(at, &name);
    ct_json_bool(ct_json_member(body, "repair"), &repair);
    if (body.reader->status) return NULL;
    char* path = ct_json_file_path(directory, name);
    if (!path) {
        ct_json_out_of_memory(at);
        return NULL;
    }
    ct_mesh* mesh;
    ct_error inner;
    ct_error_clear(&inner);
    ct_json_relay(at, ct_mesh_load(&mesh, path, CT_MESH_AUTO, &inner), &inner);
    ct_free(path);
    if (mesh && repair) ct_mesh_repair(mesh);
    return mesh;
}

static void make_box(ct_mesh** mesh, ct_json at) {
    double size[3];
    int cells[3];
    ct_read_keys(at, CT_OBJECT_BOX_MESH);
    ct_json wanted_size = ct_json_required(at, "size"), wanted_cells = ct_json_required(at, "cells");
    ct_json_vector(wanted_size, size);
    if (ct_json_length(wanted_cells) != 3) ct_json_fail(wanted_cells, "must be three whole numbers");
    for (size_t i = 0; i < 3; i++) {
        ct_json_positive(ct_json_item(wanted_size, i), &size[i]);
        ct_json_integer(ct_json_item(wanted_cells, i), 1, 10000, &cells[i]);
    }
    if (at.reader->status) return;
    double count = (double)cells[0] * cells[1] * cells[2];
    if (count > 2e7) {
        ct_json_fail(wanted_cells, "make %g cells: use at most 2e7", count);
        return;
    }
    ct_error inner;
    ct_json_relay(at, ct_mesh_box(mesh, size, cells, &inner), &inner);
}

static void make_sheet(ct_mesh** mesh, ct_json at) {
    double size[2];
    int cells[2];
    ct_read_keys(at, CT_OBJECT_SHEET_MESH);
    ct_json wanted_size = ct_json_required(at, "size"), wanted_cells = ct_json_required(at, "cells");
    if (ct_json_length(wanted_size) != 2) ct_json_fail(wanted_size, "must be two numbers");
    if (ct_json_length(wanted_cells) != 2) ct_json_fail(wanted_cells, "must be two whole numbers");
    for (size_t i = 0; i < 2; i++) {
        ct_json_positive(ct_json_item(wanted_size, i), &size[i]);
        ct_json_integer(ct_json_item(wanted_cells, i), 1, 10000, &cells[i]);
    }
    if (at.reader->status) return;
    ct_error inner;
    ct_json_relay(at, ct_mesh_sheet(mesh, size, cells, &inner), &inner);
}

// Fills and frees the shape; NULL: as `why` says.
static void fill(ct_mesh** mesh, ct_json at, ct_shape* shape, const ct_error* why, int order, double size,
                 double interior) {
    ct_fill_def def = ct_fill_def_default();
    ct_error inner;
    ct_error_clear(&inner);
    def.size = size;
    def.interior = interior;
    def.order = order;
    if (!shape) ct_json_relay(at, why->code, why);
    else ct_json_relay(at, ct_shape_fill(mesh, shape, &def, NULL, &inner), &inner);
    ct_shape_free(shape);
}

static const double origin[3];

static void make_sphere(ct_mesh** mesh, ct_json at, int order) {
    double radius = 0, size = 0;
    ct_read_keys(at, CT_OBJECT_SPHERE_MESH);
    ct_json_positive(ct_json_required(at, "radius"), &radius);
    ct_json_positive(ct_json_required(at, "size"), &size);
    ct_error why = {0};
    if (!at.reader->status) fill(mesh, at, ct_shape_sphere(origin, radius, &why), &why, order, size, 0);
}

static void make_cylinder(ct_mesh** mesh, ct_json at, int order) {
    double radius = 0, length = 0, size = 0;
    ct_read_keys(at, CT_OBJECT_CYLINDER_MESH);
    ct_json_positive(ct_json_required(at, "radius"), &radius);
    ct_json_positive(ct_json_required(at, "length"), &length);
    ct_json_positive(ct_json_required(at, "size"), &size);
    const double a[3] = {0, 0, -length / 2}, b[3] = {0, 0, length / 2};
    ct_error why = {0};
    if (!at.reader->status) fill(mesh, at, ct_shape_cylinder(a, b, radius, &why), &why, order, size, 0);
}

static void make_torus(ct_mesh** mesh, ct_json at, int order) {
    double major = 0, minor = 0, size = 0;
    const double axis[3] = {0, 0, 1};
    ct_read_keys(at, CT_OBJECT_TORUS_MESH);
    ct_json_positive(ct_json_required(at, "major"), &major);
    ct_json_positive(ct_json_required(at, "minor"), &minor);
    ct_json_positive(ct_json_required(at, "size"), &size);
    if (minor >= major)
        ct_json_fail(ct_json_member(at, "minor"), "is %g: it must be below major, which is %g", minor, major);
    ct_error why = {0};
    if (!at.reader->status)
        fill(mesh, at, ct_shape_torus(origin, axis, major, minor, &why), &why, order, size, 0);
}

static ct_mesh* read_shape(ct_json body, const char* directory, int order) {
    ct_json at = ct_json_member(body, "shape"), root = at;
    double size = 0, interior = 0;
    ct_json_positive(ct_json_required(body, "size"), &size);
    ct_json_at_least(ct_json_member(body, "interior"), 0, &interior);
    if (at.reader->status) return NULL;
    ct_shape* shape = NULL;
    ct_mesh* mesh = NULL;
    ct_error inner;
    ct_error_clear(&inner);
    root.path[0] = 0;  // its errors carry the full path
    ct_json_relay(root, ct_shape_from_json(&shape, at.value, directory, at.path, &inner), &inner);
    if (!at.reader->status) fill(&mesh, at, shape, &inner, order, size, interior);
    return mesh;
}

// The mesh of the body, NULL when the reader has failed. order: 2 where its surface is to be curved.
static ct_mesh* read_mesh(ct_json body, const char* directory, int order) {
    static const char* const source[] = {"mesh", "shape", "box", "sphere", "cylinder", "torus", "sheet"};
    static void (*const flat[])(ct_mesh**, ct_json) = {[2] = make_box, [6] = make_sheet};
    static void (*const round[])(ct_mesh**, ct_json,
                                 int) = {[3] = make_sphere, [4] = make_cylinder, [5] = make_torus};
    int chosen = -1, count = 0;
    for (int i = 0; i < 7; i++) {
        if (!ct_json_has(body, source[i])) continue;
        chosen = i;
        count++;
    }
    if (count != 1)
        ct_json_fail(body,
                     "has %d meshes: give exactly one of \"mesh\", \"box\", \"sphere\", \"cylinder\", "
                     "\"torus\", \"sheet\", "
                     "\"shape\"",
                     count);
    if (chosen != 1 && (ct_json_has(body, "size") || ct_json_has(body, "interior")))
        ct_json_fail(body, "has a \"size\" or \"interior\" without a \"shape\"");
    if (chosen != 0 && ct_json_has(body, "repair")) ct_json_fail(body, "has \"repair\" without a \"mesh\"");
    if (body.reader->status) return NULL;
    ct_json written = ct_json_member(body, "mesh");
    if (chosen == 0 && json_is_object(written.value)) return ct_read_written_mesh(body);
    if (chosen == 0) return read_mesh_file(body, directory);
    if (chosen == 1) return read_shape(body, directory, order);
    ct_mesh* mesh = NULL;
    ct_json at = ct_json_member(body, source[chosen]);
    if (chosen == 2 || chosen == 6) flat[chosen](&mesh, at);
    else round[chosen](&mesh, at, order);
    return mesh;
}

ct_mesh* ct_read_obstacle_mesh(ct_json obstacle, const char* directory) {
    ct_json at = ct_json_member(obstacle, "mesh");
    if (!at.value || json_is_string(at.value)) return read_mesh_file(obstacle, directory);
    if (ct_json_has(at, "nodes")) return ct_read_written_mesh(obstacle);
    if (ct_json_has(obstacle, "repair"))
        ct_json_fail(obstacle, "has \"repair\" next to \"mesh\": put it inside");
    return ct_read_keys(at, CT_OBJECT_OBSTACLE_MESH) ? read_mesh(at, directory, 1) : NULL;
}

// -------------------------------------------------------------------------------------------------
// Materials

// A number, or factors along a direction, across it and of twist.
static void read_bending(ct_json at, ct_material* material) {
    if (!at.value || !json_is_object(at.value)) {
        ct_json_number(at, &material->bending);
        return;
    }
    if (!ct_read_keys(at, CT_OBJECT_BENDING)) return;
    ct_json_number(ct_json_member(at, "factor"), &material->bending);
    ct_json_number(ct_json_member(at, "warp"), &material->bending_warp);
    ct_json_number(ct_json_member(at, "weft"), &material->bending_weft);
    ct_json_number(ct_json_member(at, "shear"), &material->bending_shear);
    ct_json_vector(ct_json_member(at, "direction"), material->direction);
}

static void read_material(ct_json at, ct_material* material) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_MATERIAL)) return;
    int energy = (int)material->energy;
    ct_json_choice(ct_json_member(at, "energy"), ct_scene_choices[CT_CHOICE_ENERGY].words, &energy);
    material->energy = (ct_energy)energy;
    ct_json_number(ct_json_member(at, "young"), &material->young);
    ct_json_number(ct_json_member(at, "poisson"), &material->poisson);
    ct_json_number(ct_json_member(at, "density"), &material->density);
    ct_json_bool(ct_json_member(at, "paper_weights"), &material->paper_weights);
    ct_json_number(ct_json_member(at, "thickness"), &material->thickness);
    read_bending(ct_json_member(at, "bending"), material);
    double curvature[3] = {material->curvature_warp, material->curvature_weft, material->curvature_twist};
    ct_json_vector(ct_json_member(at, "curvature"), curvature);
    material->curvature_warp = curvature[0];
    material->curvature_weft = curvature[1];
    material->curvature_twist = curvature[2];
    ct_json damping = ct_json_member(at, "damping");
    if (!damping.value || !ct_read_keys(damping, CT_OBJECT_DAMPING)) return;
    ct_json_number(ct_json_member(damping, "mass"), &material->damping_mass);
    ct_json_number(ct_json_member(damping, "stiffness"), &material->damping_stiffness);
}

// {"bone": {...}}: by the tag's name, or by its number where no tag has that name.
static void read_tags(ct_scene* scene, int body, ct_json at, const ct_material* base) {
    if (!at.value || !ct_json_is_object(at)) return;
    const ct_mesh* mesh = scene->body[body].mesh;
    const char* name;
    json_t* value;
    json_object_foreach((json_t*)at.value, name, value) {
        ct_json member = ct_json_member(at, name);
        ct_material material = *base;
        char* rest;
        int id = (int)strtol(name, &rest, 10);
        bool number = rest != name && !*rest;
        if (!ct_read_tag(member, mesh, name, &id) && !number)
            ct_json_fail(member,
                         mesh->ntag ? "is not a tag of the mesh; the first one is \"%.60s\""
                                    : "is not a tag of the mesh, which has none%.60s",
                         mesh->ntag ? mesh->tag[0].name : "");
        read_material(member, &material);
        if (at.reader->status) return;
        ct_error inner;
        ct_json_relay(member, ct_scene_set_tag_material(scene, body, id, &material, &inner), &inner);
    }
}

// Numbers of a text file, separated by white space or commas; # begins a comment. Keeps at most `most`,
// counts all.
static ct_status parse_numbers(const char* path, const char* text, size_t size, double* out, size_t most,
                               size_t* count, ct_error* error) {
    ct_scan scan = ct_scan_begin(text, size, path, error);
    scan.comment = '#';
    *count = 0;
    while (!ct_scan_at_end(&scan)) {
        double number;
        ct_scan_item(&scan, "value", (long)*count);
        ct_status status = ct_scan_real(&scan, &number);
        if (status) return status;
        if (*count < most) out[*count] = number;
        ++*count;
    }
    return CT_OK;
}

size_t ct_read_numbers(ct_json at, const char* directory, double* out, size_t most) {
    const char* name = "";
    ct_json_text(at, &name);
    if (at.reader->status) return 0;
    char *path = ct_json_file_path(directory, name), *text = NULL;
    size_t size = 0, count = 0;
    ct_error inner;
    ct_error_clear(&inner);
    if (!path) ct_json_out_of_memory(at);
    else ct_json_relay(at, ct_file_read(path, CT_READ_GIGABYTES, &text, &size, &inner), &inner);
    for (size_t i = 0; text && i < size; i++)
        if (text[i] == ',') text[i] = ' ';
    if (text) ct_json_relay(at, parse_numbers(path, text, size, out, most, &count, &inner), &inner);
    ct_free(path);
    ct_free(text);
    return count;
}

static void read_values(ct_scene* scene, int body, ct_json at, const char* directory) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_VALUES)) return;
    size_t count_wanted = (size_t)ct_scene_body_elements(&scene->body[body]);
    double* values = ct_alloc(count_wanted, sizeof *values);
    if (!values) ct_json_out_of_memory(at);
    const char* const* field = ct_scene_keys[CT_OBJECT_VALUES].words;
    for (int i = 0; field[i] && !at.reader->status; i++) {
        ct_json member = ct_json_member(at, field[i]);
        if (!member.value) continue;
        size_t count = json_is_string(member.value) ? ct_read_numbers(member, directory, values, count_wanted)
                                                    : ct_json_length(member);
        if (!at.reader->status && count != count_wanted)
            ct_json_fail(member, "has %zu values: body \"%.60s\" has %zu %s", count, scene->body[body].name,
                         count_wanted, ct_scene_sheet_size(&scene->body[body]) ? "triangles" : "tets");
        if (!json_is_string(member.value)) ct_json_numbers(member, values, count_wanted);
        if (at.reader->status) break;
        ct_error inner;
        ct_quantity quantity = ct_quantity_find(field[i]);
        ct_json_relay(at, ct_scene_set_tet_values(scene, body, quantity, values, (int)count_wanted, &inner),
                      &inner);
    }
    ct_free(values);
}

// -------------------------------------------------------------------------------------------------
// The body

void ct_read_color(ct_json at, double color[3]) {
    if (!at.value || !json_is_string(at.value)) {
        ct_json_vector(at, color);
        return;
    }
    const char* text = json_string_value(at.value);
    if (text[0] != '#' || strlen(text) != 7 || strspn(text + 1, "0123456789abcdefABCDEF") != 6) {
        ct_json_fail(at, "is \"%.20s\": it must be \"#rrggbb\" or three numbers from 0 to 1", text);
        return;
    }
    unsigned long bits = strtoul(text + 1, NULL, 16);
    for (int i = 0; i < 3; i++) color[i] = (double)(bits >> (16 - 8 * i) & 255) / 255;
}

// One row for each node.
static void read_velocities(ct_scene* scene, int body, ct_json at) {
    const size_t count = ct_json_length(at), nvert = (size_t)scene->body[body].mesh->nvert;
    if (!at.reader->status && count != nvert)
        ct_json_fail(at, "has %zu rows: body \"%.60s\" has %zu nodes", count, scene->body[body].name, nvert);
    double* rows = at.reader->status ? NULL : ct_alloc(3 * nvert, sizeof *rows);
    if (!at.reader->status && !rows) ct_json_out_of_memory(at);
    if (rows) ct_json_rows(at, 3, rows);
    ct_error inner;
    if (!at.reader->status)
        ct_json_relay(at, ct_scene_set_velocities(scene, body, rows, (int)count, &inner), &inner);
    ct_free(rows);
}

void ct_read_body(ct_scene* scene, ct_json at, const char* directory) {
    ct_body_def def = ct_body_def_default();
    if (!ct_read_keys(at, CT_OBJECT_BODY)) return;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    ct_json_positive(ct_json_member(at, "scale"), &def.scale);
    ct_json_rotation(ct_json_member(at, "rotate"), def.rotate);
    ct_json_vector(ct_json_member(at, "translate"), def.translate);
    read_material(ct_json_member(at, "material"), &def.material);
    ct_json velocity = ct_json_member(at, "velocity");
    bool rows = velocity.value && json_is_array(json_array_get(velocity.value, 0));
    if (!rows) ct_json_vector(velocity, def.velocity);
    ct_json_vector(ct_json_member(at, "angular_velocity"), def.angular_velocity);
    ct_read_color(ct_json_member(at, "color"), def.color);
    ct_json_text(ct_json_member(at, "group"), &def.group);
    ct_json_positive(ct_json_member(at, "contact_thickness"), &def.contact_thickness);
    ct_json_integer(ct_json_member(at, "order"), 1, 2, &def.order);
    if (at.reader->status) return;
    ct_mesh* mesh = read_mesh(at, directory, def.order);
    def.mesh = mesh;
    if (def.order == 1 && mesh && mesh->mid)
        ct_json_fail(ct_json_member(at, "order"),
                     "is 1, but the tets of the mesh are of second order: remove it");
    if (def.order == 1) def.order = 0;
    ct_json material = ct_json_member(at, "material");
    for (int i = 0; i < 3 && mesh && mesh->ntet; i++) {
        const char* key = (const char*[]){"thickness", "bending", "curvature"}[i];
        if (material.value && ct_json_has(material, key))
            ct_json_fail(ct_json_member(material, key),
                         "is for thin sheets, but this body has tets: remove it");
    }
    int body = -1;
    ct_error inner;
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_body(scene, &def, &body, &inner), &inner);
    ct_mesh_free(mesh);
    if (at.reader->status) return;
    read_tags(scene, body, ct_json_member(at, "tags"), &def.material);
    read_values(scene, body, ct_json_member(at, "values"), directory);
    double mass = 0;
    ct_json_positive(ct_json_member(at, "mass"), &mass);
    if (mass > 0 && !at.reader->status)
        ct_json_relay(at, ct_scene_set_mass(scene, body, mass, &inner), &inner);
    if (rows) read_velocities(scene, body, velocity);
}
