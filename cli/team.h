// The processes of a launch by mpirun as ranks of a batch.
#ifndef CUTTLE_TEAM_H
#define CUTTLE_TEAM_H

#include <stdbool.h>

#include "cuttle.h"

// Begins MPI if this process was launched by mpirun (or srun, mpiexec), and fills the transport; alone: rank
// 0 of 1, and MPI is left alone. CT_UNSUPPORTED: the program was built without MPI and is one of several.
ct_status team_begin(ct_transport* transport, ct_error* error);
// Whether all ranks come here with true. Every rank waits for the others.
bool team_agrees(bool good);
// Ends MPI when all ranks have come here. Waiting costs no time of the processor.
void team_end(void);
// Ends all ranks at once, for a failure that the others do not know of, and the process with this exit code;
// alone: does nothing.
void team_abandon(int code);

#endif
