// What one body of a scene is made of: sizes, bounds, ranges of its material, quality of its mesh.
#include <math.h>

#include "base/status.h"
#include "scene/scene.h"
#include "shape/mesh.h"

static void widen(double range[2], double value) {
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

ct_status ct_scene_body_info(const ct_scene* scene, int body, ct_body_info* info) {
    CT_NEED(NULL, scene);
    if (body < 0 || body >= scene->nbody) return CT_BAD_ARGUMENT;
    const ct_scene_body* b = &scene->body[body];
    const ct_material* first = &b->tet_material[0];
    ct_mesh_report report;
    ct_status status = ct_mesh_check(b->mesh, &report, NULL);
    if (status != CT_OK) return status;
    *info = (ct_body_info){.nvert = b->mesh->nvert,
                           .ntet = b->mesh->ntet,
                           .ntri = ct_scene_sheet_size(b),
                           .material = *first,
                           .young = {first->young, first->young},
                           .poisson = {first->poisson, first->poisson},
                           .density = {first->density, first->density},
                           .volume = report.volume,
                           .min_quality = report.min_quality,
                           .sliver_count = report.sliver_count,
                           .order = b->mesh->mid ? 2 : b->mesh->ntet > 0};
    for (int i = 0; i < 3; i++) info->lower[i] = report.lower[i], info->upper[i] = report.upper[i];
    for (int t = 0; t < info->ntri; t++)
        info->volume += b->tet_material[t].thickness * ct_tri_area(b->mesh->x, b->mesh->tri + 3 * (size_t)t);
    for (int t = 0; t < ct_scene_body_elements(b); t++) {
        widen(info->young, b->tet_material[t].young);
        widen(info->poisson, b->tet_material[t].poisson);
        widen(info->density, b->tet_material[t].density);
    }
    return CT_OK;
}
