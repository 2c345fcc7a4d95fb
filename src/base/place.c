// Places of files; see place.h.
#include "base/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

enum { MOST_LINKS = 40 };

void ct_place_directory(const char* path, char directory[CT_PLACE_SIZE]) {
    const char* slash = strrchr(path, '/');
    if (!slash) strcpy(directory, ".");
    else if (slash == path) strcpy(directory, "/");
    else snprintf(directory, CT_PLACE_SIZE, "%.*s", (int)(slash - path), path);
}

// One link of a chain that may end in nothing: `place` becomes what it names.
static bool follow(char place[CT_PLACE_SIZE]) {
    char target[CT_PLACE_SIZE], directory[CT_PLACE_SIZE], next[2 * CT_PLACE_SIZE];
    ssize_t length = readlink(place, target, sizeof target - 1);
    if (length < 0) return false;
    target[length] = 0;
    ct_place_directory(place, directory);
    snprintf(next, sizeof next, "%s/%s", directory, target);
    const char* found = *target == '/' ? target : next;
    if (strlen(found) >= CT_PLACE_SIZE) return false;
    strcpy(place, found);
    return true;
}

static const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

static ct_status check_directory(const char* place, const char* path, ct_error* error) {
    char directory[CT_PLACE_SIZE];
    struct stat about;
    ct_place_directory(place, directory);
    if (stat(directory, &about) != 0 || !S_ISDIR(about.st_mode))
        return ct_fail_at(error, CT_IO, path, 0,
                          "the directory \"%s\" does not exist: create it first (mkdir -p \"%s\")", directory,
                          directory);
    if (access(directory, W_OK | X_OK) != 0)
        return ct_fail_at(error, CT_IO, path, 0, "no permission to write in the directory \"%s\"", directory);
    return CT_OK;
}

ct_status ct_place_find(const char* path, char place[CT_PLACE_SIZE], ct_error* error) {
    struct stat about;
    size_t length = strlen(path);
    const char* name = strrchr(path, '/');
    if (!length || path[length - 1] == '/')
        return ct_fail_at(error, CT_BAD_ARGUMENT, path, 0, "this is not a file name");
    if (length + 64 >= CT_PLACE_SIZE || strlen(name ? name + 1 : path) + 24 > NAME_MAX)
        return ct_fail_at(error, CT_BAD_ARGUMENT, path, 0, "the file name is too long");
    strcpy(place, path);
    for (int k = 0; lstat(place, &about) == 0 && S_ISLNK(about.st_mode); k++)
        if (k == MOST_LINKS || !follow(place))
            return ct_fail_at(error, CT_IO, path, 0, "this link leads nowhere: %s", strerror(errno));
    bool exists = stat(place, &about) == 0;
    if (exists && !S_ISREG(about.st_mode))
        return ct_fail_at(error, CT_IO, path, 0, "this is %s, not a file: give the name of a file%s",
                          kind_of(about.st_mode), S_ISDIR(about.st_mode) ? " in it" : "");
    return check_directory(place, path, error);
}
