// What detection knows of the surfaces before anything moves: faces, exclusions, neighbours, trees.
#ifndef CT_CONTACT_DETECT_BUILD_H
#define CT_CONTACT_DETECT_BUILD_H

#include "contact/detect_data.h"

// Fills everything but the lists; what it makes before it fails is freed with the rest.
ct_status ct_detect_build(ct_detect* detect, const ct_collision* collision);

#endif
