// The contacts of a rollout; see contact_log.h.
#include "step/contact_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ct_contact_log_clear(ct_contact_log* log) {
    log->count = log->steps = 0;
    log->signature = 14695981039346656037u;  // FNV-1a
}

void ct_contact_log_free(ct_contact_log* log) {
    ct_free(log->item);
    ct_free(log->substeps);
    *log = (ct_contact_log){0};
}

// ---- filling -------------------------------------------------------------------------------

static int compare_numbers(const int* a, const int* b, int count) {
    for (int i = 0; i < count; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

// By sub-step, then by what the contact is between.
static int compare_places(const void* p, const void* q) {
    const ct_logged *a = p, *b = q;
    const int left[] = {a->step,    a->substep, a->type,    a->plane, a->node[0],
                        a->node[1], a->node[2], a->node[3], a->cut};
    const int right[] = {b->step,    b->substep, b->type,    b->plane, b->node[0],
                         b->node[1], b->node[2], b->node[3], b->cut};
    return compare_numbers(left, right, 9);
}

static void mix(ct_contact_log* log, int value) {
    log->signature = (log->signature ^ (uint64_t)(unsigned)value) * 1099511628211u;
}

static void mix_contact(ct_contact_log* log, const ct_logged* item) {
    const int words[] = {item->substep, item->type,    item->plane, item->node[0], item->node[1],
                         item->node[2], item->node[3], item->cut,   item->set,     item->frame};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) mix(log, words[i]);
}

// Where the frame was taken, and how stiff the contact was, as one number.
static int frame_of(const ct_touch_record* touch) {
    int place = touch->kind == CT_HELD_AT ? (int)(2 * touch->time) : 2 + (int)touch->kind;
    return 8 * (int)touch->stiffer + place + (touch->eps > 0 ? 1 << 20 : 0);
}

ct_status ct_contact_log_add(ct_contact_log* log, int step, const ct_record* record) {
    if (!log->keep) log->count = log->steps = 0;
    size_t first = log->count;
    if (!ct_reserve((void**)&log->item, &log->capacity, first + record->ntouch, sizeof *log->item) ||
        !ct_reserve((void**)&log->substeps, &log->steps_capacity, log->steps + 1, sizeof *log->substeps))
        return CT_OUT_OF_MEMORY;
    for (size_t k = 0; k < record->count; k++) {
        const ct_substep* substep = &record->step[k];
        for (size_t i = substep->first_touch; i < substep->first_touch + substep->ntouch; i++) {
            const ct_touch_record* touch = &record->touch[i];
            ct_logged* item = &log->item[log->count++];
            *item = (ct_logged){.step = step,
                                .substep = (int)k,
                                .type = (int)touch->pair.type,
                                .plane = touch->pair.plane,
                                .a = touch->pair.a,
                                .b = touch->pair.b,
                                .set = (int)touch->set,
                                .cut = touch->cut,
                                .frame = frame_of(touch)};
            memcpy(item->node, touch->pair.node, sizeof item->node);
        }
    }
    log->substeps[log->steps++] = (int)record->count;
    if (log->count > first) qsort(log->item + first, log->count - first, sizeof *log->item, compare_places);
    for (size_t k = 0; k < record->count; k++) mix(log, record->step[k].depth);
    for (size_t i = first; i < log->count; i++) mix_contact(log, &log->item[i]);
    return CT_OK;
}

// ---- comparing -----------------------------------------------------------------------------

typedef struct comparison {
    ct_contact_switch* list;
    int room, count;
} comparison;

// before, after: NULL where the contact carries no force.
static void part(comparison* c, const ct_logged* before, const ct_logged* after) {
    const ct_logged* item = before ? before : after;
    if (c->count++ >= c->room) return;
    ct_contact_switch* out = &c->list[c->count - 1];
    *out = (ct_contact_switch){.step = item->step,
                               .type = (ct_contact_type)item->type,
                               .a = item->a,
                               .b = item->b,
                               .from = before ? (ct_contact_set)before->set : CT_CONTACT_SET_OPEN,
                               .to = after ? (ct_contact_set)after->set : CT_CONTACT_SET_OPEN};
    memcpy(out->node, item->node, sizeof out->node);
}

static size_t end_of_step(const ct_contact_log* log, size_t from, int step) {
    while (from < log->count && log->item[from].step == step) from++;
    return from;
}

static void compare_step(comparison* c, const ct_contact_log* log, size_t i, size_t i_end,
                         const ct_contact_log* other, size_t j, size_t j_end) {
    while (i < i_end || j < j_end) {
        int order = i == i_end ? 1 : j == j_end ? -1 : compare_places(&log->item[i], &other->item[j]);
        const ct_logged *before = order <= 0 ? &log->item[i++] : NULL,
                        *after = order >= 0 ? &other->item[j++] : NULL;
        if (order != 0 || before->set != after->set || before->frame != after->frame) part(c, before, after);
    }
}

int ct_contact_log_compare(const ct_contact_log* log, const ct_contact_log* other, ct_contact_switch* list,
                           int room, int* halved) {
    comparison c = {.list = list, .room = room};
    size_t i = 0, j = 0;
    *halved = -1;
    for (size_t s = 0; s < log->steps && s < other->steps; s++) {
        size_t i_end = end_of_step(log, i, (int)s), j_end = end_of_step(other, j, (int)s);
        if (log->substeps[s] == other->substeps[s]) compare_step(&c, log, i, i_end, other, j, j_end);
        else if (*halved < 0) *halved = (int)s;
        i = i_end, j = j_end;
    }
    return c.count;
}
