// Pages: the data of a motion, the shell that shows it, and the file of both; see cuttle/page.h.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "out/page_frame.h"
#include "out/page_header.h"
#include "out/page_shell.h"
#include "out/picture.h"

ct_page_def ct_page_def_default(void) { return (ct_page_def){.stride = 1}; }

// ---- frames ----

// Arrays of what moves, in the order in which a live frame has them.
typedef struct moving {
    ct_page_bytes *time, *step, *x[2], *ends[2], *field[CT_PAGE_FIELDS];
    ct_page_bytes *poses, *obstacles, *cables, *cavities, *activation, *chambers, *curves, *contact_count,
        *contact;
} moving;

static moving add_moving(ct_page_arrays* arrays, int nfield) {
    static const char* const name[CT_PAGE_FIELDS] = {"field0", "field1", "field2", "field3",
                                                     "field4", "field5", "field6", "field7"};
    moving m = {.time = ct_page_arrays_add(arrays, "time", "f64", "")};
    m.step = ct_page_arrays_add(arrays, "step", "f64", "");
    m.x[0] = ct_page_arrays_add(arrays, "x_low", "u8", "low");
    m.x[1] = ct_page_arrays_add(arrays, "x_high", "u8", "high");
    m.ends[0] = ct_page_arrays_add(arrays, "ends_low", "u8", "low");
    m.ends[1] = ct_page_arrays_add(arrays, "ends_high", "u8", "high");
    for (int k = 0; k < nfield; k++) m.field[k] = ct_page_arrays_add(arrays, name[k], "u8", "values");
    m.poses = ct_page_arrays_add(arrays, "poses", "f32", "");
    m.obstacles = ct_page_arrays_add(arrays, "obstacles", "f32", "");
    m.cables = ct_page_arrays_add(arrays, "cables", "f32", "");
    m.cavities = ct_page_arrays_add(arrays, "cavities", "f32", "");
    m.activation = ct_page_arrays_add(arrays, "activation", "u8", "values");
    m.chambers = ct_page_arrays_add(arrays, "chambers", "f32", "");
    m.curves = ct_page_arrays_add(arrays, "curves", "f32", "");
    m.contact_count = ct_page_arrays_add(arrays, "contact_count", "i32", "");
    m.contact = ct_page_arrays_add(arrays, "contact", "f32", "");
    return m;
}

static int frame_count(const ct_trajectory* file, int stride) {
    int last = file->info.nframe - 1;
    return 1 + (last + stride - 1) / stride;
}

static int frame_index(const ct_trajectory* file, int stride, int k) {
    int last = file->info.nframe - 1;
    return k * stride < last ? k * stride : last;
}

// First pass: how far everything reaches.
static ct_status find_ranges(const ct_page_content* c, ct_page_frame_values* f, int stride,
                             ct_page_range* range, double* scale, ct_error* error) {
    const size_t n = (size_t)c->nnode;
    ct_status status = CT_OK;
    for (int k = 0; k < 3 + c->nfield; k++) range[k] = (ct_page_range){INFINITY, -INFINITY};
    for (int k = 0; k < frame_count(c->file, stride) && !status; k++) {
        status = ct_page_frame_read(f, c, frame_index(c->file, stride, k), error);
        if (status) break;
        ct_page_range_points(range, f->x, c->node, n);
        ct_page_range_points(range, f->ends, NULL, 2 * (size_t)c->nsegment);
        for (int i = 0; i < c->nfield; i++) ct_page_range_values(&range[3 + i], f->field[i], c->node, n);
    }
    for (int k = 0; k < 3 + c->nfield; k++)
        if (!(range[k].low <= range[k].high)) range[k] = (ct_page_range){0, 0};
    for (int i = 0; i < c->nfield && !status; i++) {
        ct_picture_def look = ct_picture_def_default();
        look.color_by = c->field[i]->name;
        status = ct_picture_range(c->file, &look, &scale[2 * i], &scale[2 * i + 1], error);
    }
    return status;
}

static void add_contacts(const moving* m, const ct_page_frame_values* f) {
    int32_t count = 0;
    for (int i = 0; i < f->ncontact; i++) {
        double numbers[CT_PAGE_CONTACT];
        if (!ct_page_frame_contact(&f->contact[i], numbers)) continue;
        ct_page_bytes_add_floats(m->contact, numbers, CT_PAGE_CONTACT);
        count++;
    }
    ct_page_bytes_add(m->contact_count, &count, sizeof count);
}

static void add_plain(const moving* m, const ct_page_content* c, const ct_page_frame_values* f) {
    const ct_trajectory_info* info = &c->file->info;
    ct_page_bytes_add_floats(m->poses, f->poses, 12 * (size_t)info->nlink);
    ct_page_bytes_add_floats(m->obstacles, f->obstacles, 6 * (size_t)info->nobstacle);
    ct_page_bytes_add_floats(m->cables, f->cables, 4 * (size_t)info->neyelet);
    ct_page_bytes_add_floats(m->cavities, f->cavities, 2 * (size_t)info->ncavity);
    ct_page_bytes_add_floats(m->chambers, f->chambers, (size_t)c->nchamber);
    ct_page_bytes_add_floats(m->curves, f->curves, (size_t)c->ncurve);
}

// Second pass: all frames into the arrays.
static ct_status add_frames(const ct_page_content* c, ct_page_frame_values* f, ct_arena* arena, int stride,
                            const ct_page_range* range, const moving* m, ct_error* error) {
    ct_page_coder points, ends, activation, coder[CT_PAGE_FIELDS];
    ct_status status = CT_OK;
    ct_page_coder_create(&points, arena, 3 * (size_t)c->nnode, CT_PAGE_POINT_LEVELS);
    ct_page_coder_create(&ends, arena, 6 * (size_t)c->nsegment, CT_PAGE_END_LEVELS);
    ct_page_coder_create(&activation, arena, (size_t)c->nsegment, CT_PAGE_LEVELS);
    for (int k = 0; k < c->nfield; k++)
        ct_page_coder_create(&coder[k], arena, (size_t)c->nnode, CT_PAGE_LEVELS);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int k = 0; k < frame_count(c->file, stride) && !status; k++) {
        status = ct_page_frame_read(f, c, frame_index(c->file, stride, k), error);
        if (status) break;
        double step = (double)f->step;
        ct_page_bytes_add(m->time, &f->time, sizeof f->time);
        ct_page_bytes_add(m->step, &step, sizeof step);
        ct_page_code_points(&points, m->x[0], m->x[1], range, f->x, c->node);
        ct_page_code_points(&ends, m->ends[0], m->ends[1], range, f->ends, NULL);
        for (int i = 0; i < c->nfield; i++)
            ct_page_code_values(&coder[i], m->field[i], &range[3 + i], ct_page_field_power(c->field[i]),
                                f->field[i], c->node);
        ct_page_code_values(&activation, m->activation, &(ct_page_range){0, 1}, 1, f->activation, NULL);
        add_plain(m, c, f);
        add_contacts(m, f);
    }
    return status;
}

static ct_status pack_motion(const ct_page_content* c, const ct_page_def* def, ct_page_bytes* out,
                             ct_error* error) {
    ct_arena arena = {0};
    ct_page_arrays arrays = {0};
    ct_page_frame_values frame;
    ct_page_range range[3 + CT_PAGE_FIELDS];
    double scale[2 * CT_PAGE_FIELDS];
    ct_page_frame_create(&frame, &arena, c);
    ct_status status = arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
    if (!status) status = find_ranges(c, &frame, def->stride, range, scale, error);
    if (!status) {
        ct_page_arrays_share(&arrays, c);
        moving m = add_moving(&arrays, c->nfield);
        status = add_frames(c, &frame, &arena, def->stride, range, &m, error);
    }
    if (!status) {
        json_t* header = ct_page_header(c, def->title, range, scale, frame_count(c->file, def->stride));
        if (header) ct_page_pack(header, &arrays, out);
        if (!header || out->failed) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    }
    ct_page_arrays_free(&arrays);
    ct_arena_free(&arena);
    return status;
}

ct_status ct_page_data(ct_trajectory* file, const ct_page_def* def, uint8_t** bytes, size_t* size,
                       ct_error* error) {
    CT_NEED(error, file, def, bytes, size);
    ct_error_clear(error);
    *bytes = NULL;
    *size = 0;
    if (def->stride < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "stride is %d: it must be at least 1", def->stride);
    ct_page_bytes out = {0};
    ct_page_content content;
    ct_status status = ct_page_content_create(&content, file, def, NULL, error);
    if (!status) status = pack_motion(&content, def, &out, error);
    ct_page_content_free(&content);
    if (status) ct_page_bytes_free(&out);
    *bytes = out.data;
    *size = out.size;
    return status;
}

// ---- the page ----

static const char mark[] = "<!--DATA-->";

static size_t shell_size(void) {
    const char *begin = ct_page_shell, *end = ct_page_shell_end;
    return (size_t)(end - begin);
}

bool ct_page_available(void) { return shell_size() > 0; }

static ct_status need_viewer(ct_error* error) {
    if (ct_page_available()) return CT_OK;
    return ct_fail(
        error, CT_BAD_ARGUMENT,
        "this build of Cuttle has no viewer: install npm (Debian: apt-get install npm), and configure "
        "and build again");
}

// The page's two halves, around the mark.
static void find_halves(size_t* before, const char** after, size_t* rest) {
    const char *shell = ct_page_shell, *at = memmem(shell, shell_size(), mark, sizeof mark - 1);
    *before = at ? (size_t)(at - shell) : 0;
    *after = at ? at + sizeof mark - 1 : shell;
    *rest = shell_size() - (size_t)(*after - shell);
}

ct_status ct_page_text(const char* data, char** text, size_t* size, ct_error* error) {
    CT_NEED(error, data, text, size);
    ct_error_clear(error);
    const char* after;
    size_t before, rest;
    ct_status status = need_viewer(error);
    if (status) return status;
    find_halves(&before, &after, &rest);
    ct_page_bytes out = {0};
    ct_page_bytes_add(&out, ct_page_shell, before);
    ct_page_bytes_add(&out, data, strlen(data));
    ct_page_bytes_add(&out, after, rest);
    *size = out.size;
    ct_page_bytes_add(&out, "", 1);
    if (out.failed) return ct_page_bytes_free(&out), ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    *text = (char*)out.data;
    return CT_OK;
}

static ct_status write_page(const char* path, const ct_page_bytes* out, ct_error* error) {
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    bool good = fwrite(out->data, 1, out->size, stream) == out->size;
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}

ct_status ct_page_write(ct_trajectory* const* files, int count, const ct_page_def* def, const char* path,
                        ct_error* error) {
    static const char open[] = "<script type=\"application/cuttle\">", close[] = "</script>\n";
    CT_NEED(error, files, def, path);
    ct_error_clear(error);
    if (count < 1 || count > 2)
        return ct_fail(error, CT_BAD_ARGUMENT, "a page shows one motion or two, not %d", count);
    ct_status status = need_viewer(error);
    const char* after;
    size_t before, rest;
    ct_page_bytes out = {0};
    find_halves(&before, &after, &rest);
    ct_page_bytes_add(&out, ct_page_shell, before);
    for (int k = 0; k < count && !status; k++) {
        ct_page_bytes data = {0};
        ct_page_def one = *def;
        if (k) one.title = NULL, one.scene = NULL;
        status = ct_page_data(files[k], &one, &data.data, &data.size, error);
        ct_page_bytes_add(&out, open, sizeof open - 1);
        ct_page_bytes_base64(&data, &out);
        ct_page_bytes_add(&out, close, sizeof close - 1);
        ct_page_bytes_free(&data);
    }
    ct_page_bytes_add(&out, after, rest);
    if (!status && out.failed) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) status = write_page(path, &out, error);
    ct_page_bytes_free(&out);
    return status;
}
