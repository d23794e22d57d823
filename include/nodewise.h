/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodewise for C, and with the module nodewise.f90 for Fortran: binds threads to nodes, places
 * memory by a distribution, and reports where its pages are.
 *
 *     nodewise_layout* team; nodewise_distribution* by; nodewise_region* memory;
 *     if (nodewise_layout_make(&team, NODEWISE_CLOSE, 0) || // a thread for each core
 *         nodewise_blocked_by_threads(&by, team) ||         // a block for each thread
 *         nodewise_region_make(&memory, 1 << 24, by, NODEWISE_PREFER)) {
 *       fprintf(stderr, "%s\n", nodewise_error());
 *       return 1;
 *     }
 *     memset(nodewise_region_data(memory), 1, nodewise_region_bytes(memory));
 *     nodewise_region_free(memory);
 *     nodewise_distribution_free(by);
 *     nodewise_layout_free(team);
 *
 * Functions that can fail return 0 on success. On failure they return 1 and write no result;
 * nodewise_error() then describes the error and what to do. Only functions of this header make and
 * free handles; freeing NULL is allowed. Node numbers are the operating system's; -1 is unknown.
 */
#ifndef NODEWISE_H
#define NODEWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NODEWISE_C_API __attribute__((visibility("default")))

/** Returns the error of the calling thread's last call that can fail, as one line; "" if that call
 * succeeded. */
NODEWISE_C_API const char* nodewise_error(void);

/* --- threads -------------------------------------------------------------------------------- */

/** A layout: where each thread of a team runs. */
typedef struct nodewise_layout nodewise_layout;

/** How threads are assigned to processors. */
enum nodewise_bind {
  NODEWISE_CLOSE = 0, /**< one node after the other, core by core */
  NODEWISE_SPREAD = 1 /**< evenly over all nodes */
};

/** Assigns `threads` threads to the processors that this process may use; 0 threads: one for each
 * core. Fails if no processor is allowed. */
NODEWISE_C_API int nodewise_layout_make(nodewise_layout** made, enum nodewise_bind how,
                                        size_t threads);
/** Frees a layout. */
NODEWISE_C_API void nodewise_layout_free(nodewise_layout* layout);
/** Returns the number of threads. */
NODEWISE_C_API size_t nodewise_layout_threads(const nodewise_layout* layout);
/** Returns the node of the thread with number `thread`; -1 if there is no such thread. */
NODEWISE_C_API int nodewise_layout_node(const nodewise_layout* layout, size_t thread);
/** Binds the calling thread as number `thread` of the layout, e.g. once in a parallel region of
 * OpenMP with omp_get_thread_num(). Not needed if OMP_PLACES and OMP_PROC_BIND bind the threads.
 * Fails if the layout has no such thread, or if the kernel refuses. */
NODEWISE_C_API int nodewise_bind_thread(const nodewise_layout* layout, size_t thread);

/* --- distributions -------------------------------------------------------------------------- */

/** A distribution: which node owns which page of a range. */
typedef struct nodewise_distribution nodewise_distribution;

/** Makes a distribution with every page on one node. Fails if `node` is below 0. */
NODEWISE_C_API int nodewise_bound(nodewise_distribution** made, int node);
/** Makes a distribution with one contiguous block for each of `count` owners, in order. This one
 * and the next ones fail if there are no owners, or if a node number is below 0. */
NODEWISE_C_API int nodewise_blocked(nodewise_distribution** made, const int* nodes, size_t count);
/** Makes a distribution with one block for each thread of a layout, on the thread's node: the part
 * that the thread works on under schedule(static). */
NODEWISE_C_API int nodewise_blocked_by_threads(nodewise_distribution** made,
                                               const nodewise_layout* layout);
/** Makes a distribution with blocks of `block_pages` base pages (at least 1) on `count` owners in
 * turn; 1 is interleaving. */
NODEWISE_C_API int nodewise_block_cyclic(nodewise_distribution** made, const int* nodes,
                                         size_t count, size_t block_pages);
/** Makes a distribution with one contiguous block for each owner, in proportion to its weight.
 * Also fails if all weights are 0. */
NODEWISE_C_API int nodewise_weighted(nodewise_distribution** made, const int* nodes,
                                     const uint32_t* weights, size_t count);
/** Frees a distribution; regions do not need it after they are made. */
NODEWISE_C_API void nodewise_distribution_free(nodewise_distribution* distribution);

/* --- memory --------------------------------------------------------------------------------- */

/** A region: zeroed memory with a distribution. The kernel allocates a page when it is first
 * written, on its owner's node, whichever thread writes. */
typedef struct nodewise_region nodewise_region;

/** What to do if the kernel refuses to place memory. */
enum nodewise_strictness {
  NODEWISE_PREFER = 0, /**< go on; nodewise_where reports the result */
  NODEWISE_MUST = 1    /**< fail */
};

/** Makes a region of `bytes` bytes. Fails for 0 bytes and if memory runs out; with NODEWISE_MUST
 * also if the kernel refuses to place it. */
NODEWISE_C_API int nodewise_region_make(nodewise_region** made, size_t bytes,
                                        const nodewise_distribution* by,
                                        enum nodewise_strictness how);
/** Frees a region and returns its memory to the kernel. */
NODEWISE_C_API void nodewise_region_free(nodewise_region* region);
/** Returns the address of the first byte, which is the start of a page. */
NODEWISE_C_API void* nodewise_region_data(const nodewise_region* region);
/** Returns the size in bytes, as requested. */
NODEWISE_C_API size_t nodewise_region_bytes(const nodewise_region* region);
/** Gives the region another distribution and migrates the pages that are in memory. Fails if some
 * pages could not be moved; the others have moved then. */
NODEWISE_C_API int nodewise_region_migrate(nodewise_region* region,
                                           const nodewise_distribution* by);

/* --- where pages are ------------------------------------------------------------------------ */

/** Where the pages of a region are, compared with its distribution. Counts are base pages. */
struct nodewise_residency {
  size_t pages;    /**< in the region */
  size_t resident; /**< in memory */
  size_t on_owner; /**< in memory, on the node that owns them */
  size_t unknown;  /**< in memory, but the kernel does not report where */
};

/** Reports where the pages are now. Fails only if `region` or `found` is NULL. */
NODEWISE_C_API int nodewise_where(const nodewise_region* region, struct nodewise_residency* found);
/** Writes a picture of the region, `columns` characters and then the figures, such as
 * "0000111122223333  24.0 MiB, 100 % on its owner". Cuts it to `room` bytes including the final 0;
 * fails if `room` is 0. */
NODEWISE_C_API int nodewise_strip(const nodewise_region* region, size_t columns, char* text,
                                  size_t room);

#ifdef __cplusplus
}
#endif

#endif
