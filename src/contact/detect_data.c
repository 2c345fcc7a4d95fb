// Boxes of a collider on its way; see detect_data.h.
#include "contact/detect_data.h"

void ct_detect_fit(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                   const double* end, const double* reach, double pad) {
    const ct_bvh *nodes = detect->node_tree + collider, *edges = detect->edge_tree + collider;
    ct_bvh* faces = detect->face_tree + collider;
    for (int i = 0; i < nodes->count; i++) {
        const size_t v = (size_t)nodes->item[i];
        detect->node_box[v] = ct_box_around(x + 3 * v, end + 3 * v, reach ? pad + reach[v] : pad);
    }
    for (int i = 0; i < edges->count; i++) {
        const int* edge = collision->edge + 2 * (size_t)edges->item[i];
        detect->edge_box[edges->item[i]] = ct_box_join(detect->node_box[edge[0]], detect->node_box + edge[1]);
    }
    for (int i = 0; i < faces->count; i++) {
        const int* face = detect->face + 3 * (size_t)faces->item[i];
        const ct_box box = ct_box_join(detect->node_box[face[0]], detect->node_box + face[1]);
        detect->face_box[faces->item[i]] = ct_box_join(box, detect->node_box + face[2]);
    }
    ct_bvh_refit(faces, detect->face_box);
    detect->fitted[collider] = CT_FITTED_NONE;
}
