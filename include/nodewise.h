/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodewise for C, and by the module nodewise.f90 for Fortran: threads on nodes, memory with a
 * distribution, and where its pages are.
 *
 * Functions that can fail return 0, or 1 and leave what they were to make alone; nodewise_error()
 * then says what was asked, what the system answered and what to do. Handles are made and freed by
 * functions of ours; NULL may be freed. Node numbers are the operating system's; -1 is unknown.
 */
#ifndef NODEWISE_H
#define NODEWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NODEWISE_C_API __attribute__((visibility("default")))

/** The last failure of the calling thread, one line; "" if there was none. */
NODEWISE_C_API const char* nodewise_error(void);

/* --- threads -------------------------------------------------------------------------------- */

/** Which thread of a team runs where. */
typedef struct nodewise_layout nodewise_layout;

/** How threads are dealt out. */
enum nodewise_bind {
  NODEWISE_CLOSE = 0, /**< one node after the other, core by core */
  NODEWISE_SPREAD = 1 /**< evenly over all nodes */
};

/** Lays out `threads` threads, 0: one a core, over the processors that this process may use. Fails
 * where none is allowed. */
NODEWISE_C_API int nodewise_layout_make(nodewise_layout** made, enum nodewise_bind how,
                                        size_t threads);
/** Gives a layout back. */
NODEWISE_C_API void nodewise_layout_free(nodewise_layout* layout);
/** How many threads it has. */
NODEWISE_C_API size_t nodewise_layout_threads(const nodewise_layout* layout);
/** The node of thread k; -1 if there is no such thread. */
NODEWISE_C_API int nodewise_layout_node(const nodewise_layout* layout, size_t thread);
/** Binds the calling thread as thread k of the layout, e.g. once in a parallel region of OpenMP
 * with omp_get_thread_num(). Not needed where OMP_PLACES and OMP_PROC_BIND do it. Fails for a
 * number that the layout has not, and where the kernel refuses. */
NODEWISE_C_API int nodewise_bind_thread(const nodewise_layout* layout, size_t thread);

/* --- distributions -------------------------------------------------------------------------- */

/** Which node owns which page of a range. */
typedef struct nodewise_distribution nodewise_distribution;

/** Every page on one node. Fails for a number below 0. */
NODEWISE_C_API int nodewise_bound(nodewise_distribution** made, int node);
/** One contiguous block for each of `count` owners, in order. Fails for no owners and for numbers
 * below 0, as the next ones do. */
NODEWISE_C_API int nodewise_blocked(nodewise_distribution** made, const int* nodes, size_t count);
/** A block for each thread of a layout, on its node: what schedule(static) works on. */
NODEWISE_C_API int nodewise_blocked_by_threads(nodewise_distribution** made,
                                               const nodewise_layout* layout);
/** Blocks of `block_pages` base pages, at least 1, dealt round over `count` owners; 1 is
 * interleaving. */
NODEWISE_C_API int nodewise_block_cyclic(nodewise_distribution** made, const int* nodes,
                                         size_t count, size_t block_pages);
/** One contiguous block an owner, as long as its weight says; one of them must be above 0. */
NODEWISE_C_API int nodewise_weighted(nodewise_distribution** made, const int* nodes,
                                     const uint32_t* weights, size_t count);
/** Gives a distribution back; regions keep what they need of it. */
NODEWISE_C_API void nodewise_distribution_free(nodewise_distribution* distribution);

/* --- memory --------------------------------------------------------------------------------- */

/** Zeroed pages with a distribution. A page comes into memory when it is written first, and then on
 * its owner's node, whoever writes. */
typedef struct nodewise_region nodewise_region;

/** What to do where the kernel refuses. */
enum nodewise_strictness {
  NODEWISE_PREFER = 0, /**< where the kernel refuses, go on: nodewise_where tells */
  NODEWISE_MUST = 1    /**< where it refuses, fail */
};

/** A region of so many bytes. Fails for 0 bytes, where there is no memory, and where the kernel
 * refuses if `how` is NODEWISE_MUST. */
NODEWISE_C_API int nodewise_region_make(nodewise_region** made, size_t bytes,
                                        const nodewise_distribution* by,
                                        enum nodewise_strictness how);
/** Gives the memory back to the kernel. */
NODEWISE_C_API void nodewise_region_free(nodewise_region* region);
/** The first byte, at the begin of a page. */
NODEWISE_C_API void* nodewise_region_data(const nodewise_region* region);
/** Bytes as they were asked for. */
NODEWISE_C_API size_t nodewise_region_bytes(const nodewise_region* region);
/** Gives the region another distribution and moves what is in memory. Fails where pages stayed
 * where they were; the others have moved then. */
NODEWISE_C_API int nodewise_region_migrate(nodewise_region* region,
                                           const nodewise_distribution* by);

/* --- where pages are ------------------------------------------------------------------------ */

/** Asked against actual, in base pages. */
struct nodewise_residency {
  size_t pages;    /**< of the region */
  size_t resident; /**< in memory */
  size_t on_owner; /**< in memory, on the node that owns them */
  size_t unknown;  /**< in memory, but nobody can say where */
};

/** Where the pages are now. Fails only where the region is NULL. */
NODEWISE_C_API int nodewise_where(const nodewise_region* region, struct nodewise_residency* found);
/** "0000111122223333  24.0 MiB, 100 % on its owner" with `columns` characters of picture, cut to
 * `room` bytes with the final 0; fails for no room. */
NODEWISE_C_API int nodewise_strip(const nodewise_region* region, size_t columns, char* text,
                                  size_t room);

#ifdef __cplusplus
}
#endif

#endif
