// A page that follows a simulation: a trajectory of one frame says what there is, then states become
// messages.
//
// A message: time and step (f64), then as f32 the shown nodes (x y z of each), the fields, poses of links and
// obstacles, eyelets, cavities, muscles, cells, curves, and at the end the contacts that carry force.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "out/page_frame.h"
#include "out/page_header.h"

struct ct_page {
    ct_page_content content;
    ct_trajectory* file;
    ct_arena arena;
    ct_page_frame_values frame;
    ct_page_bytes start, message;
};

// A trajectory with the first state, in a file that is gone as soon as it is open.
static ct_status open_first(ct_page* page, const ct_scene* scene, const ct_model* model, ct_error* error) {
    const char* place = getenv("TMPDIR");
    char directory[512], path[560];
    ct_state* state = NULL;
    ct_trajectory* file = NULL;
    snprintf(directory, sizeof directory, "%s/cuttle-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(directory)) return ct_fail_at(error, CT_IO, directory, 0, "the directory cannot be made");
    snprintf(path, sizeof path, "%s/first.h5", directory);
    ct_status status = ct_state_create(&state, model, error);
    if (!status) status = ct_trajectory_create(&file, scene, model, path, error);
    if (!status) status = ct_trajectory_append(file, model, state, NULL, error);
    ct_status closed = ct_trajectory_close(file, status ? NULL : error);
    if (!status) status = closed;
    if (!status) status = ct_trajectory_open(&page->file, path, error);
    ct_state_free(state);
    unlink(path);
    rmdir(directory);
    return status;
}

ct_status ct_page_create(ct_page** out, const ct_scene* scene, const ct_model* model, const ct_page_def* def,
                         ct_error* error) {
    CT_NEED(error, out, model, def);
    ct_error_clear(error);
    *out = NULL;
    ct_page* page = ct_alloc(1, sizeof *page);
    if (!page) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_page_def mine = *def;
    mine.scene = scene;
    ct_status status = open_first(page, scene, model, error);
    if (!status) status = ct_page_content_create(&page->content, page->file, &mine, model, error);
    if (!status) {
        ct_page_arrays arrays = {0};
        ct_page_frame_create(&page->frame, &page->arena, &page->content);
        ct_page_arrays_share(&arrays, &page->content);
        json_t* header = ct_page_header(&page->content, def->title, NULL, NULL, 0);
        if (header) ct_page_pack(header, &arrays, &page->start);
        if (!header || page->start.failed || page->arena.failed)
            status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
        ct_page_arrays_free(&arrays);
    }
    if (status) return ct_page_free(page), status;
    *out = page;
    return CT_OK;
}

void ct_page_free(ct_page* page) {
    if (!page) return;
    ct_page_content_free(&page->content);
    ct_trajectory_close(page->file, NULL);
    ct_arena_free(&page->arena);
    ct_page_bytes_free(&page->start);
    ct_page_bytes_free(&page->message);
    ct_free(page);
}

ct_status ct_page_start(ct_page* page, const uint8_t** bytes, size_t* size, ct_error* error) {
    CT_NEED(error, page, bytes, size);
    *bytes = page->start.data;
    *size = page->start.size;
    return CT_OK;
}

int ct_page_node(const ct_page* page, int shown) {
    return shown >= 0 && shown < page->content.nnode ? page->content.node[shown] : -1;
}

static void pack_frame(ct_page_bytes* out, const ct_page_content* c, const ct_page_frame_values* f) {
    const ct_trajectory_info* info = &c->file->info;
    const double head[2] = {f->time, (double)f->step};
    ct_page_bytes_add(out, head, sizeof head);
    for (int i = 0; i < c->nnode; i++) ct_page_bytes_add_floats(out, f->x + 3 * (size_t)c->node[i], 3);
    for (int k = 0; k < c->nfield; k++)
        for (int i = 0; i < c->nnode; i++) ct_page_bytes_add_floats(out, f->field[k] + c->node[i], 1);
    ct_page_bytes_add_floats(out, f->poses, 12 * (size_t)info->nlink);
    ct_page_bytes_add_floats(out, f->obstacles, 6 * (size_t)info->nobstacle);
    ct_page_bytes_add_floats(out, f->cables, 4 * (size_t)info->neyelet);
    ct_page_bytes_add_floats(out, f->cavities, 2 * (size_t)info->ncavity);
    ct_page_bytes_add_floats(out, f->ends, 6 * (size_t)c->nsegment);
    ct_page_bytes_add_floats(out, f->activation, (size_t)c->nsegment);
    ct_page_bytes_add_floats(out, f->chambers, (size_t)c->nchamber);
    ct_page_bytes_add_floats(out, f->curves, (size_t)c->ncurve);
    for (int i = 0; i < f->ncontact; i++) {
        double numbers[CT_PAGE_CONTACT];
        if (ct_page_frame_contact(&f->contact[i], numbers))
            ct_page_bytes_add_floats(out, numbers, CT_PAGE_CONTACT);
    }
}

ct_status ct_page_frame(ct_page* page, const ct_state* state, const ct_step_report* report,
                        const double* control, const uint8_t** bytes, size_t* size, ct_error* error) {
    CT_NEED(error, page, state, bytes, size);
    ct_error_clear(error);
    ct_arena scratch = {0};
    ct_status status =
        ct_page_frame_take(&page->frame, &page->content, state, report, control, &scratch, error);
    page->message.size = 0;
    page->message.failed = false;
    if (!status) pack_frame(&page->message, &page->content, &page->frame);
    ct_arena_free(&scratch);
    if (!status && page->message.failed) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    *bytes = page->message.data;
    *size = page->message.size;
    return status;
}
