// The words of the public enums, as scene files and messages write them: one table per kind, in the order of
// the enum, then NULL. ct_<kind>_name of the public headers reads the same tables. Joints and quantities have
// tables of their own (skeleton/joint.h, cuttle/quantity.h).
#ifndef CT_TEXT_WORDS_H
#define CT_TEXT_WORDS_H

#include "cuttle.h"

extern const char* const ct_energy_words[];
extern const char* const ct_integrator_words[];
extern const char* const ct_solver_words[];
extern const char* const ct_contact_method_words[];
extern const char* const ct_split_words[];
extern const char* const ct_select_kind_words[];
extern const char* const ct_force_kind_words[];
extern const char* const ct_obstacle_kind_words[];
extern const char* const ct_cells_words[];
extern const char* const ct_parameter_per_words[];
extern const char* const ct_transform_words[];
extern const char* const ct_curve_words[];
extern const char* const ct_objective_kind_words[];
extern const char* const ct_method_words[];
extern const char* const ct_observe_kind_words[];

#endif
