// Springs, limits, dampers, servos and torques of joints as a family of forces: they act on the joint rates,
// by the laws of skeleton/joints.h.
#include "force/family.h"
#include "skeleton/joints.h"

typedef struct spring_work {
    ct_joint_work joints;  // first: others see the work as this
    ct_arena arena;
} spring_work;

static void free_work(void* work) {
    ct_arena_free(&((spring_work*)work)->arena);
    ct_free(work);
}

static ct_status create_work(void** out, const void* self) {
    spring_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    ct_status status = ct_joints_create(&work->joints, &work->arena, self);
    if (status == CT_OK) *out = work;
    else free_work(work);
    return status;
}

static void begin(const void* self, void* work, const ct_family_step* step) {
    ct_joints_begin(self, work, step->rate.c, step->rate.a, step->rate.b, step->q_n, step->q_nm1);
}

static double gradient(const void* self, const void* work, const ct_config* at, double* r) {
    return ct_joints_gradient(self, at, work, r);
}

static void hessian(const void* self, const void* work, const ct_config* at, bool exact, double* G) {
    ct_joints_hessian(self, at, work, exact, G);
}

static void vjp(const void* self, const void* work, const ct_config* at, const double* lam_z,
                const ct_family_bar* bar) {
    ct_joint_bar joints = {.start = bar->q_n,
                           .previous = bar->q_nm1,
                           .torque = bar->torque,
                           .target = bar->target,
                           .sums = bar->sums};
    ct_joints_vjp(self, at, work, lam_z, &joints);
}

const ct_family ct_joint_spring_family = {.name = "joints",
                                          .create_work = create_work,
                                          .free_work = free_work,
                                          .begin = begin,
                                          .joint_gradient = gradient,
                                          .joint_hessian = hessian,
                                          .joint_vjp = vjp};
