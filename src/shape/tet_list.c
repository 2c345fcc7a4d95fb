// The list of tet_list.h.
//
// Inradius 3V/A (A the area of the four faces), circumradius |a^2 (b x c) + b^2 (c x a) + c^2 (a x b)| / (12
// V) for edges a, b, c from one vertex.
#include "shape/tet_list.h"

#include "base/memory.h"
#include "cuttle.h"
#include "math/point3.h"

int ct_tet_list_add_vertex(ct_tet_list* list, const double x[3], bool surface) {
    size_t n = (size_t)list->nvert;
    if (!ct_reserve((void**)&list->x, &list->x_capacity, 3 * (n + 1), sizeof(double)) ||
        !ct_reserve((void**)&list->surface, &list->surface_capacity, n + 1, sizeof(bool)))
        return -1;
    copy3(list->x + 3 * n, x);
    list->surface[n] = surface;
    return list->nvert++;
}

bool ct_tet_list_add_tet(ct_tet_list* list, int a, int b, int c, int d) {
    size_t n = (size_t)list->ntet;
    if (!ct_reserve((void**)&list->tet, &list->tet_capacity, 4 * (n + 1), sizeof(int))) return false;
    const int corner[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) list->tet[4 * n + (size_t)i] = corner[i];
    list->ntet++;
    return true;
}

void ct_tet_list_clear(ct_tet_list* list) {
    ct_free(list->x);
    ct_free(list->surface);
    ct_free(list->tet);
    *list = (ct_tet_list){0};
}

double ct_tet_list_quality(const double p0[3], const double p1[3], const double p2[3], const double p3[3]) {
    double a[3], b[3], c[3], ab[3], bc[3], ca[3], opposite[3], center[3];
    subtract3(p1, p0, a);
    subtract3(p2, p0, b);
    subtract3(p3, p0, c);
    cross3(a, b, ab);
    cross3(b, c, bc);
    cross3(c, a, ca);
    double aa = dot3(a, a), bb = dot3(b, b), cc = dot3(c, c), volume6 = dot3(ab, c);
    for (int i = 0; i < 3; i++) {
        center[i] = aa * bc[i] + bb * ca[i] + cc * ab[i];
        opposite[i] = ab[i] + bc[i] + ca[i];
    }
    double area2 = length3(ab) + length3(bc) + length3(ca) + length3(opposite), reach = length3(center);
    // inradius = volume6 / area2, circumradius = reach / (2 volume6)
    return area2 > 0 && reach > 0 ? 6 * volume6 * fabs(volume6) / (area2 * reach) : 0;
}
