// Node sets by selector; see ct_selector in cuttle.h.
#ifndef CT_SCENE_SELECT_H
#define CT_SCENE_SELECT_H

#include "scene/scene.h"

enum { CT_SELECT_MOST_DEPTH = 32 };  // nesting of and, or, not

#endif
