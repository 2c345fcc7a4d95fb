// cuttle export: a trajectory as .vtu or .obj files, or as one .usda or .glb.
#include <stdio.h>
#include <string.h>

#include "cli.h"

typedef struct export_options {
    const char* input;
    const char* output;
    const char* format;
    const char* frames;
    bool json, quiet;
} export_options;

static const char overview[] =
    "vtu: one file per frame with all fields, and frames.pvd with the times, for ParaView; obj: the "
    "surface of each frame; usda (USD) and glb (glTF): one file, surfaces that move, for Blender and others. "
    "The ending of "
    "FILE tells\n"
    "the format.\n"
    "FRAMES is FIRST:LAST:STRIDE, counted from 0, LAST included; parts may be left out, negative "
    "numbers count from\n"
    "the end. ParaView 5.12 and later also open the .h5 file itself: rename it to .vtkhdf.";

static const char examples[] = "  cuttle export run.h5 -o vtu/ --format vtu\n"
                               "  cuttle export run.h5 -o surfaces/ --format obj --frames 0:-1:10\n"
                               "  cuttle export run.h5 -o run.usda\n"
                               "  cuttle export run.h5 -o run.glb --frames ::4";

// "a:b:stride", any part empty; false when malformed.
static bool read_frames(const char* text, int nframe, int* first, int* last, int* stride) {
    int* part[3] = {first, last, stride};
    char copy[128];
    *first = 0;
    *last = nframe - 1;
    *stride = 1;
    if (!text) return true;
    snprintf(copy, sizeof copy, "%s", text);
    int count = 0;
    for (char *rest = copy, *item; (item = strsep(&rest, ":")) != NULL; count++) {
        if (count == 3 || (*item && !cli_read_integer(item, part[count]))) return false;
        if (*item && count < 2 && *part[count] < 0) *part[count] += nframe;
    }
    if (count == 1) *last = *first;
    return true;
}

// What the ending of a path tells: vtu for a directory, NULL for a file of another kind.
static const char* format_of(const char* path) {
    static const char* const other[] = {".abc",  ".fbx",  ".gltf", ".obj",    ".ply", ".stl", ".usd",
                                        ".usdc", ".usdz", ".vtk",  ".vtkhdf", ".vtu", ".xyz"};
    const char* ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".usda") == 0) return "usda";
    if (ending && strcmp(ending, ".glb") == 0) return "glb";
    for (size_t i = 0; ending && i < sizeof other / sizeof other[0]; i++)
        if (strcmp(ending, other[i]) == 0) return NULL;
    return "vtu";
}

static int export(const cli_usage* usage, const export_options* options, ct_export_format format) {
    ct_error error;
    ct_trajectory* file = NULL;
    if (ct_trajectory_open(&file, options->input, &error))
        return cli_report_input_error(&error, options->json);
    ct_trajectory_info info = ct_trajectory_summary(file);
    int first, last, stride, code = CLI_OK;
    if (!read_frames(options->frames, info.nframe, &first, &last, &stride)) {
        code = cli_bad_usage(usage, "--frames %s: write it as FIRST:LAST:STRIDE", options->frames);
    } else if (ct_trajectory_export(file, options->output, format, first, last, stride, &error)) {
        code = cli_report_error(&error, options->json);
    } else {
        int written = (last - first) / stride + 1;
        if (options->json)
            cli_print_json(json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "directory", options->output, "format",
                                     options->format, "frames", written, "first", first, "last", last,
                                     "stride", stride));
        else if (!options->quiet)
            fprintf(stderr, "%s: %d %s\n", options->output, written,
                    format == CT_EXPORT_VTU || format == CT_EXPORT_OBJ ? "files" : "frames");
    }
    ct_trajectory_close(file, NULL);
    return code;
}

int cuttle_export(int argc, char** argv) {
    export_options o = {0};
    const cli_option table[] = {
        {"--output", 'o', CLI_TEXT, &o.output, "PLACE",
         "directory to write to, created if it does not exist; FILE.usda or FILE.glb"},
        {"--format", 0, CLI_TEXT, &o.format, "FORMAT", "vtu (default), obj, usda or glb"},
        {"--frames", 0, CLI_TEXT, &o.frames, "FRAMES", "which frames, default all"},
        {"--quiet", 'q', CLI_FLAG, &o.quiet, NULL, "no summary"},
        {"--json", 0, CLI_FLAG, &o.json, NULL, "print the result as JSON"},
        {0},
    };
    const cli_usage usage = {"export", "RUN.h5", "Writes a trajectory in the formats of other programs.",
                             overview, examples, table};
    int count, code = CLI_OK;
    if (!cli_parse(&usage, argc, argv, &o.input, 1, 1, &count, &code)) return code;
    if (!o.output) return cli_bad_usage(&usage, "-o with a directory or a file is needed");
    if (!o.format) o.format = format_of(o.output);
    if (!o.format)
        return cli_bad_usage(
            &usage,
            "-o %s: one file is written as .usda or .glb; for vtu or obj give a directory and "
            "--format",
            o.output);
    ct_export_format format;
    if (!ct_export_format_find(o.format, &format))
        return cli_bad_usage(&usage, "--format %s: choose vtu, obj, usda or glb", o.format);
    return export(&usage, &o, format);
}
