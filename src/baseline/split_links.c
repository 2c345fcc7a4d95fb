// Links in the splitting iteration; see split_links.h.
#include "baseline/split_links.h"

#include <math.h>
#include <string.h>

#include "baseline/assembly.h"
#include "contact/contact.h"

// LAPACK: Cholesky factorisation and solve, column-major.
extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
extern void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda,
                    double* b, const int* ldb, int* info);

ct_status ct_split_links_init(ct_split_links* links, ct_arena* arena, const ct_model* model) {
    const ct_tree* tree = &model->tree;
    size_t ndof = (size_t)tree->ndof, nodes = tree->nlink ? (size_t)tree->start[tree->nlink] : 0;
    links->place = ct_arena_alloc(arena, (size_t)model->nvert, sizeof(int));
    links->A = ct_arena_alloc(arena, nodes, sizeof(double));
    links->B = ct_arena_alloc(arena, 3 * nodes * ndof, sizeof(double));
    links->H = ct_arena_alloc(arena, ndof * ndof, sizeof(double));
    links->dz = ct_arena_alloc(arena, ndof, sizeof(double));
    links->assembly = ct_arena_alloc(arena, ct_assembly_scratch(model), sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int v = 0; v < model->nvert; v++) links->place[v] = -1;
    for (size_t i = 0; i < nodes; i++) links->place[tree->node[i]] = (int)i;
    return CT_OK;
}

void ct_split_links_free(ct_split_links* links) { ct_free(links->column); }

void ct_split_links_weigh(ct_split_links* links, const ct_model* model, double c, double k) {
    const ct_projective_model* part = model->solver_part;
    const ct_tree* tree = &model->tree;
    for (int i = 0; tree->nlink && i < tree->start[tree->nlink]; i++) {
        int v = tree->node[i];
        links->A[i] = c * (c * model->free_mass[v] + model->free_drag[v]) + k * part->coupling.diagonal[i];
    }
}

// H = B^T A B + springs, factored.
static bool factor(ct_split_links* links, const ct_model* model, const ct_work* work) {
    const ct_tree* tree = &model->tree;
    size_t n = (size_t)tree->ndof, rows = 3 * (size_t)tree->start[tree->nlink];
    int side = tree->ndof, info = 0;
    double largest = 0;
    ct_assembly_jacobian(model, &work->at, links->assembly, links->B);
    memset(links->H, 0, n * n * sizeof(double));
    for (size_t i = 0; i < rows; i++) {
        const double* b = links->B + i * n;
        for (size_t j = 0; j < n; j++) {
            if (b[j] == 0) continue;
            for (size_t l = j; l < n; l++) links->H[j * n + l] += links->A[i / 3] * b[j] * b[l];
        }
    }
    ct_families_joint_hessian(&model->families, &work->families, &work->at, false, links->H);
    for (size_t j = 0; j < n; j++) largest = fmax(largest, links->H[j * (n + 1)]);
    // a joint that moves nothing has no stiffness of its own
    for (size_t j = 0; j < n; j++) links->H[j * (n + 1)] += 1e-14 * largest + 1e-300;
    if (n) dpotrf_("L", &side, links->H, &side, &info);
    return info == 0;
}

// J_c B and Y_c of one touch.
static void fill_columns(const ct_split_links* links, const ct_model* model, const ct_touch* touch,
                         double* column) {
    size_t n = (size_t)model->tree.ndof;
    int side = model->tree.ndof, three = 3, info = 0;
    memset(column, 0, 6 * n * sizeof(double));
    for (int k = 0; k < touch->at.count; k++) {
        int i = links->place[touch->is.pair.node[k]];
        for (size_t j = 0; i >= 0 && j < 3 * n; j++)
            column[j] += touch->at.w[k] * links->B[3 * (size_t)i * n + j];
    }
    memcpy(column + 3 * n, column, 3 * n * sizeof(double));
    if (n) dpotrs_("L", &side, &three, links->H, &side, column + 3 * n, &side, &info);
}

ct_status ct_split_links_begin(ct_split_links* links, const ct_model* model, const ct_work* work) {
    const ct_tree* tree = &model->tree;
    const ct_contact_work* contact = work->contact;
    size_t n = (size_t)tree->ndof;
    int side = tree->ndof, one = 1, info = 0;
    if (!ct_reserve((void**)&links->column, &links->capacity, 6 * n * contact->count, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    if (!factor(links, model, work)) return CT_SINGULAR;
    for (size_t j = 0; j < n; j++) links->dz[j] = -work->r[3 * (size_t)model->nfree + j];
    for (size_t i = 0; i < 3 * (size_t)tree->start[tree->nlink]; i++)
        for (size_t j = 0; j < n; j++)
            links->dz[j] += links->B[i * n + j] * contact->nodal[3 * (size_t)tree->node[i / 3] + i % 3];
    if (n) dpotrs_("L", &side, &one, links->H, &side, links->dz, &side, &info);
    for (size_t i = 0; i < contact->count; i++)
        fill_columns(links, model, &contact->touch[i], links->column + 6 * n * i);
    return CT_OK;
}

double ct_split_links_compliance(const ct_split_links* links, const ct_model* model, size_t i) {
    size_t n = (size_t)model->tree.ndof;
    const double* column = links->column + 6 * n * i;
    double sum = 0;
    for (size_t j = 0; j < 3 * n; j++) sum += column[j] * column[3 * n + j];
    return sum;
}

void ct_split_links_motion(const ct_split_links* links, const ct_model* model, size_t i, double moved[3]) {
    size_t n = (size_t)model->tree.ndof;
    const double* column = links->column + 6 * n * i;
    for (size_t a = 0; a < 3; a++)
        for (size_t j = 0; j < n; j++) moved[a] += column[a * n + j] * links->dz[j];
}

void ct_split_links_push(const ct_split_links* links, const ct_model* model, size_t i, const double dF[3]) {
    size_t n = (size_t)model->tree.ndof;
    const double* column = links->column + 6 * n * i + 3 * n;
    for (size_t a = 0; a < 3; a++)
        for (size_t j = 0; j < n; j++) links->dz[j] += column[a * n + j] * dF[a];
}
