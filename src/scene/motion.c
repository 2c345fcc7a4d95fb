// Prescribed motion of driven nodes: keyframes of a rigid displacement, interpolated in time.
//
//     x(t) = c + R(w(t)) (X - c) + u(t)
//
// X rest position, c centre, u translation, w rotation vector (R = exp [w]x, by Rodrigues' formula). u and w
// are interpolated component by component, linearly or by cubic Hermite polynomials whose slope at an inner
// key is that of the parabola through it and its neighbours; the motion is held outside the keys, so that the
// slope at the first and last key is zero, and C1 throughout. A repeated motion wraps the differences, not
// the values: a rotation from 0 to 2 pi turns on for ever.
#include "scene/motion.h"

#include <math.h>
#include <stdio.h>

#include "math/point3.h"
#include "scene/fail.h"
#include "scene/usable.h"

typedef enum part { TRANSLATE, ROTATE } part;

static double channel(const ct_keyframe* key, part part, int i) {
    return part == TRANSLATE ? key->translate[i] : key->rotate[i];
}

static double slope_of_segment(const ct_scene_driver* drive, int segment, part part, int i) {
    const ct_keyframe* key = drive->key + segment;
    return (channel(key + 1, part, i) - channel(key, part, i)) / (key[1].time - key[0].time);
}

// Slope at key k: the segments' slopes weighted by the opposite lengths.
static double slope_at_key(const ct_scene_driver* drive, int k, part part, int i) {
    int last = drive->nkey - 1;
    int before = k - 1, after = k;
    if (k == 0 || k == last) {
        if (!drive->repeat) return 0;
        before = last - 1;
        after = 0;
    }
    const ct_keyframe* key = drive->key;
    double length_before = key[before + 1].time - key[before].time;
    double length_after = key[after + 1].time - key[after].time;
    double slope_before = slope_of_segment(drive, before, part, i),
           slope_after = slope_of_segment(drive, after, part, i);
    return (length_after * slope_before + length_before * slope_after) / (length_before + length_after);
}

static double wrap_time(const ct_scene_driver* drive, double time) {
    double first = drive->key[0].time, last = drive->key[drive->nkey - 1].time;
    if (!drive->repeat) return fmin(fmax(time, first), last);
    double period = last - first, phase = fmod(time - first, period);
    return first + (phase < 0 ? phase + period : phase);
}

// The segment k that holds the time: key[k].time <= time <= key[k + 1].time.
static int find_segment(const ct_scene_driver* drive, double time) {
    int k = 0, above = drive->nkey - 1;
    while (above - k > 1) {
        int middle = (k + above) / 2;
        if (drive->key[middle].time <= time) k = middle;
        else above = middle;
    }
    return k;
}

// Translation or rotation vector at a time.
static void interpolate(const ct_scene_driver* drive, double time, part part, double value[3]) {
    const ct_keyframe* key = drive->key;
    if (drive->nkey < 2) {
        for (int i = 0; i < 3; i++) value[i] = drive->nkey ? channel(key, part, i) : 0;
        return;
    }
    time = wrap_time(drive, time);
    int k = find_segment(drive, time);
    double length = key[k + 1].time - key[k].time, t = (time - key[k].time) / length;
    double step = drive->smooth ? t * t * (3 - 2 * t) : t;
    for (int i = 0; i < 3; i++) {
        double a = channel(key + k, part, i), b = channel(key + k + 1, part, i);
        value[i] = a + step * (b - a);
        if (!drive->smooth) continue;
        double start = slope_at_key(drive, k, part, i), stop = slope_at_key(drive, k + 1, part, i);
        value[i] += length * t * (1 - t) * ((1 - t) * start - t * stop);
    }
}

// r <- exp([w]x) r
static void rotate(const double w[3], double r[3]) {
    double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    double sine = angle > 1e-4 ? sin(angle) / angle : 1 - angle * angle / 6;
    double half = sin(angle / 2);
    double cosine = angle > 1e-4 ? 2 * half * half / (angle * angle) : 0.5 - angle * angle / 24;
    double c[3] = {w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2], w[0] * r[1] - w[1] * r[0]};
    double d[3] = {w[1] * c[2] - w[2] * c[1], w[2] * c[0] - w[0] * c[2], w[0] * c[1] - w[1] * c[0]};
    for (int i = 0; i < 3; i++) r[i] += sine * c[i] + cosine * d[i];
}

void ct_scene_drive_vectors(const ct_scene_driver* drive, double time, double shift[3], double turn[3]) {
    interpolate(drive, time, TRANSLATE, shift);
    interpolate(drive, time, ROTATE, turn);
}

void ct_scene_drive_position(const ct_scene_driver* drive, double time, const double rest[3],
                             double position[3]) {
    double shift[3], turn[3], arm[3];
    interpolate(drive, time, TRANSLATE, shift);
    interpolate(drive, time, ROTATE, turn);
    bool turned = turn[0] != 0 || turn[1] != 0 || turn[2] != 0;
    for (int i = 0; i < 3; i++) arm[i] = rest[i] - drive->center[i];
    if (turned) rotate(turn, arm);
    // An unturned point does not pass through the centre, so that a pinned node stays at rest to the last
    // bit.
    for (int i = 0; i < 3; i++) position[i] = (turned ? drive->center[i] + arm[i] : rest[i]) + shift[i];
}

// ---- checks --------------------------------------------------------------------------------

// Whether the last key puts points where the first does, so that the motion repeats without a jump.
static bool closes(const ct_motion* motion) {
    ct_scene_driver first = {.key = (ct_keyframe*)motion->key, .nkey = 1};
    ct_scene_driver last = {.key = (ct_keyframe*)motion->key + motion->nkey - 1, .nkey = 1};
    for (int axis = 0; axis < 4; axis++) {
        double point[3] = {axis == 0, axis == 1, axis == 2}, a[3], b[3];
        ct_scene_drive_position(&first, 0, point, a);
        ct_scene_drive_position(&last, 0, point, b);
        for (int i = 0; i < 3; i++)
            if (!(fabs(a[i] - b[i]) <= 1e-6 * (1 + fabs(a[i])))) return false;
    }
    return true;
}

ct_status ct_scene_check_motion(const ct_motion* motion, ct_error* error) {
    if (motion->nkey < 0 || (motion->nkey > 0 && !motion->key))
        return ct_scene_fail(error, "motion.keys",
                             "is missing: give the keyframes, or none to pin the nodes");
    if (!is_usable3(motion->center))
        return ct_scene_fail(error, "motion.center", "must be three finite numbers within 1e12");
    for (int i = 0; i < motion->nkey; i++) {
        const ct_keyframe* key = &motion->key[i];
        char field[48];
        snprintf(field, sizeof field, "motion.keys[%d]", i);
        if (!isfinite(key->time) || !is_usable3(key->translate) || !is_usable3(key->rotate))
            return ct_scene_fail(error, field, "has a number that is not finite or beyond 1e12");
        if (i && !(key->time > key[-1].time))
            return ct_scene_fail(
                error, field, "has time %g, not after %g of the key before it: keys must be in order of time",
                key->time, key[-1].time);
    }
    if (motion->repeat && motion->nkey < 2)
        return ct_scene_fail(error, "motion.repeat",
                             "is true with %d keys: a motion needs two keys or more to repeat", motion->nkey);
    if (motion->repeat && !closes(motion))
        return ct_scene_fail(error, "motion.repeat",
                             "is true, but the last key does not bring the nodes to where the first "
                             "puts them: they would jump; make the keys equal, or whole turns apart");
    if (motion->clamp && motion->nkey)
        return ct_scene_fail(
            error, "clamp",
            "is true for nodes that move: only pinned nodes can be clamped; drive two rows of nodes");
    return CT_OK;
}
