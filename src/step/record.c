// What a step notes for its adjoint; see record.h.
#include "step/record.h"

#include "base/memory.h"

void ct_record_free(ct_record* record) {
    ct_free(record->step);
    ct_free(record->start);
    ct_free(record->touch);
    *record = (ct_record){0};
}

size_t ct_record_bytes(const ct_record* record) {
    return record->capacity * sizeof *record->step + record->start_capacity * sizeof(double) +
           record->touch_capacity * sizeof *record->touch;
}

ct_record_start ct_record_start_of(const ct_record* record, const ct_model* model, size_t index) {
    size_t n = 3 * (size_t)model->nvert;
    double* x = record->start + (index - 1) * (2 * n + (size_t)model->tree.ncoordinate);
    return (ct_record_start){.x = x, .v = x + n, .q = x + 2 * n};
}
