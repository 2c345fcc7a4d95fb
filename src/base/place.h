// Where a file goes that is written whole, under another name first, and then put in its place in one move.
//
// The move replaces whatever has the name: a device or a pipe would become a file, and a link would be lost.
// So links are followed, and anything but a file that can be replaced is refused.
#ifndef CT_BASE_PLACE_H
#define CT_BASE_PLACE_H

#include "cuttle.h"

enum { CT_PLACE_SIZE = 4096 };

// The file that `path` leads to, also one that does not exist yet, into `place`. CT_BAD_ARGUMENT: this is not
// a file name; CT_IO: a directory, a device, a pipe or a socket has it, its directory does not exist or may
// not be written to.
ct_status ct_place_find(const char* path, char place[CT_PLACE_SIZE], ct_error* error);
// The directory of `path`.
void ct_place_directory(const char* path, char directory[CT_PLACE_SIZE]);

#endif
