// Filling a ct_error. Every fallible function that reads a user's data ends in a nullable ct_error*.
#ifndef CT_BASE_STATUS_H
#define CT_BASE_STATUS_H

#include "cuttle.h"

// Clears the error to CT_OK with element -1; NULL is accepted.
void ct_error_clear(ct_error* error);
// Sets code and message, keeps file/line/path/element as they are; returns `code`.
ct_status ct_fail(ct_error* error, ct_status code, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// The same with a place: file and line may be NULL/0.
ct_status ct_fail_at(ct_error* error, ct_status code, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));
// For a creation function that ends with `status`, whose reason nothing has told yet: says that `what` could
// not be made, and where memory ran out what would need less. Returns `status`.
ct_status ct_fail_making(ct_error* error, ct_status status, const char* what, const char* less);

// Returns CT_BAD_ARGUMENT from a public function that needs all of these pointers where one of them is NULL.
// error: its last argument, NULL where it has none.
#define CT_NEED(error, ...)                                                                                  \
    do {                                                                                                     \
        const void* const needed_[] = {__VA_ARGS__};                                                         \
        for (size_t k_ = 0; k_ < sizeof needed_ / sizeof *needed_; k_++)                                     \
            if (!needed_[k_])                                                                                \
                return ct_error_clear(error),                                                                \
                       ct_fail(error, CT_BAD_ARGUMENT, "none of these may be NULL: " #__VA_ARGS__);          \
    } while (0)

#endif
