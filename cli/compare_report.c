// What a comparison found: mean and standard deviation over the starts, beside the paper's; see compare.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

// ---- statistics ----------------------------------------------------------------------------

enum { TIME = -1 };  // of compare_metric: milliseconds of a step

typedef struct spread {
    double mean, deviation;
    int count;  // rows with a number
} spread;

static double value_of(const compare_row* row, int metric) {
    return metric == TIME ? row->milliseconds : row->value[metric];
}

// The starts that are asked for; of rivals that scripts simulate all there are.
static bool counts(const comparison* c, const compare_row* row, int rival) {
    return row->rival == rival && (row->start <= c->options->seeds || c->kind->rival[rival].elsewhere);
}

static spread spread_of(const comparison* c, int rival, int metric) {
    double sum = 0, squares = 0;
    int count = 0;
    for (const compare_row* row = c->row; row < c->row + c->nrow; row++)
        if (counts(c, row, rival) && !isnan(value_of(row, metric))) sum += value_of(row, metric), count++;
    double mean = count ? sum / count : NAN;
    for (const compare_row* row = c->row; row < c->row + c->nrow; row++)
        if (counts(c, row, rival) && !isnan(value_of(row, metric)))
            squares += (value_of(row, metric) - mean) * (value_of(row, metric) - mean);
    return (spread){mean, count > 1 ? sqrt(squares / (count - 1)) : 0, count};
}

static int rows_of(const comparison* c, int rival, bool failed) {
    int count = 0;
    for (const compare_row* row = c->row; row < c->row + c->nrow; row++)
        count += counts(c, row, rival) && (!failed || row->failure[0]);
    return count;
}

// "0.05 ± 0.03", "yes, 12 ± 2 %"
static void spread_text(const comparison* c, int rival, int metric, char* out, size_t size) {
    spread s = spread_of(c, rival, metric);
    const compare_metric* m = metric == TIME ? NULL : &c->kind->metric[metric];
    double scale = m && m->percent ? 100 : 1;
    const char* unit = m && m->percent ? " %" : "";
    char number[80];
    if (s.count == 0) {
        snprintf(out, size, "-");
        return;
    }
    if (fabs(s.mean) < 1e-12) snprintf(number, sizeof number, "0");
    else snprintf(number, sizeof number, "%.3g ± %.1g%s", scale * s.mean, scale * s.deviation, unit);
    if (m && m->threshold > 0) snprintf(out, size, "%s, %s", s.mean > m->threshold ? "yes" : "no", number);
    else snprintf(out, size, "%s", number);
}

// ---- tables --------------------------------------------------------------------------------

static void write_rival(const comparison* c, FILE* stream, int rival) {
    const compare_rival* r = &c->kind->rival[rival];
    int rows = rows_of(c, rival, false);
    fprintf(stream, "| %s |", r->title);
    for (int k = 0; k < c->kind->nmetric; k++) {
        char text[120] = "";
        if (rows) spread_text(c, rival, k, text, sizeof text);
        fprintf(stream, " %s%s%s%s |", text, r->paper[k] ? " (" : "", r->paper[k] ? r->paper[k] : "",
                r->paper[k] ? ")" : "");
    }
    char text[120] = "";
    if (rows) spread_text(c, rival, TIME, text, sizeof text);
    const char* paper = r->paper[c->kind->nmetric];
    fprintf(stream, " %s%s%s%s |\n", text, paper ? " (" : "", paper ? paper : "", paper ? ")" : "");
}

void compare_write_table(const comparison* c, FILE* stream) {
    fprintf(stream, "| |");
    for (int k = 0; k < c->kind->nmetric; k++) fprintf(stream, " %s |", c->kind->metric[k].title);
    fprintf(stream, " ms per step (CPU) |\n| --- |");
    for (int k = 0; k <= c->kind->nmetric; k++) fprintf(stream, " --- |");
    fprintf(stream, "\n");
    for (int r = 0; r < c->kind->nrival; r++) write_rival(c, stream, r);
    for (int r = 0; r < c->kind->nrival; r++) {
        const compare_rival* rival = &c->kind->rival[r];
        if (rival->elsewhere && rows_of(c, r, false) == 0)
            fprintf(stream,
                    "\nMissing: %s, which is not simulated here. `python3 python/learn/%s.py %s` writes its "
                    "rows to `%s/%s.csv`, in the form of `table.csv`, from where they are taken over.\n",
                    rival->title, rival->name, c->kind->name, c->directory, rival->name);
        if (rows_of(c, r, true) > 0)
            fprintf(stream, "\n%s failed from %d of %d starts; its numbers are those of the others.\n",
                    rival->title, rows_of(c, r, true), rows_of(c, r, false));
    }
    for (const compare_row* row = c->row; row < c->row + c->nrow; row++)
        if (row->failure[0] && counts(c, row, row->rival))
            fprintf(stream, "\n- %s, start %d: %s\n", c->kind->rival[row->rival].title, row->start,
                    row->failure);
}

ct_status compare_summarise(const comparison* c, ct_error* error) {
    char path[SEARCH_PATH], machine[300], *text = NULL;
    size_t size;
    FILE* stream = open_memstream(&text, &size);
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
    if (!stream) return error->code;
    experiment_machine(machine, sizeof machine);
    fprintf(stream, "# %s\n\n    %s\n\nCuttle %s on %s.\n\n%s %d nodes, %d tets, %d steps.\n\n",
            c->kind->title, c->options->command, ct_version(), machine, c->kind->intro, c->nvert, c->ntet,
            c->steps);
    fprintf(stream, "Mean and standard deviation over %d starts, the paper's in brackets. %s\n\n",
            c->options->seeds, c->kind->explain);
    compare_write_table(c, stream);
    compare_path(c, "comparison", ".png", path);
    if (access(path, F_OK) == 0) fprintf(stream, "\n![the rivals side by side](comparison.png)\n");
    bool good = fclose(stream) == 0;
    compare_path(c, "summary", ".md", path);
    ct_status status = good ? experiment_write_text(path, text, error) : CT_OUT_OF_MEMORY;
    free(text);
    return status;
}

ct_status compare_overview(const experiment_options* o, const experiment* e, int count, const comparison* c,
                           int ncompared, const char* path, ct_error* error) {
    char machine[300], *text = NULL;
    size_t size;
    FILE* stream = open_memstream(&text, &size);
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
    if (!stream) return error->code;
    experiment_machine(machine, sizeof machine);
    fprintf(stream, "# Experiments\n\n    %s\n\nCuttle %s on %s.\n", o->command, ct_version(), machine);
    experiment_write_overview(e, count, stream);
    for (int k = 0; k < ncompared; k++) {
        fprintf(stream, "\n## [%s](%s/summary.md)\n\n%s\n\n", c[k].kind->title, c[k].kind->name,
                c[k].kind->explain);
        compare_write_table(&c[k], stream);
    }
    bool good = fclose(stream) == 0;
    ct_status status = good ? experiment_write_text(path, text, error) : CT_OUT_OF_MEMORY;
    free(text);
    return status;
}

void compare_print(const comparison* c) {
    printf("%s\n", c->kind->title);
    for (int r = 0; r < c->kind->nrival; r++) {
        if (rows_of(c, r, false) == 0) continue;
        printf("  %-12s", c->kind->rival[r].name);
        for (int k = 0; k <= c->kind->nmetric; k++) {
            char text[120];
            int metric = k < c->kind->nmetric ? k : TIME;
            spread_text(c, r, metric, text, sizeof text);
            printf("  %s: %s", metric == TIME ? "ms per step" : c->kind->metric[k].title, text);
        }
        printf("\n");
    }
    printf("  %s/summary.md  the table\n", c->directory);
}

json_t* compare_object(const comparison* c) {
    json_t* rivals = json_array();
    for (int r = 0; r < c->kind->nrival; r++) {
        json_t* object = json_pack("{s:s, s:i, s:i}", "rival", c->kind->rival[r].name, "starts",
                                   rows_of(c, r, false), "failures", rows_of(c, r, true));
        for (int k = 0; k <= c->kind->nmetric; k++) {
            int metric = k < c->kind->nmetric ? k : TIME;
            spread s = spread_of(c, r, metric);
            json_object_set_new(object, metric == TIME ? "ms" : c->kind->metric[k].name,
                                json_pack("[o, o]", cli_json_number(s.mean), cli_json_number(s.deviation)));
        }
        json_array_append_new(rivals, object);
    }
    return json_pack("{s:s, s:s, s:o}", "experiment", c->kind->name, "directory", c->directory, "rivals",
                     rivals);
}

// ---- the picture ---------------------------------------------------------------------------

// All rivals at the frame that tells most, the first at its beginning too.
typedef struct sheet {
    int width, height, columns;
    uint8_t *panel, *pixels;
} sheet;

static ct_status draw_panel(const comparison* c, sheet* s, const compare_row* row, int column, bool first,
                            ct_error* error) {
    char path[SEARCH_PATH];
    ct_trajectory* file = NULL;
    compare_path(c, c->kind->rival[row->rival].name, ".h5", path);
    ct_status status = ct_trajectory_open(&file, path, error);
    if (status) return status;
    ct_trajectory_info info = ct_trajectory_summary(file);
    ct_picture_def def = ct_picture_def_default();
    def.width = s->width, def.height = s->height, def.samples = 2;
    def.title = first ? "start" : c->kind->rival[row->rival].title;
    def.view = info.view;
    def.label = false;
    if (info.nlink == 1) def.bones = CT_BONES_OFF;  // one rigid body has nothing to show
    int frame = first ? 0 : row->frame < info.nframe ? row->frame : info.nframe - 1;
    status = ct_picture_draw(file, frame, &def, s->panel, error);
    for (int y = 0; y < s->height && !status; y++)
        memcpy(s->pixels + 3 * ((size_t)y * (size_t)(s->columns * s->width) + (size_t)(column * s->width)),
               s->panel + 3 * (size_t)y * (size_t)s->width, 3 * (size_t)s->width);
    ct_trajectory_close(file, NULL);
    return status;
}

static const compare_row* first_start(const comparison* c, int rival) {
    for (const compare_row* row = c->row; row < c->row + c->nrow; row++)
        if (row->rival == rival && row->start == 1 && !c->kind->rival[rival].elsewhere) return row;
    return NULL;
}

ct_status compare_draw(const comparison* c, ct_error* error) {
    char path[SEARCH_PATH];
    compare_path(c, "comparison", ".png", path);
    sheet s = {.width = c->options->width / 2, .height = c->options->height * 2 / 3, .columns = 1};
    for (int r = 0; r < c->kind->nrival; r++) s.columns += first_start(c, r) != NULL;
    if (s.columns == 1 || (c->ran == 0 && access(path, F_OK) == 0)) return CT_OK;
    s.panel = malloc(3 * (size_t)s.width * (size_t)s.height);
    s.pixels = calloc(3 * (size_t)s.columns * (size_t)s.width, (size_t)s.height);
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
    ct_status status = s.panel && s.pixels ? CT_OK : CT_OUT_OF_MEMORY;
    for (int r = 0, column = 0; r < c->kind->nrival && !status; r++) {
        const compare_row* row = first_start(c, r);
        if (!row) continue;
        if (column == 0) status = draw_panel(c, &s, row, column++, true, error);
        if (!status) status = draw_panel(c, &s, row, column++, false, error);
    }
    if (!status) status = ct_picture_save(path, s.pixels, s.columns * s.width, s.height, error);
    free(s.panel);
    free(s.pixels);
    return status;
}
