// cuttle mesh: make, check, repair and convert meshes.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

static const char details[] =
    "FILE is a shape (.json, filled with tets), a closed surface (.stl, .obj or "
    "any mesh of triangles, filled with\n"
    "tets), or a sheet or a mesh with tets (checked, and converted to the format of "
    "the output's extension: .msh,\n"
    ".vtk, .vtu, .mesh, .obj, .stl, .node). Without -o the mesh is only checked.";

static const char examples[] = "  cuttle mesh fish.json -o fish.msh --size 0.01 --interior 0.04\n"
                               "  cuttle mesh bunny.stl -o bunny.msh --size 0.02\n"
                               "  cuttle mesh scan.vtk --repair -o scan.msh";

typedef struct mesh_options {
    const char* output;
    double size, interior;  // m, 0: not given
    bool repair, json;
} mesh_options;

typedef struct mesh_result {
    ct_mesh* mesh;
    ct_mesh_report report;
    bool filled;   // made from a shape or a surface
    int repaired;  // what ct_mesh_repair changed
    double size;   // that was used, m
    double seconds;
} mesh_result;

static bool is_json(const char* path) {
    const char* dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".json") == 0;
}

// Fills a shape; without --size its largest extent is 24 edges.
static int fill_shape(mesh_result* result, ct_shape* shape, const mesh_options* options) {
    ct_error error = {.element = -1};
    ct_fill_def def = ct_fill_def_default();
    double lower[3], upper[3], extent = 0;
    ct_shape_bounds(shape, lower, upper);
    for (int i = 0; i < 3; i++) extent = fmax(extent, upper[i] - lower[i]);
    def.size = options->size > 0 ? options->size : extent / 24;
    def.interior = options->interior;
    result->filled = true;
    result->size = def.size;
    double begun = cli_seconds();
    if (ct_shape_fill(&result->mesh, shape, &def, &result->report, &error))
        return cli_report_error(&error, options->json);
    result->seconds = cli_seconds() - begun;
    return CLI_OK;
}

static int fill_and_free(mesh_result* result, ct_shape* shape, const mesh_options* options) {
    int code = fill_shape(result, shape, options);
    ct_shape_free(shape);
    return code;
}

// Triangles with a border: nothing is inside.
static bool is_sheet(const ct_mesh* mesh) {
    ct_mesh_report report;
    return !ct_mesh_check(mesh, &report, NULL) && !report.closed_surface;
}

// A mesh file: its tets or its sheets as they are, or the inside of its closed surfaces.
static int read_mesh(mesh_result* result, const char* path, const cli_usage* usage,
                     const mesh_options* options) {
    ct_error error = {.element = -1};
    if (ct_mesh_load(&result->mesh, path, CT_MESH_AUTO, &error))
        return cli_report_input_error(&error, options->json);
    if (options->repair) result->repaired = ct_mesh_repair(result->mesh);
    const bool sized = options->size > 0 || options->interior > 0;
    if (result->mesh->ntet == 0 && (sized || !is_sheet(result->mesh))) {
        ct_shape* shape = NULL;
        ct_status status = ct_shape_surface(&shape, result->mesh, &error);
        ct_mesh_free(result->mesh);
        result->mesh = NULL;
        if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", path);
        return status ? cli_report_input_error(&error, options->json) : fill_and_free(result, shape, options);
    }
    if (sized)
        return cli_bad_usage(usage, "%s has tets already: --size and --interior are for shapes and surfaces",
                             path);
    if (ct_mesh_check(result->mesh, &result->report, &error)) {
        if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", path);
        return cli_report_error(&error, options->json);
    }
    return CLI_OK;
}

static int read_shape(mesh_result* result, const char* path, const cli_usage* usage,
                      const mesh_options* options) {
    ct_error error = {.element = -1};
    ct_shape* shape = NULL;
    if (options->repair)
        return cli_bad_usage(usage, "--repair is for mesh files; a mesh made from a shape needs no repair");
    if (ct_shape_load(&shape, path, &error)) return cli_report_input_error(&error, options->json);
    return fill_and_free(result, shape, options);
}

static json_t* vector(const double v[3]) { return json_pack("[f,f,f]", v[0], v[1], v[2]); }

static void print_json(const mesh_result* result, const char* output) {
    const ct_mesh_report* r = &result->report;
    json_t* object =
        json_pack("{s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:i, s:b, s:i}", "nodes", result->mesh->nvert, "tets",
                  result->mesh->ntet, "surface_triangles", r->surface_tri_count, "lower", vector(r->lower),
                  "upper", vector(r->upper), "volume", r->volume, "area", r->area, "components",
                  r->component_count, "closed_surface", r->closed_surface, "repaired", result->repaired);
    json_t* quality = json_pack("{s:f, s:i, s:i, s:f, s:f}", "min_quality", r->min_quality, "worst_tet",
                                r->worst_tet, "slivers", r->sliver_count, "min_dihedral", r->min_dihedral,
                                "max_dihedral", r->max_dihedral);
    json_t* tags = json_array();
    for (int i = 0; i < result->mesh->ntag; i++) {
        const ct_tag* tag = &result->mesh->tag[i];
        int count = 0;
        for (int t = 0; t < result->mesh->ntet; t++) count += result->mesh->tet_tag[t] == tag->id;
        json_array_append_new(tags,
                              json_pack("{s:i, s:s, s:i}", "id", tag->id, "name", tag->name, "tets", count));
    }
    json_object_set_new(object, "quality", quality);
    json_object_set_new(object, "tags", tags);
    if (result->filled) json_object_set_new(object, "size", json_real(result->size));
    if (output) json_object_set_new(object, "output", json_string(output));
    cli_print_json(object);
}

static void print_report(const mesh_result* result, const char* output) {
    const ct_mesh* mesh = result->mesh;
    const ct_mesh_report* r = &result->report;
    if (result->filled) printf("filled with size %g m in %.2f s\n", result->size, result->seconds);
    if (result->repaired) printf("repaired %d nodes and tets\n", result->repaired);
    printf("%d nodes, %d tets, %d %striangles, %d component%s, %s surface\n", mesh->nvert, mesh->ntet,
           mesh->ntet ? r->surface_tri_count : mesh->ntri, mesh->ntet ? "surface " : "", r->component_count,
           r->component_count == 1 ? "" : "s", r->closed_surface ? "closed" : "open");
    if (!mesh->ntet) printf("a sheet: its surface is open and was not filled (--size says where that is)\n");
    printf("from %g %g %g to %g %g %g m, ", r->lower[0], r->lower[1], r->lower[2], r->upper[0], r->upper[1],
           r->upper[2]);
    if (mesh->ntet) printf("volume %.6g m^3, ", r->volume);
    printf("area %.6g m^2\n", r->area);
    if (mesh->ntet)
        printf("dihedral angles %.1f..%.1f degrees, worst quality %.3f (tet %d), %d slivers\n",
               r->min_dihedral, r->max_dihedral, r->min_quality, r->worst_tet, r->sliver_count);
    for (int i = 0; i < mesh->ntag; i++) {
        int count = 0;
        for (int t = 0; t < mesh->ntet; t++) count += mesh->tet_tag[t] == mesh->tag[i].id;
        printf("tag %d %s: %d tets\n", mesh->tag[i].id, mesh->tag[i].name, count);
    }
    if (output) printf("wrote %s\n", output);
}

int cuttle_mesh(int argc, char** argv) {
    mesh_options options = {0};
    const cli_option table[] = {
        {"--output", 'o', CLI_TEXT, &options.output, "FILE",
         "where to write the mesh; the extension determines the format"},
        {"--size", 0, CLI_POSITIVE, &options.size, "S",
         "edge length at the surface, m (default: 1/24 of the extent)"},
        {"--interior", 0, CLI_POSITIVE, &options.interior, "S",
         "edge length deep inside, m (default: the same)"},
        {"--repair", 0, CLI_FLAG, &options.repair, NULL, "drop unused nodes and reorient inverted tets"},
        {"--json", 0, CLI_FLAG, &options.json, NULL, "print one JSON object"},
        {0}};
    const cli_usage usage = {"mesh",  "FILE",   "Makes, checks, repairs and converts tetrahedral meshes.",
                             details, examples, table};
    const char* path;
    int count, code;
    if (!cli_parse(&usage, argc, argv, &path, 1, 1, &count, &code)) return code;
    mesh_result result = {0};
    code = is_json(path) ? read_shape(&result, path, &usage, &options)
                         : read_mesh(&result, path, &usage, &options);
    ct_error error = {.element = -1};
    if (code == CLI_OK && options.output && ct_mesh_save(result.mesh, options.output, &error))
        code = cli_report_error(&error, options.json);
    if (code == CLI_OK && options.json) print_json(&result, options.output);
    else if (code == CLI_OK) print_report(&result, options.output);
    ct_mesh_free(result.mesh);
    return code;
}
