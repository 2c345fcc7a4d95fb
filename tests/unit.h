// cmocka with the headers that it wants before its own.
#ifndef CT_TESTS_UNIT_H
#define CT_TESTS_UNIT_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#endif
