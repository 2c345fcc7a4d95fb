// Sliders of a live page: gravity, stiffness, friction and controls of a model, each one number.
#ifndef CUTTLE_LIVE_SLIDERS_H
#define CUTTLE_LIVE_SLIDERS_H

#include "cli.h"

enum { MOST_SLIDERS = 48 };

typedef enum live_kind { LIVE_GRAVITY, LIVE_STIFFNESS, LIVE_FRICTION, LIVE_CONTROL } live_kind;

typedef struct live_slider {
    live_kind kind;
    int index;  // axis, or number of the control vector
    char title[80];
    double low, high, value;
    bool moved;  // by the user: a control's value then holds in place of the scene's
} live_slider;

typedef struct live_sliders {
    live_slider list[MOST_SLIDERS];
    int count;
    double *young, *friction;  // of the scene, as it was; owned
    int nyoung, nfriction;
} live_sliders;

// `skip`: a control that has none. Sliders of the same title that the user has moved before keep their
// values.
bool live_sliders_make(live_sliders* sliders, const ct_model* model, int skip);
void live_sliders_free(live_sliders* sliders);
// Sets a slider, within its bounds; the model follows where it is a quantity.
ct_status live_sliders_set(live_sliders* sliders, ct_model* model, int index, double value, ct_error* error);
// Puts moved sliders of controls into a step's control vector.
void live_sliders_control(const live_sliders* sliders, double* control);
json_t* live_sliders_json(const live_sliders* sliders);

#endif
