// Contact between bodies: momentum, the laws of Signorini and Coulomb contact by contact, pairs,
// skeletons, and the same bits whenever a step is repeated.
#include "contact_scenes.h"

#define PI 3.14159265358979323846

static const double cube[3] = {0.1, 0.1, 0.1};
static const int cells[3] = {2, 2, 2};

// m, a twentieth of the distance kept: contacts between bodies give way by a thousandth of what the bodies
// do
static const double give = 1e-5;

// ---- the laws ------------------------------------------------------------------------------

// Every contact: no deeper than `depth`, forces in the cone, on its surface where it slips, none where the
// gap is open.
static void obeys_coulomb(const ct_step_report* report, double scale, double depth) {
    for (int c = 0; c < report->ncontact; c++) {
        const ct_contact* contact = &report->contact[c];
        double normal = 0, tangent = 0;
        for (int a = 0; a < 3; a++) normal += contact->normal[a] * contact->force[a];
        for (int a = 0; a < 3; a++) tangent = hypot(tangent, contact->force[a] - normal * contact->normal[a]);
        below(-contact->gap, depth, "depth of a contact");
        below(-normal / scale, 1e-6, "pull of a contact");
        below((tangent - contact->friction * normal) / scale, 1e-6, "friction beyond the cone");
        if (normal > 0) below(contact->gap, depth, "distance at which a contact pushes");
        if (contact->set == CT_CONTACT_SET_SLIP)
            below(fabs(tangent - contact->friction * normal) / scale, 1e-6,
                  "friction inside the cone while slipping");
        if (contact->set == CT_CONTACT_SET_OPEN)
            below(hypot(normal, tangent) / scale, 1e-9, "force of an open contact");
    }
}

static void add_force_of(const sim* s, int body, double force[3]) {
    int first, end;
    body_range(s, body, &first, &end);
    for (int i = first; i < end; i++)
        for (int a = 0; a < 3; a++) force[a] += ct_state_contact_forces(s->state)[3 * i + a];
}

// Two cubes, the upper one turned and shifted, on the floor.
static sim tower(double friction, double tolerance, int threads) {
    const ct_settings settings = contact_settings(0.01, friction, tolerance);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0};
    add_block(scene, cube, cells, 3e5, at, NULL);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, cube, (const int[3]){3, 2, 3}, NULL), NULL);
    ct_body_def def = body_of(mesh, 2e5);
    def.rotate[0] = cos(0.2), def.rotate[2] = sin(0.2);
    def.translate[0] = -0.01, def.translate[1] = 0.1 + 4 * clearance, def.translate[2] = 0.01;
    add_def(scene, &def);
    ct_mesh_free(mesh);
    add_floor(scene, 0);
    return start(scene, threads);
}

static void forces_of_a_tower_at_rest_carry_its_weight(void** state) {
    sim s = tower(0.5, 1e-9, 1);
    for (int i = 0; i < 250; i++) {
        const ct_step_report report = step_once(&s);
        obeys_coulomb(&report, 2 * gravity, give);
    }
    const double weight = measure(&s, 0).mass * gravity;
    double lower[3] = {0}, upper[3] = {0}, on_floor[3] = {0}, between[3] = {0};
    add_force_of(&s, 0, lower);
    add_force_of(&s, 1, upper);
    const ct_step_report report = step_once(&s);
    for (int c = 0; c < report.ncontact; c++) {
        const ct_contact* contact = &report.contact[c];
        double* sum = contact->b == 2 ? on_floor : between;
        for (int a = 0; a < 3; a++)
            sum[a] += (contact->b == 2 || contact->a == 1 ? 1 : -1) * contact->force[a];
    }
    for (int a = 0; a < 3; a++) {
        const double up = a == 1;
        below(fabs(lower[a] - up * weight) / weight, 1e-6, "force on the lower cube less its weight");
        below(fabs(upper[a] - up * weight) / weight, 1e-6, "force on the upper cube less its weight");
        below(fabs(on_floor[a] - up * 2 * weight) / weight, 1e-6, "force of the floor less both weights");
        below(fabs(between[a] - up * weight) / weight, 1e-6, "force between the cubes less a weight");
    }
    stop(&s);
}

// ---- momentum ------------------------------------------------------------------------------

typedef struct collision {
    double momentum;   // change of the sum of both, relative to one's
    double angular;    // likewise
    double torque;     // m, of the contact forces of both bodies, relative to the force
    double exchanged;  // momentum that went from one to the other, relative
} collision;

// Two cubes meet off their centres in free space.
static collision collide(double h, double friction) {
    ct_settings settings = contact_settings(h, friction, 1e-10);
    settings.gravity[1] = 0;
    ct_scene* scene = new_scene(&settings);
    const double left[3] = {-0.12, 0.02, 0.03}, right[3] = {0.02, -0.01, 0}, fast[3] = {1, 0.1, 0},
                 slow[3] = {-1, 0, 0.2};
    add_block(scene, cube, cells, 3e5, left, fast);
    add_block(scene, cube, (const int[3]){2, 3, 2}, 2e5, right, slow);
    sim s = start(scene, 1);
    const moved a = measure(&s, 0), b = measure(&s, 1);
    collision result = {0};
    const double size = a.mass;
    for (int i = 0; i < (int)(0.08 / h + 0.5); i++) {
        const ct_step_report report = step_once(&s);
        obeys_coulomb(&report, 10, give);
        const double *x = ct_state_positions(s.state), *f = ct_state_contact_forces(s.state);
        double force[3] = {0}, torque[3] = {0}, most = 0;
        for (int k = 0; k < node_count(&s); k++)
            for (int c = 0; c < 3; c++) {
                const int d = (c + 1) % 3, e = (c + 2) % 3;
                force[c] += f[3 * k + c], most += fabs(f[3 * k + c]);
                torque[c] += x[3 * k + d] * f[3 * k + e] - x[3 * k + e] * f[3 * k + d];
            }
        if (most == 0) continue;
        for (int c = 0; c < 3; c++) {
            below(fabs(force[c]) / most, 1e-13, "gain of force, action and reaction");
            result.torque = fmax(result.torque, fabs(torque[c]) / most);
        }
    }
    const moved a1 = measure(&s, 0), b1 = measure(&s, 1);
    for (int c = 0; c < 3; c++) {
        result.momentum = fmax(result.momentum,
                               fabs(a1.momentum[c] + b1.momentum[c] - a.momentum[c] - b.momentum[c]) / size);
        result.angular = fmax(
            result.angular, fabs(a1.angular[c] + b1.angular[c] - a.angular[c] - b.angular[c]) / (size * 0.1));
    }
    result.exchanged = fabs(a1.momentum[0] - a.momentum[0]) / size;
    stop(&s);
    return result;
}

// Friction acts on both surfaces, two thicknesses apart: a torque of that order. Forces act where held frames
// have their feet, which bodies that slide along one another, here at up to .3 m/s, leave within the step.
// Implicit Euler itself keeps angular momentum to first order.
static void bodies_that_collide_keep_their_momentum(void** state) {
    for (int k = 0; k < 2; k++) {
        const double friction = k ? 0.4 : 0;
        const collision coarse = collide(0.004, friction), fine = collide(0.002, friction),
                        finest = collide(0.001, friction);
        below(0.5, finest.exchanged, "they meet");
        below(coarse.momentum, 1e-10, "change of momentum");
        below(fine.momentum, 1e-10, "change of momentum");
        below(coarse.torque, friction > 0 ? 2 * thickness : 0.3 * 0.004, "torque of action and reaction, m");
        below(fine.torque, friction > 0 ? 2 * thickness : 0.3 * 0.002, "torque of action and reaction, m");
        below(finest.torque, friction > 0 ? 2 * thickness : 0.3 * 0.001, "torque of action and reaction, m");
        below(finest.angular, 0.05, "change of angular momentum");
        below(finest.angular / fine.angular, 0.7, "its convergence");
        below(fine.angular / coarse.angular, 0.8, "its convergence");
    }
}

// ---- pairs ---------------------------------------------------------------------------------

static ct_scene* falling_cubes(const char* const group[2]) {
    const ct_settings settings = contact_settings(0.01, 0.2, 1e-9);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, cube, cells, NULL), NULL);
    for (int k = 0; k < 2; k++) {
        ct_body_def def = body_of(mesh, 3e5);
        def.name = k ? "upper" : "lower", def.group = group[k];
        def.translate[0] = 0.01 * k, def.translate[1] = k ? 0.12 : clearance, def.translate[2] = 0.007 * k;
        add_def(scene, &def);
    }
    ct_mesh_free(mesh);
    add_floor(scene, 0);
    return scene;
}

static void excluded_pairs_pass_through_one_another(void** state) {
    const char *const none[2] = {NULL, NULL}, *const same[2] = {"ghosts", "ghosts"};
    for (int k = 0; k < 4; k++) {
        ct_scene* scene = falling_cubes(k == 2 ? same : none);
        if (k == 1) add_pair(scene, "upper", "lower", false, NAN);
        if (k == 2) add_pair(scene, "ghosts", "ghosts", false, NAN);
        // the last pair counts
        if (k == 3) add_pair(scene, "*", "*", false, NAN), add_pair(scene, "floor", "upper", true, NAN);
        sim s = start(scene, 1);
        steps(&s, 120);
        const double upper = measure(&s, 1).center[1], lower = measure(&s, 0).center[1];
        below(fabs(upper - (k ? 0.05 : 0.15)), 0.004, "height of the upper cube");
        if (k < 3) below(fabs(lower - 0.05), 0.004, "height of the lower cube");
        else below(lower, -5, "height of a cube that falls for ever");
        stop(&s);
    }
}

static void pairs_have_their_own_friction(void** state) {
    const double slope = 0.35, friction[3] = {0.1, 0.25, 0.2};  // by name, by group, the scene's
    ct_settings settings = contact_settings(0.01, friction[2], 1e-10);
    settings.gravity[0] = gravity * sin(slope), settings.gravity[1] = -gravity * cos(slope);
    ct_scene* scene = new_scene(&settings);
    ct_mesh* mesh = NULL;
    must(ct_mesh_box(&mesh, cube, cells, NULL), NULL);
    for (int k = 0; k < 3; k++) {
        ct_body_def def = body_of(mesh, 1e6);
        def.translate[1] = clearance, def.translate[2] = 0.3 * k;
        def.name = k == 0 ? "waxed" : NULL, def.group = k == 1 ? "rubber" : NULL;
        add_def(scene, &def);
    }
    ct_mesh_free(mesh);
    add_floor(scene, 0);
    add_pair(scene, "waxed", "floor", true, friction[0]);
    add_pair(scene, "floor", "rubber", true, friction[1]);
    sim s = start(scene, 1);
    moved before[3];
    steps(&s, 100);
    for (int k = 0; k < 3; k++) before[k] = measure(&s, k);
    steps(&s, 20);
    for (int k = 0; k < 3; k++) {
        const double a = (measure(&s, k).velocity[0] - before[k].velocity[0]) / 0.2;
        below(fabs(a / (gravity * (sin(slope) - friction[k] * cos(slope))) - 1), 1e-9,
              "relative error of the acceleration");
    }
    stop(&s);
}

// ---- skeletons -----------------------------------------------------------------------------

static void add_bone(ct_scene* scene, int body, const double anchor[3], const double rate[6]) {
    ct_selector selector = ct_selector_default();
    selector.body = body;
    int *nodes, count;
    ct_error error = {0};
    must(ct_scene_select(scene, &selector, &nodes, &count, &error), &error);
    ct_link_def def = ct_link_def_default();
    def.joint.kind = CT_JOINT_FREE;
    def.nodes = nodes, def.count = count;
    memcpy(def.joint.anchor, anchor, sizeof def.joint.anchor);
    if (rate) memcpy(def.joint.rate, rate, sizeof def.joint.rate);
    must(ct_scene_add_link(scene, &def, NULL, &error), &error);
    ct_free(nodes);
}

// A rigid block: its contacts are redundant, their sum is not.
static void a_bone_slides_like_a_rigid_block(void** state) {
    const double slope = 20 * PI / 180, size[3] = {0.3, 0.2, 0.1};
    for (int k = 0; k < 3; k++) {
        const double friction = 0.06 + 0.12 * k;
        ct_settings settings = contact_settings(0.01, friction, 1e-12);
        settings.gravity[0] = -gravity * sin(slope), settings.gravity[1] = -gravity * cos(slope);
        ct_scene* scene = new_scene(&settings);
        const double at[3] = {0, clearance, 0}, anchor[3] = {0.1, 0.1, 0.05};
        const int body = add_block(scene, size, (const int[3]){3, 2, 2}, 3e5, at, NULL);
        add_bone(scene, body, anchor, NULL);
        add_floor(scene, 0);
        sim s = start(scene, 1);
        double a[3];
        steps(&s, 20);
        acceleration(&s, 0, 40, a);
        below(fabs(-a[0] / (gravity * (sin(slope) - friction * cos(slope))) - 1), 1e-9,
              "relative error of a bone's acceleration");
        below(fabs(a[1]), 1e-9, "acceleration away from the plane");
        stop(&s);
    }
}

// Two bones meet off their centres: momentum goes over and none is lost.
static void bones_that_collide_keep_their_momentum(void** state) {
    ct_settings settings = contact_settings(0.002, 0.3, 1e-11);
    settings.gravity[1] = 0;
    ct_scene* scene = new_scene(&settings);
    const double left[3] = {-0.12, 0.02, 0.03}, right[3] = {0.02, -0.01, 0}, rate[6] = {1, 0, 0, 0, 0, 0},
                 back[6] = {-1, 0, 0.1, 0, 0, 0};
    const double middle[2][3] = {{-0.07, 0.07, 0.08}, {0.07, 0.04, 0.05}};
    add_bone(scene, add_block(scene, cube, cells, 3e5, left, NULL), middle[0], rate);
    add_bone(scene, add_block(scene, cube, (const int[3]){2, 3, 2}, 3e5, right, NULL), middle[1], back);
    sim s = start(scene, 1);
    const moved a = measure(&s, 0), b = measure(&s, 1);
    for (int i = 0; i < 40; i++) {
        const ct_step_report report = step_once(&s);
        obeys_coulomb(&report, 100, give);
    }
    const moved a1 = measure(&s, 0), b1 = measure(&s, 1);
    for (int c = 0; c < 3; c++)
        below(fabs(a1.momentum[c] + b1.momentum[c] - a.momentum[c] - b.momentum[c]) / a.mass, 1e-8,
              "change of momentum");
    below(0.5, a.velocity[0] - a1.velocity[0], "they meet");
    stop(&s);
}

static void a_soft_cube_rests_on_a_bone(void** state) {
    const ct_settings settings = contact_settings(0.01, 0.5, 1e-9);
    ct_scene* scene = new_scene(&settings);
    const double at[3] = {0, clearance, 0}, above[3] = {0.013, 0.1 + 4 * clearance, 0.011},
                 anchor[3] = {0.05, 0.05, 0.05};
    add_bone(scene, add_block(scene, cube, cells, 3e5, at, NULL), anchor, NULL);
    add_block(scene, cube, (const int[3]){2, 3, 2}, 3e5, above, NULL);
    add_floor(scene, 0);
    sim s = start(scene, 1);
    for (int i = 0; i < 200; i++) {
        const ct_step_report report = step_once(&s);
        obeys_coulomb(&report, 2 * gravity, give);
    }
    double lower[3] = {0}, upper[3] = {0};
    const double weight = measure(&s, 0).mass * gravity;
    add_force_of(&s, 0, lower);
    add_force_of(&s, 1, upper);
    below(fabs(lower[1] / weight - 1), 1e-6, "force on the bone less its weight");
    below(fabs(upper[1] / weight - 1), 1e-6, "force on the soft cube less its weight");
    below(fabs(measure(&s, 1).center[1] - 0.15), 3e-3, "height of the soft cube");
    stop(&s);
}

// ---- the same bits -------------------------------------------------------------------------

static void* snapshot(const ct_state* state) {
    void* copy = malloc(ct_state_size(state));
    memcpy(copy, ct_state_bytes(state), ct_state_size(state));
    return copy;
}

// A block with elements enough for several threads, thrown onto the floor and a sphere.
static sim large_block(int threads) {
    const ct_settings settings = contact_settings(0.01, 0.3, 1e-6);
    ct_scene* scene = new_scene(&settings);
    const double size[3] = {0.3, 0.15, 0.3}, at[3] = {0, 0.005, 0}, velocity[3] = {1, -1, 0.2};
    add_block(scene, size, (const int[3]){12, 8, 12}, 3e5, at, velocity);
    add_floor(scene, 0);
    ct_obstacle_def def = ct_obstacle_def_default();
    def.kind = CT_OBSTACLE_SPHERE, def.radius = 0.1, def.center[0] = 0.42, def.center[1] = 0.1,
    def.center[2] = 0.13;
    add_obstacle(scene, &def);
    return start(scene, threads);
}

// Landings, friction, two bodies, rest.
static void every_thread_count_gives_the_same_bits(void** state) {
    for (int large = 0; large < 2; large++) {
        void* end[3];
        size_t size = 0;
        for (int k = 0; k < 3; k++) {
            const int threads = k == 1 ? 2 : 1;
            sim s = large ? large_block(threads) : tower(0.4, 1e-6, threads);
            steps(&s, large ? 10 : 60);
            end[k] = snapshot(s.state);
            size = ct_state_size(s.state);
            stop(&s);
        }
        assert_memory_equal(end[0], end[1], size);
        assert_memory_equal(end[0], end[2], size);
        for (int k = 0; k < 3; k++) free(end[k]);
    }
}

// From every fifth state, in the work that has gone on and in a new one.
static void a_replay_from_a_checkpoint_gives_the_same_bits(void** state) {
    enum { STEPS = 40, EVERY = 5 };
    sim s = tower(0.4, 1e-6, 1);
    void* at[STEPS + 1];
    const size_t size = ct_state_size(s.state);
    for (int i = 0; i <= STEPS; i++) {
        at[i] = snapshot(s.state);
        if (i < STEPS) steps(&s, 1);
    }
    for (int from = 0; from < STEPS; from += EVERY)
        for (int fresh = 0; fresh < 2; fresh++) {
            sim again = s;
            if (fresh) must(ct_work_create(&again.work, s.model, 1, NULL), NULL);
            must(ct_state_restore(s.state, at[from], size), NULL);
            for (int i = from + 1; i <= from + EVERY; i++) {
                steps(&again, 1);
                assert_memory_equal(ct_state_bytes(s.state), at[i], size);
            }
            if (fresh) ct_work_free(again.work);
        }
    for (int i = 0; i <= STEPS; i++) free(at[i]);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_of_a_tower_at_rest_carry_its_weight),
        cmocka_unit_test(bodies_that_collide_keep_their_momentum),
        cmocka_unit_test(excluded_pairs_pass_through_one_another),
        cmocka_unit_test(pairs_have_their_own_friction),
        cmocka_unit_test(a_bone_slides_like_a_rigid_block),
        cmocka_unit_test(bones_that_collide_keep_their_momentum),
        cmocka_unit_test(a_soft_cube_rests_on_a_bone),
        cmocka_unit_test(every_thread_count_gives_the_same_bits),
        cmocka_unit_test(a_replay_from_a_checkpoint_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
