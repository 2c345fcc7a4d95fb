// Distances that grow in; see growth.h.
#include "contact/growth.h"

#include <math.h>

#include "contact/contact_geometry.h"
#include "math/point3.h"

#define LEAST 0.02   // of the whole distance
#define LASTING 0.1  // s, T

// Distance beyond the radii, where the pair's nodes are now.
static double distance_of(const ct_collision* collision, const ct_pair* pair, const double* x, double time,
                          ct_contact_geometry* at) {
    const ct_collider* collider = collision->collider;
    ct_obstacle_motion motion = {.turn = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (pair->type == CT_CONTACT_TYPE_PLANE)
        ct_plane_pose(&collision->plane[pair->plane], time, motion.point, motion.normal);
    ct_contact_geometry_at(pair, &motion, x, x, false, at);
    return at->gap + pair->thickness - collider[pair->a].radius - collider[pair->b].radius;
}

static double whole_of(const ct_collision* collision, const ct_pair* pair) {
    return collision->collider[pair->a].thickness + collision->collider[pair->b].thickness;
}

// Pairs that begin nearer than the distance to keep.
static ct_status find(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                      double time) {
    ct_detect_set_growth(detect, NULL);
    return ct_detect_near(collision, detect, x, time, 0, pairs);
}

ct_status ct_growth_measure(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs,
                            const double* x, double time, double* theta) {
    ct_status status = find(collision, detect, pairs, x, time);
    for (int i = 0; i < collision->ncollider; i++) theta[i] = 1;
    for (size_t i = 0; status == CT_OK && i < pairs->count; i++) {
        const ct_pair* pair = &pairs->item[i];
        ct_contact_geometry at;
        double whole = whole_of(collision, pair), own = distance_of(collision, pair, x, time, &at) / whole;
        if (!(whole > 0) || !(own < 1)) continue;
        const double more = pow(fmax(own, LEAST), -CT_GROWTH_POWER) - 1;
        theta[pair->a] += more;
        if (pair->b != pair->a) theta[pair->b] += more;
    }
    for (int i = 0; i < collision->ncollider; i++) theta[i] = pow(theta[i], -1.0 / CT_GROWTH_POWER);
    return status;
}

double ct_growth_at(double theta_start, double elapsed) {
    return 1 - (1 - theta_start) * ct_growth_slope(elapsed);
}

double ct_growth_slope(double elapsed) {
    double left = 1 - elapsed / LASTING;
    return left > 0 ? left * left * left : 0;
}

// d theta_0/d own of collider c, own one of its pairs' shares of the whole distance, over that distance.
static double slope_of(const double* theta, int c, double own, double whole) {
    return pow(theta[c] / own, CT_GROWTH_POWER + 1) / whole;
}

ct_status ct_growth_vjp(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                        double time, const double* theta, const double* theta_bar, double* x_bar) {
    ct_status status = find(collision, detect, pairs, x, time);
    for (size_t i = 0; status == CT_OK && i < pairs->count; i++) {
        const ct_pair* pair = &pairs->item[i];
        ct_contact_geometry at;
        double whole = whole_of(collision, pair), own = distance_of(collision, pair, x, time, &at) / whole;
        if (!(whole > 0) || !(own < 1) || own <= LEAST) continue;
        double bar = theta_bar[pair->a] * slope_of(theta, pair->a, own, whole);
        if (pair->b != pair->a) bar += theta_bar[pair->b] * slope_of(theta, pair->b, own, whole);
        for (int k = 0; k < 3 * at.count; k++)
            x_bar[3 * pair->node[k / 3] + k % 3] += bar * at.w[k / 3] * at.n[k % 3];
    }
    return status;
}

ct_status ct_growth_jvp(const ct_collision* collision, ct_detect* detect, ct_pairs* pairs, const double* x,
                        double time, const double* theta, const double* x_dot, double* theta_dot) {
    ct_status status = find(collision, detect, pairs, x, time);
    for (int i = 0; i < collision->ncollider; i++) theta_dot[i] = 0;
    for (size_t i = 0; status == CT_OK && i < pairs->count; i++) {
        const ct_pair* pair = &pairs->item[i];
        ct_contact_geometry at;
        const double whole = whole_of(collision, pair),
                     own = distance_of(collision, pair, x, time, &at) / whole;
        if (!(whole > 0) || !(own < 1) || own <= LEAST) continue;
        double change = 0;
        for (int k = 0; k < 3 * at.count; k++)
            change += at.w[k / 3] * at.n[k % 3] * x_dot[3 * pair->node[k / 3] + k % 3];
        theta_dot[pair->a] += change * slope_of(theta, pair->a, own, whole);
        if (pair->b != pair->a) theta_dot[pair->b] += change * slope_of(theta, pair->b, own, whole);
    }
    return status;
}
