// L-BFGS (Nocedal 1980; Liu and Nocedal 1989) with bounds by projection and a line search that wants a
// decrease only:
//
//   d = -H g by the two-loop recursion over the last PAIRS pairs s, z (changes of y and of g), H0 = gamma I
//   y <- y + t d,  L(y + t d) <= L + DECREASE t g.d,  t from 1 down by interpolation
//
// gamma = s.z / z.z is the inverse of the largest curvature that the last pair has seen. A loss that is a sum
// of few squares, down to a known floor, says more: where it is one square, L - floor = k d^2 / 2, the whole
// way is gamma' = 2 (L - floor) / |g|^2 along -g. Such losses have few curvatures of very different size, and
// gamma' follows the one at work, so gamma is raised to gamma' up to a factor `trust`, which shrinks whenever
// a step turns out too long and so ends at the plain method where there is no such floor.
//
// Components on a bound that the gradient would push further out are held: the recursion leaves them out, of
// its pairs too. Where the bounds cut d, the chord clamp(y + d) - y takes its place, so that steps of any
// length t are within them.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vecn.h"
#include "optim/search.h"

enum { PAIRS = 10 };
#define DECREASE 1e-4
#define FIRST_STEP 3.0  // largest change of a component of size 1 by the first step
#define BLIND_STEP 0.3  // the same where the loss says nothing of the way
#define TRUST 100.0
#define SHORTEST 1e-14  // of t

typedef struct lbfgs {
    ct_search* search;
    double *y, *g, *d, *y_new, *g_new;  // size
    bool* held;                         // size
    double *s[PAIRS], *z[PAIRS];
    // of the components that are not held; rho 0: the pair says nothing of them
    double rho[PAIRS], alpha[PAIRS];
    double loss, trust;
    int count;  // pairs so far; pair k is in slot k % PAIRS
} lbfgs;

// ---- direction -----------------------------------------------------------------------------

// d = g, and 0 where it is held
static void begin_direction(lbfgs* m) {
    const ct_search* search = m->search;
    for (int i = 0; i < search->size; i++) {
        m->held[i] =
            (m->y[i] <= search->lower[i] && m->g[i] > 0) || (m->y[i] >= search->upper[i] && m->g[i] < 0);
        m->d[i] = m->held[i] ? 0 : m->g[i];
    }
}

static double free_dot(const lbfgs* m, const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < m->search->size; i++) sum += m->held[i] ? 0 : a[i] * b[i];
    return sum;
}

static double inverse_curvature(const lbfgs* m, const double* s, const double* z) {
    double curvature = free_dot(m, s, z);
    return curvature > 1e-12 * sqrt(free_dot(m, s, s) * free_dot(m, z, z)) ? 1 / curvature : 0;
}

// 2 (L - floor) / |g|^2 over the free components in d; 0 when the loss has no floor that it knows of.
static double whole_way(const lbfgs* m) {
    double floor = isfinite(m->search->def.target) ? m->search->def.target : 0,
           most = ct_vecn_largest(m->d, (size_t)m->search->size), square = 0;
    if (!(m->loss > floor) || floor < 0 || most == 0) return 0;
    for (int i = 0; i < m->search->size; i++) square += m->d[i] / most * (m->d[i] / most);
    return 2 * ((m->loss - floor) / most) / (most * square);
}

// gamma before there are pairs: no component may move too far.
static double first_gamma(const lbfgs* m) {
    double most = ct_vecn_largest(m->d, (size_t)m->search->size),
           unit = fmax(1, ct_vecn_largest(m->y, (size_t)m->search->size)), way = whole_way(m);
    return way > 0 ? fmin(way, FIRST_STEP * unit / most) : BLIND_STEP * unit / most;
}

static double gamma_of(const lbfgs* m, int oldest) {
    for (int k = m->count - 1; k >= oldest; k--) {
        int p = k % PAIRS;
        if (m->rho[p] == 0) continue;
        double gamma = 1 / (m->rho[p] * free_dot(m, m->z[p], m->z[p]));
        return fmax(gamma, fmin(whole_way(m), m->trust * gamma));
    }
    return first_gamma(m);
}

// d = -H d over the components that are not held
static void apply_pairs(lbfgs* m) {
    int n = m->search->size, oldest = m->count > PAIRS ? m->count - PAIRS : 0;
    for (int k = oldest; k < m->count; k++)
        m->rho[k % PAIRS] = inverse_curvature(m, m->s[k % PAIRS], m->z[k % PAIRS]);
    double gamma = gamma_of(m, oldest);
    for (int k = m->count - 1; k >= oldest; k--) {
        int p = k % PAIRS;
        m->alpha[p] = m->rho[p] * free_dot(m, m->s[p], m->d);
        for (int i = 0; i < n; i++) m->d[i] -= m->alpha[p] * m->z[p][i];
    }
    for (int i = 0; i < n; i++) m->d[i] *= gamma;
    for (int k = oldest; k < m->count; k++) {
        int p = k % PAIRS;
        double beta = m->rho[p] * free_dot(m, m->z[p], m->d);
        for (int i = 0; i < n; i++) m->d[i] += (m->alpha[p] - beta) * m->s[p][i];
    }
    for (int i = 0; i < n; i++) m->d[i] = m->held[i] ? 0 : -m->d[i];
}

static double clamp(const ct_search* search, int i, double y) {
    return fmin(fmax(y, search->lower[i]), search->upper[i]);
}

// d = -H g within the bounds. Returns g.d, negative; 0 where the gradient vanishes.
static double choose_direction(lbfgs* m) {
    const ct_search* search = m->search;
    begin_direction(m);
    if (ct_vecn_largest(m->d, (size_t)search->size) == 0) return 0;
    apply_pairs(m);
    for (int i = 0; i < search->size; i++) {
        double end = m->y[i] + m->d[i], inside = clamp(search, i, end);
        if (inside != end) m->d[i] = inside - m->y[i];
    }
    double slope = ct_vecn_dot(m->g, m->d, (size_t)search->size);
    if (slope < 0 || m->count == 0) return slope;
    m->count = 0;  // the bounds have turned it uphill: from the gradient again
    return choose_direction(m);
}

// ---- step ----------------------------------------------------------------------------------

static void keep_pair(lbfgs* m) {
    int n = m->search->size, p = m->count % PAIRS;
    for (int i = 0; i < n; i++) {
        m->s[p][i] = m->y_new[i] - m->y[i];
        m->z[p][i] = m->g_new[i] - m->g[i];
    }
    double curvature = ct_vecn_dot(m->s[p], m->z[p], (size_t)n);
    if (curvature >
        1e-12 * sqrt(ct_vecn_dot(m->s[p], m->s[p], (size_t)n) * ct_vecn_dot(m->z[p], m->z[p], (size_t)n)))
        m->count++;
}

// Goes along d until the loss has decreased; false: it does not, or the search has to end.
static bool go(lbfgs* m, double slope) {
    ct_search* search = m->search;
    for (double t = 1; t > SHORTEST;) {
        bool moved = false;
        for (int i = 0; i < search->size; i++) {
            m->y_new[i] = clamp(search, i, m->y[i] + t * m->d[i]);
            moved |= m->y_new[i] != m->y[i];
        }
        if (!moved) break;
        double loss = ct_search_evaluate(search, m->y_new, m->g_new);
        if (search->stop) return false;
        if (loss <= m->loss + DECREASE * t * slope) {
            keep_pair(m);
            if (t < 1) m->trust = fmax(1, m->trust * t);
            if (m->loss - loss <= search->def.tolerance * fabs(loss))
                search->reason = "the loss changes by less than the tolerance";
            m->loss = loss;
            return true;
        }
        double parabola = -slope * t * t / (2 * (loss - m->loss - slope * t));
        t = fmin(fmax(parabola, 0.1 * t), 0.5 * t);
    }
    search->reason = "round-off allows no further progress";
    return false;
}

static void descend(lbfgs* m) {
    ct_search* search = m->search;
    size_t bytes = (size_t)search->size * sizeof(double);
    m->loss = ct_search_evaluate(search, m->y, m->g);
    while (!search->stop && !search->reason) {
        double slope = choose_direction(m);
        if (slope == 0) {
            search->reason = "a minimum is found";
            return;
        }
        if (!go(m, slope)) return;
        memcpy(m->y, m->y_new, bytes);
        memcpy(m->g, m->g_new, bytes);
    }
}

ct_status ct_search_lbfgs(ct_search* search) {
    size_t n = (size_t)search->size;
    ct_arena arena = {0};
    lbfgs m = {.search = search, .y = ct_arena_copy(&arena, search->y, n, sizeof(double)), .trust = TRUST};
    double** vectors[] = {&m.g, &m.d, &m.y_new, &m.g_new};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        *vectors[k] = ct_arena_alloc(&arena, n, sizeof(double));
    for (int k = 0; k < PAIRS; k++) {
        m.s[k] = ct_arena_alloc(&arena, n, sizeof(double));
        m.z[k] = ct_arena_alloc(&arena, n, sizeof(double));
    }
    m.held = ct_arena_alloc(&arena, n, sizeof(bool));
    ct_status status = arena.failed ? ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
    if (status == CT_OK) descend(&m);
    ct_arena_free(&arena);
    return status;
}
