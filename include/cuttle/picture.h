// Pictures and movies of a trajectory, drawn without a display
//
//     ct_picture_def def = ct_picture_def_default();
//     uint8_t* pixels = malloc(3 * def.width * def.height);
//     if (ct_picture_draw(file, frame, &def, pixels, &error)) ...
//     if (ct_picture_save("frame.png", pixels, def.width, def.height, &error)) ...
#ifndef CUTTLE_PICTURE_H
#define CUTTLE_PICTURE_H

#include "cuttle/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ct_bones {
    CT_BONES_THROUGH,  // the bones of skeletons show through the flesh
    CT_BONES_ONLY,     // bones without flesh
    CT_BONES_OFF
} ct_bones;
// Its word in scene files and messages, "through", ...; NULL: not one of them.
CT_API const char* ct_bones_name(ct_bones bones);
// The bones of that name; false: there is none.
CT_API bool ct_bones_find(const char* name, ct_bones* bones);
typedef struct ct_picture_def {
    int width, height;
    int samples;  // supersampling per axis: 1, 2, 3
    // "body", "displacement", "velocity", "stress", "energy", "volume", "contact", "activation"
    const char* color_by;
    double range[2];  // of the colour map; equal: from the data
    bool wireframe;   // draw the surface edges
    bool grid;        // ground grid
    bool label;       // time and colour bar
    ct_view view;
    double background[3];
    ct_bones bones;  // matters where there are links
    bool contacts;   // contact forces as arrows, one colour where it sticks, one where it slips
    // m of arrow per newton; 0: from the forces of the motion, those of rare impacts cut short
    double contact_scale;
    const char* title;   // written at the top, in the middle; NULL: none
    const double* mark;  // 3 numbers, m: a place with a ring around it, such as a target; NULL: none
} ct_picture_def;
// What `color_by` may be, "body", ..., in turn; NULL: beyond the last.
CT_API const char* ct_picture_color(int index);
// 1280 x 720, 3 x 3 samples, bodies in their colours, with grid and label, the scene framed
CT_API ct_picture_def ct_picture_def_default(void);
// Draws a frame: RGB, 3 width height bytes into `pixels`, top row first. CT_BAD_ARGUMENT for a definition
// that makes no sense or a frame that does not exist, CT_BAD_FILE when the file is damaged.
CT_API ct_status ct_picture_draw(ct_trajectory* file, int frame, const ct_picture_def* def, uint8_t* pixels,
                                 ct_error* error);
// Writes a .png. CT_IO when it cannot be written; what was there is then gone.
CT_API ct_status ct_picture_save(const char* path, const uint8_t* pixels, int width, int height,
                                 ct_error* error);

typedef struct ct_movie ct_movie;  // MP4 (H.264) through the ffmpeg program
// Starts ffmpeg. CT_IO when there is none, CT_BAD_ARGUMENT for sizes or rates that make no sense.
CT_API ct_status ct_movie_create(ct_movie** out, const char* path, int width, int height,
                                 double frames_per_second, ct_error* error);
// Adds a picture of the movie's size. CT_IO when ffmpeg has ended.
CT_API ct_status ct_movie_append(ct_movie* movie, const uint8_t* pixels, ct_error* error);
// Finishes the file and frees, whatever it returns: CT_IO, with ffmpeg's words, when it failed. NULL: CT_OK.
CT_API ct_status ct_movie_close(ct_movie* movie, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
