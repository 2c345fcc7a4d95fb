// The rows of CT_QUANTITY_LIST at run time.
#include <math.h>
#include <string.h>

#include "cuttle.h"

#define ROW(id, word, of_, width_, role_, transform_, lower_, upper_, most_, shrink_, doc_)                  \
    [CT_QUANTITY_##id] = {.name = word,                                                                      \
                          .of = CT_OF_##of_,                                                                 \
                          .width = width_,                                                                   \
                          .role = CT_ROLE_##role_,                                                           \
                          .transform = CT_TRANSFORM_##transform_,                                            \
                          .lower = lower_,                                                                   \
                          .upper = upper_,                                                                   \
                          .most = most_,                                                                     \
                          .shrink = shrink_,                                                                 \
                          .doc = doc_},
static const ct_quantity_info table[CT_QUANTITY_COUNT] = {CT_QUANTITY_LIST(ROW)};

static bool is_known(ct_quantity quantity) { return (unsigned)quantity < CT_QUANTITY_COUNT; }

const char* ct_quantity_name(ct_quantity quantity) {
    return is_known(quantity) ? table[quantity].name : NULL;
}

ct_quantity ct_quantity_find(const char* name) {
    int quantity = 0;
    while (quantity < CT_QUANTITY_COUNT && !(name && !strcmp(name, table[quantity].name))) quantity++;
    return (ct_quantity)quantity;
}

const ct_quantity_info* ct_quantity_row(ct_quantity quantity) {
    return is_known(quantity) ? &table[quantity] : NULL;
}
