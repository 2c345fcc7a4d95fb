// Thin sheets in a model: their elements, masses and share of the matrix's pattern.
//
// Plane stress, with thickness t:  mu = t E / (2 (1 + nu)),  lambda = t E nu / (1 - nu^2)   (N/m)
// Bending rigidity, with the factors b, p along the direction, q across it, s of twist:
//     D = b D0 [p, nu sqrt(p q), 0; nu sqrt(p q), q, 0; 0, 0, s (1 - nu)/2],   D0 = E t^3 / (12 (1 - nu^2))
//     (N m)

#include <math.h>

#include "model/model.h"

typedef struct sheet_values {
    ct_arena arena;
    double *mu, *lambda, *rigidity, *bending, *natural, *beta;
} sheet_values;

// D without the factor b: D_11 D_22 D_12 D_33.
static void plate_of(const ct_material* m, double D[4]) {
    const double E = m->young, nu = m->poisson, t = m->thickness, D0 = E * t * t * t / (12 * (1 - nu * nu));
    D[0] = m->bending_warp * D0;
    D[1] = m->bending_weft * D0;
    D[2] = nu * sqrt(m->bending_warp * m->bending_weft) * D0;
    D[3] = m->bending_shear * 0.5 * (1 - nu) * D0;
}

// Triangles on one link have no stretch; those that cannot bend are found by ct_sheet_create.
static ct_status collect(const ct_model* model, sheet_values* values) {
    const size_t ntri = (size_t)model->ntri;
    double** arrays[] = {&values->mu,      &values->lambda,  &values->beta,
                         &values->bending, &values->natural, &values->rigidity};
    const size_t width[] = {1, 1, 1, 1, 3, 4};
    for (int i = 0; i < 6; i++) *arrays[i] = ct_arena_alloc(&values->arena, width[i] * ntri, sizeof(double));
    if (values->arena.failed) return CT_OUT_OF_MEMORY;
    for (size_t t = 0; t < ntri; t++) {
        const ct_material* material = &model->material[(size_t)model->ntet + t];
        double mean;
        ct_material_membrane(material, &values->mu[t], &values->lambda[t], &mean);
        if (ct_model_is_rigid(model, model->ntet + (int)t)) values->mu[t] = values->lambda[t] = 0;
        plate_of(material, values->rigidity + 4 * t);
        values->bending[t] = material->bending;
        values->natural[3 * t] = material->curvature_warp;
        values->natural[3 * t + 1] = material->curvature_weft;
        values->natural[3 * t + 2] = 2 * material->curvature_twist;
        values->beta[t] = material->damping_stiffness;
    }
    return CT_OK;
}

static ct_sheet_parameters parameters_of(const sheet_values* values) {
    return (ct_sheet_parameters){.mu = values->mu,
                                 .lambda = values->lambda,
                                 .rigidity = values->rigidity,
                                 .bending = values->bending,
                                 .natural = values->natural,
                                 .beta = values->beta};
}

// Nodes that are moved by drives, and those of them that hold the slope of the sheet's edge.
static ct_status find_driven(const ct_model* model, ct_arena* arena, unsigned char** driven,
                             unsigned char** clamped) {
    *driven = ct_arena_alloc(arena, (size_t)model->nvert, 1);
    *clamped = ct_arena_alloc(arena, (size_t)model->nvert, 1);
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; k < model->inputs.drive[i].nnode; k++) {
            (*driven)[model->inputs.drive[i].node[k]] = 1;
            if (model->inputs.drive[i].clamp) (*clamped)[model->inputs.drive[i].node[k]] = 1;
        }
    return CT_OK;
}

ct_status ct_model_create_sheets(ct_model* model) {
    if (!model->ntri) return CT_OK;
    sheet_values values = {0};
    const size_t ntri = (size_t)model->ntri;
    unsigned char *energy = ct_arena_alloc(&values.arena, ntri, 1), *driven, *clamped;
    double* grain = ct_arena_alloc(&values.arena, 3 * ntri, sizeof(double));
    ct_status status = collect(model, &values);
    if (status == CT_OK) status = find_driven(model, &values.arena, &driven, &clamped);
    for (size_t t = 0; status == CT_OK && t < ntri; t++) {
        energy[t] = (unsigned char)model->material[(size_t)model->ntet + t].energy;
        for (size_t i = 0; i < 3; i++)
            grain[3 * t + i] = model->material[(size_t)model->ntet + t].direction[i];
    }
    if (status == CT_OK) {
        const ct_sheet_def def = {.nvert = model->nvert,
                                  .ntri = model->ntri,
                                  .first = model->ntet,
                                  .rest = model->geometry.rest,
                                  .tri = model->geometry.tri,
                                  .energy = energy,
                                  .grain = grain,
                                  .parameters = parameters_of(&values),
                                  .link = model->tree.node_link,
                                  .driven = driven,
                                  .clamped = clamped};
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
    const ct_sheet_parameters parameters = parameters_of(&values);
    if (status == CT_OK) ct_sheet_set_parameters(model->families.of[CT_FAMILY_SHEETS], &parameters);
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

// D_bar: by the four numbers of D, times b.
static void plate_vjp(const ct_material* m, int e, const double* D_bar, const ct_sums* sums) {
    double* const* of = sums->of;
    const double nu = m->poisson, b = m->bending, p = m->bending_warp, q = m->bending_weft,
                 square = 1 - nu * nu;
    double D[4], sum = 0;
    plate_of(m, D);
    const double D0 = D[0] / p;
    for (int i = 0; i < 4; i++) sum += D[i] * D_bar[i];
    ct_sums_add(sums, CT_QUANTITY_BENDING, e, sum);
    ct_sums_add(sums, CT_QUANTITY_YOUNG, e, b * sum / m->young);
    ct_sums_add(sums, CT_QUANTITY_THICKNESS, e, 3 * b * sum / m->thickness);
    ct_sums_add(sums, CT_QUANTITY_BENDING_WARP, e, b * (D0 * D_bar[0] + 0.5 * D[2] / p * D_bar[2]));
    ct_sums_add(sums, CT_QUANTITY_BENDING_WEFT, e, b * (D0 * D_bar[1] + 0.5 * D[2] / q * D_bar[2]));
    ct_sums_add(sums, CT_QUANTITY_BENDING_SHEAR, e, b * 0.5 * (1 - nu) * D0 * D_bar[3]);
    if (of[CT_QUANTITY_POISSON])
        of[CT_QUANTITY_POISSON][e] +=
            b * (2 * nu / square * sum + D0 * (sqrt(p * q) * D_bar[2] - 0.5 * m->bending_shear * D_bar[3]));
}

static void triangle_vjp(const ct_model* model, int k, const ct_sums* sums) {
    double* const* of = sums->of;
    const int e = model->ntet + k;
    const ct_material* m = &model->material[e];
    const double E = m->young, nu = m->poisson, t = m->thickness, s = 1 + nu, q = 1 - nu * nu;
    double mu, lambda, D;
    ct_material_membrane(m, &mu, &lambda, &D);
    const double mu_bar = of[CT_SUM_MU] ? of[CT_SUM_MU][e] : 0,
                 lambda_bar = of[CT_SUM_LAMBDA] ? of[CT_SUM_LAMBDA][e] : 0;
    double mass = 0, drag = 0, volume = 0, third = ct_sheet_area(model->families.of[CT_FAMILY_SHEETS])[k] / 3;
    for (int a = 0; a < 3; a++) {
        if (of[CT_SUM_MASS]) mass += third * of[CT_SUM_MASS][model->geometry.tri[3 * k + a]];
        if (of[CT_SUM_VOLUME] && is_wet(model, k))
            volume += third * of[CT_SUM_VOLUME][model->geometry.tri[3 * k + a]];
        if (of[CT_SUM_DRAG]) drag += third * of[CT_SUM_DRAG][model->geometry.tri[3 * k + a]];
    }
    if (of[CT_QUANTITY_YOUNG]) of[CT_QUANTITY_YOUNG][e] = (mu * mu_bar + lambda * lambda_bar) / E;
    if (of[CT_QUANTITY_POISSON])
        of[CT_QUANTITY_POISSON][e] = -mu / s * mu_bar + t * E * (1 + nu * nu) / (q * q) * lambda_bar;
    if (of[CT_QUANTITY_THICKNESS])
        of[CT_QUANTITY_THICKNESS][e] =
            (mu * mu_bar + lambda * lambda_bar) / t + m->density * (mass + m->damping_mass * drag) + volume;
    if (of[CT_QUANTITY_DENSITY]) of[CT_QUANTITY_DENSITY][e] = t * (mass + m->damping_mass * drag);
    if (of[CT_QUANTITY_DAMPING_MASS]) of[CT_QUANTITY_DAMPING_MASS][e] = t * m->density * drag;
    if (of[CT_QUANTITY_DAMPING_STIFFNESS]) of[CT_QUANTITY_DAMPING_STIFFNESS][e] = of[CT_SUM_BETA][e];
    if (of[CT_SUM_RIGIDITY]) plate_vjp(m, e, of[CT_SUM_RIGIDITY] + 4 * (size_t)k, sums);
    for (int i = 0; of[CT_SUM_NATURAL] && i < 3; i++)
        ct_sums_add(sums, CT_QUANTITY_CURVATURE_WARP + i, e, (i < 2 ? 1 : 2) * of[CT_SUM_NATURAL][3 * k + i]);
}

void ct_model_sheets_vjp(const ct_model* model, const ct_sums* sums) {
    for (int k = 0; k < model->ntri; k++) triangle_vjp(model, k, sums);
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
