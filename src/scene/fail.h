// What is said when a scene is refused.
#ifndef CT_SCENE_FAIL_H
#define CT_SCENE_FAIL_H

#include "cuttle.h"

enum { CT_SCENE_NAME_SIZE = 64 };  // bytes of a name in ct_slice and ct_control_info

// A name of a control, parameter or objective that fits into ct_slice and ct_control_info.
ct_status ct_scene_check_name(const char* name, ct_error* error);
ct_status ct_scene_out_of_memory(ct_error* error);
// CT_BAD_SCENE with path `field` and the message "<field> ...".
ct_status ct_scene_fail(ct_error* error, const char* field, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
