// Whether set-up is to end: asked by what takes long before there is a work whose own cancel could be asked.
#ifndef CT_BASE_CANCEL_H
#define CT_BASE_CANCEL_H

#include "cuttle.h"

// By the one whom this thread named (ct_set_cancel).
bool ct_cancelled(void);
// The same for loops of short turns: asks in one of 1,024.
static inline bool ct_cancelled_at(size_t turn) { return turn % 1024 == 1023 && ct_cancelled(); }

#endif
