// Messages of a page: {"do": "drag", "node": 3, "to": [0, 1, 0]} and the like. Nothing of what a client sends
// is believed: numbers are finite and bounded, indices are whole, and anything else is no command.
#include <math.h>
#include <string.h>

#include "cli.h"
#include "server.h"

enum { MOST_INDEX = 100000000 };
static const double most_number = 1e9;

static bool read_numbers(const json_t* array, double* out, size_t count) {
    if (!json_is_array(array) || json_array_size(array) != count) return false;
    for (size_t k = 0; k < count; k++) {
        const json_t* value = json_array_get(array, k);
        if (!json_is_number(value)) return false;
        out[k] = json_number_value(value);
        if (!isfinite(out[k]) || fabs(out[k]) > most_number) return false;
    }
    return true;
}

static bool read_index(const json_t* value, int* out) {
    if (!json_is_integer(value)) return false;
    json_int_t index = json_integer_value(value);
    *out = (int)index;
    return index >= 0 && index < MOST_INDEX;
}

static bool read_number(const json_t* value, double* out) {
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return isfinite(*out) && fabs(*out) <= most_number;
}

static server_command read_object(const json_t* object) {
    static const char* const words[] = {
        [SERVER_NONE] = "",       [SERVER_PAUSE] = "pause", [SERVER_STEP] = "step",
        [SERVER_RESET] = "reset", [SERVER_DRAG] = "drag",   [SERVER_RELEASE] = "release",
        [SERVER_SET] = "set"};
    const char* word = json_string_value(json_object_get(object, "do"));
    server_command c = {.action = SERVER_NONE};
    for (int k = 1; word && k < (int)(sizeof words / sizeof words[0]); k++)
        if (strcmp(word, words[k]) == 0) c.action = (server_action)k;
    bool good = true;
    if (c.action == SERVER_PAUSE) {
        const json_t* on = json_object_get(object, "on");
        good = json_is_boolean(on);
        c.number[0] = json_is_true(on);
    } else if (c.action == SERVER_DRAG)
        good = read_index(json_object_get(object, "node"), &c.index) &&
               read_numbers(json_object_get(object, "to"), c.number, 3);
    else if (c.action == SERVER_SET)
        good = read_index(json_object_get(object, "index"), &c.index) &&
               read_number(json_object_get(object, "value"), &c.number[0]);
    return good ? c : (server_command){.action = SERVER_NONE};
}

server_command server_read_command(const char* text, size_t size) {
    json_t* object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    server_command c = read_object(object);
    json_decref(object);
    return c;
}
