// An evolutionary algorithm with real genes: tournaments, uniform crossover, Gaussian mutation, elitism.
//
// The first generation are the start and copies of it, each gene changed by spread N(0, 1). Of every next
// one, the first is the best so far; each of the others has two parents, either of which is the better of two
// drawn at random (tournament selection); a gene comes from one or the other with the same chance; and then
// each mutates with chance q, one at least, by deviation N(0, 1), clipped to the bounds.
//
// Far from the minimum wide mutations of all genes help, near to it narrow ones of few. No schedule knows
// when that is, so both are drawn for each child, evenly on a logarithmic scale: q from 1 / n to 1, the
// deviation from spread / NARROWEST to spread.
//
// With a tolerance, the search ends when the best loss has not gained that much in PATIENCE generations.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "optim/search.h"

enum { PATIENCE = 50, LEAST_POPULATION = 20 };
#define NARROWEST 100.0

typedef struct evolution {
    ct_search* search;
    int n, population;
    double *genes, *next;  // population x n
    double *loss, *next_loss;
} evolution;

static double* genes_of(double* all, const evolution* e, int k) { return all + (size_t)k * (size_t)e->n; }

static void change(const evolution* e, double* y, int i, double deviation) {
    const ct_search* search = e->search;
    y[i] =
        fmin(fmax(y[i] + deviation * ct_rng_normal(&e->search->random), search->lower[i]), search->upper[i]);
}

static int win_tournament(const evolution* e) {
    int a = ct_rng_index(&e->search->random, e->population),
        b = ct_rng_index(&e->search->random, e->population);
    return e->loss[b] < e->loss[a] ? b : a;
}

static void breed(evolution* e, double* child) {
    ct_rng* random = &e->search->random;
    const double* mother = genes_of(e->genes, e, win_tournament(e));
    const double* father = genes_of(e->genes, e, win_tournament(e));
    for (int i = 0; i < e->n; i++) child[i] = ct_rng_bits(random) >> 63 ? mother[i] : father[i];

    double chance = pow(e->n, -ct_rng_unit(random)),
           deviation = e->search->def.spread * pow(NARROWEST, -ct_rng_unit(random));
    bool changed = false;
    for (int i = 0; i < e->n; i++) {
        if (ct_rng_unit(random) >= chance) continue;
        change(e, child, i, deviation);
        changed = true;
    }
    if (!changed) change(e, child, ct_rng_index(random, e->n), deviation);
}

static void fill_first(evolution* e) {
    for (int k = 0; k < e->population; k++) {
        double* y = genes_of(e->genes, e, k);
        memcpy(y, e->search->y, (size_t)e->n * sizeof(double));
        for (int i = 0; k > 0 && i < e->n; i++) change(e, y, i, e->search->def.spread);
    }
    ct_search_evaluate_many(e->search, e->population, e->genes, e->loss);
}

static int fittest(const evolution* e) {
    int best = 0;
    for (int k = 1; k < e->population; k++)
        if (e->loss[k] < e->loss[best]) best = k;
    return best;
}

static void advance(evolution* e) {
    int best = fittest(e);
    memcpy(e->next, genes_of(e->genes, e, best), (size_t)e->n * sizeof(double));
    e->next_loss[0] = e->loss[best];
    for (int k = 1; k < e->population; k++) breed(e, genes_of(e->next, e, k));
    ct_search_evaluate_many(e->search, e->population - 1, genes_of(e->next, e, 1), e->next_loss + 1);
    double *genes = e->genes, *loss = e->loss;
    e->genes = e->next, e->loss = e->next_loss;
    e->next = genes, e->next_loss = loss;
}

static void evolve(evolution* e) {
    ct_search* search = e->search;
    fill_first(e);
    double mark = INFINITY;  // the best loss when patience began
    int waited = 0;
    while (!search->stop) {
        double best = e->loss[fittest(e)];
        if (!(mark - best <= search->def.tolerance * fabs(best))) mark = best, waited = 0;
        else waited++;
        if (waited >= PATIENCE && search->def.tolerance > 0) {
            search->reason = "the loss changes by less than the tolerance";
            return;
        }
        advance(e);
    }
}

ct_status ct_search_evolution(ct_search* search) {
    ct_arena arena = {0};
    int population = search->def.population > 0
                         ? search->def.population
                         : (int)fmax(LEAST_POPULATION, 4 + floor(3 * log(search->size)));
    size_t n = (size_t)search->size, count = (size_t)population;
    evolution e = {.search = search,
                   .n = search->size,
                   .population = population,
                   .genes = ct_arena_alloc(&arena, count * n, sizeof(double)),
                   .next = ct_arena_alloc(&arena, count * n, sizeof(double)),
                   .loss = ct_arena_alloc(&arena, count, sizeof(double)),
                   .next_loss = ct_arena_alloc(&arena, count, sizeof(double))};
    ct_status status = arena.failed ? ct_fail(search->error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
    if (status == CT_OK) evolve(&e);
    ct_arena_free(&arena);
    return status;
}
