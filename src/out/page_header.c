// The head of a page's data; see page_header.h.
#include "out/page_header.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

ct_page_bytes* ct_page_arrays_add(ct_page_arrays* arrays, const char* name, const char* type,
                                  const char* code) {
    ct_page_array* array = &arrays->list[arrays->count++];
    *array = (ct_page_array){.name = name, .type = type, .code = code};
    return &array->bytes;
}

void ct_page_arrays_free(ct_page_arrays* arrays) {
    for (int k = 0; k < arrays->count; k++) ct_page_bytes_free(&arrays->list[k].bytes);
    arrays->count = 0;
}

static void add_integers(ct_page_arrays* arrays, const char* name, const int* values, size_t count) {
    ct_page_bytes_add(ct_page_arrays_add(arrays, name, "i32", ""), values, count * sizeof *values);
}

// 7 numbers for each bone (link apart): from, to, radius.
static void add_bones(ct_page_arrays* arrays, const ct_page_content* c) {
    ct_page_bytes* link = ct_page_arrays_add(arrays, "bone_link", "i32", "");
    ct_page_bytes* shape = ct_page_arrays_add(arrays, "bone_shape", "f32", "");
    ct_page_bytes* joint = ct_page_arrays_add(arrays, "joint_place", "f32", "");
    for (int i = 0; i < c->bones.count; i++) {
        const ct_bone* bone = &c->bones.bone[i];
        double numbers[7];
        memcpy(numbers, bone->from, sizeof bone->from);
        memcpy(numbers + 3, bone->to, sizeof bone->to);
        numbers[6] = ct_bone_radius(&c->bones, bone);
        ct_page_bytes_add(link, &bone->link, sizeof bone->link);
        ct_page_bytes_add_floats(shape, numbers, 7);
    }
    ct_page_bytes_add_floats(joint, c->bones.base, 3 * (size_t)c->file->info.nlink);
}

void ct_page_arrays_share(ct_page_arrays* arrays, const ct_page_content* c) {
    ct_page_bytes* rest = ct_page_arrays_add(arrays, "rest", "f32", "");
    for (int i = 0; i < c->nnode; i++)
        ct_page_bytes_add_floats(rest, c->file->rest + 3 * (size_t)c->node[i], 3);
    add_integers(arrays, "node", c->node, (size_t)c->nnode);
    add_integers(arrays, "triangle", c->tri, 3 * (size_t)c->ntri);
    add_integers(arrays, "owner", c->owner, (size_t)c->ntri);
    add_integers(arrays, "tet", c->tet, 4 * (size_t)c->ntet);
    add_integers(arrays, "tet_body", c->tet_body, (size_t)c->ntet);
    add_integers(arrays, "chamber_triangle", c->chamber, 3 * (size_t)c->nchamber);
    add_bones(arrays, c);
}

// ---- JSON ----

static json_t* number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t* vector(const double* values, int count) {
    json_t* array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, number(values[i]));
    return array;
}

// Names come from files: what is not UTF-8 is left out.
static json_t* text(const char* value) {
    json_t* string = json_string(value);
    return string ? string : json_string("");
}

static json_t* bodies(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->file->info.nbody; k++) {
        bool sheet = false;
        for (int t = 0; t < c->file->info.ntri && !sheet; t++) sheet = c->file->tri_body[t] == k;
        json_array_append_new(list, json_pack("{s:o, s:o, s:b}", "name",
                                              text(ct_trajectory_collider_name(c->file, k)), "color",
                                              vector(c->file->body_color + 3 * k, 3), "sheet", sheet));
    }
    return list;
}

static json_t* obstacles(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->file->info.nobstacle; k++) {
        const ct_obstacle_info* o = &c->file->obstacle[k];
        json_array_append_new(list, json_pack("{s:o, s:s, s:f, s:o, s:b, s:b}", "name", text(o->name), "kind",
                                              ct_obstacle_kind_name(o->kind), "radius", o->radius, "color",
                                              vector(o->color, 3), "hidden", o->hidden, "far",
                                              c->file->obstacle_far[k]));
    }
    return list;
}

static json_t* links(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->file->info.nlink; k++)
        json_array_append_new(list, json_pack("{s:o, s:s, s:i}", "name", text(c->file->link[k].name), "joint",
                                              ct_joint_kind_name(c->file->link[k].joint), "parent",
                                              c->file->link[k].parent));
    return list;
}

static json_t* cables(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->file->info.ncable; k++)
        json_array_append_new(list, json_pack("{s:o, s:i, s:i}", "name", text(c->file->cable_name[k]),
                                              "first", c->file->cable_start[k], "count",
                                              c->file->cable_start[k + 1] - c->file->cable_start[k]));
    return list;
}

static json_t* cavities(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->file->info.ncavity; k++)
        json_array_append_new(list, text(ct_trajectory_cavity_name(c->file, k)));
    return list;
}

static json_t* segments(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->nsegment; k++)
        json_array_append_new(list, json_pack("{s:o, s:f, s:i}", "name",
                                              text(c->model->actuators.list[c->segment[k].actuator].name),
                                              "radius", c->segment[k].radius, "chain", c->segment[k].chain));
    return list;
}

static json_t* curves(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->ncurve; k++)
        json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "group", c->curve[k].group, "name",
                                              text(c->curve[k].name), "unit", c->curve[k].unit));
    return list;
}

int ct_page_field_power(const ct_trajectory_field* field) {
    return field->array == CT_ARRAY_ACTIVATION || field->array == CT_ARRAY_VOLUME ? 1 : 2;
}

static json_t* fields(const ct_page_content* c, const ct_page_range* range, const double* scale) {
    json_t* list = json_array();
    for (int k = 0; k < c->nfield; k++) {
        const ct_trajectory_field* f = c->field[k];
        json_t* field = json_pack("{s:s, s:s, s:s, s:i}", "name", f->name, "title", f->title, "unit", f->unit,
                                  "power", ct_page_field_power(f));
        if (range) {
            json_object_set_new(field, "low", number(range[3 + k].low));
            json_object_set_new(field, "high", number(range[3 + k].high));
            json_object_set_new(field, "scale", vector(scale + 2 * k, 2));
        }
        json_array_append_new(list, field);
    }
    return list;
}

static json_t* sentences(const ct_page_content* c) {
    json_t* list = json_array();
    for (int k = 0; k < c->nmissing; k++) json_array_append_new(list, text(c->missing[k]));
    return list;
}

static json_t* view(const ct_trajectory_info* info) {
    if (info->view.automatic) return json_null();
    return json_pack("{s:o, s:o, s:f}", "eye", vector(info->view.eye, 3), "target",
                     vector(info->view.target, 3), "field_of_view", info->view.field_of_view);
}

json_t* ct_page_header(const ct_page_content* c, const char* title, const ct_page_range* range,
                       const double* scale, int nframe) {
    const ct_trajectory_info* info = &c->file->info;
    if (!title) title = *info->scene_name ? info->scene_name : "Cuttle";
    json_t* header = json_pack("{s:i, s:s, s:o, s:o, s:i, s:f, s:i}", "format", 1, "version", ct_version(),
                               "title", text(title), "scene_file", text(info->scene_file), "up", info->up,
                               "time_step", info->time_step, "frames", nframe);
    if (!header) return NULL;
    json_object_set_new(header, "live", json_boolean(!range));
    json_object_set_new(header, "view", view(info));
    json_object_set_new(header, "ground", number(c->ground));
    json_object_set_new(header, "lower", vector(c->lower, 3));
    json_object_set_new(header, "upper", vector(c->upper, 3));
    json_object_set_new(header, "nodes", json_integer(c->nnode));
    json_object_set_new(header, "all_nodes", json_integer(info->nvert));
    json_object_set_new(header, "all_tets", json_integer(info->ntet));
    json_object_set_new(header, "contact", json_boolean(info->contact));
    json_object_set_new(header, "joint_radius", json_real(c->bones.joint));
    json_object_set_new(header, "bodies", bodies(c));
    json_object_set_new(header, "obstacles", obstacles(c));
    json_object_set_new(header, "links", links(c));
    json_object_set_new(header, "cables", cables(c));
    json_object_set_new(header, "cavities", cavities(c));
    json_object_set_new(header, "segments", segments(c));
    json_object_set_new(header, "curves", curves(c));
    json_object_set_new(header, "fields", fields(c, range, scale));
    json_object_set_new(header, "missing", sentences(c));
    if (range) {
        double ends[6] = {range[0].low,  range[1].low,  range[2].low,
                          range[0].high, range[1].high, range[2].high};
        json_object_set_new(header, "levels", json_integer(CT_PAGE_LEVELS));
        json_object_set_new(header, "low", vector(ends, 3));
        json_object_set_new(header, "high", vector(ends + 3, 3));
    }
    return header;
}

void ct_page_pack(json_t* header, const ct_page_arrays* arrays, ct_page_bytes* out) {
    ct_page_bytes all = {0};
    json_t* list = json_object();
    size_t offset = 0;
    for (int k = 0; k < arrays->count; k++) {
        const ct_page_array* array = &arrays->list[k];
        out->failed |= array->bytes.failed;
        json_object_set_new(list, array->name,
                            json_pack("{s:s, s:s, s:I, s:I}", "type", array->type, "code", array->code,
                                      "offset", (json_int_t)offset, "bytes", (json_int_t)array->bytes.size));
        offset += (array->bytes.size + 7) / 8 * 8;
    }
    json_object_set_new(header, "arrays", list);
    char* json = json_dumps(header, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(header);
    uint32_t length = json ? (uint32_t)strlen(json) : 0;
    out->failed |= !json;
    ct_page_bytes_add(&all, "CTPG", 4);
    ct_page_bytes_add(&all, &length, 4);
    ct_page_bytes_add(&all, json, length);
    ct_page_bytes_align(&all);
    for (int k = 0; k < arrays->count; k++) {
        ct_page_bytes_add(&all, arrays->list[k].bytes.data, arrays->list[k].bytes.size);
        ct_page_bytes_align(&all);
    }
    free(json);
    ct_page_bytes_deflate(&all, out);
    ct_page_bytes_free(&all);
}
