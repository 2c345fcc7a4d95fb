// How flesh follows bones where a motion begins: harmonic weights.
//
// The weight w_ik of link k at node i is 1 on the link's nodes, 0 on those of other links and on driven
// nodes, and harmonic in between: sum_j (w_ik - w_jk)/|X_i - X_j|^2 = 0 over the nodes j that share elements
// with i. They are from 0 to 1, and their sum over the links is 1 where nothing is driven. Then
//     x_i = p_i + sum_k w_ik (T_k(q) X_i - X_i),    v_i = u_i + sum_k w_ik d/dt T_k(q) X_i
// move flesh by the poses T_k of its bones, on top of p and u; all as one link does where there is but one.
#ifndef CT_MODEL_FOLLOWER_H
#define CT_MODEL_FOLLOWER_H

#include "base/memory.h"
#include "skeleton/tree.h"

typedef struct ct_follow {
    // The model's, but its nodes are pairs of a free node and a link that moves it.
    ct_tree tree;
    int count;       // pairs
    int* owner;      // count, the node of the model
    double* weight;  // count
} ct_follow;

#endif
