// Fuzz target of what a browser may send to a live page: any bytes are a command with numbers in bounds, or
// none.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// the one part of the program that is fuzzed
#include "../../cli/server_command.c"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const server_command c = server_read_command((const char*)data, size);
    if (c.action < SERVER_NONE || c.action > SERVER_SET) abort();
    if (c.index < 0 || c.index >= 100000000) abort();
    for (int k = 0; k < 3; k++)
        if (!isfinite(c.number[k]) || fabs(c.number[k]) > 1e9) abort();
    if (c.action == SERVER_PAUSE && c.number[0] != 0 && c.number[0] != 1) abort();
    if (c.action == SERVER_NONE && (c.index || c.number[0] || c.number[1] || c.number[2])) abort();
    return 0;
}
