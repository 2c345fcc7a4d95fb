// One frame of a page; see page_frame.h.
#include "out/page_frame.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "model/model.h"
#include "out/skin.h"

void ct_page_frame_create(ct_page_frame_values* f, ct_arena* arena, const ct_page_content* c) {
    const ct_trajectory_info* info = &c->file->info;
    const size_t nvert = (size_t)info->nvert, d = sizeof(double);
    *f = (ct_page_frame_values){0};
    f->x = ct_arena_alloc(arena, 3 * nvert, d);
    f->v = ct_arena_alloc(arena, 3 * nvert, d);
    for (int k = 0; k < c->nfield; k++) f->field[k] = ct_arena_alloc(arena, nvert, d);
    f->poses = ct_arena_alloc(arena, 12 * (size_t)info->nlink, d);
    f->obstacles = ct_arena_alloc(arena, 6 * (size_t)info->nobstacle, d);
    f->cables = ct_arena_alloc(arena, 4 * (size_t)info->neyelet, d);
    f->cavities = ct_arena_alloc(arena, 2 * (size_t)info->ncavity, d);
    f->ends = ct_arena_alloc(arena, 6 * (size_t)c->nsegment, d);
    f->activation = ct_arena_alloc(arena, (size_t)c->nsegment, d);
    f->curves = ct_arena_alloc(arena, (size_t)c->ncurve, d);
    f->chambers = ct_arena_alloc(arena, (size_t)c->nchamber, d);
    if (c->ncurve) f->vector = ct_arena_alloc(arena, ct_model_state_first(c->model, CT_STATE_PARTS), d);
}

bool ct_page_frame_contact(const ct_contact* contact, double out[CT_PAGE_CONTACT]) {
    if (contact->set == CT_CONTACT_SET_OPEN) return false;
    memcpy(out, contact->position, 3 * sizeof *out);
    memcpy(out + 3, contact->force, 3 * sizeof *out);
    out[6] = contact->set == CT_CONTACT_SET_STICK ? 1 : 2;
    return true;
}

// Along the stretched fibre F m, averaged as the middle is.
static void place_segment(const ct_page_segment* s, const ct_trajectory* file, const double* x,
                          double out[6]) {
    double middle[3] = {0}, along[3] = {0};
    for (int e = 0; e < s->ntet; e++) {
        const int* tet = file->tet + 4 * (size_t)s->tet[e];
        const double *X[4], *Y[4];
        for (int k = 0; k < 4; k++) X[k] = file->rest + 3 * (size_t)tet[k], Y[k] = x + 3 * (size_t)tet[k];
        double D[3][3], c[3][3], det;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) D[k][a] = X[k + 1][a] - X[0][a];
        // m = sum_k b_k D_k with b_k = (D_i x D_j) . m / det
        for (int k = 0; k < 3; k++) {
            const double *p = D[(k + 1) % 3], *q = D[(k + 2) % 3];
            for (int a = 0; a < 3; a++)
                c[k][a] = p[(a + 1) % 3] * q[(a + 2) % 3] - p[(a + 2) % 3] * q[(a + 1) % 3];
        }
        det = c[0][0] * D[0][0] + c[0][1] * D[0][1] + c[0][2] * D[0][2];
        if (det == 0) continue;
        for (int k = 0; k < 3; k++) {
            const double* m = s->fibre + 3 * e;
            double b = (c[k][0] * m[0] + c[k][1] * m[1] + c[k][2] * m[2]) / det;
            for (int a = 0; a < 3; a++) along[a] += s->share[e] * b * (Y[k + 1][a] - Y[0][a]);
        }
        for (int a = 0; a < 3; a++) middle[a] += 0.25 * s->share[e] * (Y[0][a] + Y[1][a] + Y[2][a] + Y[3][a]);
    }
    for (int a = 0; a < 3; a++) {
        out[a] = middle[a] - s->half * along[a];
        out[3 + a] = middle[a] + s->half * along[a];
    }
}

// activation: of the elements, NULL: none; actuation: the numbers themselves where they are at hand.
static void set_actors(ct_page_frame_values* f, const ct_page_content* c, const double* activation,
                       const double* actuation) {
    for (int k = 0; k < c->nsegment; k++) {
        const ct_page_segment* s = &c->segment[k];
        place_segment(s, c->file, f->x, f->ends + 6 * k);
        f->activation[k] = 0;
        if (actuation) f->activation[k] = fabs(actuation[s->number]);
        else if (activation && s->witness_weight > 0)
            f->activation[k] = fabs(activation[s->witness] / s->witness_weight);
    }
    for (int k = 0; k < c->nchamber; k++) f->chambers[k] = activation ? activation[c->chamber_tet[k]] : 0;
}

static ct_status read_fields(ct_page_frame_values* f, const ct_page_content* c, int index, ct_error* error) {
    const double* values;
    int count;
    bool per_tet;
    ct_status status = CT_OK;
    for (int k = 0; k < c->nfield && !status; k++)
        status = ct_skin_values(c->file, index, c->field[k]->name, f->field[k], error);
    if (status || !c->file->info.activation) return set_actors(f, c, NULL, NULL), status;
    status = ct_trajectory_read_field(c->file, index, "activation", &values, &count, &per_tet, error);
    if (!status) set_actors(f, c, values, NULL);
    return status;
}

// The state of the frame, as far as measures ask.
static void measure(ct_page_frame_values* f, const ct_page_content* c, const double* coordinates) {
    const size_t n = 3 * (size_t)c->file->info.nvert * sizeof(double);
    if (ct_state_get_vector(c->model, c->state, f->vector)) return;
    memcpy(f->vector + ct_model_state_first(c->model, CT_STATE_POSITION), f->x, n);
    memcpy(f->vector + ct_model_state_first(c->model, CT_STATE_VELOCITY), f->v, n);
    if (coordinates)
        memcpy(f->vector + ct_model_state_first(c->model, CT_STATE_COORDINATE), coordinates,
               (size_t)c->file->info.ncoordinate * sizeof(double));
    if (!ct_state_set_vector(c->model, c->state, f->vector))
        ct_page_measure(c, c->state, f->time, f->step, NULL, f->curves);
}

ct_status ct_page_frame_read(ct_page_frame_values* f, const ct_page_content* c, int index, ct_error* error) {
    ct_trajectory* file = c->file;
    const ct_trajectory_info* info = &file->info;
    const double *cables = NULL, *cavities = NULL, *coordinates = NULL, *poses = NULL;
    ct_frame_record record;
    ct_status status = ct_trajectory_read_into(file, index, f->x, f->v, &f->time, &record, error);
    if (!status) status = ct_trajectory_read_obstacles_into(file, index, f->obstacles, error);
    if (!status) status = ct_trajectory_read_cables(file, index, &cables, error);
    if (!status) status = ct_trajectory_read_cavities(file, index, &cavities, error);
    if (!status) status = ct_trajectory_read_links(file, index, &coordinates, &poses, error);
    if (!status) status = read_fields(f, c, index, error);
    if (!status) status = ct_trajectory_read_contacts(file, index, &f->contact, &f->ncontact, error);
    if (status) return status;
    f->step = record.step;
    if (info->nlink) memcpy(f->poses, poses, 12 * (size_t)info->nlink * sizeof(double));
    if (info->neyelet) memcpy(f->cables, cables, 4 * (size_t)info->neyelet * sizeof(double));
    if (info->ncavity) memcpy(f->cavities, cavities, 2 * (size_t)info->ncavity * sizeof(double));
    if (c->ncurve) measure(f, c, info->nlink ? coordinates : NULL);
    return CT_OK;
}

static const double* sample_field(const ct_trajectory_sample* s, const ct_trajectory_field* field,
                                  bool* per_element) {
    *per_element = true;
    switch (field->array) {
    case CT_ARRAY_STRESS: return s->stress;
    case CT_ARRAY_ENERGY: return s->energy;
    case CT_ARRAY_VOLUME: return s->volume;
    case CT_ARRAY_ACTIVATION: return s->activation;
    default: *per_element = false; return field->array == CT_ARRAY_VELOCITY ? s->v : s->contact_force;
    }
}

ct_status ct_page_frame_take(ct_page_frame_values* f, const ct_page_content* c, const ct_state* state,
                             const ct_step_report* report, const double* control, ct_arena* scratch,
                             ct_error* error) {
    const ct_trajectory_info* info = &c->file->info;
    ct_trajectory_sample s;
    ct_status status = ct_trajectory_gather(c->file, c->model, state, report, scratch, &s);
    if (status) return ct_fail(error, status, "%s", ct_status_text(status));
    f->time = s.time;
    f->step = s.step;
    memcpy(f->x, s.x, 3 * (size_t)info->nvert * sizeof(double));
    for (int k = 0; k < c->nfield && !status; k++) {
        bool per_element;
        const double* values = sample_field(&s, c->field[k], &per_element);
        status = ct_skin_node_values(c->file, values, per_element, f->field[k]);
    }
    if (status) return ct_fail(error, status, "%s", ct_status_text(status));
    if (info->nlink) memcpy(f->poses, s.poses, 12 * (size_t)info->nlink * sizeof(double));
    if (info->nobstacle) memcpy(f->obstacles, s.obstacle_poses, 6 * (size_t)info->nobstacle * sizeof(double));
    if (info->neyelet) memcpy(f->cables, s.cables, 4 * (size_t)info->neyelet * sizeof(double));
    if (info->ncavity) memcpy(f->cavities, s.cavities, 2 * (size_t)info->ncavity * sizeof(double));
    set_actors(f, c, info->activation ? s.activation : NULL, ct_state_actuation(state));
    f->contact = s.contact;
    f->ncontact = s.ncontact;
    ct_page_measure(c, state, s.time, s.step, control, f->curves);
    return CT_OK;
}
