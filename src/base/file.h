// Whole files into memory.
#ifndef CT_BASE_FILE_H
#define CT_BASE_FILE_H

#include "cuttle.h"

// The bytes of a file and a zero behind them, freed by ct_free. CT_IO: it cannot be read, is longer than
// `most` GB, or is no file: directories, devices and pipes are refused at once, they may have no end or no
// beginning.
ct_status ct_file_read(const char* path, int most, char** bytes, size_t* size, ct_error* error);

#endif
