// Pairs of a (sub-)step from one solve to the next, and the report; see contact_pairs.h.
//
// A contact may be found late: the motion of the solve differs from that of the predictor. Continuous
// detection along the way to the solution lists every pair that meets and is not known (ct_detect_hits); with
// it all pairs near that way are taken, so that few passes are needed.
#include "contact/contact_pairs.h"

#include <math.h>
#include <string.h>

// of the strongest contact force: nearer than this, a contact may switch
static const double edge = 1e-6;
// of a primitive's parameters: feet of contacts may lie that far outside
static const double outside = 0.02;
// of the way from thickness to core: pairs that end twice as deep have met
static const double slack = 0.1;

ct_status ct_contact_add_near(const ct_collision* collision, ct_contact_work* contact, const double* x,
                              const double* toward, double end, const double* force) {
    ct_status status =
        ct_detect_near(collision, contact->detect, x, toward, end, contact->margin, &contact->near);
    return status == CT_OK ? ct_contact_add(collision, contact, &contact->near, force) : status;
}

static ct_status list_known(ct_contact_work* contact) {
    if (!ct_reserve((void**)&contact->known.item, &contact->known.capacity, contact->count, sizeof(ct_pair)))
        return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < contact->count; i++) contact->known.item[i] = contact->touch[i].is.pair;
    contact->known.count = contact->count;
    return CT_OK;
}

// Touches that carry force where their primitives are not: they go. Returns whether there were some.
static bool drop_outside(ct_contact_work* contact) {
    size_t kept = 0;
    for (size_t i = 0; i < contact->count; i++) {
        if (contact->touch[i].is.set != CT_CONTACT_SET_OPEN &&
            ct_touch_overshoot(&contact->touch[i]) > outside)
            continue;
        if (kept != i) contact->touch[kept] = contact->touch[i];
        kept++;
    }
    bool dropped = kept < contact->count;
    contact->count = kept;
    return dropped;
}

ct_status ct_contact_look_again(const ct_collision* collision, ct_contact_work* contact,
                                const double* x_start, const double* x, double end, bool* again) {
    ct_contact_classify(contact);
    ct_status status = list_known(contact);
    if (status == CT_OK)
        status = ct_detect_hits(collision, contact->detect, x_start, x, end, slack, &contact->known,
                                &contact->hits);
    if (status != CT_OK) return status;
    bool dropped = drop_outside(contact);
    size_t before = contact->count;
    *again = dropped || contact->hits.count;
    if (contact->hits.count) status = ct_contact_add_near(collision, contact, x_start, x, end, NULL);
    if (status == CT_OK && dropped) status = ct_contact_add_near(collision, contact, x, x, end, NULL);
    if (status == CT_OK && *again && contact->count == before)
        status = ct_contact_add(collision, contact, &contact->hits, NULL);
    return status;
}

// ---- report --------------------------------------------------------------------------------

static ct_contact describe(const ct_touch* touch, const double* x) {
    const ct_pair* pair = &touch->is.pair;
    ct_contact out = {.type = pair->type,
                      .set = touch->is.set,
                      .a = pair->a,
                      .b = pair->b,
                      .gap = touch->at.gap,
                      .friction = pair->friction};
    memcpy(out.node, pair->node, sizeof out.node);
    memcpy(out.normal, touch->at.n, sizeof out.normal);
    memcpy(out.force, touch->is.force, sizeof out.force);
    for (int k = 0; k < (pair->type == CT_CONTACT_TYPE_EDGE_EDGE ? 2 : 1); k++)
        for (int a = 0; a < 3; a++) out.position[a] += touch->at.w[k] * x[3 * pair->node[k] + a];
    return out;
}

ct_status ct_contact_report(ct_contact_work* contact, const double* x, ct_step_report* report) {
    if (!ct_reserve((void**)&contact->list, &contact->list_capacity, contact->count, sizeof(ct_contact)))
        return CT_OUT_OF_MEMORY;
    double strongest = 0, margin = INFINITY;
    report->ncontact = report->sticking = report->slipping = 0;
    report->penetration = 0;
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        const double* F = touch->is.force;
        strongest = fmax(strongest, sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]));
        margin = fmin(margin, ct_touch_margin(touch));
        if (ct_touch_overshoot(touch) <= 0)
            report->penetration = fmax(report->penetration, -(touch->at.gap + touch->is.pair.thickness));
        if (touch->is.set == CT_CONTACT_SET_OPEN) continue;
        report->sticking += touch->is.set == CT_CONTACT_SET_STICK;
        report->slipping += touch->is.set == CT_CONTACT_SET_SLIP;
        contact->list[report->ncontact++] = describe(touch, x);
    }
    report->contacts = report->ncontact;
    report->contact = contact->list;
    report->smooth = margin > edge * strongest;
    return CT_OK;
}
