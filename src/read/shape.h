// Reads a shape (a tree of signed distances) from JSON.
#ifndef CT_READ_SHAPE_H
#define CT_READ_SHAPE_H

#include <jansson.h>

#include "cuttle.h"

// json_path is the path of `value` in its file, for messages, which begin with the full path; surface files
// are relative to `directory`.
ct_status ct_shape_from_json(ct_shape** out, const json_t* value, const char* directory,
                             const char* json_path, ct_error* error);

#endif
