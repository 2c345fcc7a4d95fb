// One frame of a page, from a trajectory or from a simulation.
#ifndef CT_OUT_PAGE_FRAME_H
#define CT_OUT_PAGE_FRAME_H

#include "out/page_content.h"

enum { CT_PAGE_CONTACT = 7 };  // numbers of a contact

typedef struct ct_page_frame_values {
    double time;
    int64_t step;
    double* x;                      // 3 nvert
    double* field[CT_PAGE_FIELDS];  // nvert each
    double* poses;                  // 12 nlink
    double* obstacles;              // 6 nobstacle
    double* cables;                 // 4 neyelet
    double* cavities;               // 2 ncavity
    double* ends;                   // 6 nsegment: where the segments of muscles begin and end
    double* activation;             // nsegment: amounts
    double* curves;                 // ncurve
    double* chambers;               // nchamber: activation of the cell behind each triangle
    const ct_contact* contact;      // that carry force or not; borrowed until the next frame
    int ncontact;
    double *v, *vector;  // scratch: 3 nvert, the state's vector
} ct_page_frame_values;

// Memory from the arena, which is marked failed when short.
void ct_page_frame_create(ct_page_frame_values* frame, ct_arena* arena, const ct_page_content* content);
ct_status ct_page_frame_read(ct_page_frame_values* frame, const ct_page_content* content, int index,
                             ct_error* error);
ct_status ct_page_frame_take(ct_page_frame_values* frame, const ct_page_content* content,
                             const ct_state* state, const ct_step_report* report, const double* control,
                             ct_arena* scratch, ct_error* error);
// A contact's numbers: where, force, 1 where it sticks or 2 where it slips. False: it carries no force.
bool ct_page_frame_contact(const ct_contact* contact, double out[CT_PAGE_CONTACT]);

#endif
