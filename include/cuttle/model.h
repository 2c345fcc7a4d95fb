// Model: a compiled scene, immutable, with the factored system
//
// Making a model is the expensive part, done once; steps share it, on any number of threads, each with a work
// and a state of its own. Changing its values (quantity.h) is the one thing that mutates it.
//
//     ct_model* model = NULL;
//     if (ct_model_create(&model, scene, &error)) ...
//     ct_model_info info = ct_model_summary(model);
//     printf("%d nodes, %d tets, %g kg\n", info.nvert, info.ntet, info.mass);
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

// Compiles and factors a scene; the model keeps nothing of it. CT_BAD_SCENE when parts of the scene do not
// fit together, CT_SINGULAR when its system cannot be factored, CT_OUT_OF_MEMORY.
CT_API ct_status ct_model_create(ct_model** out, const ct_scene* scene, ct_error* error);
// Works, states and tapes of it must not be used any more, only freed. NULL: does nothing.
CT_API void ct_model_free(ct_model* model);
CT_API ct_model_info ct_model_summary(const ct_model* model);  // how large it is, and what of
CT_API ct_settings ct_model_settings(const ct_model* model);   // the scene's when it was compiled
// Arrays, borrowed; the shape is behind them. Nodes are those of the bodies, then six for each link with a
// mass of its own, then those of obstacles that are boxes or meshes.
CT_API const double* ct_model_rest(const ct_model* model);       // 3 nvert, m
CT_API const double* ct_model_node_mass(const ct_model* model);  // nvert, kg
CT_API const int* ct_model_tets(const ct_model* model);          // 4 ntet
// 6 ntet: nodes on the edges 01 12 02 03 13 23 of tets of second order, -1 for linear ones; NULL: all are
CT_API const int* ct_model_tet_middles(const ct_model* model);
CT_API const int* ct_model_tris(const ct_model* model);  // 3 ntri, of sheets
// 3 nsurface: boundary of the tets, outward; sheets; meshes of obstacles
CT_API const int* ct_model_surface(const ct_model* model);
CT_API const int* ct_model_surface_owner(const ct_model* model);  // nsurface: body, or nbody + obstacle
CT_API const int* ct_model_tet_body(const ct_model* model);       // ntet
CT_API const int* ct_model_tet_tag(const ct_model* model);        // ntet
CT_API const char* ct_model_body_name(const ct_model* model, int body);  // borrowed; "": none
CT_API const double* ct_model_body_color(const ct_model* model);         // 3 nbody, 0..1
// Half the distance that a collider (a body, or nbody + obstacle) keeps from others of its kind, m, given or
// chosen (ct_body_def, ct_obstacle_def); NAN: there is no such collider.
CT_API double ct_model_contact_thickness(const ct_model* model, int collider);
// Every node of its surface is pinned or moves as prescribed, as those of obstacles do: two such pass through
// one another.
CT_API bool ct_model_is_driven(const ct_model* model, int collider);
// The distance that the surfaces of two colliders keep, m: the sum of their thicknesses; a body with itself:
// that of its self-contact. NAN: they do not touch, by the scene's pairs or because both are driven, or there
// is no contact.
CT_API double ct_model_contact_distance(const ct_model* model, int a, int b);

#ifdef __cplusplus
}
#endif
#endif
