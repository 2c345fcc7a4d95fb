// Whole files into memory.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"

enum { MOST_BYTES = 1 << 30 };

ct_status ct_read_file(const char* path, char** text, size_t* size, ct_error* error) {
    *text = NULL;
    struct stat info;
    if (stat(path, &info))
        return ct_fail_at(error, CT_IO, path, 0, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        return ct_fail_at(error, CT_IO, path, 0, "cannot read %s: it is not a file of at most 1 GB", path);
    FILE* file = fopen(path, "rb");
    if (!file) return ct_fail_at(error, CT_IO, path, 0, "cannot read %s: %s", path, strerror(errno));
    *size = (size_t)info.st_size;
    *text = ct_alloc(*size + 1, 1);
    bool whole = *text && fread(*text, 1, *size, file) == *size;
    fclose(file);
    if (whole) return CT_OK;
    ct_status status = *text ? CT_IO : CT_OUT_OF_MEMORY;
    ct_free(*text);
    *text = NULL;
    return ct_fail_at(error, status, path, 0, "cannot read %s: %s", path, ct_status_text(status));
}
