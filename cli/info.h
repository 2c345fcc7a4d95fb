// What the parts of cuttle info share: each prints lines or, for --json, makes objects.
#ifndef CUTTLE_CLI_INFO_H
#define CUTTLE_CLI_INFO_H

#include "cli.h"

enum { LISTED = 40 };  // links, and obstacles, that are printed one by one; and the last

static inline json_t* info_vector(const double v[3]) { return json_pack("[f,f,f]", v[0], v[1], v[2]); }

// "12 tets (3 of second order)"
void info_print_tets(int ntet, int second);
int info_count_second(const int* middles, int ntet);
// Nodes that tets and triangles have, which come first. middles: NULL where all tets are linear.
int info_flesh_nodes(const int* tets, const int* middles, int ntet, const int* tris, int ntri);
// The links of a model (NULL: of a file), one line each or an array. flesh: number of the nodes that come
// first.
json_t* info_links(const ct_link_info* links, int count, const ct_model* model, int flesh, bool json);
json_t* info_model_links(const ct_model* model, bool json);

int info_trajectory(const char* path, bool json);

#endif
