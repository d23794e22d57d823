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

/** A sparse matrix in compressed rows (CRS, CSR). */
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
/** Frees a matrix; adopted arrays stay. */
NODEWISE_C_API void nodewise_matrix_free(nodewise_matrix* matrix);

/** Returns the number of rows; 0 for NULL. */
NODEWISE_C_API size_t nodewise_matrix_rows(const nodewise_matrix* matrix);
/** Returns the number of columns; 0 for NULL. */
NODEWISE_C_API size_t nodewise_matrix_columns(const nodewise_matrix* matrix);
/** Returns the number of entries; 0 for NULL. */
NODEWISE_C_API size_t nodewise_matrix_entries(const nodewise_matrix* matrix);

/** Makes the distribution of a vector with an element for each row, such as the result of a
 * product: each element on the owner of its row. */
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

#ifdef __cplusplus
}
#endif

#endif
