// Poses of planes; see collision.h.
#include "contact/collision.h"

#include "math/quat.h"

void ct_plane_pose(const ct_plane* plane, double time, double point[3], double normal[3]) {
    double shift[3], turn[3];
    ct_scene_drive_position(&plane->motion, time, plane->point, point);
    ct_scene_drive_vectors(&plane->motion, time, shift, turn);
    ct_vec3 n = ct_quat_rotate(ct_quat_from_vector(ct_vec3_load(turn)), ct_vec3_load(plane->normal));
    ct_vec3_store(normal, ct_vec3_normalise(n));
}
