// Springs, limits, dampers, servos and torques of joints as a family of forces: they act on the joint rates,
// by the laws of skeleton/joints.h.
#include "force/family.h"
#include "skeleton/joints.h"

typedef struct spring_work {
    ct_joint_work joints;  // first: others see the work as this
    ct_arena arena;
    double *lam, *start, *previous, *torque, *target;  // ndof
} spring_work;

static void free_work(void* work) {
    ct_arena_free(&((spring_work*)work)->arena);
    ct_free(work);
}

static ct_status create_work(void** out, const void* self) {
    spring_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    const ct_tree* tree = self;
    ct_status status = ct_joints_create(&work->joints, &work->arena, tree);
    double** const vector[] = {&work->lam, &work->start, &work->previous, &work->torque, &work->target};
    for (int i = 0; i < 5; i++) *vector[i] = ct_arena_alloc(&work->arena, (size_t)tree->ndof, sizeof(double));
    if (work->arena.failed) status = CT_OUT_OF_MEMORY;
    if (status == CT_OK) *out = work;
    else free_work(work);
    return status;
}

static void begin(const void* self, void* work, const ct_family_step* step) {
    if (step->links) ct_joints_begin_at(self, work, step->rate.c, step->links->q, step->links->rate);
    else ct_joints_begin(self, work, step->rate.c, step->rate.a, step->rate.b, step->q_n, step->q_nm1);
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

static double along(const double* a, const double* b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Row after row of the reverse: joints are few, and each row has few entries.
static void jvp(const void* self, void* own, const ct_config* at, const ct_family_dot* dot, double* out) {
    spring_work* work = own;
    const ct_sums none = {0};
    const int n = ((const ct_tree*)self)->ndof;
    ct_joint_bar bar = {work->start, work->previous, work->torque, work->target, &none};
    for (int i = 0; i < n; i++) {
        work->lam[i] = 1;
        ct_joints_vjp(self, at, &work->joints, work->lam, &bar);
        work->lam[i] = 0;
        out[i] += along(bar.start, dot->q_n, n) + along(bar.previous, dot->q_nm1, n) +
                  along(bar.torque, dot->torque, n) + along(bar.target, dot->target, n);
    }
}

const ct_family ct_joint_spring_family = {.name = "joints",
                                          .create_work = create_work,
                                          .free_work = free_work,
                                          .begin = begin,
                                          .joint_gradient = gradient,
                                          .joint_hessian = hessian,
                                          .joint_vjp = vjp,
                                          .joint_jvp = jvp};
