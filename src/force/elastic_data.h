// The compiled tets and their scratch, shared by the elastic_*.c files.
#ifndef CT_FORCE_ELASTIC_DATA_H
#define CT_FORCE_ELASTIC_DATA_H

#include "force/elastic.h"
#include "force/elastic_table.h"

// A run of blocks of one energy: the unit of parallel work and of the energy's partial sums.
typedef struct ct_elastic_chunk {
    int first, count;  // blocks
    int energy;        // ct_energy
    bool second;       // of second order: four blocks, its points, make eight tets
    size_t linear;     // doubles of undamped linearisation before this chunk
} ct_elastic_chunk;

struct ct_elastic {
    ct_arena arena;
    const ct_elastic_kernels* kernels;
    int nvert, ntet, nblock, nchunk;
    bool damped;              // some beta > 0
    double* rest;             // 3 nvert
    double* volume;           // ntet, m^3, scene order
    ct_elastic_block* block;  // nblock
    ct_elastic_cell* cell;    // of the blocks from `second` on, one for four
    int second;               // the first block of second order
    double* beta;             // CT_BLOCK nblock
    double* lane_volume;      // CT_BLOCK nblock, 0 in lanes without a tet
    int* lane_tet;            // CT_BLOCK nblock, scene tet or -1
    ct_elastic_chunk* chunk;  // nchunk
    size_t linear_size;       // doubles of all undamped linearisations
    int* incident_start;      // nvert + 1
    int* incident;            // for each node, ascending: where its forces are in `element`, in fours
};

struct ct_elastic_work {
    ct_arena arena;
    double* node;     // CT_NODE_SIZE nvert  sums of forces or of deformation
    double* element;  // CT_ELEMENT_SIZE CT_BLOCK nblock  forces or deformation of each tet
    double* linear;   // records of the linearisation
    double* rate;     // 6 CT_BLOCK nblock  g of the damping
    double* partial;  // nchunk  energies
    double* d[3];     // ntet each  derivatives by mu, lambda, beta
    double c;         // 1/s, rate factor of the damping; 0: off
    bool rated;       // `rate` holds the g of this step
    double linear_c;  // c when the linearisation was made
};

#endif
