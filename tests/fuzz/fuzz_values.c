// Fuzz target of what controls and policies read. The first byte chooses what the rest is: a file of values
// along time ('v'), a file of weights ('w'), the text of "values" ('t'), the text of a policy ('p'). It makes
// a scene that can be used, or an error that says why.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cuttle.h"
#include "fuzz_file.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static const char head[] =
    "{\"bodies\": [{\"name\": \"cube\", \"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"rod\", \"joint\": {\"type\": \"revolute\"}, \"mass\": 1, "
    "\"center\": [1, 0, 0], \"inertia\": [1, 1, 1]}]}], \"controls\": [{\"name\": \"push\", \"force\": "
    "{\"select\": {\"all\": true}}}, {\"name\": \"turn\", \"torque\": \"rod\"";

enum { TEXT = 16384 };

static int put(char* text, char kind, const char* path, const uint8_t* data, size_t size) {
    if (kind == 'v') return snprintf(text, TEXT, "%s, \"values\": \"%s\"}]}", head, path);
    if (kind == 'w')
        return snprintf(text, TEXT,
                        "%s}], \"policy\": {\"observe\": [{\"joint\": \"rod\"}, {\"phase\": 1}], "
                        "\"hidden\": 1, \"controls\": [\"turn\"], \"weights\": \"%s\"}}",
                        head, path);
    int length = snprintf(text, TEXT, kind == 't' ? "%s, \"values\": " : "%s}], \"policy\": ", head);
    memcpy(text + length, data, size);
    length += (int)size;
    return length + snprintf(text + length, (size_t)(TEXT - length), kind == 't' ? "}]}" : "}");
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char path[FUZZ_FILE_NAME], text[TEXT];
    if (!size || size > 8192 || !strchr("vwtp", data[0])) return 0;
    fuzz_file_name(path, "csv");
    if (data[0] == 'v' || data[0] == 'w') fuzz_file_write(path, data + 1, size - 1);
    const int length = put(text, (char)data[0], path, data + 1, size - 1);
    ct_scene* scene = NULL;
    ct_error error = {0};
    const ct_status status = ct_scene_parse(&scene, text, (size_t)length, "/", &error);
    fuzz_need(!status || (!scene && error.code == status && error.message[0] && error.line >= 0));
    fuzz_need(status || !ct_scene_check(scene, NULL));
    for (int k = 0; !status && k < scene->ncontrol; k++)
        for (int i = 0; i < scene->control[k].nvalue; i++) fuzz_need(isfinite(scene->control[k].time[i]));
    ct_scene_free(scene);
    return 0;
}
