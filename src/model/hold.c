// What a force control takes hold of: the one change of a model's inputs, for hands that reach into a running
// scene.
#include <string.h>

#include "base/status.h"
#include "model/model.h"

ct_status ct_model_hold(ct_model* model, int control, const int* nodes, int count, ct_error* error) {
    CT_NEED(error, model, nodes);
    ct_error_clear(error);
    if (control < 0 || control >= model->inputs.ncontrol ||
        model->inputs.control[control].kind != CT_CONTROL_FORCE)
        return ct_fail(error, CT_BAD_ARGUMENT, "there is no force control %d", control);
    ct_scene_control* c = &model->inputs.control[control];
    if (count < 1 || count > c->nhold)
        return ct_fail(error, CT_BAD_ARGUMENT, "the control may hold 1 to %d nodes, not %d", c->nhold, count);
    for (int k = 0; k < count; k++)
        if (nodes[k] < 0 || nodes[k] >= model->nvert || !(model->mass[nodes[k]] > 0))
            return ct_fail(error, CT_BAD_ARGUMENT, "node %d does not exist or has no mass", nodes[k]);
    memcpy(c->node, nodes, (size_t)count * sizeof *nodes);
    c->nnode = count;
    return CT_OK;
}
