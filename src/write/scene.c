// A scene as a scene file that stands alone; see ct_scene_save.
//
// The text is read back and written once more: two texts that are the same mean that nothing is lost, since
// every part of a scene is written that a model depends on.
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/place.h"
#include "base/status.h"
#include "scene/keys.h"
#include "write/write.h"

static void write_solver(ct_json_put* out, const ct_settings* s) {
    ct_put_object(out, "solver");
    ct_put_text(out, "type", ct_solver_name(s->solver));
    ct_put_number(out, "tolerance", s->tolerance);
    ct_put_integer(out, "max_iterations", s->max_iterations);
    ct_put_integer(out, "max_substep_depth", s->max_substep_depth);
    ct_put_integer(out, "threads", s->threads);
    ct_put_end(out);
}

static void write_settings(ct_json_put* out, const ct_settings* s) {
    ct_put_text(out, "up", ct_scene_choices[CT_CHOICE_UP].words[s->up]);
    ct_put_numbers(out, "gravity", s->gravity, 3);
    ct_put_number(out, "time_step", s->time_step);
    ct_put_number(out, "duration", s->duration);
    ct_write_flag(out, "settle", s->settle);
    if (s->relax) ct_put_text(out, "start", ct_scene_choices[CT_CHOICE_START].words[1]);
    ct_put_text(out, "integrator", ct_integrator_name(s->integrator));
    write_solver(out, s);
    ct_put_object(out, "output");
    ct_put_integer(out, "every", s->output_every);
    ct_write_flag(out, "compress", s->output_compress);
    ct_put_end(out);
    if (!isnan(s->ground)) ct_put_number(out, "ground", s->ground);
}

static void write_view(ct_json_put* out, const ct_view* view) {
    ct_put_object(out, "view");
    if (!view->automatic) {
        ct_put_numbers(out, "eye", view->eye, 3);
        ct_put_numbers(out, "target", view->target, 3);
    }
    ct_put_number(out, "field_of_view", view->field_of_view);
    ct_put_end(out);
}

static void write_scene(ct_json_put* out, const ct_scene* scene) {
    ct_put_object(out, NULL);
    ct_put_text(out, "name", scene->name);
    write_settings(out, &scene->settings);
    write_view(out, &scene->view);
    ct_write_contact(out, scene);
    ct_write_bodies(out, scene);
    ct_write_links(out, scene);
    ct_write_obstacles(out, scene);
    ct_write_sets(out, scene);
    ct_write_water(out, scene);
    ct_write_actuators(out, scene);
    ct_write_controls(out, scene);
    ct_write_policy(out, scene);
    ct_write_parameters(out, scene);
    ct_write_objective(out, scene);
    ct_write_optimizer(out, scene);
    ct_put_end(out);
}

// -------------------------------------------------------------------------------------------------
// Reading back

// The line in which two texts begin to differ, shortened.
static void first_difference(const char* a, const char* b, char line[64]) {
    const char* start = a;
    while (*a && *a == *b) {
        if (*a == '\n') start = a + 1;
        a++, b++;
    }
    while (*start == ' ') start++;
    snprintf(line, 64, "%.*s", (int)strcspn(start, "\n"), start);
}

// The text as a scene is this scene.
static ct_status check(const ct_json_put* out, ct_error* error) {
    ct_scene* again;
    ct_status status = ct_scene_parse(&again, out->text, out->size, NULL, error);
    if (status == CT_OUT_OF_MEMORY || status == CT_CANCELLED) return status;
    if (status) {
        char reason[sizeof error->message];
        snprintf(reason, sizeof reason, "%s", error ? error->message : "");
        return ct_fail(error, status, "a scene file cannot say this: %.400s", reason);
    }
    ct_json_put second = {.error = error};
    write_scene(&second, again);
    ct_scene_free(again);
    status = second.status;
    if (!status && strcmp(out->text, second.text)) {
        char line[64];
        first_difference(out->text, second.text, line);
        status = ct_fail(error, CT_UNSUPPORTED,
                         "a scene file cannot say this exactly: read back, it differs at %s", line);
    }
    ct_free(second.text);
    return status;
}

ct_status ct_scene_write(const ct_scene* scene, char** text, size_t* size, ct_error* error) {
    CT_NEED(error, scene, text);
    ct_error own;
    if (!error) error = &own;
    ct_error_clear(error);
    *text = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    locale_t before = uselocale(plain);
    ct_json_put out = {.error = error};
    write_scene(&out, scene);
    ct_status status = out.status ? out.status : check(&out, error);
    uselocale(before);
    freelocale(plain);
    if (status) {
        ct_free(out.text);
        return status;
    }
    *text = out.text;
    if (size) *size = out.size;
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// The file

static ct_status write_file(const char* path, const char* text, size_t size, ct_error* error) {
    char temporary[CT_PLACE_SIZE + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid());
    FILE* file = fopen(temporary, "wb");
    if (!file) return ct_fail_at(error, CT_IO, path, 0, "cannot write the file: %s", strerror(errno));
    bool good = fwrite(text, 1, size, file) == size;
    good = fclose(file) == 0 && good;
    if (good && rename(temporary, path) == 0) return CT_OK;
    ct_status status =
        ct_fail_at(error, CT_IO, path, 0, "writing the file failed: %s; is the disk full?", strerror(errno));
    remove(temporary);
    return status;
}

ct_status ct_scene_save(const ct_scene* scene, const char* path, ct_error* error) {
    CT_NEED(error, scene, path);
    char place[CT_PLACE_SIZE], *text;
    size_t size;
    ct_error_clear(error);
    ct_status status = ct_place_find(path, place, error);
    if (!status) status = ct_scene_write(scene, &text, &size, error);
    if (status) return status;
    status = write_file(place, text, size, error);
    ct_free(text);
    return status;
}
