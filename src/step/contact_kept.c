// Forces of contacts that keep their sets; see contact_kept.h.
#include "step/contact_kept.h"

#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "contact/friction_nodes.h"
#include "math/point3.h"

static const double slack = 1e-6;  // of the limit of friction, by which a force may leave its cone
static const double far = 0.01;    // of the limit of friction over |y|, from which a touch slides far
static const double near = 0.05;   // change of a direction, or of rho, for which the factor still serves

enum { ATTEMPTS = 6 };

void ct_contact_kept_forget(ct_contact_system* system) { system->kept = 0; }

// ---- rows ----------------------------------------------------------------------------------

// How a touch slips: along y = P (F - r u), whose length tells how far.
static void set_slip(double limit, const double y[3], ct_contact_slip* out) {
    const double size = sqrt(dot3(y, y));
    for (int i = 0; i < 3; i++) out->tau[i] = size > 0 ? y[i] / size : 0;
    out->rho = size > 0 ? limit / size : limit > 0 ? INFINITY : 0;
    // across the slip of a touch that slides far, the force hardly depends on the motion
    if (out->rho < far) out->rho = 0;
}

// n.(F - r u), and P (F - r u) in y.
static double find_slip(const ct_contact_kept* k, int c, const double* F, const double* u, double y[3]) {
    const double* n = k->normal + 3 * c;
    for (int i = 0; i < 3; i++) y[i] = F[i] - k->r[c] * u[i];
    const double along = dot3(n, y);
    for (int i = 0; i < 3; i++) y[i] -= along * n[i];
    return along;
}

// The sets to begin with: what slips goes on along b unless that leads back, and what arrives does as b says.
static void begin_touch(const ct_contact_kept* k, int c, ct_contact_slip* slip) {
    const double *F = k->F + 3 * c, *b = k->b + 3 * c;
    double y[3];
    const double along = find_slip(k, c, F, b, y);
    const bool arrives = F[0] == 0 && F[1] == 0 && F[2] == 0;
    if (!arrives && k->set[c] != CT_CONTACT_SET_SLIP) return;
    set_slip(k->mu[c] * (arrives ? along : dot3(k->normal + 3 * c, F)), y, slip);
    k->set[c] = slip->rho > 1 ? CT_CONTACT_SET_STICK : CT_CONTACT_SET_SLIP;
}

// D and E: F = 0, or u = 0, or n.u = 0, (tau - mu n).F = 0 and, across both, along s, rho u + (1 - rho) F/r =
// 0. a = -D b - E F.
static void fill_rows(const ct_contact_kept* k, int c, const ct_contact_slip* slip, const double* F,
                      const double* u) {
    const double *n = k->normal + 3 * c, *tau = slip->tau;
    double *D = k->D + 9 * c, *E = k->E + 9 * c, *a = k->a + 3 * c, side[3];
    const bool stick = k->set[c] == CT_CONTACT_SET_STICK, open = k->set[c] == CT_CONTACT_SET_OPEN;
    cross3(n, tau, side);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double across = side[i] * side[j];
            D[3 * i + j] = open ? 0 : stick ? i == j : n[i] * n[j] + slip->rho * across;
            E[3 * i + j] = tau[i] * (tau[j] - k->mu[c] * n[j]) + (1 - slip->rho) / k->r[c] * across;
            if (stick || open) E[3 * i + j] = open && i == j;
        }
        a[i] = -dot3(D + 3 * i, u) - dot3(E + 3 * i, F);
    }
}

// ---- the factor ----------------------------------------------------------------------------

static bool reserve(ct_contact_system* system, size_t count) {
    const size_t columns = (3 + CT_SECANT_RANK) * 3 * count;
    return ct_reserve((void**)&system->kept_which, &system->kept_which_size, count, sizeof(int)) &&
           ct_reserve((void**)&system->slip, &system->slip_size, count, sizeof *system->slip) &&
           ct_reserve((void**)&system->kept_slip, &system->kept_slip_size, count, sizeof *system->slip) &&
           ct_reserve((void**)&system->kept_set, &system->kept_set_size, count, 1) &&
           ct_reserve((void**)&system->columns, &system->columns_size, columns, sizeof(double));
}

// The factor is of these touches and sets, and of slip that hardly differs.
static bool is_known(const ct_contact_system* system, const ct_contact_kept* k) {
    const size_t count = (size_t)k->count;
    bool same = system->kept == k->count && !memcmp(system->kept_which, k->which, count * sizeof(int)) &&
                !memcmp(system->kept_set, k->set, count);
    for (size_t c = 0; same && c < count; c++) {
        const ct_contact_slip *now = &system->slip[c], *then = &system->kept_slip[c];
        if (k->set[c] != CT_CONTACT_SET_SLIP) continue;
        same = fabs(now->rho - then->rho) <= near;
        for (int i = 0; i < 3; i++) same = same && fabs(now->tau[i] - then->tau[i]) <= near;
    }
    return same;
}

// Of D W + E. *fits false: W would have to be made.
static ct_status factor(const ct_model* model, ct_work* work, const ct_contact_kept* k, bool* fits) {
    ct_contact_system* system = work->contact_system;
    *fits = true;
    if (is_known(system, k)) return CT_OK;
    system->kept = 0;
    ct_friction_inverse inverse;
    const ct_friction_matrix* W;
    *fits = false;
    ct_status status = ct_contact_system_nodes(model, work, &work->at, k->count, k->which, &W);
    if (status != CT_OK || !W->nodes) return status;
    for (int c = 0; c < k->count; c++) work->contact->touch[k->which[c]].is.set = (ct_contact_set)k->set[c];
    status = ct_contact_system_invert(model, work, &work->at, k->count, k->which, &inverse);
    if (status == CT_OK) status = ct_friction_invert(system->friction, &inverse, k->D, k->E, fits);
    if (status == CT_OK && !*fits) {
        status = ct_friction_factor(system->friction, W, k->D, k->E);
        *fits = status == CT_OK;
        if (status == CT_SINGULAR) return CT_OK;
    }
    if (status != CT_OK) return status;
    system->kept = k->count;
    memcpy(system->kept_which, k->which, (size_t)k->count * sizeof(int));
    memcpy(system->kept_set, k->set, (size_t)k->count);
    memcpy(system->kept_slip, system->slip, (size_t)k->count * sizeof *system->slip);
    return CT_OK;
}

// ---- the solution --------------------------------------------------------------------------

// x = A^-1 x by elimination with pivots; false: singular.
static bool solve_small(int n, double A[CT_SECANT_RANK][CT_SECANT_RANK], double* x) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
        if (!(fabs(A[best][k]) > 0)) return false;
        for (int j = 0; best != k && j < n; j++) {
            const double other = A[k][j];
            A[k][j] = A[best][j];
            A[best][j] = other;
        }
        const double value = x[k];
        x[k] = x[best];
        if (best != k) x[best] = value;
        for (int i = k + 1; i < n; i++) {
            const double part = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= part * A[k][j];
            x[i] -= part * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= A[k][j] * x[j];
        x[k] /= A[k][k];
    }
    return true;
}

// dF = x - X (1 + M U^T X)^-1 M U^T x with X = A^-1 D U, in the place of x.
static bool add_secant(ct_contact_system* system, const ct_contact_kept* k, double* x, double* X) {
    const int rank = ct_secant_rank(&system->secant), n = 3 * k->count;
    const double *U = system->U, *M = system->secant.M;
    double A[CT_SECANT_RANK][CT_SECANT_RANK], way[CT_SECANT_RANK], along[1 + CT_SECANT_RANK][CT_SECANT_RANK];
    for (int l = 0; l < rank; l++) {
        for (int c = 0; c < k->count; c++)
            for (int i = 0; i < 3; i++) {
                const double* D = k->D + 9 * c + 3 * i;
                const double* u = U + 3 * (size_t)c * (size_t)rank + l;
                k->a[3 * c + i] = D[0] * u[0] + D[1] * u[rank] + D[2] * u[2 * rank];
            }
        ct_friction_apply(system->friction, k->a, X + (size_t)l * (size_t)n);
    }
    memset(along, 0, sizeof along);
    for (int l = 0; l <= rank; l++) {
        const double* column = l < rank ? X + (size_t)l * (size_t)n : x;
        for (int i = 0; i < n; i++)
            for (int m = 0; m < rank; m++) along[l][m] += U[(size_t)i * (size_t)rank + (size_t)m] * column[i];
    }
    for (int l = 0; l < rank; l++) {
        way[l] = 0;
        for (int m = 0; m < rank; m++) way[l] += M[l * rank + m] * along[rank][m];
        for (int j = 0; j < rank; j++) {
            A[l][j] = l == j;
            for (int m = 0; m < rank; m++) A[l][j] += M[l * rank + m] * along[j][m];
        }
    }
    if (!solve_small(rank, A, way)) return false;
    for (int l = 0; l < rank; l++)
        for (int i = 0; i < n; i++) x[i] -= way[l] * X[(size_t)l * (size_t)n + (size_t)i];
    return true;
}

// u += (W + U M U^T) dF
static void move(ct_contact_system* system, int count, const double* dF, double* u) {
    const int rank = ct_secant_rank(&system->secant), n = 3 * count;
    const double *U = system->U, *M = system->secant.M;
    double along[CT_SECANT_RANK] = {0}, way[CT_SECANT_RANK] = {0};
    ct_friction_nodes_add(system->linear.nodes, count, dF, u);
    for (int i = 0; i < n; i++)
        for (int m = 0; m < rank; m++) along[m] += U[(size_t)i * (size_t)rank + (size_t)m] * dF[i];
    for (int l = 0; l < rank; l++)
        for (int m = 0; m < rank; m++) way[l] += M[l * rank + m] * along[m];
    for (int i = 0; i < n; i++)
        for (int m = 0; m < rank; m++) u[i] += U[(size_t)i * (size_t)rank + (size_t)m] * way[m];
}

// The set that force and motion tell; a force that slips is put on its cone. True: it is another set.
static bool judge(const ct_contact_kept* k, int c, ct_contact_slip* slip, double* F, const double* u) {
    const double* n = k->normal + 3 * c;
    const unsigned char before = k->set[c];
    double y[3], across[3];
    const double along = find_slip(k, c, F, u, y), force = dot3(n, F), limit = k->mu[c] * along;
    if (!(along > 0)) k->set[c] = CT_CONTACT_SET_OPEN;
    else if (sqrt(dot3(y, y)) > (1 + slack) * limit) k->set[c] = CT_CONTACT_SET_SLIP;
    else k->set[c] = CT_CONTACT_SET_STICK;
    if (k->set[c] == CT_CONTACT_SET_SLIP) set_slip(limit, y, slip);
    if (k->set[c] != before) return true;
    if (k->set[c] == CT_CONTACT_SET_OPEN) F[0] = F[1] = F[2] = 0;
    if (k->set[c] != CT_CONTACT_SET_SLIP) return false;
    for (int i = 0; i < 3; i++) across[i] = F[i] - force * n[i];
    const double size = sqrt(dot3(across, across));
    for (int i = 0; i < 3; i++) F[i] = force * n[i] + (size > 0 ? k->mu[c] * force / size * across[i] : 0);
    return false;
}

// One linear system with the sets at hand, from F and u and to them. *switched: some sets did not hold.
// *possible: it has a solution.
static ct_status attempt(const ct_model* model, ct_work* work, const ct_contact_kept* k, double* F, double* u,
                         bool* switched, bool* possible) {
    ct_contact_system* system = work->contact_system;
    const int n = 3 * k->count;
    double *x = u + n, *X = x + n;
    bool stick = true;
    *possible = false;
    for (int c = 0; c < k->count; c++) {
        fill_rows(k, c, &system->slip[c], F + 3 * c, u + 3 * c);
        stick = stick && k->set[c] == CT_CONTACT_SET_STICK;
    }
    bool fits;
    const ct_status status = factor(model, work, k, &fits);
    if (status != CT_OK || !fits) return status;
    ct_friction_apply(system->friction, k->a, x);
    if (ct_secant_rank(&system->secant) && !add_secant(system, k, x, X)) return CT_OK;
    *possible = true;
    // what sticks altogether does not move
    if (stick) memset(u, 0, (size_t)n * sizeof(double));
    else move(system, k->count, x, u);
    for (int i = 0; i < n; i++) F[i] += x[i];
    *switched = false;
    for (int c = 0; c < k->count; c++)
        if (judge(k, c, &system->slip[c], F + 3 * c, u + 3 * c)) *switched = true;
    return CT_OK;
}

ct_status ct_contact_kept_solve(const ct_model* model, ct_work* work, const ct_contact_kept* k, bool* holds) {
    ct_contact_system* system = work->contact_system;
    const size_t bytes = 3 * (size_t)k->count * sizeof(double);
    *holds = false;
    if (!reserve(system, (size_t)k->count)) return CT_OUT_OF_MEMORY;
    for (int c = 0; c < k->count; c++) begin_touch(k, c, &system->slip[c]);
    double *F = system->columns, *u = F + 3 * k->count;
    memcpy(F, k->F, bytes);
    memcpy(u, k->b, bytes);
    bool switched = true, possible = true;
    ct_status status = CT_OK;
    for (int i = 0; i < ATTEMPTS && switched && possible && status == CT_OK; i++)
        status = attempt(model, work, k, F, u, &switched, &possible);
    *holds = status == CT_OK && possible && !switched;
    if (*holds) memcpy(k->F, F, bytes);
    return status;
}
