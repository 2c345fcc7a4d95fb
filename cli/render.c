// cuttle render: pictures of a trajectory, one by one, side by side, or as a movie.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

typedef struct render_options {
    const char* input;
    const char* output;  // file with --png, directory otherwise
    const char* movie;
    const char* frames;  // --png
    const char* size;
    const char* color;
    const char* range;
    const char* bones;
    double eye[3], target[3], field_of_view, fps, contact_scale;
    int stride, samples;
    bool contacts, wireframe, no_grid, no_label, json, quiet;
} render_options;

typedef struct rendering {
    ct_trajectory* file;
    ct_trajectory_info info;
    ct_picture_def def;
    uint8_t* pixels;
    const render_options* options;
} rendering;

static const char overview[] =
    "Without --png or --mp4 every frame becomes DIR/frame_000000.png. FRAME is a number counted from 0, "
    "negative from\n"
    "the end, `last`, or a time such as 0.5s; several, separated by commas, are drawn side by side in one "
    "picture.\n"
    "Colours: body, displacement, velocity, stress, energy, volume, contact (the force), activation. The "
    "camera frames the whole motion by itself\n"
    "unless --eye and --target are given. Bones: through (skeletons show through the flesh), only (no "
    "flesh), off. A movie plays in real time unless --fps gives frames per second.";

static const char examples[] = "  cuttle render run.h5 --png last -o run.png\n"
                               "  cuttle render run.h5 --png 0,0.5s,last -o strip.png --color stress\n"
                               "  cuttle render run.h5 --mp4 run.mp4 --size 1920x1080\n"
                               "  cuttle render run.h5 --png last -o bones.png --bones only\n"
                               "  cuttle render run.h5 --mp4 run.mp4 --contacts\n"
                               "  cuttle render run.h5 -o frames/ --stride 4";

static bool read_size(const char* text, int* width, int* height) {
    char end;
    return sscanf(text, "%dx%d%c", width, height, &end) == 2 && *width >= 16 && *height >= 16 &&
           *width <= 16384 && *height <= 16384;
}

enum { MOST_COLORS = 16 };

// Everything that the options say about each picture; returns an exit code.
static int read_look(const cli_usage* usage, const render_options* options, ct_picture_def* def) {
    const char* colors[MOST_COLORS];
    char list[256];
    int ncolor = 0;
    *def = ct_picture_def_default();
    if (options->size && !read_size(options->size, &def->width, &def->height))
        return cli_bad_usage(usage, "--size %s: write it as 1280x720, each side 16 to 16384", options->size);
    while (ncolor < MOST_COLORS && ct_picture_color(ncolor))
        colors[ncolor] = ct_picture_color(ncolor), ncolor++;
    bool known = false;
    for (int k = 0; k < ncolor; k++) known |= strcmp(options->color, colors[k]) == 0;
    if (!known) {
        const char* near = cli_nearest(options->color, colors, ncolor);
        cli_list(colors, ncolor, "or", list, sizeof list);
        return cli_bad_usage(usage, "--color %s: choose %s%s%s%s", options->color, list,
                             near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    def->color_by = options->color;
    if (options->range &&
        (!cli_read_numbers(options->range, def->range, 2) || def->range[0] >= def->range[1]))
        return cli_bad_usage(usage, "--range %s: write two ascending numbers, as in --range 0,5e4",
                             options->range);
    if (options->samples < 1 || options->samples > 4)
        return cli_bad_usage(usage, "--samples %d: choose 1 to 4", options->samples);
    if (options->stride < 1)
        return cli_bad_usage(usage, "--stride %d: it must be at least 1", options->stride);
    if (!ct_bones_find(options->bones, &def->bones))
        return cli_bad_usage(usage, "--bones %s: choose through, only or off", options->bones);
    if (options->contact_scale < 0)
        return cli_bad_usage(usage, "--contact-scale %g: give the length of an arrow in m per newton",
                             options->contact_scale);
    def->contacts = options->contacts || options->contact_scale > 0;
    def->contact_scale = options->contact_scale;
    def->samples = options->samples;
    def->wireframe = options->wireframe;
    def->grid = !options->no_grid;
    def->label = !options->no_label;
    bool eye = isfinite(options->eye[0]), target = isfinite(options->target[0]);
    if (eye != target) return cli_bad_usage(usage, "--eye and --target belong together: give both");
    if (options->field_of_view != 0 && !(options->field_of_view >= 1 && options->field_of_view <= 170))
        return cli_bad_usage(usage, "--fov %g: choose 1 to 170 degrees", options->field_of_view);
    if (options->field_of_view != 0) def->view.field_of_view = options->field_of_view;
    def->view.automatic = !eye;
    for (int k = 0; k < 3 && eye; k++) {
        def->view.eye[k] = options->eye[k];
        def->view.target[k] = options->target[k];
    }
    return CLI_OK;
}

// The frame whose time is closest.
static int frame_at(rendering* r, double time, ct_error* error) {
    int low = 0, high = r->info.nframe - 1;
    ct_frame frame;
    while (low < high) {  // first frame at or after `time`
        int middle = low + (high - low) / 2;
        if (ct_trajectory_read(r->file, middle, &frame, error)) return -1;
        if (frame.time < time) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return 0;
    if (ct_trajectory_read(r->file, low, &frame, error)) return -1;
    double after = frame.time - time;
    if (ct_trajectory_read(r->file, low - 1, &frame, error)) return -1;
    return time - frame.time <= after ? low - 1 : low;
}

// "12", "-1", "last" or "0.5s"; -1 with the error filled when there is no such frame.
static int read_frame(rendering* r, const char* text, ct_error* error) {
    int frame;
    double time;
    char number[64];
    size_t length = strlen(text);
    *error = (ct_error){.code = CT_BAD_ARGUMENT, .element = -1};
    if (strcmp(text, "last") == 0) return r->info.nframe - 1;
    if (length > 1 && length < sizeof number && text[length - 1] == 's') {
        snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
        if (cli_read_number(number, &time)) return frame_at(r, time, error);
    }
    if (!cli_read_integer(text, &frame)) {
        snprintf(error->message, sizeof error->message,
                 "--png %.60s: give a frame number, `last` or a time such as 0.5s", text);
        return -1;
    }
    if (frame < 0) frame += r->info.nframe;
    if (frame >= 0 && frame < r->info.nframe) return frame;
    snprintf(error->message, sizeof error->message, "--png %.60s: the file holds frames 0 to %d", text,
             r->info.nframe - 1);
    return -1;
}

// Copies a picture into column `column`, row `row` of a sheet that is `sheet_width` pixels wide.
static void paste(uint8_t* sheet, int sheet_width, const ct_picture_def* def, const uint8_t* pixels,
                  int column, int row) {
    for (int y = 0; y < def->height; y++) {
        size_t at = ((size_t)row * (size_t)def->height + (size_t)y) * (size_t)sheet_width +
                    (size_t)column * (size_t)def->width;
        memcpy(sheet + 3 * at, pixels + 3 * (size_t)y * (size_t)def->width, 3 * (size_t)def->width);
    }
}

// Up to four pictures in a row.
static int render_sheet(rendering* r, const int* frames, int count, ct_error* error) {
    int columns = count < 4 ? count : 4, rows = (count + columns - 1) / columns;
    int width = columns * r->def.width, height = rows * r->def.height;
    uint8_t* sheet = malloc(3 * (size_t)width * (size_t)height);
    if (!sheet) return cli_report_status(CT_OUT_OF_MEMORY, "making the picture", r->options->json);
    for (size_t k = 0; k < 3 * (size_t)width * (size_t)height; k++)
        sheet[k] = (uint8_t)(255 * r->def.background[k % 3]);
    ct_status status = CT_OK;
    for (int k = 0; !status && k < count; k++) {
        status = ct_picture_draw(r->file, frames[k], &r->def, r->pixels, error);
        if (!status) paste(sheet, width, &r->def, r->pixels, k % columns, k / columns);
    }
    if (!status) status = ct_picture_save(r->options->output, sheet, width, height, error);
    free(sheet);
    if (status) return cli_report_error(error, r->options->json);
    if (r->options->json)
        cli_print_json(json_pack("{s:s, s:i, s:i, s:i}", "picture", r->options->output, "width", width,
                                 "height", height, "frames", count));
    else if (!r->options->quiet) fprintf(stderr, "%s: %d x %d pixels\n", r->options->output, width, height);
    return CLI_OK;
}

static int render_pictures(rendering* r) {
    int frames[64], count = 0;
    char text[1024];
    ct_error error;
    snprintf(text, sizeof text, "%s", r->options->frames);
    for (char *rest = text, *item; (item = strsep(&rest, ",")) != NULL;) {
        if (count == 64) {
            error = (ct_error){.code = CT_BAD_ARGUMENT,
                               .element = -1,
                               .message = "--png: at most 64 frames fit in one picture"};
            return cli_report_error(&error, r->options->json);
        }
        frames[count] = read_frame(r, item, &error);
        if (frames[count++] < 0) return cli_report_error(&error, r->options->json);
    }
    return render_sheet(r, frames, count, &error);
}

// Which stored frame a movie shows at each of its own frames: in real time the one nearest in time.
typedef struct schedule {
    double fps;
    int count;
    bool real_time;
} schedule;

static schedule plan_movie(const rendering* r) {
    int stored = (r->info.nframe - 1) / r->options->stride + 1;
    double length = r->info.stop - r->info.start,
           rate = length > 0 ? (r->info.nframe - 1) / length / r->options->stride : 30;
    schedule plan = {.fps = r->options->fps, .count = stored, .real_time = false};
    if (plan.fps > 0) return plan;
    // Whole stored frames where the rate is a usual one; otherwise 30 a second, dropping or repeating some.
    bool usual = rate > 11.5 && rate < 60.5;
    plan.fps = usual ? rate : 30;
    plan.real_time = !usual;
    if (!usual) plan.count = (int)fmin(length * plan.fps, 1e6) + 1;
    return plan;
}

static int movie_frame(rendering* r, const schedule* plan, int k, ct_error* error) {
    return plan->real_time ? frame_at(r, r->info.start + k / plan->fps, error) : k * r->options->stride;
}

static int render_movie(rendering* r) {
    ct_error error;
    ct_movie* movie = NULL;
    schedule plan = plan_movie(r);
    if (ct_movie_create(&movie, r->options->movie, r->def.width, r->def.height, plan.fps, &error))
        return cli_report_error(&error, r->options->json);
    cli_progress progress = cli_progress_begin("render", r->options->quiet);
    ct_status status = CT_OK;
    int shown = -1, done = 0;
    for (; !status && done < plan.count && !cli_interrupted(); done++) {
        int frame = movie_frame(r, &plan, done, &error);
        status = frame < 0 ? error.code : CT_OK;
        if (!status && frame != shown) status = ct_picture_draw(r->file, frame, &r->def, r->pixels, &error);
        shown = frame;
        if (!status) status = ct_movie_append(movie, r->pixels, &error);
        cli_progress_show(&progress, done + 1, plan.count, NULL);
    }
    cli_progress_end(&progress);
    ct_error closing;
    ct_status closed = ct_movie_close(movie, &closing);
    if (closed) return cli_report_error(&closing, r->options->json);
    if (status) return cli_report_error(&error, r->options->json);
    if (r->options->json)
        cli_print_json(
            json_pack("{s:s, s:i, s:f}", "movie", r->options->movie, "frames", done, "fps", plan.fps));
    else if (!r->options->quiet)
        fprintf(stderr, "%s: %d frames, %.3g per second\n", r->options->movie, done, plan.fps);
    return CLI_OK;
}

static int render_frames(rendering* r) {
    const char* directory = r->options->output ? r->options->output : "frames";
    ct_error error = {.code = CT_IO, .element = -1};
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        snprintf(error.file, sizeof error.file, "%s", directory);
        snprintf(error.message, sizeof error.message, "the directory cannot be created: %s", strerror(errno));
        return cli_report_error(&error, r->options->json);
    }
    cli_progress progress = cli_progress_begin("render", r->options->quiet);
    ct_status status = CT_OK;
    int done = 0;
    for (int frame = 0; !status && frame < r->info.nframe && !cli_interrupted();
         frame += r->options->stride, done++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/frame_%06d.png", directory, frame);
        status = ct_picture_draw(r->file, frame, &r->def, r->pixels, &error);
        if (!status) status = ct_picture_save(path, r->pixels, r->def.width, r->def.height, &error);
        cli_progress_show(&progress, frame + 1, r->info.nframe, NULL);
    }
    cli_progress_end(&progress);
    if (status) return cli_report_error(&error, r->options->json);
    if (r->options->json) cli_print_json(json_pack("{s:s, s:i}", "directory", directory, "frames", done));
    else if (!r->options->quiet) fprintf(stderr, "%s: %d pictures\n", directory, done);
    return CLI_OK;
}

static int render(rendering* r) {
    ct_error error;
    if (ct_trajectory_open(&r->file, r->options->input, &error))
        return cli_report_input_error(&error, r->options->json);
    r->info = ct_trajectory_summary(r->file);
    if (r->info.nframe == 0) {
        error =
            (ct_error){.code = CT_BAD_FILE, .element = -1, .message = "the trajectory holds no frame yet"};
        snprintf(error.file, sizeof error.file, "%s", r->options->input);
        return cli_report_error(&error, r->options->json);
    }
    r->pixels = malloc(3 * (size_t)r->def.width * (size_t)r->def.height);
    if (!r->pixels) return cli_report_status(CT_OUT_OF_MEMORY, "making the picture", r->options->json);
    if (r->options->frames) return render_pictures(r);
    return r->options->movie ? render_movie(r) : render_frames(r);
}

// RUN.h5 becomes RUN.png, in the directory at hand.
static const char* name_picture(const char* input, char* name, size_t size) {
    const char* slash = strrchr(input, '/');
    const char* base = slash ? slash + 1 : input;
    const char* dot = strrchr(base, '.');
    snprintf(name, size, "%.*s.png", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
    return name;
}

int cuttle_render(int argc, char** argv) {
    render_options o = {.color = "body",
                        .bones = "through",
                        .stride = 1,
                        .samples = 3,
                        .eye = {NAN, NAN, NAN},
                        .target = {NAN, NAN, NAN}};
    const cli_option table[] = {
        {"--output", 'o', CLI_TEXT, &o.output, "PATH",
         "directory of the frames, or with --png the picture (default: RUN.png)"},
        {"--mp4", 0, CLI_TEXT, &o.movie, "FILE", "write a movie (needs ffmpeg)"},
        {"--png", 0, CLI_TEXT, &o.frames, "FRAME", "draw this frame, or several: 0,10,last"},
        {"--size", 0, CLI_TEXT, &o.size, "WxH", "pixels, default 1280x720"},
        {"--color", 0, CLI_TEXT, &o.color, "FIELD", "what the colours show, default body"},
        {"--range", 0, CLI_TEXT, &o.range, "A,B", "ends of the colour map, default from the data"},
        {"--bones", 0, CLI_TEXT, &o.bones, "HOW",
         "how skeletons are drawn: through, only or off; default through"},
        {"--contacts", 0, CLI_FLAG, &o.contacts, NULL,
         "contact forces as arrows: blue where it sticks, orange where it slips"},
        {"--contact-scale", 0, CLI_NUMBER, &o.contact_scale, "LENGTH",
         "length of these arrows, m per newton; default from the forces"},
        {"--wireframe", 0, CLI_FLAG, &o.wireframe, NULL, "draw the edges of the surface"},
        {"--no-grid", 0, CLI_FLAG, &o.no_grid, NULL, "leave out the ground grid"},
        {"--no-label", 0, CLI_FLAG, &o.no_label, NULL, "leave out the time and the colour bar"},
        {"--eye", 0, CLI_VECTOR, o.eye, "X,Y,Z", "camera position, m"},
        {"--target", 0, CLI_VECTOR, o.target, "X,Y,Z", "what the camera looks at, m"},
        {"--fov", 0, CLI_NUMBER, &o.field_of_view, "DEGREES", "vertical field of view"},
        {"--stride", 0, CLI_INTEGER, &o.stride, "N", "use every N-th frame"},
        {"--fps", 0, CLI_NUMBER, &o.fps, "RATE",
         "movie frames per second, one per stored frame; default real time"},
        {"--samples", 0, CLI_INTEGER, &o.samples, "N", "samples per pixel and axis, 1 to 4, default 3"},
        {"--quiet", 'q', CLI_FLAG, &o.quiet, NULL, "no progress, no summary"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "print the result as JSON"},
        {0},
    };
    const cli_usage usage = {"render", "RUN.h5", "Draws pictures or a movie of a trajectory.",
                             overview, examples, table};
    int count, code = CLI_OK;
    if (!cli_parse(&usage, argc, argv, &o.input, 1, 1, &count, &code)) return code;
    if (o.frames && o.movie) return cli_bad_usage(&usage, "--png and --mp4 cannot be combined");
    char picture[512];
    if (o.frames && !o.output) o.output = name_picture(o.input, picture, sizeof picture);
    if (o.fps < 0 || o.fps > 1000) return cli_bad_usage(&usage, "--fps %g: choose 0.01 to 1000", o.fps);
    rendering r = {.options = &o};
    code = read_look(&usage, &o, &r.def);
    if (code != CLI_OK) return code;
    cli_catch_interrupt();
    code = render(&r);
    free(r.pixels);
    if (r.file) ct_trajectory_close(r.file, NULL);
    return code;
}
