// Under a sanitizer a line that has run once has been looked at: what tests repeat for the sake of numbers
// (starts, directions, steps) is repeated less there. Never what reaches other lines.
#ifndef CT_TESTS_REPEAT_H
#define CT_TESTS_REPEAT_H

#if defined(__has_feature)  // clang's way to say it
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CT_TESTS_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(CT_TESTS_SANITIZED)
#define REPEAT(times, sanitized) (sanitized)
#else
#define REPEAT(times, sanitized) (times)
#endif

#endif
