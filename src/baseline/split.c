// The splitting iteration. With the full-space imbalance without contact forces, rho(x) = c^2 M (x - s) + L x
// - J p(x), every iteration is one local step and
//     A (x' - x) = -rho(x) + J_c^T F,     A = c^2 M + k D,  D = diag(L)
// with the forces F that fulfil the law of contact (contact/touch.h) at x', for the normals and weights of x.
// k = 0 is the iteration of Ly et al. (2020), k = 1 the paper's, k = 2 the one that converges for frozen p
// and F: x' solves the split system (c^2 M + k D) x' = c^2 M s + J p + (k D - L) x + J_c^T F. At a fixed
// point rho = J_c^T F: the equations of the default method.
//
// A is one number per node, so that contacts that share no nodes are independent and solved exactly: with y =
// gap along n and slip across it after a motion without F_c, and the contact's compliance w = sum w_i^2 /
// A_i,
//     F_N = max(0, -y_N / w),   F_T = -y_T / w, shortened to mu F_N.
// Contacts that share nodes are visited in turn (Gauss-Seidel) until their forces rest.
//
// With links A is diagonal in node space and a small matrix on the joints (split_links.h). The block of such
// a contact is not a multiple of the identity: its trace stands in, and contacts are visited until their
// forces rest.
//
// CT_SPLIT_WHOLE does not split: A = c^2 M + L, factored once, and the friction problem is solved on its
// dense compliance W = J_c A^-1 J_c^T, from columns of A^-1 that are kept.
//
// CT_SPLIT_NODES is the contact of cloth alone (Ly et al. 2020): nodes of sheets against faces, nothing else.
// Forces follow from each node's law against its mass, as if the rest of the imbalance stayed as it is,
//     n g + P u = y + (w/A) (F' - F),   A = c^2 M,
// and the global step is that of projective dynamics with these forces. What passes between nodes is not
// looked at.
#include "baseline/split.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "baseline/projective.h"
#include "baseline/split_links.h"
#include "contact/contact_pairs.h"
#include "contact/friction.h"
#include "step/contact_solve.h"
#include "step/coords.h"
#include "step/phi.h"
#include "step/solve.h"

static const double deep = 0.6;      // of the way from thickness to core: how far gaps may be below zero
static const double diverged = 1e3;  // times the reference

enum { SWEEP_LIMIT = 100 };

typedef struct split_work {
    ct_arena arena;
    ct_projective_work projective;
    ct_block_matrix laplacian;  // L over the free nodes
    double* diagonal;           // nvert: D, N/m
    double* inverse;            // nvert: 1/A, 0 for driven nodes
    int version;                // of the model's values that they were made for; -1: none
    double* motion;             // 3 nvert: x' - x, of links' nodes 0
    double* pulled;             // nunknown: B^T J_c^T F
    ct_split_links links;
    unsigned char* cloth;  // nvert, a node of a sheet that is free
    // CT_SPLIT_WHOLE
    int* column_of;  // nvert: which column, -1: none yet
    double* column;  // nfree each, rows as in the matrix
    size_t ncolumn, column_capacity;
    double *unit, *answer;       // 3 nfree
    ct_friction_work* friction;  // the friction problem
    double* vector;
    size_t vector_capacity;
} split_work;

// ---- memory --------------------------------------------------------------------------------

static ct_status create_work(void** out, const ct_model* model) {
    split_work* split = ct_alloc(1, sizeof *split);
    *out = split;
    if (!split) return CT_OUT_OF_MEMORY;
    size_t nvert = (size_t)model->nvert, nfree = (size_t)model->nfree;
    split->version = -1;
    split->laplacian = model->system.matrix;
    split->laplacian.value = ct_arena_alloc(
        &split->arena, nfree ? 9 * (size_t)model->system.matrix.start[nfree] : 0, sizeof(double));
    split->diagonal = ct_arena_alloc(&split->arena, nvert, sizeof(double));
    split->inverse = ct_arena_alloc(&split->arena, nvert, sizeof(double));
    split->motion = ct_arena_alloc(&split->arena, 3 * nvert, sizeof(double));
    split->cloth = ct_arena_alloc(&split->arena, nvert, 1);
    split->pulled = ct_arena_alloc(&split->arena, (size_t)model->nunknown, sizeof(double));
    split->column_of = ct_arena_alloc(&split->arena, nvert, sizeof(int));
    split->unit = ct_arena_alloc(&split->arena, 3 * nfree, sizeof(double));
    split->answer = ct_arena_alloc(&split->arena, 3 * nfree, sizeof(double));
    for (int i = 0; !split->arena.failed && i < 3 * model->ntri; i++)
        split->cloth[model->geometry.tri[i]] = model->row[model->geometry.tri[i]] >= 0;
    ct_status status = split->arena.failed ? CT_OUT_OF_MEMORY : ct_friction_work_create(&split->friction);
    if (status == CT_OK) status = ct_split_links_init(&split->links, &split->arena, model);
    return status == CT_OK ? ct_projective_work_init(&split->projective, &split->arena, model) : status;
}

static void free_work(void* user) {
    split_work* split = user;
    if (!split) return;
    ct_friction_work_free(split->friction);
    ct_scalar_work_free(split->projective.solve);
    ct_split_links_free(&split->links);
    ct_free(split->column);
    ct_free(split->vector);
    ct_arena_free(&split->arena);
    ct_free(split);
}

// c^2 M + c D + L, factored.
static const ct_scalar_factor* whole_of(const ct_model* model) {
    const ct_projective_model* part = model->solver_part;
    return part->factor;
}

// ---- the matrix ----------------------------------------------------------------------------

// A for the rate of this (sub-)step; D, and the columns of the inverse, only when the model's values have
// changed.
static void prepare(const ct_model* model, ct_work* work) {
    split_work* split = work->solver_part;
    if (split->version != model->version) {
        if (model->nfree) {
            ct_block_matrix_clear(&split->laplacian);
            ct_families_laplacian(&model->families, model->row, &split->laplacian);
        }
        for (int v = 0; v < model->nvert; v++) {
            split->diagonal[v] =
                model->row[v] >= 0 ? split->laplacian.value[9 * (size_t)split->laplacian.start[model->row[v]]]
                                   : 0;
            split->column_of[v] = -1;
        }
        split->ncolumn = 0;
        split->version = model->version;
    }
    ct_split kind = model->settings.contact.split;
    double c = work->step.rate.c, k = kind == CT_SPLIT_TWICE ? 2 : kind == CT_SPLIT_DIAGONAL ? 1 : 0;
    for (int v = 0; v < model->nvert; v++)
        split->inverse[v] =
            model->row[v] >= 0
                ? 1 / (c * (c * model->free_mass[v] + model->free_drag[v]) + k * split->diagonal[v])
                : 0;
    ct_split_links_weigh(&split->links, model, c, k);
}

// ---- evaluation ----------------------------------------------------------------------------

typedef struct point {
    double forces, contacts;  // residuals of the balance and of the contacts' conditions, N
    double size;              // |J_c^T F| over the unknowns, N
    double total;
} point;

// As the default method measures it. work->rho is left without the contact forces.
static point evaluate(const ct_model* model, ct_work* work, ct_step_report* report) {
    ct_contact_work* contact = work->contact;
    double forces = 0, size = 0, *pulled = ((split_work*)work->solver_part)->pulled;
    ct_phi_evaluate(model, work, &work->at, work->r, report);
    ct_contact_place(contact, work->at.x);
    ct_contact_forces(contact);
    ct_coords_pull(model, work, &work->at, contact->nodal, pulled);
    for (int i = 0; i < model->nunknown; i++) {
        forces += (work->r[i] - pulled[i]) * (work->r[i] - pulled[i]);
        size += pulled[i] * pulled[i];
    }
    point here = {.forces = sqrt(forces), .contacts = ct_contact_natural(contact), .size = sqrt(size)};
    here.total = hypot(here.forces, here.contacts);
    return here;
}

static double target_of(const ct_model* model, const ct_work* work, const point* here) {
    return model->settings.tolerance * (work->reference + here->size);
}

// ---- forces on the diagonal matrix ---------------------------------------------------------

// The force with n g + P u = y + w F under the law of contact.
static void solve_one(const ct_touch* touch, const double y[3], double w, double F[3]) {
    const double* n = touch->at.n;
    double normal = -(n[0] * y[0] + n[1] * y[1] + n[2] * y[2]) / w, T[3], size = 0;
    F[0] = F[1] = F[2] = 0;
    if (!(normal > 0)) return;
    for (int a = 0; a < 3; a++) T[a] = -y[a] / w - normal * n[a], size += T[a] * T[a];
    size = sqrt(size);
    double most = touch->is.pair.friction * normal, keep = size > most ? most / size : 1;
    for (int a = 0; a < 3; a++) F[a] = normal * n[a] + keep * T[a];
}

// One contact against the motion that the others leave; returns the square of its force's change.
static double visit(const ct_model* model, const split_work* split, ct_touch* touch, size_t index,
                    double* dx) {
    const int* node = touch->is.pair.node;
    double w = touch->is.eps, y[3], moved[3], F[3] = {0, 0, 0}, by[3], change = 0;
    for (int k = 0; k < touch->at.count; k++) w += touch->at.w[k] * touch->at.w[k] * split->inverse[node[k]];
    ct_touch_offset(touch, y);
    ct_touch_motion(touch, dx, moved);
    if (model->tree.ndof) {
        w += ct_split_links_compliance(&split->links, model, index);
        ct_split_links_motion(&split->links, model, index, moved);
    }
    for (int a = 0; a < 3; a++) y[a] += moved[a] - (w - touch->is.eps) * touch->is.force[a];
    if (w > 0) solve_one(touch, y, w, F);
    for (int a = 0; a < 3; a++) {
        double d = by[a] = F[a] - touch->is.force[a];
        for (int k = 0; k < touch->at.count; k++)
            dx[3 * node[k] + a] += split->inverse[node[k]] * touch->at.w[k] * d;
        touch->is.force[a] = F[a];
        change += d * d;
    }
    if (model->tree.ndof) ct_split_links_push(&split->links, model, index, by);
    return change;
}

// split->motion, the joints' dz and the forces of one iteration.
static ct_status step_diagonal(const ct_model* model, ct_work* work, double accuracy) {
    split_work* split = work->solver_part;
    ct_contact_work* contact = work->contact;
    double* dx = split->motion;
    for (int i = 0; i < 3 * model->nvert; i++)
        dx[i] = split->inverse[i / 3] * (contact->nodal[i] - work->rho[i]);
    ct_status status = model->tree.ndof ? ct_split_links_begin(&split->links, model, work) : CT_OK;
    bool coupled = model->tree.ndof > 0;
    for (size_t i = 0; i < contact->count; i++) coupled = coupled || contact->touch[i].is.eps > 0;
    for (int sweep = 0; status == CT_OK && sweep < SWEEP_LIMIT; sweep++) {
        double change = 0;
        for (size_t i = 0; i < contact->count; i++) change += visit(model, split, &contact->touch[i], i, dx);
        if (!coupled || sqrt(change) <= accuracy) break;
    }
    return status;
}

// ---- forces on the whole matrix ------------------------------------------------------------

// Columns of A^-1 at the free nodes of the touches, three at a time.
static ct_status fill_columns(const ct_model* model, ct_work* work) {
    split_work* split = work->solver_part;
    const ct_contact_work* contact = work->contact;
    size_t nfree = (size_t)model->nfree;
    int wanted[3], nwanted = 0;
    for (size_t i = 0; i <= contact->count; i++) {
        bool last = i == contact->count;
        for (int k = 0; k < (last ? 1 : contact->touch[i].at.count); k++) {
            int v = last ? -1 : contact->touch[i].is.pair.node[k];
            if (!last && (model->row[v] < 0 || split->column_of[v] >= 0)) continue;
            if (!last) {
                split->column_of[v] = (int)split->ncolumn + nwanted;
                wanted[nwanted++] = model->row[v];
            }
            if (nwanted < (last ? 1 : 3)) continue;
            if (!ct_reserve((void**)&split->column, &split->column_capacity, (split->ncolumn + 3) * nfree,
                            sizeof(double)))
                return CT_OUT_OF_MEMORY;
            memset(split->unit, 0, 3 * nfree * sizeof(double));
            for (int a = 0; a < nwanted; a++) split->unit[3 * wanted[a] + a] = 1;
            ct_scalar_factor_solve(whole_of(model), split->projective.solve, split->unit, split->answer);
            for (int a = 0; a < nwanted; a++)
                for (size_t j = 0; j < nfree; j++)
                    split->column[(split->ncolumn + (size_t)a) * nfree + j] =
                        split->answer[3 * j + (size_t)a];
            split->ncolumn += (size_t)nwanted;
            nwanted = 0;
        }
    }
    return CT_OK;
}

// W_cd, a multiple of the identity.
static double compliance(const ct_model* model, const split_work* split, const ct_touch* c,
                         const ct_touch* d) {
    double sum = 0;
    for (int k = 0; k < c->at.count; k++) {
        int column = split->column_of[c->is.pair.node[k]];
        if (column < 0) continue;
        const double* inverse = split->column + (size_t)column * (size_t)model->nfree;
        for (int l = 0; l < d->at.count; l++) {
            int row = model->row[d->is.pair.node[l]];
            if (row >= 0) sum += c->at.w[k] * d->at.w[l] * inverse[row];
        }
    }
    return sum;
}

// dx = A^-1 (nodal - rho); nodal NULL: zero
static void solve_whole(const ct_model* model, ct_work* work, const double* nodal, double* dx,
                        ct_step_report* report) {
    split_work* split = work->solver_part;
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; model->row[v] >= 0 && a < 3; a++)
            split->unit[3 * model->row[v] + a] = (nodal ? nodal[3 * v + a] : 0) - work->rho[3 * v + a];
    ct_scalar_factor_solve(whole_of(model), split->projective.solve, split->unit, split->answer);
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; a < 3; a++)
            dx[3 * v + a] = model->row[v] >= 0 ? split->answer[3 * model->row[v] + a] : 0;
    report->solves++;
}

static ct_status step_whole(const ct_model* model, ct_work* work, ct_step_report* report) {
    split_work* split = work->solver_part;
    ct_contact_work* contact = work->contact;
    size_t most = contact->count, m = 0;
    ct_status status = fill_columns(model, work);
    if (status != CT_OK) return status;
    if (!ct_reserve((void**)&split->vector, &split->vector_capacity, 9 * most * most + 13 * most + 2,
                    sizeof(double)))
        return CT_OUT_OF_MEMORY;
    double *b = split->vector, *normal = b + 3 * most, *F = normal + 3 * most, *mu = F + 3 * most,
           *eps = mu + most;
    double* W = eps + most;
    int* which = (int*)(W + 9 * most * most);
    unsigned char* set = (unsigned char*)(which + most);
    solve_whole(model, work, NULL, split->motion, report);
    for (size_t i = 0; i < most; i++) {
        ct_touch* touch = &contact->touch[i];
        double y[3], moved[3];
        ct_touch_offset(touch, y);
        ct_touch_motion(touch, split->motion, moved);
        for (int a = 0; a < 3; a++) {
            b[3 * m + (size_t)a] = y[a] + moved[a];
            normal[3 * m + (size_t)a] = touch->at.n[a];
            F[3 * m + (size_t)a] = touch->is.force[a];
        }
        mu[m] = touch->is.pair.friction;
        eps[m] = touch->is.eps;
        which[m++] = (int)i;
    }
    size_t side = 3 * m;
    memset(W, 0, side * side * sizeof(double));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            double w = compliance(model, split, &contact->touch[which[i]], &contact->touch[which[j]]);
            for (size_t a = 0; a < 3; a++)
                W[(3 * i + a) * side + 3 * j + a] = W[(3 * j + a) * side + 3 * i + a] = w;
        }
    const ct_friction_matrix matrix = {.count = (int)m, .W = W, .stride = (int)side};
    ct_friction_def def = {.count = (int)m, .W = &matrix, .b = b, .normal = normal, .mu = mu, .eps = eps};
    ct_friction_report inner;
    if (m)
        status = ct_friction_solve(&def, split->friction, 1e-3 * model->settings.tolerance, F, set, &inner);
    if (status != CT_OK) return status;
    for (size_t i = 0; i < m; i++) memcpy(contact->touch[which[i]].is.force, F + 3 * i, 3 * sizeof(double));
    ct_contact_forces(contact);
    solve_whole(model, work, contact->nodal, split->motion, report);
    return CT_OK;
}

// work->at, along work->d.
static void move_along(const ct_model* model, ct_work* work) {
    split_work* split = work->solver_part;
    ct_projective_turns(model, 1, work->d, split->projective.motion);
    ct_coords_move(model, &work->at, 1, split->projective.motion, &work->trial);
    ct_config config = work->at;
    work->at = work->trial;
    work->trial = config;
}

// work->at, by split->motion and the joints' dz.
static void move(const ct_model* model, ct_work* work) {
    split_work* split = work->solver_part;
    if (!model->tree.ndof) {
        for (int k = 0; k < 3 * model->nvert; k++) work->at.x[k] += split->motion[k];
        return;
    }
    for (int k = 0; k < model->nfree; k++)
        memcpy(work->d + 3 * k, split->motion + 3 * model->node[k], 3 * sizeof(double));
    memcpy(work->d + 3 * model->nfree, split->links.dz, (size_t)model->tree.ndof * sizeof(double));
    move_along(model, work);
}

// ---- nodes of cloth ------------------------------------------------------------------------

// Keeps the touches of single nodes of sheets.
static void keep_nodes(const split_work* split, ct_contact_work* contact) {
    size_t count = 0;
    for (size_t i = 0; i < contact->count; i++) {
        const ct_pair* pair = &contact->touch[i].is.pair;
        bool single = pair->type == CT_CONTACT_TYPE_VERTEX_FACE || pair->type == CT_CONTACT_TYPE_PLANE;
        if (single && split->cloth[pair->node[0]]) contact->touch[count++] = contact->touch[i];
    }
    contact->count = count;
}

static ct_status step_nodes(const ct_model* model, ct_work* work, ct_step_report* report) {
    split_work* split = work->solver_part;
    ct_contact_work* contact = work->contact;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        const int v = touch->is.pair.node[0];
        double w = touch->is.eps + split->inverse[v], y[3], F[3];
        ct_touch_offset(touch, y);
        for (int a = 0; a < 3; a++) y[a] -= split->inverse[v] * touch->is.force[a];
        solve_one(touch, y, w, F);
        memcpy(touch->is.force, F, sizeof F);
    }
    ct_contact_forces(contact);
    ct_coords_pull(model, work, &work->at, contact->nodal, split->pulled);
    for (int i = 0; i < model->nunknown; i++) work->r[i] -= split->pulled[i];
    for (int i = 0; i < 3 * model->nvert; i++) work->rho[i] -= contact->nodal[i];
    return ct_projective_global(model, work, &split->projective, report) ? CT_OK : CT_SINGULAR;
}

// ---- the solve for known pairs -------------------------------------------------------------

static ct_status solve_known(const ct_model* model, ct_work* work, ct_step_report* report) {
    const ct_contact_settings* settings = &model->settings.contact;
    int limit = settings->truncate ? settings->truncate : model->settings.max_iterations;
    ct_status status = CT_OK;
    point here = evaluate(model, work, report);
    bool converged = false;
    for (int i = 0; status == CT_OK; i++) {
        double target = target_of(model, work, &here);
        converged = here.total <= target && ct_contact_depth(work->contact) <= deep;
        if (converged || i == limit || !(here.total <= diverged * (work->reference + here.size))) break;
        if (settings->split == CT_SPLIT_NODES) status = step_nodes(model, work, report);
        else if (settings->split == CT_SPLIT_WHOLE) status = step_whole(model, work, report);
        else status = step_diagonal(model, work, 0.1 * target);
        if (status != CT_OK) break;
        if (settings->split == CT_SPLIT_NODES) move_along(model, work);
        else move(model, work);
        here = evaluate(model, work, report);
        report->iterations++;
    }
    report->residual = here.total;
    report->reference = work->reference + here.size;
    bool enough = settings->truncate && isfinite(here.total);
    return status != CT_OK || converged || enough ? status : CT_NOT_CONVERGED;
}

// ---- entry point ---------------------------------------------------------------------------

static ct_status solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                       ct_step_report* report) {
    split_work* split = work->solver_part;
    ct_contact_work* contact = work->contact;
    double end = time + h;
    bool again = true, stuck = false;
    ct_contact_solve_begin(model, work, state, time, h);
    prepare(model, work);
    const bool nodes = model->settings.contact.split == CT_SPLIT_NODES;
    ct_status status = ct_contact_find(&model->collision, contact, end);
    if (nodes) keep_nodes(split, contact);
    if (status == CT_OK && contact->count) ct_solve_begin(model, work, report);
    for (int pass = 1; status == CT_OK && again; pass++) {
        if (pass > model->settings.contact.max_passes) return CT_NOT_CONVERGED;
        status = contact->count ? solve_known(model, work, report)
                                : ct_projective_solve(model, work, &split->projective, report);
        report->passes = pass;
        again = false;
        if (status == CT_OK && !nodes)
            status = ct_contact_certify(&model->collision, contact, work->at.x, end, &again, &stuck);
    }
    if (status == CT_OK && stuck) status = CT_NOT_CONVERGED;
    if (status == CT_OK) ct_contact_classify(contact);
    if (status != CT_OK) return status;
    int crossings = nodes ? 0 : ct_detect_intersections(&model->collision, contact->detect, work->at.x, NULL);
    if (crossings) return crossings < 0 ? CT_OUT_OF_MEMORY : CT_NOT_CONVERGED;
    ct_contact_forces(contact);
    return ct_contact_report(contact, work->at.x, report);
}

// ---- the row -------------------------------------------------------------------------------

static bool serves(const ct_settings* settings) {
    return settings->solver == CT_SOLVER_PROJECTIVE && settings->contact.method == CT_CONTACT_METHOD_SPLIT;
}

static bool is_truncated(const ct_model* model, const ct_step_report* report) {
    return model->settings.contact.truncate &&
           report->residual > model->settings.tolerance * report->reference;
}

// The adjoint is that of a converged step.
static bool has_gradients(const ct_settings* settings) { return !settings->contact.truncate; }

static void advise(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    snprintf(report->message, sizeof report->message,
             "the splitting iteration diverges or needs more than %d iterations: use contact.method "
             "\"newton\", contact.split \"twice\" or \"whole\"",
             model->settings.max_iterations);
}

const ct_solver_row ct_split_row = {.name = "splitting",
                                    .serves = serves,
                                    .exact = true,
                                    .model_create = ct_projective_model_create,
                                    .model_factor = ct_projective_model_factor,
                                    .model_free = ct_projective_model_free,
                                    .work_create = create_work,
                                    .work_free = free_work,
                                    .solve = solve,
                                    .is_truncated = is_truncated,
                                    .has_gradients = has_gradients,
                                    .advise = advise};
