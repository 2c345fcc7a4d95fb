// Pairs of a (sub-)step, and the report; see contact_pairs.h.
#include "contact/contact_pairs.h"

#include <math.h>
#include <string.h>

#include "contact/detect_data.h"

// of the strongest contact force: nearer than this, a contact may switch
static const double edge = 1e-6;
// of the way from thickness to core: pairs that end twice as deep have met
static const double slack = 0.35;
// of the smallest room between thickness and core: motions that are shorter change nothing in what is near
static const double still = 0.1;
// of the margin, which is a fiftieth of an edge: motions that are longer may lead to where bodies are crushed
static const double far = 100;
// of a primitive's parameters: how far feet of pairs that are kept may lie outside
static const double beside = 0.02;

// how much of a way into a plane counts as violent: what is behind a plane is never in doubt
static const double plain = 0.6;

// ---- from the start ------------------------------------------------------------------------

// Marks the nodes of pairs that come closer than their core on the way to where the velocities lead: what is
// near there may lie behind what they meet.
static void mark_meeting(ct_contact_work* contact) {
    memset(contact->uses, 0, (size_t)contact->nvert * sizeof *contact->uses);
    contact->meets = false;
    for (size_t i = 0; i < contact->hits.count; i++) {
        const ct_pair* hit = &contact->hits.item[i];
        if (hit->type == CT_CONTACT_TYPE_PLANE || hit->time == 1) continue;
        contact->meets = true;
        for (int k = 0; k < (hit->type == CT_CONTACT_TYPE_EDGE_EDGE ? 4 : 1); k++)
            contact->uses[hit->node[k]] = 1;
    }
}

// How far a pair comes towards one another over the whole way to where the velocities lead, m.
static double approach_of(ct_contact_work* contact, const ct_pair* hit) {
    bool plane = hit->type == CT_CONTACT_TYPE_PLANE;
    const ct_obstacle_motion* motion = plane ? &contact->motion[hit->b] : NULL;
    ct_held_frame frame;
    double sum = 0;
    ct_held_hold(hit, motion, contact->x_start, contact->x_hat, hit->time, &frame);
    for (int k = 0; k < 3 * frame.count; k++) {
        int i = 3 * hit->node[k / 3] + k % 3;
        sum -= frame.w[k / 3] * frame.n[k % 3] * (contact->x_hat[i] - contact->x_start[i]);
    }
    for (int a = 0; plane && a < 3; a++)
        sum += frame.n[a] * (motion->origin_end[a] - motion->origin_start[a]);
    return sum;
}

static void measure_violence(ct_contact_work* contact) {
    contact->violence = 0;
    for (size_t i = 0; i < contact->hits.count; i++) {
        const ct_pair* hit = &contact->hits.item[i];
        double size = fmin(contact->extent[hit->a], contact->extent[hit->b]),
               part = hit->type == CT_CONTACT_TYPE_PLANE ? plain : 1;
        contact->violence = fmax(contact->violence, part * approach_of(contact, hit) / size);
    }
}

// What the frame of a pair at a time of the motion to x_end says of where the step begins: its gap there, in
// terms of the room between thickness and core.
static double gap_before(const ct_contact_work* contact, const ct_pair* pair, const double* x_end,
                         double time) {
    ct_held_frame frame;
    double gap = -pair->thickness;
    ct_held_hold(pair, NULL, contact->x_start, x_end, time, &frame);
    for (int k = 0; k < 3 * frame.count; k++)
        gap += frame.w[k / 3] * frame.n[k % 3] * contact->x_start[3 * pair->node[k / 3] + k % 3];
    return gap / (pair->thickness - pair->core);
}

// Whether a pair that is near where the velocities lead lies behind what they meet on the way: its point
// meets something, or all nodes of two edges do; or some do, and the step would begin on the wrong side of
// it.
static bool is_behind(const ct_contact_work* contact, const ct_pair* pair) {
    const int *node = pair->node, *uses = contact->uses;
    if (pair->type == CT_CONTACT_TYPE_PLANE) return false;
    if (pair->type != CT_CONTACT_TYPE_EDGE_EDGE && uses[node[0]] & 1) return true;
    int all = 1, any = 0;
    for (int k = 0; k < 4 && node[k] >= 0; k++) all &= uses[node[k]], any |= uses[node[k]];
    if (pair->type == CT_CONTACT_TYPE_EDGE_EDGE && all & 1) return true;
    return any & 1 && gap_before(contact, pair, contact->x_hat, 1) < -2 * slack;
}

// The normal does not depend on where the point is.
static bool is_flat(const ct_pair* pair) {
    return pair->type == CT_CONTACT_TYPE_VERTEX_FACE || pair->type == CT_CONTACT_TYPE_PLANE ||
           pair->type == CT_CONTACT_TYPE_EDGE_EDGE;
}

// Where the frame of a pair that carried force in the step before is taken: false: it has come apart.
static bool is_kept(const ct_contact_work* contact, const ct_pair* pair, double time) {
    const double* x = time > 0 ? contact->x_hat : contact->x_start;
    ct_held_frame frame;
    if (ct_held_hold(pair, NULL, contact->x_start, contact->x_hat, time, &frame) > beside) return false;
    double distance = 0;
    for (int k = 0; k < 3 * frame.count; k++)
        distance += frame.w[k / 3] * frame.n[k % 3] * x[3 * pair->node[k / 3] + k % 3];
    return distance > 0 && distance < pair->thickness + contact->margin;
}

static bool is_point(const ct_pair* pair) {
    return pair->type != CT_CONTACT_TYPE_EDGE_EDGE && pair->type != CT_CONTACT_TYPE_PLANE;
}

// Marks points that touch something: a face beside the one before says the same.
static void mark_points(ct_contact_work* contact) {
    for (size_t i = 0; i < contact->count; i++)
        if (is_point(&contact->touch[i].is.pair)) contact->uses[contact->touch[i].is.pair.node[0]] |= 2;
}

// Pairs that carried force go on, whatever the rules of detection say of them now.
static ct_status keep_pairs(const ct_collision* collision, ct_contact_work* contact) {
    ct_pairs* kept = &contact->near;
    for (int pass = 0; pass < 2; pass++) {
        double time = pass ? 0 : 1;
        kept->count = 0;
        mark_points(contact);
        for (int i = 0; i < contact->past.count; i++) {
            const ct_anchor* anchor = &contact->past.item[i];
            ct_pair pair;
            if (anchor->plane >= 0) continue;  // planes have no such rules
            if (anchor->type != CT_CONTACT_TYPE_EDGE_EDGE && contact->uses[anchor->node[0]] & 2) continue;
            ct_detect_pair(collision, contact->detect, contact->x_start, (ct_contact_type)anchor->type,
                           anchor->node, &pair);
            if (ct_contact_frames(contact, &pair) || (pass ? !is_flat(&pair) : is_behind(contact, &pair)))
                continue;
            if (is_kept(contact, &pair, time) && !ct_pairs_add(kept, &pair)) return CT_OUT_OF_MEMORY;
        }
        ct_status status = ct_contact_add(collision, contact, kept, time);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

// The farthest that a coordinate goes on the way to where the velocities lead.
static double longest_way(const ct_collision* collision, const ct_contact_work* contact) {
    double most = 0;
    for (int i = 0; i < collision->nnode; i++)
        for (int j = 3 * collision->node[i], end = j + 3; j < end; j++)
            most = fmax(most, fabs(contact->x_hat[j] - contact->x_start[j]));
    return most;
}

ct_status ct_contact_find(const ct_collision* collision, ct_contact_work* contact, double end) {
    const double *x = contact->x_start, *ahead = contact->x_hat;
    double way = longest_way(collision, contact);
    ct_status status =
        ct_detect_gather(collision, contact->detect, x, ahead, contact->margin, contact->margin);
    contact->hits.count = 0;
    if (status == CT_OK && way > still * contact->room)
        status = ct_detect_hits(collision, contact->detect, x, ahead, end, slack, &contact->hits);
    if (status == CT_OK)
        status = ct_detect_near(collision, contact->detect, ahead, end, contact->margin, &contact->near);
    if (status != CT_OK) return status;
    mark_meeting(contact);
    measure_violence(contact);
    contact->meets = contact->meets && way > far * contact->margin;
    ct_pairs* near = &contact->near;
    size_t kept = 0;
    for (size_t i = 0; i < near->count; i++)
        if (!is_behind(contact, &near->item[i])) near->item[kept++] = near->item[i];
    near->count = kept;
    status = ct_contact_add(collision, contact, near, 1);
    if (status == CT_OK && way > still * contact->room)
        status = ct_detect_near(collision, contact->detect, x, end, contact->margin, near);
    if (status != CT_OK) return status;
    kept = 0;
    for (size_t i = 0; i < near->count; i++)
        if (is_flat(&near->item[i])) near->item[kept++] = near->item[i];
    near->count = kept;
    status = ct_contact_add(collision, contact, near, 0);
    return status == CT_OK ? keep_pairs(collision, contact) : status;
}

// ---- on the way ----------------------------------------------------------------------------

// Whether a pair that meets on the way to x has begun on the wrong side of itself, or ends behind a face that
// encloses something: it has passed through something else.
static bool comes_from_behind(const ct_contact_work* contact, const ct_pair* hit, const double* x) {
    if (hit->type == CT_CONTACT_TYPE_PLANE) return false;
    if (hit->type == CT_CONTACT_TYPE_VERTEX_FACE && hit->sign < 0 && contact->detect->closed[hit->b])
        return true;
    return gap_before(contact, hit, x, hit->time) < -2 * slack;
}

enum { RANKS = 3 };

// Faces come first, then edges, then points: where the first keep things apart, the others are not needed.
// A node against the axis of a capsule or the centre of a sphere is as one against a face. Last come pairs
// that meet from behind, having passed through something else.
static int rank_of(const ct_collision* collision, const ct_contact_work* contact, const ct_pair* pair,
                   const double* x) {
    int rank = 2;
    if (collision->collider[pair->b].radius > 0) rank = is_point(pair) ? 0 : 1;
    else if (pair->type == CT_CONTACT_TYPE_PLANE || pair->type == CT_CONTACT_TYPE_VERTEX_FACE) rank = 0;
    else if (pair->type == CT_CONTACT_TYPE_EDGE_EDGE) rank = 1;
    return comes_from_behind(contact, pair, x) ? rank + RANKS : rank;
}

// A pair that begins within its core, because their distance has still to grow, and ends on its side above
// it.
static bool has_parted(const ct_contact_work* contact, const ct_pair* hit, const double* x) {
    if (hit->type == CT_CONTACT_TYPE_PLANE || hit->time != 0) return false;
    ct_contact_geometry at;
    ct_contact_geometry_at(hit, NULL, contact->x_start, x, false, &at);
    return at.gap > -2 * slack * (hit->thickness - hit->core);
}

ct_status ct_contact_certify(const ct_collision* collision, ct_contact_work* contact, const double* x,
                             double end, bool* added, bool* stuck) {
    *added = *stuck = false;
    ct_status status =
        ct_detect_hits(collision, contact->detect, contact->x_start, x, end, slack, &contact->hits);
    int first = 2 * RANKS;
    for (size_t i = 0; status == CT_OK && i < contact->hits.count; i++) {
        const ct_pair* hit = &contact->hits.item[i];
        if (ct_contact_frames(contact, hit)) continue;
        int rank = rank_of(collision, contact, hit, x);
        if (rank < first) first = rank;
    }
    for (size_t i = 0; status == CT_OK && i < contact->hits.count; i++) {
        const ct_pair* hit = &contact->hits.item[i];
        int frames = ct_contact_frames(contact, hit);
        bool one_more = false;
        if (frames ? hit->type == CT_CONTACT_TYPE_PLANE || has_parted(contact, hit, x)
                   : rank_of(collision, contact, hit, x) > first)
            continue;
        status = ct_contact_cut(collision, contact, hit, x, &one_more);
        if (one_more) *added = true;
        else *stuck = true;
    }
    return status;
}

// ---- report --------------------------------------------------------------------------------

static ct_contact describe(const ct_touch* touch, const double* x) {
    const ct_pair* pair = &touch->is.pair;
    ct_contact out = {.type = pair->type,
                      .set = touch->is.set,
                      .a = pair->a,
                      .b = pair->b,
                      .gap = touch->gap,
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
        report->penetration = fmax(report->penetration, -(touch->gap + touch->is.pair.thickness));
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
