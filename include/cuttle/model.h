// Model: a compiled scene, immutable, with the factored system
#ifndef CUTTLE_MODEL_H
#define CUTTLE_MODEL_H

#include "cuttle/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_model_info {
    // nodes, tets, surface triangles, bodies, free and driven nodes
    int nvert, ntet, nsurface, nbody, nfree, ndriven;
    int ntri;  // triangles of thin sheets; elements are the tets, then these
    int nobstacle;
    int nlink, njoint;    // links, joint rates
    int sliver_count;     // tets with quality < 0.1: slow to solve, worth remeshing
    double mass;          // kg
    double volume;        // m^3
    double factor_bytes;  // bytes of the stored factor
    double setup_seconds;
    const char* ordering;  // "amd" or "metis"
    const char* kernel;    // "avx512", "avx2" or "portable"
} ct_model_info;

CT_API ct_status ct_model_create(ct_model** out, const ct_scene* scene, ct_error* error);
CT_API void ct_model_free(ct_model* model);
CT_API ct_model_info ct_model_summary(const ct_model* model);
CT_API ct_settings ct_model_settings(const ct_model* model);
CT_API const double* ct_model_rest(const ct_model* model);       // 3 nvert
CT_API const double* ct_model_node_mass(const ct_model* model);  // nvert, kg
CT_API const int* ct_model_tets(const ct_model* model);          // 4 ntet
CT_API const int* ct_model_tris(const ct_model* model);          // 3 ntri, of sheets
// 3 nsurface: boundary of the tets, outward; sheets; meshes of obstacles
CT_API const int* ct_model_surface(const ct_model* model);
CT_API const int* ct_model_surface_owner(const ct_model* model);  // nsurface: body, or nbody + obstacle
CT_API const int* ct_model_tet_body(const ct_model* model);       // ntet
CT_API const int* ct_model_tet_tag(const ct_model* model);        // ntet
CT_API const char* ct_model_body_name(const ct_model* model, int body);
CT_API const double* ct_model_body_color(const ct_model* model);  // 3 nbody, 0..1

#ifdef __cplusplus
}
#endif
#endif
