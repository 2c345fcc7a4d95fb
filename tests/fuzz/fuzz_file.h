// Files in memory for fuzz targets of what is read by name: one per process, overwritten for every input.
#ifndef CT_TESTS_FUZZ_FILE_H
#define CT_TESTS_FUZZ_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FUZZ_FILE_NAME = 64 };

static inline void fuzz_need(bool good) {
    if (!good) abort();
}

static char fuzz_file_path[4][FUZZ_FILE_NAME];  // removed at the end

static inline void fuzz_file_remove(void) {
    for (int k = 0; k < 4; k++)
        if (fuzz_file_path[k][0]) unlink(fuzz_file_path[k]);
}

static inline void fuzz_file_name(char path[FUZZ_FILE_NAME], const char* extension) {
    snprintf(path, FUZZ_FILE_NAME, "/dev/shm/cuttle_fuzz_%ld.%s", (long)getpid(), extension);
    for (int k = 0; k < 4; k++) {
        if (!strcmp(fuzz_file_path[k], path)) return;
        if (fuzz_file_path[k][0]) continue;
        memcpy(fuzz_file_path[k], path, FUZZ_FILE_NAME);
        if (!k) atexit(fuzz_file_remove);
        return;
    }
}

static inline void fuzz_file_write(const char* path, const uint8_t* data, size_t size) {
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    fuzz_need(file >= 0 && pwrite(file, data, size, 0) == (ssize_t)size && !ftruncate(file, (off_t)size));
    close(file);
}

static inline uint8_t* fuzz_file_read(const char* path, size_t* size) {
    const int file = open(path, O_RDONLY);
    fuzz_need(file >= 0);
    *size = (size_t)lseek(file, 0, SEEK_END);
    uint8_t* data = malloc(*size ? *size : 1);
    fuzz_need(data && pread(file, data, *size, 0) == (ssize_t)*size);
    close(file);
    return data;
}

#endif
