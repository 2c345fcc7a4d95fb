// Poses and solids of MJCF: where an element is, and the mass and inertia of spheres, ellipsoids, boxes,
// cylinders and capsules. `size` holds half lengths; cylinders and capsules lie along z.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "read/mjcf.h"
#include "shape/mass.h"

// -------------------------------------------------------------------------------------------------
// Poses

static ct_quat from_euler(const ct_mjcf* m, const double angle[3]) {
    ct_quat q = ct_quat_identity();
    for (int i = 0; i < 3; i++) {
        double v[3] = {0};
        v[tolower((unsigned char)m->euler[i]) - 'x'] = angle[i] * m->angle;
        ct_quat turn = ct_quat_from_vector(ct_vec3_load(v));
        q = islower((unsigned char)m->euler[i]) ? ct_quat_multiply(q, turn) : ct_quat_multiply(turn, q);
    }
    return q;
}

// The smallest turn that takes z to v.
static ct_quat from_z_axis(ct_vec3 v) {
    ct_vec3 z = {0, 0, 1}, axis = ct_vec3_cross(z, v);
    double sine = ct_vec3_norm(axis);
    if (sine == 0) return v.z < 0 ? (ct_quat){0, 1, 0, 0} : ct_quat_identity();
    return ct_quat_from_vector(ct_vec3_scale(atan2(sine, v.z) / sine, axis));
}

static ct_mat3 from_xy_axes(const double v[6]) {
    ct_vec3 x = ct_vec3_normalise(ct_vec3_load(v)), y = ct_vec3_load(v + 3);
    y = ct_vec3_normalise(ct_vec3_axpy(y, -ct_vec3_dot(x, y), x));
    return ct_mat3_columns(x, y, ct_vec3_cross(x, y));
}

static ct_mat3 read_orientation(ct_mjcf* m, const ct_xml* element) {
    static const char* const names[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    static const int counts[] = {4, 4, 3, 6, 3};
    int chosen = -1;
    for (int i = 0; i < 5; i++) {
        if (!ct_mjcf_get(m, element, names[i])) continue;
        if (chosen >= 0)
            ct_robot_fail(m->reader, element, "has both %s and %s: keep one", names[chosen], names[i]);
        chosen = i;
    }
    double v[6] = {0}, size = 0;
    if (chosen < 0 || !ct_mjcf_numbers(m, element, names[chosen], counts[chosen], counts[chosen], v))
        return ct_mat3_identity();
    for (int i = 0; i < (chosen == 1 ? 3 : counts[chosen]); i++) size = fmax(size, fabs(v[i]));
    if (chosen != 2 && size == 0)
        ct_robot_fail(m->reader, element, "has an %s without a direction", names[chosen]);
    for (int i = 0; chosen != 2 && i < (chosen == 1 ? 3 : counts[chosen]); i++) v[i] /= size > 0 ? size : 1;
    switch (chosen) {
    case 0: return ct_quat_matrix(ct_quat_normalise(ct_quat_load(v)));
    case 1:
        return ct_quat_matrix(
            ct_quat_from_vector(ct_vec3_scale(v[3] * m->angle, ct_vec3_normalise(ct_vec3_load(v)))));
    case 2: return ct_quat_matrix(from_euler(m, v));
    case 3: return from_xy_axes(v);
    default: return ct_quat_matrix(from_z_axis(ct_vec3_load(v)));
    }
}

ct_robot_pose ct_mjcf_pose(ct_mjcf* m, const ct_xml* element) {
    double pos[3] = {0};
    ct_mjcf_numbers(m, element, "pos", 3, 3, pos);
    return (ct_robot_pose){read_orientation(m, element), ct_vec3_load(pos)};
}

// -------------------------------------------------------------------------------------------------
// Solids

typedef enum geom_kind { SPHERE, ELLIPSOID, BOX, CYLINDER, CAPSULE, MESH, GEOM_KINDS } geom_kind;

static double volume_of(geom_kind kind, const double s[3]) {
    switch (kind) {
    case SPHERE: return 4 * M_PI / 3 * s[0] * s[0] * s[0];
    case ELLIPSOID: return 4 * M_PI / 3 * s[0] * s[1] * s[2];
    case BOX: return 8 * s[0] * s[1] * s[2];
    case CYLINDER: return 2 * M_PI * s[0] * s[0] * s[1];
    default: return 2 * M_PI * s[0] * s[0] * s[1] + 4 * M_PI / 3 * s[0] * s[0] * s[0];
    }
}

// Principal moments per mass times the mass.
static void inertia_of(geom_kind kind, const double s[3], double mass, double J[6]) {
    memset(J, 0, 6 * sizeof *J);
    double r = s[0], h = s[1];
    if (kind == SPHERE) {
        J[0] = J[1] = J[2] = 0.4 * mass * r * r;
    } else if (kind == ELLIPSOID || kind == BOX) {
        double part = mass / (kind == BOX ? 3 : 5);
        for (int i = 0; i < 3; i++)
            J[i] = part * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]);
    } else {
        // a cylinder, and for a capsule a half ball at each end
        double middle = kind == CYLINDER ? mass : mass * volume_of(CYLINDER, s) / volume_of(CAPSULE, s),
               ends = mass - middle;
        J[0] = J[1] = middle * (3 * r * r + 4 * h * h) / 12 + ends * (0.4 * r * r + h * h + 0.75 * r * h);
        J[2] = 0.5 * middle * r * r + 0.4 * ends * r * r;
    }
}

// Kind of a geom: GEOM_KINDS for one without volume.
static geom_kind kind_of(ct_mjcf* m, const ct_xml* geom) {
    static const char* const words[] = {"sphere", "ellipsoid", "box", "cylinder", "capsule", "mesh"};
    const char* type = ct_mjcf_get(m, geom, "type");
    if (ct_mjcf_get(m, geom, "mesh") && !type) type = "mesh";
    if (!type) return SPHERE;
    for (int i = 0; i < GEOM_KINDS; i++)
        if (!strcmp(type, words[i])) return (geom_kind)i;
    if (strcmp(type, "plane"))
        ct_robot_fail(m->reader, geom,
                      "has the type \"%.40s\", whose mass cannot be computed: give its body an <inertial>",
                      type);
    return GEOM_KINDS;
}

static void read_size(ct_mjcf* m, const ct_xml* geom, geom_kind kind, double s[3], ct_robot_pose* pose) {
    static const int counts[] = {1, 3, 3, 2, 2};
    double ends[6];
    bool between = kind != SPHERE && ct_mjcf_numbers(m, geom, "fromto", 6, 6, ends) == 6;
    if (ct_mjcf_numbers(m, geom, "size", 1, 3, s) < (between ? 1 : counts[kind]))
        ct_robot_fail(m->reader, geom, "needs %d numbers in size", between ? 1 : counts[kind]);
    *pose = (ct_robot_pose){ct_mat3_identity(), {0, 0, 0}};
    if (!between) {
        *pose = ct_mjcf_pose(m, geom);
    } else {
        ct_vec3 a = ct_vec3_load(ends), b = ct_vec3_load(ends + 3), along = ct_vec3_sub(b, a);
        double half = ct_vec3_norm(along) / 2;
        if (half == 0) ct_robot_fail(m->reader, geom, "has a fromto without length");
        *pose = (ct_robot_pose){ct_quat_matrix(from_z_axis(along)), ct_vec3_scale(0.5, ct_vec3_add(a, b))};
        if (kind == ELLIPSOID || kind == BOX) s[1] = s[0], s[2] = half;
        else s[1] = half;
    }
    for (int i = 0; i < counts[kind]; i++)
        if (!(s[i] > 0)) ct_robot_fail(m->reader, geom, "has the size %g: it must be above 0", s[i]);
}

// Mass and moments, about its centre at `pose`, of a solid of one density: of that mass, or of that density.
static void solid_mass(ct_mjcf* m, const ct_xml* geom, geom_kind kind, bool has_mass, double density,
                       double* mass, double J[6], ct_robot_pose* pose) {
    double s[3] = {0}, volume = 0, center[3] = {0};
    if (kind != MESH) {
        read_size(m, geom, kind, s, pose);
        if (m->reader->status) return;
        if (!has_mass) *mass = density * volume_of(kind, s);
        inertia_of(kind, s, *mass, J);
        return;
    }
    ct_mjcf_mesh_mass(m, geom, &volume, center, J);
    if (m->reader->status) return;
    if (!has_mass) *mass = density * volume;
    for (int i = 0; i < 6; i++) J[i] *= *mass / volume;
    *pose = ct_mjcf_pose(m, geom);
    pose->t = ct_vec3_add(ct_mat3_apply(pose->R, ct_vec3_load(center)), pose->t);
}

static void add_geom(ct_mjcf* m, const ct_xml* geom, ct_robot_pose frame, ct_moments* sum) {
    double density = 1000, mass = 0, group = 0, J[6] = {0}, turned[6];
    ct_robot_pose pose = {ct_mat3_identity(), {0, 0, 0}};
    const char* shell = ct_mjcf_get(m, geom, "shellinertia");
    bool has_mass = ct_mjcf_numbers(m, geom, "mass", 1, 1, &mass) > 0;
    ct_mjcf_numbers(m, geom, "density", 1, 1, &density);
    if (mass < 0 || density < 0) ct_robot_fail(m->reader, geom, "has a negative mass or density");
    ct_mjcf_numbers(m, geom, "group", 1, 1, &group);
    if (m->reader->status || (has_mass ? mass : density) == 0) return;
    if (group < m->group[0] || group > m->group[1]) return;
    geom_kind kind = kind_of(m, geom);
    if (shell && !strcmp(shell, "true"))
        ct_robot_fail(m->reader, geom,
                      "has shellinertia, which is not supported: give its body an <inertial>");
    if (m->reader->status || kind == GEOM_KINDS) return;
    solid_mass(m, geom, kind, has_mass, density, &mass, J, &pose);
    if (m->reader->status) return;
    pose = ct_robot_pose_compose(frame, pose);
    ct_inertia_rotate(pose.R, J, turned);
    ct_moments_add(sum, mass, pose.t, turned);
}

static void add_geoms(ct_mjcf* m, const ct_xml* body, ct_robot_pose frame, ct_moments* sum) {
    for (const ct_xml* at = body->child; at && !m->reader->status; at = at->next) {
        if (!strcmp(at->name, "geom")) add_geom(m, at, frame, sum);
        else if (!strcmp(at->name, "frame"))
            add_geoms(m, at, ct_robot_pose_compose(frame, ct_mjcf_pose(m, at)), sum);
    }
}

void ct_mjcf_geoms(ct_mjcf* m, const ct_xml* body, double* mass, double center[3], double inertia[6]) {
    ct_moments sum = {0};
    add_geoms(m, body, (ct_robot_pose){ct_mat3_identity(), {0, 0, 0}}, &sum);
    ct_moments_result(&sum, mass, center, inertia);
}
