// Passes over all tets: energy and gradient, linearisation and Hessian products, their derivatives by
// parameters and by the start of the step, node rotations. See elastic.h.
//
// On one thread (and for small meshes) the kernels add their forces to the node sums at once. On several they
// store them per tet, and then every node sums its own tets: the same numbers in the same order.
#include "force/elastic.h"

#include <string.h>

#include "force/elastic_data.h"
#include "force/family.h"

#define CT_GATHER_NODES 1024    // nodes of a gathering task
#define CT_PARAMETER_BLOCKS 16  // blocks whose parameter derivatives are computed before they are handed out
#define CT_SERIAL_BLOCKS 250    // below this many blocks threads cost more than they gain

typedef struct pass_task {
    const ct_elastic* elastic;
    ct_elastic_work* work;
    ct_elastic_pass pass;
    double* out;   // what the pass fills: forces, rotations
    bool add;      // forces are added to `out`
    double scale;  // of added strains
    double *d_mu, *d_lambda, *d_beta;
} pass_task;

static ct_elastic_pass make_pass(const ct_elastic* elastic, ct_elastic_work* work, double c,
                                 const double* x) {
    return (ct_elastic_pass){.block = elastic->block,
                             .cell = elastic->cell,
                             .second = elastic->second,
                             .x = x,
                             .element = work->element,
                             .volume = elastic->lane_volume,
                             .beta = elastic->beta,
                             .rate = elastic->damped && c > 0 ? work->rate : NULL,
                             .c = c};
}

static double* chunk_linear(const pass_task* task, const ct_elastic_chunk* chunk) {
    const size_t damper = task->pass.rate ? (size_t)CT_LINEAR_DAMPER * CT_BLOCK : 0;
    return task->work->linear + chunk->linear + damper * chunk->first;
}

static bool is_serial(const ct_elastic* elastic, const ct_threads* threads) {
    return ct_threads_count(threads) == 1 || elastic->nblock < CT_SERIAL_BLOCKS;
}

// Sums the stored element forces of nodes, tet after tet.
static void gather_forces(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic* elastic = task->elastic;
    const int first = index * CT_GATHER_NODES;
    const int last = first + CT_GATHER_NODES < elastic->nvert ? first + CT_GATHER_NODES : elastic->nvert;
    for (int v = first; v < last; v++) {
        double x = 0, y = 0, z = 0;
        for (int k = elastic->incident_start[v]; k < elastic->incident_start[v + 1]; k++) {
            const double* force = task->work->element + 4 * (size_t)elastic->incident[k];
            x += force[0], y += force[1], z += force[2];
        }
        double* out = task->out + 3 * v;
        if (task->add) x += out[0], y += out[1], z += out[2];
        out[0] = x, out[1] = y, out[2] = z;
    }
}

// Runs `visit` over all chunks and leaves the node sums in task->out.
static void run_forces(pass_task* task, ct_threads* threads, ct_task visit) {
    const ct_elastic* elastic = task->elastic;
    if (is_serial(elastic, threads)) {
        double* node = task->work->node;
        memset(node, 0, (size_t)elastic->nvert * 4 * sizeof(double));
        task->pass.node = node;
        for (int k = 0; k < elastic->nchunk; k++) visit(k, task);
        for (int v = 0; v < elastic->nvert; v++)
            for (int i = 0; i < 3; i++)
                task->out[3 * v + i] = task->add ? node[4 * v + i] + task->out[3 * v + i] : node[4 * v + i];
        return;
    }
    ct_threads_run(threads, elastic->nchunk, visit, task);
    ct_threads_run(threads, (elastic->nvert + CT_GATHER_NODES - 1) / CT_GATHER_NODES, gather_forces, task);
}

static void run_chunks(pass_task* task, ct_threads* threads, ct_task visit) {
    ct_threads_run(is_serial(task->elastic, threads) ? NULL : threads, task->elastic->nchunk, visit, task);
}

static void visit_gradient(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic_chunk* chunk = task->elastic->chunk + index;
    task->work->partial[index] = task->elastic->kernels->gradient[chunk->second][chunk->energy](
        &task->pass, chunk->first, chunk->count);
}

double ct_elastic_gradient(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                           const double* x, double* f) {
    pass_task task = {
        .elastic = elastic, .work = work, .pass = make_pass(elastic, work, work->c, x), .out = f};
    run_forces(&task, threads, visit_gradient);
    double energy = 0;
    for (int k = 0; k < elastic->nchunk; k++) energy += work->partial[k];
    return energy;
}

static void visit_linearise(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic_chunk* chunk = task->elastic->chunk + index;
    task->elastic->kernels->linearise[chunk->second][chunk->energy](&task->pass, chunk->first, chunk->count,
                                                                    chunk_linear(task, chunk));
}

void ct_elastic_linearise(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                          const double* x) {
    work->linear_c = work->c;
    pass_task task = {.elastic = elastic, .work = work, .pass = make_pass(elastic, work, work->c, x)};
    run_chunks(&task, threads, visit_linearise);
}

static void visit_product(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic_chunk* chunk = task->elastic->chunk + index;
    task->elastic->kernels->product[chunk->second][chunk->energy](&task->pass, chunk->first, chunk->count,
                                                                  chunk_linear(task, chunk));
}

void ct_elastic_product(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                        const double* dx, double* out) {
    pass_task task = {
        .elastic = elastic, .work = work, .pass = make_pass(elastic, work, work->linear_c, dx), .out = out};
    run_forces(&task, threads, visit_product);
}

static void visit_strain(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic_chunk* chunk = task->elastic->chunk + index;
    task->elastic->kernels->strain[chunk->second](&task->pass, chunk->first, chunk->count, task->scale,
                                                  task->work->rate);
}

void ct_elastic_begin_step(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads, double c,
                           double a, const double* x_n, double b, const double* x_nm1) {
    work->c = c;
    work->rated = false;
    if (elastic->damped && c > 0) ct_elastic_begin_rate(elastic, work, threads, c, a, x_n, b, x_nm1);
}

void ct_elastic_begin_rate(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads, double c,
                           double a, const double* x_n, double b, const double* x_nm1) {
    work->c = c;
    work->rated = true;
    memset(work->rate, 0, (size_t)elastic->nblock * 6 * CT_BLOCK * sizeof(double));
    pass_task task = {.elastic = elastic, .work = work, .pass = make_pass(elastic, work, c, x_n), .scale = a};
    run_chunks(&task, threads, visit_strain);
    if (x_nm1) ct_elastic_add_past(elastic, work, threads, b, x_nm1);
}

void ct_elastic_add_past(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads, double e,
                         const double* x_past) {
    if (!work->rated) return;
    pass_task task = {
        .elastic = elastic, .work = work, .pass = make_pass(elastic, work, work->c, x_past), .scale = e};
    run_chunks(&task, threads, visit_strain);
}

static void visit_parameter(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic* elastic = task->elastic;
    const ct_elastic_chunk* chunk = elastic->chunk + index;
    _Alignas(64) double value[CT_PARAMETER_BLOCKS][3][CT_BLOCK];
    for (int first = chunk->first, last = chunk->first + chunk->count; first < last;
         first += CT_PARAMETER_BLOCKS) {
        const int count = last - first < CT_PARAMETER_BLOCKS ? last - first : CT_PARAMETER_BLOCKS;
        elastic->kernels->parameter[chunk->second][chunk->energy](&task->pass, first, count, value[0][0]);
        for (int lane = 0; lane < count * CT_BLOCK; lane++) {
            const int tet = elastic->lane_tet[first * CT_BLOCK + lane];
            if (tet < 0) continue;
            // the points of a tet follow one another
            const bool more = chunk->second && (first - chunk->first + lane / CT_BLOCK) % CT_CELL_POINTS;
            double* const out[3] = {task->d_mu, task->d_lambda, task->d_beta};
            for (int k = 0; k < 3; k++) {
                const double part = value[lane / CT_BLOCK][k][lane % CT_BLOCK];
                if (out[k]) out[k][tet] = more ? out[k][tet] + part : part;
            }
        }
    }
}

void ct_elastic_parameter_vjp(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                              const double* x, const double* lam, double* d_mu, double* d_lambda,
                              double* d_beta) {
    pass_task task = {.elastic = elastic,
                      .work = work,
                      .pass = make_pass(elastic, work, work->c, x),
                      .d_mu = d_mu,
                      .d_lambda = d_lambda,
                      .d_beta = d_beta};
    task.pass.rate = work->rated && work->c > 0 && (elastic->damped || d_beta) ? work->rate : NULL;
    task.pass.lam = lam;
    run_chunks(&task, threads, visit_parameter);
}

bool ct_elastic_has_damping(const ct_elastic* elastic) { return elastic->damped; }

static void visit_history(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic_chunk* chunk = task->elastic->chunk + index;
    task->elastic->kernels->history[chunk->second](&task->pass, chunk->first, chunk->count, task->scale);
}

void ct_elastic_history_vjp(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                            const double* x, const double* lam, double a, const double* x_n, double* x_n_bar,
                            double b, const double* x_nm1, double* x_nm1_bar) {
    if (!elastic->damped || !(work->c > 0)) return;
    pass_task task = {.elastic = elastic,
                      .work = work,
                      .pass = make_pass(elastic, work, work->c, x_n),
                      .out = x_n_bar,
                      .add = true,
                      .scale = a};
    task.pass.now = x;
    task.pass.lam = lam;
    run_forces(&task, threads, visit_history);
    if (!x_nm1) return;
    task.pass.x = x_nm1;
    task.out = x_nm1_bar;
    task.scale = b;
    run_forces(&task, threads, visit_history);
}

static void visit_deformation(int index, void* user) {
    const pass_task* task = user;
    const ct_elastic_chunk* chunk = task->elastic->chunk + index;
    task->elastic->kernels->deformation[chunk->second](&task->pass, chunk->first, chunk->count);
}

// Sum over the tets of node v of V F: three rows of four doubles, made here unless the pass has already.
static const double* sum_deformation(const pass_task* task, int v, double sum[CT_NODE_SIZE]) {
    const ct_elastic* elastic = task->elastic;
    if (task->pass.node) return task->pass.node + CT_NODE_SIZE * (size_t)v;
    memset(sum, 0, CT_NODE_SIZE * sizeof(double));
    for (int k = elastic->incident_start[v]; k < elastic->incident_start[v + 1]; k++) {
        const double* row = task->work->element + (size_t)(elastic->incident[k] / 4) * CT_ELEMENT_SIZE;
        for (int i = 0; i < CT_NODE_SIZE; i++) sum[i] += row[i];
    }
    return sum;
}

static void visit_rotation(int index, void* user) {
    const pass_task* task = user;
    const int nvert = task->elastic->nvert, first = index * CT_GATHER_NODES;
    const int last = first + CT_GATHER_NODES < nvert ? first + CT_GATHER_NODES : nvert;
    _Alignas(64) double F[9][CT_BLOCK], R[9][CT_BLOCK];
    for (int v = first; v < last; v += CT_BLOCK) {
        // a last, partly filled block repeats its last node; nodes without tets are not turned
        bool any = false;
        for (int lane = 0; lane < CT_BLOCK; lane++) {
            double local[CT_NODE_SIZE];
            const double* sum = sum_deformation(task, v + lane < last ? v + lane : last - 1, local);
            for (int i = 0; i < 9; i++) {
                F[i][lane] = sum[i / 3 * 4 + i % 3];
                R[i][lane] = i % 4 == 0;
                any |= F[i][lane] != 0;
            }
        }
        if (any) task->elastic->kernels->polar(F[0], R[0]);
        for (int lane = 0; lane < CT_BLOCK && v + lane < last; lane++)
            for (int i = 0; i < 9; i++) task->out[9 * (size_t)(v + lane) + i] = R[i][lane];
    }
}

void ct_elastic_rotations(const ct_elastic* elastic, ct_elastic_work* work, ct_threads* threads,
                          const double* x, double* rotation) {
    pass_task task = {
        .elastic = elastic, .work = work, .pass = make_pass(elastic, work, 0, x), .out = rotation};
    if (is_serial(elastic, threads)) {
        memset(work->node, 0, (size_t)elastic->nvert * CT_NODE_SIZE * sizeof(double));
        task.pass.node = work->node;
        threads = NULL;
    }
    ct_threads_run(threads, elastic->nchunk, visit_deformation, &task);
    ct_threads_run(threads, (elastic->nvert + CT_GATHER_NODES - 1) / CT_GATHER_NODES, visit_rotation, &task);
}

// ---- as a family ---------------------------------------------------------------------------

static void free_solids(void* self) { ct_elastic_free(self); }
static void free_solids_work(void* work) { ct_elastic_work_free(work); }

static ct_status create_solids_work(void** work, const void* self) {
    ct_elastic_work* own;
    ct_status status = ct_elastic_work_create(&own, self);
    *work = own;
    return status;
}

static void begin_solids(const void* self, void* work, const ct_family_step* step) {
    const ct_rate* r = &step->rate;
    const double* x_nm1 = step->npast ? step->x_nm1 : NULL;
    (step->rated ? ct_elastic_begin_rate : ct_elastic_begin_step)(self, work, step->threads, r->c, r->a,
                                                                  step->x_n, r->b, x_nm1);
    if (step->npast > 1) ct_elastic_add_past(self, work, step->threads, r->e, step->x_nm2);
}

static double solids_gradient(const void* self, void* work, const ct_family_step* step, const double* x,
                              double* f) {
    return ct_elastic_gradient(self, work, step->threads, x, f);
}

static void linearise_solids(const void* self, void* work, const ct_family_step* step, const double* x) {
    ct_elastic_linearise(self, work, step->threads, x);
}

static void solids_product(const void* self, void* work, const ct_family_step* step, const double* x,
                           const double* dx, double* out) {
    ct_elastic_product(self, work, step->threads, dx, out);
}

static void assemble_solids(const void* self, void* work, const ct_family_step* step, const double* x,
                            bool project, const int* unknown, ct_block_matrix* matrix) {
    begin_solids(self, work, step);
    ct_elastic_assemble(self, work, x, project, unknown, matrix);
}

static void solids_rotations(const void* self, void* work, ct_threads* threads, const double* x,
                             double* rotation) {
    ct_elastic_rotations(self, work, threads, x, rotation);
}

static double solids_energy(const void* self, const double* x) { return ct_elastic_energy(self, x); }

static void solids_vjp(const void* self, void* work, const ct_family_step* step, const double* x,
                       const double* lam, const ct_family_bar* bar) {
    const ct_elastic* elastic = self;
    double** d = ((ct_elastic_work*)work)->d;
    double* const sum[3] = {bar->sums->of[CT_SUM_MU], bar->sums->of[CT_SUM_LAMBDA],
                            bar->sums->of[CT_SUM_BETA]};
    if (sum[0] || sum[1] || sum[2])
        ct_elastic_parameter_vjp(elastic, work, step->threads, x, lam, d[0], d[1], d[2]);
    for (int k = 0; k < 3; k++)
        for (int t = 0; sum[k] && t < elastic->ntet; t++) sum[k][t] -= d[k][t];
    ct_elastic_history_vjp(elastic, work, step->threads, x, lam, step->rate.a, step->x_n, bar->x_n,
                           step->rate.b, step->npast ? step->x_nm1 : NULL, bar->x_nm1);
    if (step->npast > 1)
        ct_elastic_history_vjp(elastic, work, step->threads, x, lam, step->rate.e, step->x_nm2, bar->x_nm2, 0,
                               NULL, NULL);
}

// The damping potential has (c G - g)^2: what a change of its history does to the forces at x is, but for the
// sign, what one at x does to the adjoint of its history.
static void solids_jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                       const ct_family_dot* dot, double* out) {
    ct_elastic_history_vjp(self, work, step->threads, step->x_n, dot->x_n, step->rate.a, x, out, 0, NULL,
                           NULL);
    if (step->npast)
        ct_elastic_history_vjp(self, work, step->threads, step->x_nm1, dot->x_nm1, step->rate.b, x, out, 0,
                               NULL, NULL);
    if (step->npast > 1)
        ct_elastic_history_vjp(self, work, step->threads, step->x_nm2, dot->x_nm2, step->rate.e, x, out, 0,
                               NULL, NULL);
    if (!dot->solids) return;
    ct_elastic_gradient(dot->solids, work, step->threads, x, dot->scratch);
    for (int i = 0; i < 3 * dot->solids->nvert; i++) out[i] -= dot->scratch[i];
}

static void solids_laplacian(const void* self, const int* unknown, ct_block_matrix* matrix) {
    ct_elastic_assemble_laplacian(self, unknown, matrix);
}

const ct_family ct_elastic_family = {.name = "solids",
                                     .free = free_solids,
                                     .create_work = create_solids_work,
                                     .free_work = free_solids_work,
                                     .begin = begin_solids,
                                     .gradient = solids_gradient,
                                     .linearise = linearise_solids,
                                     .product = solids_product,
                                     .assemble = assemble_solids,
                                     .laplacian = solids_laplacian,
                                     .rotations = solids_rotations,
                                     .energy = solids_energy,
                                     .vjp = solids_vjp,
                                     .jvp = solids_jvp};
