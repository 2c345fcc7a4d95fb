// What is known of the elements of MJCF files: attributes that are used, and those that have no part in the
// motion of links. All else is refused by name.
#include <string.h>

#include "read/mjcf.h"

typedef struct known_attributes {
    const char* element;
    const char* used;     // words
    const char* ignored;  // no part in the motion of links
} known_attributes;

static const known_attributes known[] = {
    {"body", "name childclass pos quat axisangle euler xyaxes zaxis", "user mocap gravcomp sleep"},
    {"inertial", "pos quat axisangle euler xyaxes zaxis mass diaginertia fullinertia", ""},
    {"joint", "name class type pos axis range limited stiffness damping ref springref armature",
     "frictionloss group margin solreflimit solimplimit solreffriction solimpfriction user "
     "actuatorfrcrange "
     "actuatorfrclimited actuatorgravcomp"},
    {"freejoint", "name", "group align"},
    {"geom", "name class type pos quat axisangle euler xyaxes zaxis fromto size density mass",
     "contype conaffinity condim group priority friction solmix solref solimp margin gap material rgba user "
     "hfield mesh fitscale "
     "shellinertia fluidshape fluidcoef"},
    {"frame", "name childclass pos quat axisangle euler xyaxes zaxis", ""},
    {"motor", "name class joint tendon gear", "ctrllimited ctrlrange forcelimited forcerange group user"},
    {"position", "name class joint kp kv dampratio gear",
     "ctrllimited ctrlrange forcelimited forcerange group user inheritrange"},
    {"velocity", "name class joint kv gear", "ctrllimited ctrlrange forcelimited forcerange group user"},
    {"general", "name class joint tendon gear dyntype gaintype gainprm biastype biasprm",
     "ctrllimited ctrlrange forcelimited forcerange group user dynprm actdim actlimited actrange actearly"},
    {"spatial", "name class stiffness springlength damping frictionloss armature limited range",
     "group width material rgba user margin solreflimit solimplimit solreffriction solimpfriction"},
    {"compiler",
     "angle eulerseq coordinate inertiafromgeom autolimits meshdir assetdir strippath "
     "inertiagrouprange settotalmass",
     "texturedir discardvisual fusestatic convexhull usethread fitaabb "
     "exactmeshinertia alignfree saveinertial "
     "balanceinertia boundmass boundinertia"},
};

static bool has_word(const char* words, const char* word) {
    size_t length = strlen(word);
    for (const char* at = words; length && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

void ct_mjcf_check(ct_mjcf* m, const ct_xml* element) {
    const known_attributes* entry = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].element, element->name)) entry = &known[i];
    for (int i = 0; entry && i < element->nattribute && !m->reader->status; i++) {
        const char* name = element->attribute[i].name;
        if (!has_word(entry->used, name) && !has_word(entry->ignored, name))
            ct_robot_fail(m->reader, element, "has the attribute %.40s, which is not supported: remove it",
                          name);
    }
}

// Effects that links do not have here; 0, "false" and absence are fine.
void ct_mjcf_refuse(ct_mjcf* m, const ct_xml* element, const char* const* attributes) {
    for (; *attributes && !m->reader->status; attributes++) {
        const char* value = ct_mjcf_get(m, element, *attributes);
        double number = 0;
        if (!value || !strcmp(value, "false")) continue;
        if (strcmp(value, "true")) ct_robot_numbers(m->reader, element, *attributes, value, 1, 1, &number);
        else number = 1;
        if (number != 0)
            ct_robot_fail(m->reader, element,
                          "has %s=\"%.40s\", which is not supported: remove it or set it to 0", *attributes,
                          value);
    }
}
