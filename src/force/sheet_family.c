// Sheets as a family of forces; see family.h.
#include "force/family.h"
#include "force/sheet.h"
#include "force/sheet_data.h"

static void free_sheets(void* self) { ct_sheet_free(self); }
static void free_sheets_work(void* work) { ct_sheet_work_free(work); }

static ct_status create_sheets_work(void** work, const void* self) {
    ct_sheet_work* own;
    ct_status status = ct_sheet_work_create(&own, self);
    *work = own;
    return status;
}

static void begin_sheets(const void* self, void* work, const ct_family_step* step) {
    const ct_rate* r = &step->rate;
    const double* x_nm1 = step->npast ? step->x_nm1 : NULL;
    (step->rated ? ct_sheet_begin_rate : ct_sheet_begin_step)(self, work, r->c, r->a, step->x_n, r->b, x_nm1);
    if (step->npast > 1) ct_sheet_add_past(self, work, r->e, step->x_nm2);
}

static double sheets_gradient(const void* self, void* work, const ct_family_step* step, const double* x,
                              double* f) {
    return ct_sheet_gradient(self, work, x, f);
}

static void linearise_sheets(const void* self, void* work, const ct_family_step* step, const double* x) {
    ct_sheet_linearise(self, work, x, step->foreseen);
}

static void foresee_sheets(const void* self, void* work, const ct_family_step* step, double length,
                           const double* dx) {
    if (dx) ct_sheet_foresee(self, work, length, dx);
    else ct_sheet_foresee_start(self, work, step->x_n);
}

static void sheets_product(const void* self, void* work, const ct_family_step* step, const double* x,
                           const double* dx, double* out) {
    ct_sheet_product(self, work, dx, out);
}

static void assemble_sheets(const void* self, void* work, const ct_family_step* step, const double* x,
                            bool project, const int* unknown, ct_block_matrix* matrix) {
    // projected, it depends on neither rates nor where angles count from
    if (project) ((ct_sheet_work*)work)->c = step->rate.c;
    else begin_sheets(self, work, step);
    ct_sheet_assemble(self, work, x, project, unknown, matrix);
}

static void sheets_laplacian(const void* self, const int* unknown, ct_block_matrix* matrix) {
    ct_sheet_laplacian(self, unknown, matrix);
}

static void sheets_rotations(const void* self, void* work, ct_threads* threads, const double* x,
                             double* rotation) {
    ct_sheet_rotations(self, work, x, rotation);
}

static double sheets_energy(const void* self, const double* x) { return ct_sheet_energy(self, x); }

static void sheets_vjp(const void* self, void* work, const ct_family_step* step, const double* x,
                       const double* lam, const ct_family_bar* bar) {
    const ct_sheet* sheet = self;
    const ct_sheet_bar* d = &((ct_sheet_work*)work)->bar;
    double* const* of = bar->sums->of;
    const struct {
        double *sum, *own;
        int width, first;
    } all[] = {{of[CT_SUM_MU], d->mu, 1, sheet->first},
               {of[CT_SUM_LAMBDA], d->lambda, 1, sheet->first},
               {of[CT_SUM_BETA], d->beta, 1, sheet->first},
               {of[CT_SUM_RIGIDITY], d->rigidity, 4, 0},
               {of[CT_SUM_NATURAL], d->natural, 3, 0}};
    bool wanted = false;
    for (int k = 0; k < 5; k++) wanted = wanted || all[k].sum;
    if (wanted) ct_sheet_parameter_vjp(sheet, work, x, lam, d);
    for (int k = 0; k < 5; k++)
        for (int i = 0; all[k].sum && i < all[k].width * sheet->ntri; i++)
            all[k].sum[all[k].first + i] -= all[k].own[i];
    ct_sheet_history_vjp(sheet, work, x, lam, step->rate.a, step->x_n, bar->x_n, step->rate.b,
                         step->npast ? step->x_nm1 : NULL, bar->x_nm1);
    if (step->npast > 1)
        ct_sheet_history_vjp(sheet, work, x, lam, step->rate.e, step->x_nm2, bar->x_nm2, 0, NULL, NULL);
}

// As for solids: the damping potential has the square of a change.
static void sheets_jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                       const ct_family_dot* dot, double* out) {
    ct_sheet_history_vjp(self, work, step->x_n, dot->x_n, step->rate.a, x, out, 0, NULL, NULL);
    if (step->npast)
        ct_sheet_history_vjp(self, work, step->x_nm1, dot->x_nm1, step->rate.b, x, out, 0, NULL, NULL);
    if (step->npast > 1)
        ct_sheet_history_vjp(self, work, step->x_nm2, dot->x_nm2, step->rate.e, x, out, 0, NULL, NULL);
}

const ct_family ct_sheet_family = {.name = "sheets",
                                   .free = free_sheets,
                                   .create_work = create_sheets_work,
                                   .free_work = free_sheets_work,
                                   .begin = begin_sheets,
                                   .gradient = sheets_gradient,
                                   .linearise = linearise_sheets,
                                   .product = sheets_product,
                                   .foresee = foresee_sheets,
                                   .assemble = assemble_sheets,
                                   .laplacian = sheets_laplacian,
                                   .rotations = sheets_rotations,
                                   .energy = sheets_energy,
                                   .vjp = sheets_vjp,
                                   .jvp = sheets_jvp};
