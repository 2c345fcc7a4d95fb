// Actuators of a scene and of its model: which tets, triangles and nodes they act on, their numbers
// (activations, volume ratios, pressures, tensions, lengths) and how these follow the controls.
//
// The numbers of all actuators, one after the other, are the model's actuation. At the end of a step of
// length h
//     a = d a_n + (1 - d) (start + control),   d = exp(-h / activation_time), 0 without such a time,
// which is the exact solution of da/dt = (start + control - a) / activation_time, and the energies see a all
// along the step.
#ifndef CT_MODEL_ACTUATOR_H
#define CT_MODEL_ACTUATOR_H

#include "scene/scene.h"

typedef struct ct_actuators {
    int count, size;  // actuators; numbers of all
    ct_scene_actuator* list;
    int* first;         // count: number 0 of each
    double* stiffness;  // count, Pa
    double* factored;   // count, stiffness when the system was factored
    double* start;      // size
    double* rest;       // size: where they act on nothing: 0, or 1 of chambers
    double* least;      // size: the least that they may be during a step
    double* decay;      // size: d
    int* control;       // size: index within a step's control vector, -1: none
} ct_actuators;

#endif
