// Fuzz target of the mesh readers: the first byte chooses the format ('0' by content, '1' Gmsh, ... in the
// order of ct_mesh_format), the rest is the file. For TetGen a zero byte separates .node from .ele. Whatever
// is read must survive the check, the repair and the surface.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    ct_mesh_format format = (ct_mesh_format)(data[0] & 7);
    const uint8_t *first = data + 1, *second = NULL;
    size_t first_size = size - 1, second_size = 0;
    const uint8_t* zero = format == CT_MESH_TETGEN && first_size ? memchr(first, 0, first_size) : NULL;
    if (zero) {
        second = zero + 1;
        first_size = (size_t)(zero - first);
        second_size = size - 2 - first_size;
    }
    ct_mesh* mesh;
    ct_error error;
    ct_status status = ct_mesh_read(&mesh, first, first_size, second, second_size, format, &error);
    if (status != CT_OK) {
        // a failure returns nothing and says why
        if (mesh || error.code != status || !error.message[0]) abort();
        return 0;
    }
    ct_mesh_report report;
    int *tri, ntri;
    ct_mesh_check(mesh, &report, &error);
    if (ct_mesh_surface(mesh, &tri, &ntri, NULL) == CT_OK) ct_free(tri);
    ct_mesh_repair(mesh);
    ct_mesh_check(mesh, &report, &error);
    ct_mesh_free(mesh);
    return 0;
}
