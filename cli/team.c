// Ranks by MPI; see team.h. Built without MPI this file only knows whether it should have been there.
//
// Waiting: MPI's blocking calls keep a core busy, which on shared cores is taken from the workers. Here
// everything is polled, at first at once, then with pauses that grow to a millisecond.
#include "team.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Number of processes in the launch; 0: not by a launcher of MPI, or it does not say.
static int launched(void) {
    const char* const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (getenv(sizes[i])) return atoi(getenv(sizes[i]));
    return 0;
}

static ct_status fail(ct_error* error, ct_status status, const char* message) {
    if (error) {
        memset(error, 0, sizeof *error);
        error->code = status;
        error->element = -1;
        snprintf(error->message, sizeof error->message, "%s", message);
    }
    return status;
}

#ifdef CUTTLE_HAVE_MPI

#include <mpi.h>
#include <sched.h>
#include <time.h>

static MPI_Comm team = MPI_COMM_NULL;

typedef struct patience {
    int polls;
    long pause;  // ns
} patience;

static void wait_a_little(patience* p) {
    if (++p->polls < 50) {
        sched_yield();
        return;
    }
    p->pause = p->pause == 0 ? 20000 : p->pause < 500000 ? 2 * p->pause : 1000000;
    nanosleep(&(struct timespec){.tv_nsec = p->pause}, NULL);
}

static bool wait_for(MPI_Request* request) {
    patience p = {0};
    for (int done = 0;; wait_a_little(&p)) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (done) return true;
    }
}

static bool send_bytes(int to, int tag, const void* bytes, size_t count, void* user) {
    MPI_Request request;
    if (count > INT_MAX || MPI_Isend(bytes, (int)count, MPI_BYTE, to, tag, team, &request) != MPI_SUCCESS)
        return false;
    return wait_for(&request);
}

static bool receive_bytes(int from, int tag, void* bytes, size_t count, void* user) {
    patience p = {0};
    MPI_Message message;
    MPI_Status status;
    for (int there = 0; !there;) {
        if (MPI_Improbe(from, tag, team, &there, &message, &status) != MPI_SUCCESS) return false;
        if (!there) wait_a_little(&p);
    }
    int size = -1;
    if (count > INT_MAX || MPI_Get_count(&status, MPI_BYTE, &size) != MPI_SUCCESS || size != (int)count)
        return false;
    MPI_Request request;
    return MPI_Imrecv(bytes, size, MPI_BYTE, &message, &request) == MPI_SUCCESS && wait_for(&request);
}

ct_status team_begin(ct_transport* transport, ct_error* error) {
    *transport = (ct_transport){.size = 1};
    bool is_launched = launched() > 1 || (launched() == 0 && getenv("PMIX_RANK"));
    if (!is_launched) return CT_OK;
    int level;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
        return fail(error, CT_UNSUPPORTED, "MPI cannot be started");
    if (MPI_Comm_dup(MPI_COMM_WORLD, &team) != MPI_SUCCESS)
        return fail(error, CT_OUT_OF_MEMORY, "MPI provides no communicator");
    MPI_Comm_set_errhandler(team, MPI_ERRORS_RETURN);
    MPI_Comm_rank(team, &transport->rank);
    MPI_Comm_size(team, &transport->size);
    transport->send = send_bytes;
    transport->receive = receive_bytes;
    if (level < MPI_THREAD_MULTIPLE && transport->size > 1)
        return fail(error, CT_UNSUPPORTED,
                    "this MPI does not support several threads: use one with MPI_THREAD_MULTIPLE");
    return CT_OK;
}

bool team_agrees(bool good) {
    if (team == MPI_COMM_NULL) return good;
    int mine = good, all = 0;
    MPI_Request request;
    return MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, team, &request) == MPI_SUCCESS &&
           wait_for(&request) && all;
}

void team_end(void) {
    if (team == MPI_COMM_NULL) return;
    MPI_Request request;
    if (MPI_Ibarrier(team, &request) == MPI_SUCCESS) wait_for(&request);
    MPI_Comm_free(&team);
    MPI_Finalize();
}

void team_abandon(int code) {
    if (team != MPI_COMM_NULL) MPI_Abort(team, code);
}

#else

ct_status team_begin(ct_transport* transport, ct_error* error) {
    *transport = (ct_transport){.size = 1};
    if (launched() <= 1) return CT_OK;
    return fail(error, CT_UNSUPPORTED,
                "this program was built without MPI: install libopenmpi-dev and openmpi-bin, configure again "
                "(cmake --preset release) and build");
}

bool team_agrees(bool good) { return good; }
void team_end(void) {}
void team_abandon(int code) {}

#endif
