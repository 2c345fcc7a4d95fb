// Random scenes as JSON: boxes of flesh that fly, links on joints, a muscle, a cable, the ground. Numbers
// come from a seed or, for the fuzzer, from its bytes.
#ifndef CT_TESTS_RANDOM_SCENE_H
#define CT_TESTS_RANDOM_SCENE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct random_dice {
    const uint8_t* data;  // used up first; NULL: none
    size_t size;
    uint64_t seed;
    bool harsh;  // numbers that nobody would choose
} random_dice;

static inline double random_unit(random_dice* dice) {  // 0 .. 1
    if (dice->size) {
        const unsigned low = dice->size > 1 ? dice->data[1] : 0;
        const double value = (dice->data[0] * 256.0 + low) / 65536;
        const size_t used = dice->size > 1 ? 2 : 1;
        dice->data += used, dice->size -= used;
        return value;
    }
    dice->seed = dice->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(dice->seed >> 11) / 9007199254740992.0;
}
static inline double random_in(random_dice* dice, double low, double high) {
    return low + (high - low) * random_unit(dice);
}
// As many in every decade; the harsh bounds where that is wished for.
static inline double random_size(random_dice* dice, double low, double high, double least, double most) {
    return exp(dice->harsh ? random_in(dice, log(least), log(most)) : random_in(dice, log(low), log(high)));
}
static inline int random_count(random_dice* dice, int least, int most) {
    return least + (int)(random_unit(dice) * (most - least + 1));
}
static inline bool random_chance(random_dice* dice, double part) { return random_unit(dice) < part; }

typedef struct random_scene {
    char text[8192];
    int length, bodies;
    bool ground, links, pulled, muscle;  // there are ...
} random_scene;

static inline void random_put(random_scene* s, const char* format, ...) __attribute__((format(printf, 2, 3)));
static inline void random_put(random_scene* s, const char* format, ...) {
    va_list list;
    va_start(list, format);
    const int room = (int)sizeof s->text - s->length;
    const int used = vsnprintf(s->text + s->length, (size_t)room, format, list);
    va_end(list);
    s->length += used < room ? used : room - 1;
}

static inline void random_body(random_scene* s, random_dice* d, int k) {
    const double edge = random_size(d, 0.05, 0.15, 1e-3, 10);
    const double speed = random_size(d, 0.2, 2, 1e-3, 1e3), turn = random_size(d, 0.2, 5, 1e-3, 1e3);
    int cells[3];
    for (int a = 0; a < 3; a++) cells[a] = random_count(d, 1, 2);
    random_put(s, "%s{\"name\": \"b%d\", \"box\": {\"size\": [%.9g, %.9g, %.9g], \"cells\": [%d, %d, %d]}, ",
               k ? ", " : "", k, edge, edge * random_in(d, 0.5, 1), edge, cells[0], cells[1], cells[2]);
    random_put(s, "\"translate\": [%.9g, %.9g, %.9g], ", 0.4 * k * (d->harsh ? random_in(d, 0, 2) : 1),
               random_in(d, d->harsh ? 0 : 0.01, 0.05), random_in(d, -0.02, 0.02));
    random_put(s, "\"velocity\": [%.9g, %.9g, %.9g], \"angular_velocity\": [%.9g, %.9g, %.9g], ",
               speed * random_in(d, -1, 1), speed * random_in(d, -1, 1), speed * random_in(d, -1, 1),
               turn * random_in(d, -1, 1), turn * random_in(d, -1, 1), turn * random_in(d, -1, 1));
    random_put(s, "\"material\": {\"young\": %.9g, \"poisson\": %.9g, \"density\": %.9g}}",
               random_size(d, 2e4, 1e6, 1, 1e12), random_in(d, 0, d->harsh ? 0.4999 : 0.45),
               random_size(d, 300, 3000, 1e-2, 1e5));
}

static inline void random_links(random_scene* s, random_dice* d) {
    static const char* const joints[] = {"revolute", "prismatic", "ball", "free"};
    const int count = random_count(d, 1, 3);
    random_put(s, ", \"skeletons\": [{\"links\": [");
    for (int k = 0; k < count; k++) {
        const char* joint = joints[random_count(d, 0, k ? 2 : 3)];
        const double y = 2 - 0.3 * k, inertia = random_size(d, 1e-3, 1e-2, 1e-9, 1e3);
        const bool axial = joint[0] == 'r' || joint[0] == 'p';
        random_put(s, "%s{\"name\": \"l%d\", ", k ? ", " : "", k);
        if (k) random_put(s, "\"parent\": \"l%d\", ", k - 1);
        random_put(s, "\"joint\": {\"type\": \"%s\", \"anchor\": [0, %.9g, 0]", joint, y);
        if (axial) random_put(s, ", \"axis\": [%.9g, 0.1, 1]", random_in(d, -1, 1));
        if (joint[0] != 'f') random_put(s, ", \"damping\": %.9g", random_size(d, 1e-3, 1e-2, 1e-9, 1e6));
        random_put(s, "}, \"mass\": %.9g, \"center\": [0.05, %.9g, 0], \"inertia\": [%.9g, %.9g, %.9g]}",
                   random_size(d, 0.1, 2, 1e-6, 1e6), y - 0.15, inertia, inertia, inertia);
    }
    random_put(s, "]}]");
}

// free: nothing holds it or acts on it from outside.
static inline void random_make(random_scene* s, random_dice* d, bool free) {
    memset(s, 0, sizeof *s);
    s->bodies = random_count(d, 1, 2);
    s->ground = !free && random_chance(d, 0.7);
    s->links = !free && random_chance(d, 0.4);
    s->muscle = random_chance(d, 0.4);
    s->pulled = random_chance(d, 0.4) && (s->bodies > 1 || !free);
    random_put(s, "{\"up\": \"y\", \"gravity\": [0, %.9g, 0], \"time_step\": %.9g, \"integrator\": \"%s\", ",
               free ? 0 : -random_size(d, 9, 10, 1e-3, 1e4), random_size(d, 0.002, 0.01, 1e-6, 1),
               random_chance(d, 0.3) ? "bdf2" : "euler");
    random_put(s, "\"solver\": {\"tolerance\": %g}, \"bodies\": [", d->harsh ? 1e-6 : 1e-10);
    for (int k = 0; k < s->bodies; k++) random_body(s, d, k);
    random_put(s, "]");
    if (s->ground)
        random_put(s,
                   ", \"contact\": {\"friction\": %.9g}, \"obstacles\": [{\"name\": \"ground\", \"plane\": "
                   "{\"point\": [0, 0, 0], \"normal\": [%.9g, 1, 0]}}]",
                   random_in(d, 0, 1), d->harsh ? random_in(d, -0.2, 0.2) : 0);
    if (s->links) random_links(s, d);
    if (s->muscle)
        random_put(
            s,
            ", \"muscles\": [{\"name\": \"m\", \"body\": \"b0\", \"points\": [[-1, 0.05, 0.03], [1, 0.05, "
            "0.03]], \"radius\": 0.5, \"segments\": 1, \"stiffness\": %.9g, \"activation\": %.9g}]",
            random_size(d, 1e3, 3e4, 1, 1e9), random_in(d, 0, d->harsh ? 1 : 0.2));
    if (s->pulled)
        random_put(s,
                   ", \"cables\": [{\"name\": \"c\", \"eyelets\": [{\"body\": \"b0\", \"node\": 0}, {%s}], "
                   "\"tension\": %.9g}]",
                   s->bodies > 1 ? "\"body\": \"b1\", \"node\": 0" : "\"point\": [0.1, 1, 0]",
                   random_size(d, 0.1, 1, 1e-6, 1e5));
    random_put(s,
               ", \"parameters\": [{\"type\": \"young\"}], \"duration\": %.9g, \"objective\": [{\"type\": "
               "\"point\", "
               "\"select\": {\"nearest\": [0, 0, 0]}, \"target\": [0.1, 0.3, 0.05], \"weight\": 10}]}",
               0.06);
}

#endif
