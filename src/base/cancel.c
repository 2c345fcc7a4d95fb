// Who is asked whether set-up is to end; see cancel.h.
#include "base/cancel.h"

static _Thread_local struct {
    ct_cancel cancel;
    void* user;
} asked;

void ct_set_cancel(ct_cancel cancel, void* user) {
    asked.cancel = cancel;
    asked.user = user;
}

bool ct_cancelled(void) { return asked.cancel && asked.cancel(asked.user); }
