// The state: one block of memory with everything that determines the future, so that a checkpoint is a
// memcpy.
//
// Beyond positions and velocities: those before (BDF2, predictor), and the configuration and the
// actuation at which the factor was last refreshed, between steps or within one, because the solver's path,
// and so the last bits of the result, depend on it; and the forces that contacts carried, which friction
// starts from.
#ifndef CT_STEP_STATE_H
#define CT_STEP_STATE_H

#include "contact/anchor.h"

// How a state came to rest, for the reverse of that.
enum { CT_SETTLED_NOT, CT_SETTLED_FREE, CT_SETTLED_TOUCHING, CT_SETTLED_RELAXED };

typedef struct ct_state_header {
    int64_t step;  // steps taken
    double time;   // s
    int64_t nvert, ncoordinate;
    // how many steps back the history reaches: 0, 1 (x_previous, v_previous) or 2 (v_before too)
    int64_t history;
    int64_t slow_solves;  // solves beyond what a good factor needs, since the last refresh
    uint64_t reference;   // stamp of x_reference; 0: the rest factor is in use
    int64_t grown;        // the distances of colliders have been measured; 0: the next step does
    double growth_start;  // s, when
    int64_t nanchor;      // contacts that carried force in the last (sub-)step, at most anchor_room
    int64_t anchor_room;
    int64_t closed;   // a contact closed in the last step: what it has left of its blow is for Euler's rule
    int64_t settled;  // CT_SETTLED_...: by ct_settle or ct_relax, with no step since
    // flesh follows its bones (step/start.h), with no step since; v_before: u
    int64_t followed;
} ct_state_header;

struct ct_state {
    size_t size;                  // bytes of the block
    ct_state_header* header;      // start of the block
    double* x;                    // 3 nvert, m; node arrays are padded to a multiple of 8 doubles plus 8
    double* v;                    // 3 nvert, m/s
    double* x_previous;           // 3 nvert
    double* v_previous;           // 3 nvert
    double* v_before;             // 3 nvert, the velocity before v_previous
    double* x_reference;          // 3 nvert
    double* contact_force;        // 3 nvert, N, on each node in the last (sub-)step
    double* q;                    // ncoordinate, of the joints
    double* q_previous;           // ncoordinate
    double* q_reference;          // ncoordinate
    double* actuation;            // numbers of the actuators, during the last step
    double* actuation_reference;  // likewise, when x_reference was taken
    double* mount;                // 7 nmount, poses of mounts on top of their motion: translation, quaternion
    // ndof, joint rates of a state without history; balls and free joints: along the world's axes
    double* rate;
    double* growth;     // ncollider: theta_0 (contact/growth.h)
    ct_anchor* anchor;  // anchor_room
};

// Forces of the contacts in the last (sub-)step.
static inline ct_anchors ct_state_anchors(const ct_state* state) {
    return (ct_anchors){state->anchor, (int)state->header->nanchor};
}

// Arrays of nodes in the block, and how long each is.
enum { CT_STATE_NODE_ARRAYS = 7 };
static inline size_t ct_state_padded(int nvert) { return ((3 * (size_t)nvert + 7) / 8) * 8 + 8; }
size_t ct_state_growth_count(const ct_model* model);  // numbers in `growth`
size_t ct_state_block_size(const ct_model* model);    // bytes
// Contacts whose forces a state can hold.
size_t ct_state_anchor_room(const ct_model* model);
// Its block has the sizes that the model's states have.
bool ct_state_fits(const ct_state* state, const ct_model* model);

#endif
