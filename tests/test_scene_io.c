// The JSON loader: what it reads, what it refuses and how it says so, and that the published schema tells the
// same.
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/keys.h"
#include "scene/scene.h"
#include "scene_text.h"
#include "text/json.h"
#include "unit.h"

#define BOX "{\"box\":{\"size\":[2,1,1],\"cells\":[2,1,1]}}"

// -------------------------------------------------------------------------------------------------
// Reading

static void left_out_keys_keep_their_defaults(void** state) {
    (void)state;
    ct_scene* scene = parse("{\"bodies\":[" BOX "]}");
    ct_settings s = scene->settings, t = ct_settings_default();
    assert_memory_equal(s.gravity, t.gravity, sizeof s.gravity);
    assert_true(s.up == t.up && s.time_step == t.time_step && s.duration == t.duration &&
                s.integrator == t.integrator);
    assert_true(s.solver == t.solver && s.tolerance == t.tolerance && s.max_iterations == t.max_iterations);
    assert_true(s.max_substep_depth == t.max_substep_depth && s.threads == t.threads &&
                s.output_every == t.output_every && !s.output_compress);
    assert_true(isnan(s.ground));
    ct_material m = scene->body[0].tet_material[0], n = ct_material_default();
    assert_true(m.energy == n.energy && m.young == n.young && m.poisson == n.poisson &&
                m.density == n.density);
    assert_true(m.damping_mass == 0 && m.damping_stiffness == 0 && !m.paper_weights);
    assert_true(scene->view.automatic && scene->view.field_of_view == 40);
    assert_string_equal(ct_scene_name(scene), "scene");
    assert_string_equal(ct_scene_body_name(scene, 0), "body0");
    assert_string_equal(ct_scene_file(scene), "");
    ct_scene_free(scene);
}

static void settings_are_read(void** state) {
    (void)state;
    ct_scene* scene = parse(
        "{\"name\":\"s\",\"gravity\":3,\"up\":\"z\",\"time_step\":0.02,\"duration\":4,"
        "\"integrator\":\"bdf2\","
        "\"solver\":{\"type\":\"projective\",\"tolerance\":1e-5,\"max_iterations\":7,"
        "\"max_substep_depth\":2,\"threads\":3},"
        "\"output\":{\"every\":5,\"compress\":true},\"view\":{\"eye\":[1,2,3],\"target\":[0,0,1],\"field_"
        "of_view\":30},\"ground\":-1,"
        "\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"material\":{"
        "\"energy\":\"projective\"}}]}");
    const ct_settings* s = &scene->settings;
    assert_true(s->gravity[0] == 0 && s->gravity[1] == 0 && s->gravity[2] == -3 && s->up == 2);
    assert_true(s->time_step == 0.02 && s->duration == 4 && s->integrator == CT_INTEGRATOR_BDF2);
    assert_true(s->solver == CT_SOLVER_PROJECTIVE && s->tolerance == 1e-5 && s->max_iterations == 7);
    assert_true(s->max_substep_depth == 2 && s->threads == 3 && s->output_every == 5 && s->ground == -1);
    assert_true(s->output_compress);
    assert_true(!scene->view.automatic && scene->view.eye[2] == 3 && scene->view.target[2] == 1);
    assert_true(scene->view.field_of_view == 30);
    assert_string_equal(scene->name, "s");
    ct_scene_free(scene);
}

static void body_is_read(void** state) {
    (void)state;
    ct_scene* scene =
        parse("{\"bodies\":[{\"name\":\"b\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"scale\":2,"
              "\"rotate\":{\"axis\":[0,0,3],\"degrees\":90},\"translate\":[1,0,0],\"color\":\"#ff8000\","
              "\"material\":{\"energy\":\"neohookean\",\"young\":2,\"poisson\":0.3,\"density\":4,"
              "\"damping\":{\"mass\":5,\"stiffness\":6}},\"values\":{\"density\":[1,2,3,4,5,6]},"
              "\"velocity\":[0,0,7]}]}");
    const ct_scene_body* body = &scene->body[0];
    double lower[3], upper[3];
    ct_scene_bounds(scene, 0, lower, upper);
    assert_true(fabs(lower[0] + 1) < 1e-14 && fabs(upper[0] - 1) < 1e-14 && fabs(upper[1] - 2) < 1e-14);
    const ct_material* m = &body->tet_material[3];
    assert_true(m->energy == CT_ENERGY_NEOHOOKEAN && m->young == 2 && m->poisson == 0.3 && m->density == 4);
    assert_true(m->damping_mass == 5 && m->damping_stiffness == 6 && !m->paper_weights);
    assert_true(body->tet_material[5].density == 6 && body->velocity[2] == 7);
    assert_true(body->color[0] == 1 && fabs(body->color[1] - 128 / 255.0) < 1e-15 && body->color[2] == 0);
    ct_scene_free(scene);
}

static void quaternion_equals_axis_and_degrees(void** state) {
    (void)state;
    ct_scene* a = parse("{\"bodies\":[{\"box\":{\"size\":[1,2,3],\"cells\":[1,1,1]},\"rotate\":{\"axis\":[1,"
                        "0,0],\"degrees\":90}}]}");
    ct_scene* b = parse("{\"bodies\":[{\"box\":{\"size\":[1,2,3],\"cells\":[1,1,1]},\"rotate\":{"
                        "\"quaternion\":[2,2,0,0]}}]}");
    for (int k = 0; k < 3 * a->body[0].mesh->nvert; k++)
        assert_true(fabs(a->body[0].mesh->x[k] - b->body[0].mesh->x[k]) < 1e-14);
    ct_scene_free(a);
    ct_scene_free(b);
}

static void sets_are_read(void** state) {
    (void)state;
    ct_scene* scene =
        parse("{\"bodies\":[" BOX
              ",{\"name\":\"far\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"translate\":[9,0,0]}],"
              "\"drives\":[{\"select\":{\"body\":0,\"box\":[[0,0,0],[0,1,1]]},\"motion\":{\"center\":[0,1,0],"
              "\"smooth\":true,"
              "\"repeat\":true,\"keys\":[{\"time\":0},{\"time\":1,\"translate\":[1,2,3],\"rotate\":{\"axis\":"
              "[0,2,0],\"degrees\":720}},{\"time\":2}]}}],"
              "\"pins\":[{\"select\":{\"and\":[{\"body\":\"far\",\"all\":true},{\"not\":{\"nearest\":[9,0,0],"
              "\"count\":7}}]}}],"
              "\"forces\":[{\"select\":{\"list\":[3]},\"per_node\":[0,0,1],\"stop\":2},"
              "{\"select\":{\"surface\":true},\"acceleration\":[1,0,0],\"start\":1}],"
              "\"velocities\":[{\"select\":{\"capsule\":{\"a\":[2,0,0],\"b\":[2,1,0],\"radius\":0.1}},"
              "\"velocity\":[0,1,0]}]}");
    assert_int_equal(scene->ndrive, 2);
    const ct_scene_driver* drive = &scene->drive[0];
    assert_int_equal(drive->nnode, 4);
    assert_true(drive->nkey == 3 && drive->smooth && drive->repeat && drive->center[1] == 1);
    assert_true(fabs(drive->key[1].rotate[1] - 4 * M_PI) < 1e-14 && drive->key[1].translate[2] == 3);
    assert_int_equal(scene->drive[1].nnode, 1);
    assert_int_equal(scene->drive[1].nkey, 0);
    assert_int_equal(scene->nforce, 2);
    assert_true(scene->force[0].def.kind == CT_FORCE_PER_NODE && scene->force[0].def.stop == 2);
    assert_true(scene->force[1].def.kind == CT_FORCE_ACCELERATION && isinf(scene->force[1].def.stop));
    int moving = 0;
    for (int v = 0; v < scene->body[0].mesh->nvert; v++) moving += scene->body[0].velocity[3 * v + 1] == 1;
    assert_int_equal(moving, 2);
    ct_scene_free(scene);
}

static void values_come_from_a_file_beside_the_scene(void** state) {
    (void)state;
    char directory[] = "/tmp/cuttle_scene_XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/young.txt", directory);
    FILE* file = fopen(path, "w");
    fputs("# six tets\n1e5 2e5\n3e5\n4.5e5 5e5 6e5\n", file);
    fclose(file);
    const char* text =
        "{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"values\":{\"young\":\"young.txt\"}}]}";
    ct_scene* scene;
    ct_error error;
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), directory, &error), CT_OK);
    assert_true(scene->body[0].tet_material[3].young == 4.5e5);
    ct_scene_free(scene);
    file = fopen(path, "w");
    fputs("1 2 3\n4 oops 6\n", file);
    fclose(file);
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), directory, &error), CT_BAD_FILE);
    assert_string_equal(error.file, path);
    assert_int_equal(error.line, 2);
    assert_string_equal(error.path, "bodies[0].values.young");
    remove(path);
    remove(directory);
}

// A locale with a decimal comma: an installed one, or one compiled for the test.
static bool use_comma_locale(void) {
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8")) return true;
    setenv("LOCPATH", CT_BINARY_DIR, 1);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) return true;  // compiled by a run before this one
    return !system("localedef -i de_DE -f UTF-8 " CT_BINARY_DIR "/de_DE.UTF-8 >" CT_BINARY_DIR
                   "/localedef.log 2>&1") &&
           setlocale(LC_NUMERIC, "de_DE.UTF-8");
}

static void numbers_do_not_depend_on_the_locale(void** state) {
    (void)state;
    if (!use_comma_locale()) skip();
    char text[16];
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5");
    ct_scene* scene = parse("{\"time_step\":0.125,\"bodies\":[" BOX "]}");
    assert_true(scene->settings.time_step == 0.125);
    ct_scene_free(scene);
    refused("{\"bodies\":[{\"box\":{\"size\":[2,1,1],\"cells\":[2,1,1]},\"material\":{\"poisson\":0.5}}]}",
            "bodies[0].material.poisson", 1, "is 0.5:");
    setlocale(LC_NUMERIC, "C");
}

// -------------------------------------------------------------------------------------------------
// Refusing

static void syntax_errors_have_their_line(void** state) {
    (void)state;
    refused("{\n\"bodies\": [\n}", "", 3, "not valid JSON");
    refused("", "", 1, "not valid JSON");
    refused("{\"name\":\"a\",\n\"name\":\"b\"}", "", 2, "duplicate");
    refused("[1]", "", 1, "must be an object");
    refused("\xef\xbb\xbf{}", "", 1, "byte order mark");
    refused("// a beam\n{}", "", 1, "has no comments");
    refused("{\n\"name\": \"a\" /* short */}", "", 2, "has no comments");
    refused("{\"name\": \"http://a\",}", "", 1, "expected");  // slashes in a text are none
}

static void unknown_keys_get_a_proposal(void** state) {
    (void)state;
    refused("{\n\"bodys\":[]}", "bodys", 2, "did you mean \"bodies\"?");
    refused("{\"bodies\":[{\"material\":{\n\"yuong\":1}}]}", "bodies[0].material.yuong", 2,
            "did you mean \"young\"?");
    refused("{\"timestep\":1}", "timestep", 1, "did you mean \"time_step\"?");
    refused("{\"output\":{\"zzzzzzzz\":1},\"bodies\":[]}", "output.zzzzzzzz", 1, "the keys here are every");
    refused("{\"integrator\":\"eular\",\"bodies\":[]}", "integrator", 1, "did you mean \"euler\"?");
    refused("{\"up\":\"w\",\"bodies\":[]}", "up", 1, "one of x, y, z");
}

static void bad_values_say_what_to_change(void** state) {
    (void)state;
    refused("{\"bodies\":[\n" BOX
            ",\n{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\n\"material\":{\n\"poisson\":0.5}}]}",
            "bodies[1].material.poisson", 5,
            "bodies[1].material.poisson is 0.5: it must be at least 0 and below 0.5; use 0.49 for nearly "
            "incompressible");
    refused("{\"time_step\":\"fast\",\"bodies\":[]}", "time_step", 1,
            "time_step is \"fast\": it must be a number");
    refused("{\"time_step\":-1,\"bodies\":[]}", "time_step", 1, "time_step is -1: it must be above 0");
    refused("{\"duration\":0.001,\"bodies\":[]}", "duration", 1, "shorter than one time_step");
    refused("{\"gravity\":[1,2],\"bodies\":[]}", "gravity", 1,
            "gravity has 2 items: it must be an array of 3 numbers");
    refused("{\"solver\":{\"threads\":1.5},\"bodies\":[]}", "solver.threads", 1,
            "whole number from 0 to 1024");
    refused("{\"solver\":{\"tolerance\":1},\"bodies\":[]}", "solver.tolerance", 1, "from 1e-15 to 0.1");
    refused("{}", "", 1, "needs the key \"bodies\"");
    refused("{\"bodies\":[]}", "bodies", 1, "at least one");
    refused("{\"view\":{\"eye\":[0,0,0]},\"bodies\":[]}", "view", 1, "needs the key \"target\"");
    refused("{\"bodies\":[{}]}", "bodies[0]", 1, "exactly one of \"mesh\"");
    refused("{\"bodies\":[{\"mesh\":\"nowhere.msh\"}]}", "bodies[0].mesh", 0, "cannot read");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,0,1]}}]}", "bodies[0].box.cells[1]", 1,
            "from 1 to");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"color\":\"red\"}]}",
            "bodies[0].color", 1, "#rrggbb");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"rotate\":{\"axis\":[0,0,0],"
            "\"degrees\":9}}]}",
            "bodies[0].rotate", 1, "axis without a direction");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"values\":{\"young\":[1]}}]}",
            "bodies[0].values.young", 1, "has 1 values: body \"body0\" has 6 tets");
    refused(
        "{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"values\":{\"young\":[1,1,1,1,1,-2]}}]}",
        "bodies[0].values.young[5]", 1, "is -2: it must be above 0");
    refused("{\"bodies\":[{\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]},\"tags\":{\"bone\":{}}}]}",
            "bodies[0].tags.bone", 1, "not a tag of the mesh");
    refused("{\"bodies\":[{\"name\":\"a\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}},"
            "{\"name\":\"a\",\"box\":{\"size\":[1,1,1],\"cells\":[1,1,1]}}]}",
            "bodies[1].name", 1, "names must differ");
    refused("{\"solver\":{\n\"type\":\"projective\"},\"bodies\":[" BOX "]}", "solver.type", 2,
            "another energy");
}

static void bad_sets_say_what_to_change(void** state) {
    (void)state;
#define WITH(part) "{\"bodies\":[" BOX "],\n" part "}"
    refused(WITH("\"pins\":[{\"select\":\n{\"box\":[[5,0,0],[6,1,1]]}}]"), "pins[0].select", 2,
            "selects no node: the scene spans [0, 0, 0] to [2, 1, 1]");
    refused(WITH("\"pins\":[{\"select\":{\"all\":true}},\n{\"select\":{\"list\":[3]}}]"), "pins[1]", 3,
            "already driven");
    refused(WITH("\"pins\":[{\"select\":{}}]"), "pins[0].select", 2, "0 conditions");
    refused(WITH("\"pins\":[{\"select\":{\"all\":true,\"surface\":true}}]"), "pins[0].select", 2,
            "2 conditions");
    refused(WITH("\"pins\":[{\"select\":{\"all\":false}}]"), "pins[0].select.all", 2, "is false");
    refused(WITH("\"pins\":[{\"select\":{\"body\":\"arm\",\"all\":true}}]"), "pins[0].select.body", 2,
            "no body of that name");
    refused(WITH("\"pins\":[{\"select\":{\"body\":4,\"all\":true}}]"), "pins[0].select.body", 2,
            "from 0 to 0");
    refused(WITH("\"pins\":[{\"select\":{\"tag\":\"bone\"}}]"), "pins[0].select.tag", 2, "no such tag");
    refused(WITH("\"pins\":[{\"select\":{\"all\":true,\"count\":2}}]"), "pins[0].select", 2,
            "without \"nearest\"");
    refused(
        WITH("\"pins\":[{\"select\":{\"not\":\n{\"and\":[{\"all\":true},\n{\"box\":[[1,0,0],[0,0,0]]}]}}}]"),
        "pins[0].select.not.and[1].box", 4, "swap them");
    refused(WITH("\"pins\":[{\"select\":{\"all\":true},\"motion\":{\"keys\":[]}}]"), "pins[0].motion", 2,
            "not a known key");
    refused(
        WITH("\"drives\":[{\"select\":{\"all\":true},\"motion\":{\"keys\":[{\"time\":1},\n{\"time\":0}]}}]"),
        "drives[0].motion.keys[1]", 3, "in order of time");
    refused(WITH("\"forces\":[{\"select\":{\"all\":true}}]"), "forces[0]", 2, "exactly one of");
    refused(WITH("\"forces\":[{\"select\":{\"all\":true},\"total\":[0,0,1],\"start\":2,\"stop\":1}]"),
            "forces[0].stop", 2, "after start");
    refused(WITH("\"forces\":[{\"total\":[0,0,1]}]"), "forces[0]", 2, "needs the key \"select\"");
#undef WITH
}

static void deep_nesting_is_refused_not_followed(void** state) {
    (void)state;
    char text[4096] = "{\"bodies\":[" BOX "],\"pins\":[{\"select\":";
    for (int i = 0; i < 60; i++) strcat(text, "{\"not\":");
    strcat(text, "{\"all\":true}");
    for (int i = 0; i < 60; i++) strcat(text, "}");
    strcat(text, "}]}");
    ct_scene* scene;
    ct_error error;
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), NULL, &error), CT_BAD_SCENE);
    assert_non_null(strstr(error.message, "nested more than"));
    // The path is cut where it is full, and says so.
    assert_string_equal(error.path + strlen(error.path) - 6, "not...");
}

static void missing_file_is_named(void** state) {
    (void)state;
    ct_scene* scene;
    ct_error error;
    assert_int_equal(ct_scene_load(&scene, "/nowhere/scene.json", &error), CT_IO);
    assert_string_equal(error.file, "/nowhere/scene.json");
    assert_int_equal(ct_scene_load(&scene, "/tmp", &error), CT_IO);
}

static void nearest_word_allows_for_slips_only(void** state) {
    (void)state;
    static const char* const words[] = {"young", "poisson", "density", NULL};
    assert_string_equal(ct_json_nearest("Young", words), "young");
    assert_string_equal(ct_json_nearest("yuong", words), "young");
    assert_string_equal(ct_json_nearest("poison", words), "poisson");
    assert_string_equal(ct_json_nearest("desnity", words), "density");
    assert_null(ct_json_nearest("colour", words));
    assert_null(ct_json_nearest("", words));
}

static void lines_are_found_through_escapes_and_nesting(void** state) {
    (void)state;
    const char* text =
        "{\n \"a\\\"}\": \"]\\\\\",\n \"b\": [ {\"c\":1}, [2,\n3], {\n\"d\": {\"e.f\":\n null}} ]\n}";
    size_t size = strlen(text);
    assert_int_equal(ct_json_line(text, size, "b"), 3);
    assert_int_equal(ct_json_line(text, size, "b[0].c"), 3);
    assert_int_equal(ct_json_line(text, size, "b[1][1]"), 4);
    assert_int_equal(ct_json_line(text, size, "b[2].d"), 5);
    assert_int_equal(ct_json_line(text, size, "b[2].d.e.f"), 5);
    assert_int_equal(ct_json_line(text, size, "b[7].d"), 3);
    assert_int_equal(ct_json_line(text, size, "q"), 1);
    for (size_t cut = 0; cut <= size; cut++) assert_true(ct_json_line(text, cut, "b[2].d.e.f") >= 1);
}

// -------------------------------------------------------------------------------------------------
// The published schema

static json_t* load_schema(void) {
    json_error_t problem;
    json_t* schema =
        json_load_file(CT_SOURCE_DIR "/docs/scene.schema.json", JSON_REJECT_DUPLICATES, &problem);
    if (!schema) fail_msg("line %d: %s", problem.line, problem.text);
    return schema;
}

static void assert_same_keys(const json_t* defs, const char* name, const char* const* words) {
    json_t* properties = json_object_get(json_object_get(defs, name), "properties");
    if (!properties) fail_msg("the schema has no object \"%s\"", name);
    size_t count = 0;
    for (; words[count]; count++)
        if (!json_object_get(properties, words[count]))
            fail_msg("%s.%s is not in the schema", name, words[count]);
    if (json_object_size(properties) != count)
        fail_msg("the schema's \"%s\" has a key that the loader does not know", name);
    if (!json_is_false(json_object_get(json_object_get(defs, name), "additionalProperties")))
        fail_msg("the schema's \"%s\" allows other keys", name);
}

static void schema_has_exactly_the_keys_of_the_loader(void** state) {
    (void)state;
    json_t* schema = load_schema();
    const json_t* defs = json_object_get(schema, "$defs");
    for (int i = 0; i < CT_OBJECT_COUNT; i++)
        assert_same_keys(defs, ct_scene_keys[i].name, ct_scene_keys[i].words);
    assert_same_keys(defs, "rotation", ct_json_rotation_keys);
    json_decref(schema);
}

// A shape's keys as the loader lists them when it meets one that is like no other.
static void assert_same_shape_keys(const json_t* defs, const char* name, const char* shape) {
    char text[256], *words[32], *rest;
    int count = 0;
    snprintf(text, sizeof text, "{\"bodies\":[{\"size\":1,\"shape\":%s}]}", shape);
    ct_scene* scene;
    ct_error error;
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), NULL, &error), CT_BAD_SCENE);
    char* list = strstr(error.message, "the keys here are ");
    if (!list) fail_msg("%s: %s", name, error.message);
    for (char* word = strtok_r(list + 18, ", ", &rest); word && count < 31;
         word = strtok_r(NULL, ", ", &rest))
        words[count++] = word;
    words[count] = NULL;
    assert_same_keys(defs, name, (const char* const*)words);
}

static void schema_has_exactly_the_keys_of_shapes(void** state) {
    (void)state;
    static const char* const kinds[] = {"sphere",   "ellipsoid", "box",  "capsule",
                                        "cylinder", "torus",     "sweep"};
    json_t* schema = load_schema();
    const json_t* defs = json_object_get(schema, "$defs");
    assert_same_shape_keys(defs, "shape", "{\"unheard_of_key\":1}");
    for (int i = 0; i < 7; i++) {
        char name[32], shape[64];
        snprintf(name, sizeof name, "shape_%s", kinds[i]);
        snprintf(shape, sizeof shape, "{\"%s\":{\"unheard_of_key\":1}}", kinds[i]);
        assert_same_shape_keys(defs, name, shape);
    }
    json_decref(schema);
}

// The schema of "object.key".
static json_t* property(const json_t* schema, const char* path) {
    char object[64];
    const char* dot = strchr(path, '.');
    snprintf(object, sizeof object, "%.*s", (int)(dot - path), path);
    json_t* definition = json_object_get(json_object_get(schema, "$defs"), object);
    json_t* found = json_object_get(json_object_get(definition, "properties"), dot + 1);
    if (!found) fail_msg("%s is not in the schema", path);
    return found;
}

static void schema_has_exactly_the_choices_of_the_loader(void** state) {
    (void)state;
    json_t* schema = load_schema();
    for (int i = 0; i < CT_CHOICE_COUNT; i++) {
        const json_t* list = json_object_get(property(schema, ct_scene_choices[i].name), "enum");
        size_t count = 0;
        for (; ct_scene_choices[i].words[count]; count++) {
            const char* word = json_string_value(json_array_get(list, count));
            assert_non_null(word);
            assert_string_equal(word, ct_scene_choices[i].words[count]);
        }
        assert_int_equal(json_array_size(list), count);
    }
    json_decref(schema);
}

static void assert_default(const json_t* schema, const char* path, double expected) {
    const json_t* value = json_object_get(property(schema, path), "default");
    bool same = json_is_boolean(value) ? json_is_true(value) == (expected != 0)
                                       : json_is_number(value) && json_number_value(value) == expected;
    if (!same) fail_msg("the schema's default of %s is not %g", path, expected);
}

static void assert_default_choice(const json_t* schema, ct_scene_choice choice, int expected) {
    const json_t* value = json_object_get(property(schema, ct_scene_choices[choice].name), "default");
    assert_non_null(value);
    assert_string_equal(json_string_value(value), ct_scene_choices[choice].words[expected]);
}

static void schema_has_the_defaults_of_the_code(void** state) {
    (void)state;
    json_t* schema = load_schema();
    ct_settings s = ct_settings_default();
    assert_default_choice(schema, CT_CHOICE_UP, s.up);
    assert_default_choice(schema, CT_CHOICE_INTEGRATOR, (int)s.integrator);
    assert_default(schema, "scene.settle", s.settle);
    assert_default_choice(schema, CT_CHOICE_SOLVER, (int)s.solver);
    assert_default_choice(schema, CT_CHOICE_SPLIT, (int)s.contact.split);
    assert_default(schema, "contact.friction", s.contact.friction);
    assert_default(schema, "contact.max_passes", s.contact.max_passes);
    assert_default(schema, "contact.truncate", s.contact.truncate);
    assert_default(schema, "pair.collide", ct_pair_def_default().collide);
    assert_default(schema, "obstacle.scale", ct_obstacle_def_default().scale);
    assert_default(schema, "obstacle.hidden", ct_obstacle_def_default().hidden);
    assert_default(schema, "scene.gravity", -s.gravity[s.up]);
    assert_default(schema, "scene.time_step", s.time_step);
    assert_default(schema, "scene.duration", s.duration);
    assert_default(schema, "solver.tolerance", s.tolerance);
    assert_default(schema, "solver.max_iterations", s.max_iterations);
    assert_default(schema, "solver.max_substep_depth", s.max_substep_depth);
    assert_default(schema, "solver.threads", s.threads);
    assert_default(schema, "output.every", s.output_every);
    assert_default(schema, "output.compress", s.output_compress);
    ct_material m = ct_material_default();
    assert_default_choice(schema, CT_CHOICE_ENERGY, (int)m.energy);
    assert_default(schema, "material.young", m.young);
    assert_default(schema, "material.poisson", m.poisson);
    assert_default(schema, "material.density", m.density);
    assert_default(schema, "material.paper_weights", m.paper_weights);
    assert_default(schema, "damping.mass", m.damping_mass);
    assert_default(schema, "damping.stiffness", m.damping_stiffness);
    assert_default(schema, "body.scale", ct_body_def_default().scale);
    assert_default(schema, "force.start", ct_force_def_default().start);
    ct_parameter_def p = ct_parameter_def_default();
    assert_default_choice(schema, CT_CHOICE_PER, (int)p.per);
    assert_default_choice(schema, CT_CHOICE_TRANSFORM, (int)p.transform);
    assert_default(schema, "parameter.hold", p.hold);
    assert_default(schema, "parameter.scale", p.scale);
    assert_default(schema, "parameter.offset", p.offset);
    ct_objective_def o = ct_objective_def_default();
    assert_default_choice(schema, CT_CHOICE_NORM, o.distance);
    assert_default(schema, "objective.weight", o.weight);
    assert_default(schema, "objective.uniform", o.uniform);
    assert_default(schema, "objective.relative", o.relative);
    ct_joint_def joint = ct_joint_def_default();
    assert_default(schema, "joint.position", joint.position);
    assert_default(schema, "joint.velocity", joint.velocity);
    assert_default(schema, "joint.stiffness", joint.stiffness);
    assert_default(schema, "joint.rest", joint.rest);
    assert_default(schema, "joint.damping", joint.damping);
    assert_default(schema, "servo.damping", joint.servo_damping);
    assert_default(schema, "servo.target", joint.target);
    assert_default(schema, "skeleton.scale", 1);
    const json_t* axis = json_object_get(property(schema, "joint.axis"), "default");
    for (size_t i = 0; i < 3; i++) assert_true(json_number_value(json_array_get(axis, i)) == joint.axis[i]);
    ct_optimize_def optimize = ct_optimize_def_default();
    assert_default_choice(schema, CT_CHOICE_METHOD, (int)optimize.method);
    assert_default(schema, "optimizer.iterations", optimize.iterations);
    assert_default(schema, "optimizer.rate", optimize.rate);
    assert_default(schema, "optimizer.tolerance", optimize.tolerance);
    assert_default(schema, "optimizer.restarts", optimize.restarts);
    assert_default(schema, "optimizer.seed", (double)optimize.seed);
    assert_default(schema, "optimizer.noise", optimize.noise);
    assert_default(schema, "optimizer.spread", optimize.spread);
    assert_default(schema, "optimizer.population", optimize.population);
    ct_scene* scene = parse("{\"bodies\":[" BOX "]}");
    assert_default(schema, "view.field_of_view", scene->view.field_of_view);
    assert_string_equal(json_string_value(json_object_get(property(schema, "scene.name"), "default")),
                        ct_scene_name(scene));
    ct_scene_free(scene);
    json_decref(schema);
}

static void example_of_the_reference_loads(void** state) {
    (void)state;
    static char text[20000];
    FILE* file = fopen(CT_SOURCE_DIR "/docs/scene.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char* start = strstr(text, "```json");
    assert_non_null(start);
    char* end = strstr(start + 7, "```");
    assert_non_null(end);
    *end = 0;
    ct_scene_free(parse(start + 7));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_out_keys_keep_their_defaults),
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(body_is_read),
        cmocka_unit_test(quaternion_equals_axis_and_degrees),
        cmocka_unit_test(sets_are_read),
        cmocka_unit_test(values_come_from_a_file_beside_the_scene),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(syntax_errors_have_their_line),
        cmocka_unit_test(unknown_keys_get_a_proposal),
        cmocka_unit_test(bad_values_say_what_to_change),
        cmocka_unit_test(bad_sets_say_what_to_change),
        cmocka_unit_test(deep_nesting_is_refused_not_followed),
        cmocka_unit_test(missing_file_is_named),
        cmocka_unit_test(nearest_word_allows_for_slips_only),
        cmocka_unit_test(lines_are_found_through_escapes_and_nesting),
        cmocka_unit_test(schema_has_exactly_the_keys_of_the_loader),
        cmocka_unit_test(schema_has_exactly_the_keys_of_shapes),
        cmocka_unit_test(schema_has_exactly_the_choices_of_the_loader),
        cmocka_unit_test(schema_has_the_defaults_of_the_code),
        cmocka_unit_test(example_of_the_reference_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
