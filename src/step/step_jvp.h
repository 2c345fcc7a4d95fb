// What a work keeps for ct_step_jvp.
#ifndef CT_STEP_STEP_JVP_H
#define CT_STEP_STEP_JVP_H

struct ct_step_jvp_work;
void ct_step_jvp_work_free(struct ct_step_jvp_work* own);  // NULL: does nothing

#endif
