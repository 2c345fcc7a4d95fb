// The weights by which flesh follows bones, see follower.h, of a model whose unknowns are numbered.
#ifndef CT_MODEL_FOLLOW_H
#define CT_MODEL_FOLLOW_H

#include "model/model.h"

// None where no link carries flesh.
ct_status ct_follow_create(ct_follow* skin, ct_arena* arena, const ct_model* model);

#endif
