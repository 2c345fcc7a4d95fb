// Exchanging the numbers of quantities; see values.h.
#include "scene/values.h"

#include <math.h>

#include "quantity/fields.h"
#include "skeleton/joint.h"

static void swap(double* a, double* b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

static void swap_many(double* a, double* b, int count) {
    for (int i = 0; i < count; i++) swap(a + i, b + i);
}

// Tets of all bodies, then the triangles of sheets.
static void swap_elements(ct_scene* scene, ct_quantity quantity, double* value) {
    int ntet = 0;
    for (int b = 0; b < scene->nbody; b++) ntet += scene->body[b].mesh->ntet;
    for (int b = 0; b < scene->nbody; b++) {
        ct_scene_body* body = &scene->body[b];
        const int sheet = ct_scene_sheet_size(body), first = sheet ? ntet + body->first_tri : body->first_tet;
        if (!sheet && ct_quantity_row(quantity)->of == CT_OF_SHEETS) continue;
        for (int e = 0; e < ct_scene_body_elements(body); e++)
            swap(ct_fields_material(&body->tet_material[e], quantity), value + first + e);
    }
}

static void swap_mass(ct_scene_link* link, double* value) {
    if (!(link->mass > 0)) return;
    const double ratio = *value / link->mass;
    for (int i = 0; i < 6; i++) link->inertia[i] *= ratio;
    swap(&link->mass, value);
}

static void swap_links(ct_scene* scene, ct_quantity quantity, double* value) {
    for (int k = 0; k < scene->nlink; k++) {
        ct_scene_link* link = &scene->link[k];
        if (quantity == CT_QUANTITY_LINK_MASS) swap_mass(link, value + k);
        else if (ct_joint_has(&link->joint, quantity))
            swap(ct_fields_joint(&link->joint, quantity), value + k);
    }
}

static void swap_actuators(ct_scene* scene, ct_quantity quantity, double* value) {
    ct_actuator_kind kind;
    if (!ct_fields_of_actuators(quantity, &kind)) return;
    for (int k = 0; k < scene->nactuator; k++)
        if (ct_scene_is_stiff(&scene->actuator[k], kind)) swap(&scene->actuator[k].stiffness, value + k);
}

static void swap_friction(ct_scene* scene, double* value) {
    swap(&scene->settings.contact.friction, value++);
    for (int p = 0; p < scene->npair; p++)
        if (!isnan(scene->pair[p].friction)) swap(&scene->pair[p].friction, value++);
}

static void swap_water(ct_water_def* water, ct_quantity quantity, double* value) {
    if (quantity == CT_QUANTITY_WATER_DENSITY) swap(&water->density, value);
    if (quantity == CT_QUANTITY_WATER_DRAG) swap_many(water->drag, value, CT_WATER_DRAG);
    if (quantity == CT_QUANTITY_WATER_THRUST) swap_many(water->thrust, value, CT_WATER_THRUST);
    if (quantity == CT_QUANTITY_WATER_CURRENT) swap_many(water->current, value, 3);
}

static void swap_quantity(ct_scene* scene, ct_quantity quantity, double* value) {
    switch (ct_quantity_row(quantity)->of) {
    case CT_OF_ELEMENTS:
    case CT_OF_SHEETS: swap_elements(scene, quantity, value); break;
    case CT_OF_LINKS: swap_links(scene, quantity, value); break;
    case CT_OF_FRICTION: swap_friction(scene, value); break;
    case CT_OF_MUSCLES:
    case CT_OF_CHAMBERS:
    case CT_OF_CABLES: swap_actuators(scene, quantity, value); break;
    case CT_OF_SCENE: swap_many(scene->settings.gravity, value, 3); break;
    case CT_OF_WATER: swap_water(&scene->water.def, quantity, value); break;
    case CT_OF_POLICY: swap_many(scene->policy.weight, value, scene->policy.nweight); break;
    case CT_OF_NODES:
    case CT_OF_RATES:
    case CT_OF_CONTROLS: break;  // of initial states and steps
    }
}

void ct_scene_swap_values(ct_scene* scene, const ct_values* values) {
    for (int q = 0; q < CT_QUANTITY_COUNT; q++)
        if (values->of[q]) swap_quantity(scene, (ct_quantity)q, values->of[q]);
}
