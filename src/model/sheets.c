// Thin sheets in a model: their elements, masses and share of the matrix's pattern.
//
// Plane stress, with thickness t:  mu = t E / (2 (1 + nu)),  lambda = t E nu / (1 - nu^2)   (N/m)
// Bending rigidity:                D = bending E t^3 / (12 (1 - nu^2))                      (N m)

#include "model/model.h"

typedef struct sheet_values {
    ct_arena arena;
    double *mu, *lambda, *rigidity, *beta;
} sheet_values;

// Triangles on one link have no stretch; hinges between them are left out by ct_sheet_create.
static ct_status collect(const ct_model* model, sheet_values* values) {
    size_t ntri = (size_t)model->ntri;
    values->mu = ct_arena_alloc(&values->arena, ntri, sizeof(double));
    values->lambda = ct_arena_alloc(&values->arena, ntri, sizeof(double));
    values->rigidity = ct_arena_alloc(&values->arena, ntri, sizeof(double));
    values->beta = ct_arena_alloc(&values->arena, ntri, sizeof(double));
    if (values->arena.failed) return CT_OUT_OF_MEMORY;
    for (int t = 0; t < model->ntri; t++) {
        const ct_material* material = &model->material[model->ntet + t];
        ct_material_membrane(material, &values->mu[t], &values->lambda[t], &values->rigidity[t]);
        if (ct_model_is_rigid(model, model->ntet + t)) values->mu[t] = values->lambda[t] = 0;
        values->beta[t] = material->damping_stiffness;
    }
    return CT_OK;
}

ct_status ct_model_create_sheets(ct_model* model) {
    if (!model->ntri) return CT_OK;
    sheet_values values = {0};
    ct_status status = collect(model, &values);
    unsigned char* energy = ct_arena_alloc(&values.arena, (size_t)model->ntri, 1);
    if (!energy) status = CT_OUT_OF_MEMORY;
    for (int t = 0; status == CT_OK && t < model->ntri; t++)
        energy[t] = (unsigned char)model->material[model->ntet + t].energy;
    if (status == CT_OK) {
        const ct_sheet_def def = {.nvert = model->nvert,
                                  .ntri = model->ntri,
                                  .first = model->ntet,
                                  .rest = model->geometry.rest,
                                  .tri = model->geometry.tri,
                                  .energy = energy,
                                  .mu = values.mu,
                                  .lambda = values.lambda,
                                  .rigidity = values.rigidity,
                                  .beta = values.beta,
                                  .link = model->tree.node_link};
        ct_sheet* sheet;
        status = ct_sheet_create(&sheet, &def);
        model->families.of[CT_FAMILY_SHEETS] = sheet;
    }
    ct_arena_free(&values.arena);
    return status;
}

ct_status ct_model_set_sheets(ct_model* model) {
    if (!model->ntri) return CT_OK;
    sheet_values values = {0};
    ct_status status = collect(model, &values);
    if (status == CT_OK)
        ct_sheet_set_parameters(model->families.of[CT_FAMILY_SHEETS], values.mu, values.lambda,
                                values.rigidity, values.beta);
    ct_arena_free(&values.arena);
    return status;
}

static bool is_wet(const ct_model* model, int t) {
    return model->water.enabled && model->water.wet[model->geometry.tri_body[t]];
}

// A third of the water that each wet triangle displaces to each of its nodes.
static void displace(ct_model* model) {
    double* volume = model->water.volume;
    for (int i = 0; i < 3 * model->ntri; i++)
        if (is_wet(model, i / 3)) volume[model->geometry.tri[i]] = 0;
    for (int i = 0; i < 3 * model->ntri; i++)
        if (is_wet(model, i / 3))
            volume[model->geometry.tri[i]] += ct_sheet_area(model->families.of[CT_FAMILY_SHEETS])[i / 3] *
                                              model->material[model->ntet + i / 3].thickness / 3;
}

// A third of each triangle's mass to each of its nodes.
void ct_model_lump_sheets(ct_model* model) {
    displace(model);
    for (int t = 0; t < model->ntri; t++) {
        const ct_material* material = &model->material[model->ntet + t];
        const double area = ct_sheet_area(model->families.of[CT_FAMILY_SHEETS])[t],
                     third = area * material->thickness * material->density / 3;
        double mu, lambda, rigidity;
        ct_material_membrane(material, &mu, &lambda, &rigidity);
        model->total_mass += 3 * third;
        model->system.energy_roundoff += 10 * 2.2e-16 * area * mu;
        for (int a = 0; a < 3; a++) {
            model->mass[model->geometry.tri[3 * t + a]] += third;
            model->drag[model->geometry.tri[3 * t + a]] += third * material->damping_mass;
        }
    }
}

void ct_model_sheets_vjp(const ct_model* model, const ct_sums* sums) {
    double* const* of = sums->of;
    for (int k = 0; k < model->ntri; k++) {
        int e = model->ntet + k;
        const ct_material* m = &model->material[e];
        double E = m->young, nu = m->poisson, t = m->thickness, s = 1 + nu, q = 1 - nu * nu, mu, lambda, D;
        ct_material_membrane(m, &mu, &lambda, &D);
        double mu_bar = of[CT_SUM_MU] ? of[CT_SUM_MU][e] : 0;
        double lambda_bar = of[CT_SUM_LAMBDA] ? of[CT_SUM_LAMBDA][e] : 0;
        double D_bar = of[CT_SUM_RIGIDITY] ? of[CT_SUM_RIGIDITY][k] : 0;
        double mass = 0, drag = 0, volume = 0,
               third = ct_sheet_area(model->families.of[CT_FAMILY_SHEETS])[k] / 3;
        for (int a = 0; a < 3; a++) {
            if (of[CT_SUM_MASS]) mass += third * of[CT_SUM_MASS][model->geometry.tri[3 * k + a]];
            if (of[CT_SUM_VOLUME] && is_wet(model, k))
                volume += third * of[CT_SUM_VOLUME][model->geometry.tri[3 * k + a]];
            if (of[CT_SUM_DRAG]) drag += third * of[CT_SUM_DRAG][model->geometry.tri[3 * k + a]];
        }
        if (of[CT_QUANTITY_YOUNG])
            of[CT_QUANTITY_YOUNG][e] = (mu * mu_bar + lambda * lambda_bar + D * D_bar) / E;
        if (of[CT_QUANTITY_POISSON])
            of[CT_QUANTITY_POISSON][e] =
                -mu / s * mu_bar + t * E * (1 + nu * nu) / (q * q) * lambda_bar + 2 * nu / q * D * D_bar;
        if (of[CT_QUANTITY_THICKNESS])
            of[CT_QUANTITY_THICKNESS][e] = (mu * mu_bar + lambda * lambda_bar + 3 * D * D_bar) / t +
                                           m->density * (mass + m->damping_mass * drag) + volume;
        if (of[CT_QUANTITY_BENDING]) of[CT_QUANTITY_BENDING][e] = E * t * t * t / (12 * q) * D_bar;
        if (of[CT_QUANTITY_DENSITY]) of[CT_QUANTITY_DENSITY][e] = t * (mass + m->damping_mass * drag);
        if (of[CT_QUANTITY_DAMPING_MASS]) of[CT_QUANTITY_DAMPING_MASS][e] = t * m->density * drag;
        if (of[CT_QUANTITY_DAMPING_STIFFNESS]) of[CT_QUANTITY_DAMPING_STIFFNESS][e] = of[CT_SUM_BETA][e];
    }
}

int* ct_model_couplings(const ct_model* model, const int* row, int* count, int* width) {
    int nhinge = 0;
    const int* hinge = model->families.of[CT_FAMILY_SHEETS]
                           ? ct_sheet_hinges(model->families.of[CT_FAMILY_SHEETS], &nhinge)
                           : NULL;
    *count = model->nelement + nhinge;
    *width = model->geometry.mid ? CT_CELL_NODES : 4;
    const size_t size = (size_t)*count * (size_t)*width;
    int *nodes = ct_alloc(size, sizeof(int)), *at = nodes;
    if (!nodes) return NULL;
    for (size_t i = 0; i < size; i++) nodes[i] = -1;
    for (int t = 0; t < model->ntet; t++, at += *width) {
        int node[CT_CELL_NODES];
        const int n = ct_model_tet_nodes(model, t, node);
        for (int k = 0; k < n; k++) at[k] = row[node[k]];
    }
    for (int t = 0; t < model->ntri; t++, at += *width)
        for (int k = 0; k < 3; k++) at[k] = row[model->geometry.tri[3 * t + k]];
    for (int i = 0; i < nhinge; i++, at += *width)
        for (int k = 0; k < 4; k++) at[k] = row[hinge[4 * i + k]];
    return nodes;
}
