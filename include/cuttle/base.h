// Version, status and errors, and the handles that everything else is about.
//
// A function that may fail returns a ct_status. Those that read a user's data or create something also fill a
// ct_error, which says where the mistake is and what to change (NULL: not wanted):
//
//     ct_error error;
//     if (ct_scene_load(&scene, "arm.json", &error))
//         fprintf(stderr, "%s:%d: %s: %s\n", error.file, error.line, error.path, error.message);
#ifndef CUTTLE_BASE_H
#define CUTTLE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_VERSION_MAJOR 0
#define CT_VERSION_MINOR 1
#define CT_VERSION_PATCH 0

#if defined(__GNUC__)
#define CT_API __attribute__((visibility("default")))
#else
#define CT_API
#endif

// Every status with its text. CT_OK is 0, so a status can be tested like a bool.
#define CT_STATUS_LIST(X)                                                                                    \
    X(CT_OK, "no error")                                                                                     \
    X(CT_OUT_OF_MEMORY, "out of memory")                                                                     \
    X(CT_BAD_ARGUMENT, "an argument is out of range")                                                        \
    X(CT_BAD_FILE, "the file is not what it claims to be")                                                   \
    X(CT_BAD_MESH, "the mesh cannot be simulated")                                                           \
    X(CT_BAD_SCENE, "the scene is not valid")                                                                \
    X(CT_IO, "reading or writing a file failed")                                                             \
    X(CT_NOT_CONVERGED, "the step did not converge")                                                         \
    X(CT_SINGULAR, "the system matrix is not positive definite")                                             \
    X(CT_UNSUPPORTED, "this is not supported")                                                               \
    X(CT_CANCELLED, "it was cancelled")

typedef enum ct_status {
#define CT_STATUS_ENUM(code, text) code,
    CT_STATUS_LIST(CT_STATUS_ENUM)
#undef CT_STATUS_ENUM
} ct_status;

// What went wrong, and where. A function that takes one clears it first: after success its code is CT_OK.
typedef struct ct_error {
    ct_status code;
    int line;           // 1-based line in `file`, 0 when unknown
    long element;       // offending node or element, -1 when none
    char file[256];     // "" when no file is involved
    char path[128];     // JSON path such as "bodies[0].material.young", "" when none
    char message[512];  // a sentence that says what is wrong and what to change
} ct_error;

// Asked now and then by what takes long, at least once per (sub-)step and its reverse, on the thread that
// works: true ends it with CT_CANCELLED.
typedef bool (*ct_cancel)(void* user);

// Whom set-up asks on the thread that calls this: reading and meshing of scenes, creation of models,
// factoring. cancel NULL: nobody, as in the beginning. They then end with CT_CANCELLED and leave nothing
// behind.
CT_API void ct_set_cancel(ct_cancel cancel, void* user);

// What a status means, in a few words; static. "unknown status" for a number that is none.
CT_API const char* ct_status_text(ct_status status);
// The version of the library that is loaded, such as "0.1.0"; static.
CT_API const char* ct_version(void);
// OpenBLAS chooses its kernels while it is loaded, and an old one takes slow ones on a CPU that it does not
// know. Returns what OPENBLAS_CORETYPE should be in the environment before the program starts; NULL: all is
// well, or it is set. Static.
CT_API const char* ct_blas_coretype(void);

// The handles. What they stand for is in the header of the same name.
typedef struct ct_scene ct_scene;            // what is simulated, in the user's words
typedef struct ct_model ct_model;            // a scene compiled and factored
typedef struct ct_state ct_state;            // everything that determines the future
typedef struct ct_work ct_work;              // scratch of one simulation
typedef struct ct_tape ct_tape;              // the states of a rollout
typedef struct ct_trajectory ct_trajectory;  // a file of a motion
typedef struct ct_problem ct_problem;        // a loss as a function of one vector

#ifdef __cplusplus
}
#endif
#endif
