// Pages: a motion as one HTML file that a browser shows, with everything it needs inside
//
//     ct_page_def def = ct_page_def_default();
//     def.scene = scene;                                               // for muscles, chambers and curves
//     if (ct_page_write(&file, 1, &def, "run.html", &error)) ...
//
// Positions are rounded to 1/65535 of the motion's extent along each axis, colours to 255 levels.
#ifndef CUTTLE_PAGE_H
#define CUTTLE_PAGE_H

#include "cuttle/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_page_def {
    bool interior;       // with the tets, so that a cut shows what is inside; bodies are hollow otherwise
    int stride;          // every so many frames, and the last
    const char* title;   // NULL: the scene's name
    const char* fields;  // to colour by, as ct_picture_color, separated by commas; "": none; NULL: the usual
    // that the motion was made from: without it there are no muscles, chambers, energies, momenta, losses and
    // controls, which the page says; NULL: not known
    const ct_scene* scene;
} ct_page_def;
CT_API ct_page_def ct_page_def_default(void);  // all frames, hollow, no scene
// Whether the library was built with the viewer; ct_page_write and ct_page_text need it.
CT_API bool ct_page_available(void);
// Writes the page of a motion, or of two that are compared (count 2). CT_BAD_ARGUMENT where there is no
// frame, no viewer or no such field, and for a scene of another motion; CT_IO when the file cannot be
// written.
CT_API ct_status ct_page_write(ct_trajectory* const* files, int count, const ct_page_def* def,
                               const char* path, ct_error* error);
// What the page shows of one motion, as bytes (deflated; web/src/data.js reads them). Freed by ct_free.
CT_API ct_status ct_page_data(ct_trajectory* file, const ct_page_def* def, uint8_t** bytes, size_t* size,
                              ct_error* error);
// The page itself as text that ends with 0, with `data` (HTML) where the data goes. Freed by ct_free.
CT_API ct_status ct_page_text(const char* data, char** text, size_t* size, ct_error* error);

// A page that follows a simulation: what all frames share first, then one frame after the other.
typedef struct ct_page ct_page;
// scene may be NULL. The model and the scene must outlive it.
CT_API ct_status ct_page_create(ct_page** out, const ct_scene* scene, const ct_model* model,
                                const ct_page_def* def, ct_error* error);
CT_API void ct_page_free(ct_page* page);  // NULL: does nothing
// What all frames share, as ct_page_data without a frame; borrowed.
CT_API ct_status ct_page_start(ct_page* page, const uint8_t** bytes, size_t* size, ct_error* error);
// A state as a message: doubles and floats, little-endian; borrowed until the next. control: what the step
// was taken with; NULL: the scene's values.
CT_API ct_status ct_page_frame(ct_page* page, const ct_state* state, const ct_step_report* report,
                               const double* control, const uint8_t** bytes, size_t* size, ct_error* error);
// The number of the scene's node behind a node that the page shows; -1: there is none.
CT_API int ct_page_node(const ct_page* page, int shown);

#ifdef __cplusplus
}
#endif
#endif
