// What the membranes of thin sheets carry, triangle by triangle, for files and pictures.
#ifndef CT_FORCE_SHEET_FIELDS_H
#define CT_FORCE_SHEET_FIELDS_H

#include "force/sheet.h"

// Per triangle, NULL: not wanted: elastic energy of the membrane (J/m^2), von Mises value of the membrane's
// Cauchy force per length (N/m), area over rest area. Bending has no part in them.
void ct_sheet_fields(const ct_sheet* sheet, const double* x, double* energy, double* von_mises,
                     double* area_ratio);

#endif
