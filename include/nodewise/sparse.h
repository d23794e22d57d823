/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse matrices for C, and with the module nodewise_sparse.f90 for Fortran: each row is on the
 * node of the thread that multiplies it.
 *
 *     const int64_t row_starts[] = {0, 1, 3};
 *     const int32_t columns[] = {0, 0, 1};
 *     const double values[] = {2.0, 1.0, 3.0}, x[] = {1.0, 1.0};
 *     const struct nodewise_crs rows = {2, 2, 3, row_starts, columns};
 *     double y[2]; nodewise_layout* layout; nodewise_teams* teams; nodewise_matrix* a;
 *     if (nodewise_layout_make(&layout, NODEWISE_CLOSE, 0) ||
 *         nodewise_teams_make(&teams, layout, nodewise_run_openmp) ||
 *         nodewise_matrix_copy(&a, teams, &rows, values) ||
 *         nodewise_multiply(teams, a, x, 2, y, 2)) {
 *       return 1; // nodewise_error() says why
 *     }
 *     nodewise_matrix_free(a); nodewise_teams_free(teams); nodewise_layout_free(layout);
 *
 * The library starts no threads: it calls a function of the program that runs work on the program's
 * own threads, such as nodewise_run_openmp. Functions whose names end in _float are for values of
 * type float, the others for double. Errors and handles are as in nodewise.h; messages count rows
 * and columns from 0.
 */
#ifndef NODEWISE_SPARSE_H
#define NODEWISE_SPARSE_H

#include <nodewise.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- teams ---------------------------------------------------------------------------------- */

/** A part of some work: does what worker number `worker` has to do. It never fails. */
typedef void nodewise_part(void* work, size_t worker);
/** A function that calls `part(work, k)` once for each k from 0 to `workers` - 1, each on a thread
 * of its own if possible, and returns when all calls have returned. */
typedef void nodewise_runner(size_t workers, nodewise_part* part, void* work);

/** Threads of the program, one for each thread of a layout. */
typedef struct nodewise_teams nodewise_teams;

/** Makes teams whose work `run` runs. A thread is bound to its place in the layout while it works,
 * and restored afterwards. That costs tens of microseconds for each call, unless the program has
 * bound its threads once with nodewise_bind_thread. The layout may be freed then. */
NODEWISE_C_API int nodewise_teams_make(nodewise_teams** made, const nodewise_layout* layout,
                                       nodewise_runner* run);
/** Frees teams. */
NODEWISE_C_API void nodewise_teams_free(nodewise_teams* teams);

#ifdef _OPENMP
/** Runs work on the threads of OpenMP. Exists only if the program is compiled with OpenMP. */
static inline void nodewise_run_openmp(size_t workers, nodewise_part* part, void* work) {
#pragma omp parallel num_threads((int)workers)
  {
    /* OpenMP may give fewer threads (OMP_THREAD_LIMIT, nested regions); they do all the work. */
    size_t k = (size_t)omp_get_thread_num();
    for (; k < workers; k += (size_t)omp_get_num_threads()) {
      part(work, k);
    }
  }
}
#endif

/* --- matrices ------------------------------------------------------------------------------- */

/** A sparse matrix in compressed rows (CRS, CSR) or in SELL-C-sigma. */
typedef struct nodewise_matrix nodewise_matrix;

/** Arrays in compressed rows: the entries of row r are `row_starts[r]` up to, but not with,
 * `row_starts[r + 1]`. Everything counts from 0, or from 1 if `row_starts[0]` is 1. */
struct nodewise_crs {
  size_t rows;                   /**< of the matrix */
  size_t columns;                /**< of the matrix */
  size_t entries;                /**< in column_indices and in the values */
  const int64_t* row_starts;     /**< rows + 1 of them */
  const int32_t* column_indices; /**< the column of each entry; any order within a row */
};

/** Copies arrays; the workers copy their own rows. Fails for 0 rows or columns, for row starts that
 * descend or do not end with the number of entries, for columns out of range, and if memory runs
 * out. */
NODEWISE_C_API int nodewise_matrix_copy(nodewise_matrix** made, nodewise_teams* teams,
                                        const struct nodewise_crs* rows, const double* values);
/** The same with values of type float. */
NODEWISE_C_API int nodewise_matrix_copy_float(nodewise_matrix** made, nodewise_teams* teams,
                                              const struct nodewise_crs* rows, const float* values);
/** Uses arrays of the program without a copy: their pages migrate to the owners of the rows. They
 * must count from 0, outlive the matrix and keep their contents, except the values. Fails as
 * nodewise_matrix_copy. */
NODEWISE_C_API int nodewise_matrix_adopt(nodewise_matrix** made, nodewise_teams* teams,
                                         const struct nodewise_crs* rows, const double* values);
/** The same with values of type float. */
NODEWISE_C_API int nodewise_matrix_adopt_float(nodewise_matrix** made, nodewise_teams* teams,
                                               const struct nodewise_crs* rows,
                                               const float* values);
/** Reads a Matrix Market file (.mtx, coordinate) on all workers. Fails for a file that cannot be
 * read or breaks the format. */
NODEWISE_C_API int nodewise_matrix_read(nodewise_matrix** made, nodewise_teams* teams,
                                        const char* path);
/** The same with values of type float. */
NODEWISE_C_API int nodewise_matrix_read_float(nodewise_matrix** made, nodewise_teams* teams,
                                              const char* path);
/** The two parameters of SELL-C-sigma, in rows. */
struct nodewise_sell_options {
  size_t chunk_rows;  /**< in a chunk (C), up to 256; 0: 128 bytes of values */
  size_t sorted_rows; /**< sorted by length together (sigma), whole chunks; 0 and 1: none */
};

/** Converts a matrix in compressed rows to SELL-C-sigma, with values of the same type, for rows of
 * a few entries: chunks of rows, so that vectors of the processor run across them. Workers convert
 * their own rows; `from` may be freed then. NULL for `options`: chunks of 128 bytes of values, 256
 * rows sorted together. Fails for a matrix in SELL-C-sigma, for chunks of more than 256 rows, for
 * teams that did not make the matrix, and if memory runs out. */
NODEWISE_C_API int nodewise_matrix_sell(nodewise_matrix** made, nodewise_teams* teams,
                                        const nodewise_matrix* from,
                                        const struct nodewise_sell_options* options);
/** Frees a matrix; adopted arrays stay. */
NODEWISE_C_API void nodewise_matrix_free(nodewise_matrix* matrix);

/** Returns the number of rows; 0 for NULL. */
NODEWISE_C_API size_t nodewise_matrix_rows(const nodewise_matrix* matrix);
/** Returns the number of columns; 0 for NULL. */
NODEWISE_C_API size_t nodewise_matrix_columns(const nodewise_matrix* matrix);
/** Returns the number of entries; 0 for NULL. */
NODEWISE_C_API size_t nodewise_matrix_entries(const nodewise_matrix* matrix);

/** Returns the share of the stored elements that are entries, 0..1: below 1 if rows in SELL-C-sigma
 * are padded; 0 for NULL. */
NODEWISE_C_API double nodewise_matrix_occupancy(const nodewise_matrix* matrix);

/** Makes the distribution of a vector with an element for each row, such as the result of a
 * product: each element on the owner of its row. Also for several elements for each row. */
NODEWISE_C_API int nodewise_by_rows(nodewise_distribution** made, const nodewise_matrix* matrix);
/** Makes the distribution of a vector with an element for each column, such as the input of a
 * product: for a square matrix, as nodewise_by_rows. */
NODEWISE_C_API int nodewise_by_columns(nodewise_distribution** made, const nodewise_matrix* matrix);

/** Reports where the pages of the matrix are, compared with the owners of the rows. */
NODEWISE_C_API int nodewise_matrix_where(const nodewise_matrix* matrix,
                                         struct nodewise_residency* found);
/** Writes a picture of each array of the matrix, a line each, as nodewise_strip does. */
NODEWISE_C_API int nodewise_matrix_strip(const nodewise_matrix* matrix, size_t columns, char* text,
                                         size_t room);

/* --- products ------------------------------------------------------------------------------- */

/** Computes y = A x; each row is computed by its owner. Fails unless `x` has an element for each
 * column and `y` for each row, if they overlap, for a matrix of float values, and for teams that
 * did not make the matrix. */
NODEWISE_C_API int nodewise_multiply(nodewise_teams* teams, const nodewise_matrix* matrix,
                                     const double* x, size_t x_elements, double* y,
                                     size_t y_elements);
/** The same for a matrix of float values. */
NODEWISE_C_API int nodewise_multiply_float(nodewise_teams* teams, const nodewise_matrix* matrix,
                                           const float* x, size_t x_elements, float* y,
                                           size_t y_elements);
/** Computes y = y + factor A x. Fails as nodewise_multiply. */
NODEWISE_C_API int nodewise_multiply_add(nodewise_teams* teams, double factor,
                                         const nodewise_matrix* matrix, const double* x,
                                         size_t x_elements, double* y, size_t y_elements);
/** The same for a matrix of float values. */
NODEWISE_C_API int nodewise_multiply_add_float(nodewise_teams* teams, float factor,
                                               const nodewise_matrix* matrix, const float* x,
                                               size_t x_elements, float* y, size_t y_elements);
/** Computes Y = A X for `count` vectors at once, and reads the matrix once for all of them. Element
 * i of vector k is at `i * count + k`. Fails as nodewise_multiply, and for 0 vectors or a matrix in
 * SELL-C-sigma. */
NODEWISE_C_API int nodewise_multiply_many(nodewise_teams* teams, const nodewise_matrix* matrix,
                                          size_t count, const double* x, size_t x_elements,
                                          double* y, size_t y_elements);
/** The same for a matrix of float values. */
NODEWISE_C_API int nodewise_multiply_many_float(nodewise_teams* teams,
                                                const nodewise_matrix* matrix, size_t count,
                                                const float* x, size_t x_elements, float* y,
                                                size_t y_elements);

/** A product in which a row's owner also adds to elements of other owners: with the transposed
 * matrix, or with a symmetric matrix. It refers to the matrix, which must outlive it, and holds a
 * buffer for each worker, so that one handle serves one product at a time. */
typedef struct nodewise_product nodewise_product;

/** Makes the product with a transposed matrix. Fails for a matrix in SELL-C-sigma, for teams that
 * did not make the matrix, and if memory runs out. */
NODEWISE_C_API int nodewise_transposed_make(nodewise_product** made, nodewise_teams* teams,
                                            const nodewise_matrix* matrix);
/** Makes the product with a symmetric matrix of which `upper` has the upper half: each entry right
 * of the diagonal also counts as its mirror image. Fails as nodewise_transposed_make, for entries
 * left of the diagonal, and for a matrix that is not square. */
NODEWISE_C_API int nodewise_symmetric_make(nodewise_product** made, nodewise_teams* teams,
                                           const nodewise_matrix* upper);
/** Frees a product; the matrix stays. */
NODEWISE_C_API void nodewise_product_free(nodewise_product* product);
/** Computes y = A x; A is the transposed or the whole symmetric matrix. Fails unless `x` has an
 * element for each column and `y` for each row of A, if they overlap, for a matrix of float values,
 * and for teams that did not make the matrix. */
NODEWISE_C_API int nodewise_product_multiply(nodewise_teams* teams, nodewise_product* product,
                                             const double* x, size_t x_elements, double* y,
                                             size_t y_elements);
/** The same for a matrix of float values. */
NODEWISE_C_API int nodewise_product_multiply_float(nodewise_teams* teams, nodewise_product* product,
                                                   const float* x, size_t x_elements, float* y,
                                                   size_t y_elements);

#ifdef __cplusplus
}
#endif

#endif
