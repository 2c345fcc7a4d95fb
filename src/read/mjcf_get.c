// Attributes of MJCF's elements, with default classes; see mjcf.h.
#include <string.h>

#include "read/mjcf.h"

// The <default> of a class, NULL: none.
static const ct_xml* find_class(const ct_xml* within, const char* name) {
    for (const ct_xml* at = ct_xml_child(within, "default"); at; at = ct_xml_next(at, "default")) {
        const char* given = ct_xml_get(at, "class");
        if (given && !strcmp(given, name)) return at;
        const ct_xml* found = find_class(at, name);
        if (found) return found;
    }
    return NULL;
}

// The defaults of an element: its class, else the childclass of the nearest body around it, NULL: the
// outermost ones alone.
static const ct_xml* defaults_of(ct_mjcf* m, const ct_xml* element) {
    const char* name = ct_xml_get(element, "class");
    for (const ct_xml* at = element->parent; at && !name; at = at->parent)
        name = ct_xml_get(at, "childclass");
    if (!name) return NULL;
    const ct_xml* found = find_class(m->root, name);
    if (!found)
        ct_robot_fail(m->reader, element, "is of the class \"%.60s\", which no <default> defines", name);
    return found;
}

const char* ct_mjcf_get(ct_mjcf* m, const ct_xml* element, const char* attribute) {
    const char* value = ct_xml_get(element, attribute);
    if (value || m->reader->status) return value;
    for (const ct_xml* at = defaults_of(m, element); at && !strcmp(at->name, "default"); at = at->parent) {
        const ct_xml* given = ct_xml_child(at, element->name);
        if (given && (value = ct_xml_get(given, attribute))) return value;
    }
    // there may be several of the outermost
    for (const ct_xml* at = ct_xml_child(m->root, "default"); at; at = ct_xml_next(at, "default")) {
        const ct_xml* given = ct_xml_child(at, element->name);
        const char* class = ct_xml_get(at, "class");
        if ((!class || !strcmp(class, "main") || at == ct_xml_child(m->root, "default")) && given &&
            (value = ct_xml_get(given, attribute)))
            return value;
    }
    return NULL;
}

int ct_mjcf_numbers(ct_mjcf* m, const ct_xml* element, const char* attribute, int least, int most,
                    double* out) {
    return ct_robot_numbers(m->reader, element, attribute, ct_mjcf_get(m, element, attribute), least, most,
                            out);
}

bool ct_mjcf_has_range(ct_mjcf* m, const ct_xml* element, const char* range, const char* limited) {
    const char* word = ct_mjcf_get(m, element, limited);
    if (!ct_mjcf_get(m, element, range)) return false;
    return word && strcmp(word, "auto") ? !strcmp(word, "true") : m->autolimits;
}
