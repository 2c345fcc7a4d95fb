// Whole files into memory; see file.h.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

// True, and *size, when the descriptor is that of a file which is not too long.
static bool is_readable(int descriptor, const char* path, int most, size_t* size, ct_error* error) {
    struct stat info;
    const char* problem = NULL;
    if (fstat(descriptor, &info) != 0) problem = strerror(errno);
    else if (S_ISDIR(info.st_mode)) problem = "this is a directory: give a file in it";
    else if (!S_ISREG(info.st_mode))
        problem = "this is not a file but a device or a pipe: save it as a file first";
    if (problem) ct_fail_at(error, CT_IO, path, 0, "cannot read %s: %s", path, problem);
    else if (info.st_size > (off_t)most << 30)
        ct_fail_at(error, CT_IO, path, 0, "cannot read %s: it is longer than %d GB", path, most);
    else return *size = (size_t)info.st_size, true;
    return false;
}

// Up to `size` bytes: fewer where the file has become shorter. -1: failed.
static ssize_t read_all(int descriptor, char* bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(descriptor, bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

ct_status ct_file_read(const char* path, int most, char** bytes, size_t* size, ct_error* error) {
    *bytes = NULL;
    *size = 0;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe would wait for a writer
    if (descriptor < 0) return ct_fail_at(error, CT_IO, path, 0, "cannot read %s: %s", path, strerror(errno));
    ct_status status = CT_IO;
    size_t length;
    if (is_readable(descriptor, path, most, &length, error)) {
        char* text = ct_alloc(length + 1, 1);
        ssize_t got = text ? read_all(descriptor, text, length) : -1;
        if (!text)
            status = ct_fail_at(error, CT_OUT_OF_MEMORY, path, 0, "cannot read %s: out of memory", path);
        else if (got < 0) ct_fail_at(error, CT_IO, path, 0, "cannot read %s: %s", path, strerror(errno));
        else status = CT_OK;
        if (status == CT_OK) *bytes = text, *size = (size_t)got, text[got] = 0;
        else ct_free(text);
    }
    close(descriptor);
    return status;
}
