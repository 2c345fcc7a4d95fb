// Moves vertices of the worst tets so that the worst quality rises; surface vertices stay on the surface.
#ifndef CT_SHAPE_IMPROVE_H
#define CT_SHAPE_IMPROVE_H

#include "cuttle.h"
#include "shape/tet_list.h"

ct_status ct_improve(ct_tet_list* list, const ct_shape* shape);

#endif
