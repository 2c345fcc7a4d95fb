// The preconditioner as contacts see it; see contact_system.h.
#include "step/contact_system.h"

#include <string.h>

#include "contact/contact.h"
#include "step/coords.h"

// ---- memory --------------------------------------------------------------------------------

ct_status ct_contact_system_create(ct_contact_system** out, const ct_model* model) {
    *out = NULL;
    ct_contact_system* system = ct_alloc(1, sizeof *system);
    if (!system) return CT_OUT_OF_MEMORY;
    size_t spread = 6 * (size_t)model->tree.nlink * (size_t)model->tree.ndof;
    system->spread = ct_arena_alloc(&system->arena, spread, sizeof(double));
    system->unknowns = ct_arena_alloc(&system->arena, (size_t)model->nunknown, sizeof(double));
    system->answer = ct_arena_alloc(&system->arena, (size_t)model->nunknown, sizeof(double));
    ct_secant_create(&system->secant, &system->arena, (size_t)model->nunknown);
    system->nodes = ct_arena_alloc(&system->arena, 3 * (size_t)model->nvert, sizeof(double));
    if (model->ntri) system->brace = ct_arena_alloc(&system->arena, 9 * (size_t)model->nfree, sizeof(double));
    ct_status status = system->arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK)
        status = ct_compliance_create(&system->compliance, &model->collision, model->nfree, model->node);
    if (status == CT_OK) status = ct_friction_work_create(&system->friction);
    if (status == CT_OK) status = ct_krylov_work_create(&system->krylov, 0, 0);
    if (status != CT_OK) {
        ct_contact_system_free(system);
        return status;
    }
    *out = system;
    return CT_OK;
}

void ct_contact_system_free(ct_contact_system* system) {
    if (!system) return;
    ct_compliance_free(system->compliance);
    ct_friction_work_free(system->friction);
    ct_krylov_work_free(system->krylov);
    ct_arena_free(&system->arena);
    ct_free(system->U);
    ct_free(system->vector);
    ct_free(system->W);
    ct_free(system->which);
    ct_free(system->kept_which);
    ct_free(system->kept_set);
    ct_free(system->columns);
    ct_free(system->slip);
    ct_free(system->kept_slip);
    ct_free(system);
}

// ---- P^-1 at nodes -------------------------------------------------------------------------

typedef struct context {
    const ct_model* model;
    ct_work* work;
    const ct_config* config;
} context;

static ct_status columns(void* user, int ncolumn, const int* column, int nrow, const int* row, float* out) {
    const context* c = user;
    return ct_factor_columns(c->work->preconditioner.factor, c->work->preconditioner.solve, c->work->threads,
                             ncolumn, column, nrow, row, out);
}

// Y_v^T of a node on a link, three columns: a rate moves the links below its joint.
static void link_columns(const ct_tree* tree, const ct_config* config, int v, double* Y) {
    int link = tree->node_link[v];
    size_t n = (size_t)tree->ndof;
    for (int j = tree->dof[link + 1] - 1; j >= 0; j--) {
        int up = link;
        while (up > tree->dof_link[j]) up = tree->parent[up];
        if (up != tree->dof_link[j]) continue;
        const double *column = config->column + 6 * j, *x = config->x + 3 * v;
        double arm[3] = {x[0] - tree->origin[0], x[1] - tree->origin[1], x[2] - tree->origin[2]};
        for (int a = 0; a < 3; a++) {
            int p = (a + 1) % 3, q = (a + 2) % 3;
            Y[(size_t)a * n + (size_t)j] = column[p] * arm[q] - column[q] * arm[p] + column[3 + a];
        }
    }
}

// Y_v^T of a free node at the factor position `at`: it follows the links.
static void free_columns(const ct_model* model, const ct_work* work, size_t at, double* Y) {
    size_t links = 6 * (size_t)model->tree.nlink, n = (size_t)model->tree.ndof;
    const double* R = work->preconditioner.warp + 9 * at;
    for (size_t j = 0; j < n; j++) {
        const double* twist = work->contact_system->spread + j * links;
        double moved[3] = {0, 0, 0};
        for (int a = 0; a < 3; a++)
            for (size_t k = 0; k < links; k++)
                moved[a] -= work->preconditioner.coupling->W[(3 * at + (size_t)a) * links + k] * twist[k];
        for (int a = 0; a < 3; a++)
            Y[(size_t)a * n + j] = R[3 * a] * moved[0] + R[3 * a + 1] * moved[1] + R[3 * a + 2] * moved[2];
    }
}

static void joints(void* user, int count, const int* node, const int* place, double* Y) {
    const context* c = user;
    const ct_tree* tree = &c->model->tree;
    size_t n = (size_t)tree->ndof;
    ct_precondition_joint_columns(c->model, &c->work->preconditioner, c->config,
                                  c->work->contact_system->spread);
    for (int i = 0; i < count; i++, Y += 3 * n) {
        memset(Y, 0, 3 * n * sizeof(double));
        if (tree->node_link[node[i]] >= 0) link_columns(tree, c->config, node[i], Y);
        else if (place[i] >= 0) free_columns(c->model, c->work, (size_t)place[i], Y);
        for (int a = 0; a < 3; a++)
            ct_precondition_joint_half(&c->work->preconditioner, tree->ndof, Y + (size_t)a * n);
    }
}

static ct_response response_of(context* c) {
    const ct_work* work = c->work;
    bool substep = work->preconditioner.factor == work->preconditioner.substep;
    ct_factor_identity identity = {
        .factor = work->preconditioner.factor,
        .stamp = work->preconditioner.reference_in_force ? work->preconditioner.refreshed_stamp : 0,
        .version = work->preconditioner.reference_in_force ? work->preconditioner.refreshed_version
                   : substep                               ? work->preconditioner.substep_version
                                                           : c->model->system.factor_version,
        .level = substep ? work->preconditioner.substep_level : 0};
    if (work->preconditioner.brace_in_force) {
        identity.stamp = work->preconditioner.brace_stamp;
        identity.version = c->model->version;
    }
    return (ct_response){.identity = identity,
                         .warp = work->preconditioner.warp,
                         .ndof = c->model->tree.ndof,
                         .columns = columns,
                         .joints = joints,
                         .user = c};
}

// ---- W -------------------------------------------------------------------------------------

// Touches up to which W is stored: always, and where products with it have not led to an answer.
enum { STORED = 400, STORED_HARD = 1000 };

static bool is_stored(const ct_contact_system* system, int count) {
    return count <= (system->hard ? STORED_HARD : STORED);
}

// marks the stamps of matrices that are: others are counted by the compliance
static const uint64_t stored_stamp = (uint64_t)1 << 63;

void ct_contact_system_begin(ct_contact_system* system) {
    system->hard = false;
    ct_compliance_begin(system->compliance);
}

bool ct_contact_system_harden(ct_contact_system* system) {
    if (system->hard || system->matrix.W || system->matrix.count > STORED_HARD) return false;
    system->hard = true;
    return true;
}

// u = J P^-1 J^T F
static void product(const double* F, double* u, void* user) {
    ct_contact_system* system = user;
    const ct_contact_work* contact = system->work->contact;
    const int count = system->matrix.count;
    double* nodes = system->nodes;
    memset(nodes, 0, 3 * (size_t)system->model->nvert * sizeof(double));
    for (int i = 0; i < count; i++) {
        const ct_touch* touch = &contact->touch[system->which[i]];
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                nodes[3 * touch->is.pair.node[k] + a] += touch->at.w[k] * F[3 * i + a];
    }
    ct_coords_pull(system->model, system->work, system->config, nodes, system->unknowns);
    ct_precondition_apply(system->model, &system->work->preconditioner, system->config, system->unknowns,
                          system->answer);
    ct_coords_push(system->model, system->work, system->config, system->answer, nodes);
    for (int i = 0; i < count; i++) {
        const ct_touch* touch = &contact->touch[system->which[i]];
        for (int a = 0; a < 3; a++) u[3 * i + a] = 0;
        for (int k = 0; k < touch->at.count; k++)
            for (int a = 0; a < 3; a++)
                u[3 * i + a] += touch->at.w[k] * nodes[3 * touch->is.pair.node[k] + a];
    }
}

ct_status ct_contact_system_compliance(const ct_model* model, ct_work* work, const ct_config* config,
                                       int count, const int* which, const ct_friction_matrix** W) {
    ct_contact_system* system = work->contact_system;
    *W = &system->matrix;
    if (!is_stored(system, count)) {
        system->model = model;
        system->work = work;
        system->config = config;
        if (!ct_reserve((void**)&system->which, &system->which_size, (size_t)count, sizeof(int)))
            return CT_OUT_OF_MEMORY;
        memcpy(system->which, which, (size_t)count * sizeof(int));
        const ct_status status =
            ct_compliance_outline(system->compliance, &model->collision, work->contact->rate,
                                  work->contact->touch, count, which, &system->matrix);
        system->matrix.product = product;
        system->matrix.user = system;
        return status;
    }
    context c = {model, work, config};
    const ct_response response = response_of(&c);
    if (!ct_reserve((void**)&system->W, &system->W_size, 9 * (size_t)count * (size_t)count, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    system->matrix = (ct_friction_matrix){
        .count = count, .stamp = stored_stamp | ++system->stamp, .W = system->W, .stride = 3 * count};
    return ct_compliance_update(system->compliance, &model->collision, &response, work->contact->touch, count,
                                which, system->W);
}

ct_status ct_contact_system_nodes(const ct_model* model, ct_work* work, const ct_config* config, int count,
                                  const int* which, const ct_friction_matrix** W) {
    ct_contact_system* system = work->contact_system;
    context c = {model, work, config};
    const ct_response response = response_of(&c);
    *W = &system->linear;
    system->linear.nodes = NULL;
    if (!is_stored(system, count)) return CT_OK;
    return ct_compliance_nodes(system->compliance, &model->collision, &response, work->contact->touch, count,
                               which, &system->linear);
}

ct_status ct_contact_system_linear(const ct_model* model, ct_work* work, const ct_config* config, int count,
                                   const int* which, const ct_friction_matrix** W) {
    const ct_status status = ct_contact_system_nodes(model, work, config, count, which, W);
    if (status != CT_OK || (*W)->nodes) return status;
    return ct_contact_system_compliance(model, work, config, count, which, W);
}

ct_status ct_contact_system_invert(const ct_model* model, ct_work* work, const ct_config* config, int count,
                                   const int* which, ct_friction_inverse* inverse) {
    context c = {model, work, config};
    const ct_response response = response_of(&c);
    return ct_compliance_invert(work->contact_system->compliance, &model->collision, &response,
                                work->contact->touch, count, which, inverse);
}
