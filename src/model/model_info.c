// Freeing a model, and what it tells about itself; see model.h.
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ct_model_free(ct_model* model) {
    if (!model) return;
    ct_families_free(&model->families);
    ct_factor_free(model->system.factor);
    ct_symbolic_free(model->system.symbolic);
    if (model->solver && model->solver->model_free) model->solver->model_free(model->solver_part);
    ct_arena_free(&model->arena);
    ct_free(model);
}

ct_model_info ct_model_summary(const ct_model* model) {
    double volume = 0;
    for (int t = 0; t < model->ntet; t++)
        volume += ct_elastic_volume(model->families.of[CT_FAMILY_SOLIDS])[t];
    return (ct_model_info){
        .nvert = model->nvert,
        .ntet = model->ntet,
        .ntri = model->ntri,
        .nsurface = model->nsurface,
        .nbody = model->nbody,
        .nfree = model->nfree,
        .ndriven = model->nvert - model->nfree - ct_tree_node_count(&model->tree),
        .nobstacle = model->nobstacle,
        .sliver_count = model->sliver_count,
        .nlink = model->tree.nlink,
        .njoint = model->tree.ndof,
        .mass = model->total_mass,
        .volume = volume,
        .factor_bytes = model->system.factor ? (double)ct_factor_bytes(model->system.factor) : 0,
        .setup_seconds = model->setup_seconds,
        .ordering = model->system.symbolic ? ct_symbolic_ordering(model->system.symbolic) : "none",
        .kernel = ct_elastic_kernel(model->families.of[CT_FAMILY_SOLIDS]),
    };
}

ct_settings ct_model_settings(const ct_model* model) { return model->settings; }
const double* ct_model_rest(const ct_model* model) { return model->geometry.rest; }
const double* ct_model_node_mass(const ct_model* model) { return model->mass; }
const int* ct_model_tets(const ct_model* model) { return model->geometry.tet; }
const int* ct_model_tet_middles(const ct_model* model) { return model->geometry.mid; }
const int* ct_model_tris(const ct_model* model) { return model->geometry.tri; }
const int* ct_model_surface(const ct_model* model) { return model->geometry.surface; }
const int* ct_model_surface_owner(const ct_model* model) { return model->geometry.surface_owner; }
const int* ct_model_tet_body(const ct_model* model) { return model->geometry.tet_body; }
const int* ct_model_tet_tag(const ct_model* model) { return model->geometry.tet_tag; }

const char* ct_model_body_name(const ct_model* model, int body) {
    return body >= 0 && body < model->nbody ? model->geometry.body_name[body] : "";
}

const double* ct_model_body_color(const ct_model* model) { return model->geometry.body_color; }

static bool is_collider(const ct_model* model, int collider) {
    return collider >= 0 && collider < model->collision.ncollider;
}

double ct_model_contact_thickness(const ct_model* model, int collider) {
    return is_collider(model, collider) ? model->collision.collider[collider].thickness : NAN;
}

bool ct_model_is_driven(const ct_model* model, int collider) {
    return is_collider(model, collider) && model->collision.collider[collider].driven;
}

double ct_model_contact_distance(const ct_model* model, int a, int b) {
    if (!is_collider(model, a) || !is_collider(model, b)) return NAN;
    const ct_collision* c = &model->collision;
    const bool touch = model->settings.contact.method != CT_CONTACT_METHOD_NONE &&
                       c->collide[ct_collision_rule(c, a, b)] &&
                       !(c->collider[a].driven && c->collider[b].driven);
    return touch ? c->collider[a].thickness + c->collider[b].thickness : NAN;
}

int ct_model_link_count(const ct_model* model) { return model->tree.nlink; }

ct_link_info ct_model_link_info(const ct_model* model, int link) {
    const ct_tree* tree = &model->tree;
    ct_link_info info = {.name = "", .parent = -1};
    if (link < 0 || link >= tree->nlink) return info;
    info.name = tree->name[link];
    info.parent = tree->parent[link];
    info.joint = tree->joint[link].kind;
    info.naxis = tree->type[link]->naxis;
    memcpy(info.anchor, tree->joint[link].anchor, sizeof info.anchor);
    memcpy(info.axis, tree->joint[link].axis, sizeof info.axis);
    if (info.naxis > 1) memcpy(info.axis2, tree->joint[link].axis2, sizeof info.axis2);
    info.coordinate = tree->coordinate[link];
    info.ncoordinate = tree->coordinate[link + 1] - tree->coordinate[link];
    info.nodes = tree->node + tree->start[link];
    info.count = tree->start[link + 1] - tree->start[link];
    return info;
}

ct_joint_def ct_model_joint(const ct_model* model, int link) {
    return link >= 0 && link < model->tree.nlink ? model->tree.joint[link] : ct_joint_def_default();
}

int ct_model_control_size(const ct_model* model) { return model->inputs.control_size; }
int ct_model_control_count(const ct_model* model) { return model->inputs.ncontrol; }

ct_control_info ct_model_control_info(const ct_model* model, int index) {
    ct_control_info info = {0};
    if (index < 0 || index >= model->inputs.ncontrol) return info;
    const ct_scene_control* control = &model->inputs.control[index];
    snprintf(info.name, sizeof info.name, "%s", control->name);
    info.kind = control->kind;
    info.first = model->inputs.control_first[index];
    info.count = control->size;
    return info;
}
