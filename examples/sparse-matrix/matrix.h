// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A sparse matrix by compressed rows, all around the diagonal, and its product with a vector. Rows
// grow from 8 to 16 entries: equal parts of the rows are no equal parts of the entries.
#ifndef NODEWISE_EXAMPLES_SPARSE_MATRIX_H
#define NODEWISE_EXAMPLES_SPARSE_MATRIX_H

#include <stddef.h>

struct matrix {
  size_t rows;
  size_t* row_ptr; // rows + 1
  int* col_idx;
  double* val;
};

static inline size_t row_length(size_t row, size_t rows) {
  return 8 + 8 * row / rows;
}

static inline size_t entries_of(size_t rows) {
  size_t entries = 0;
  for (size_t row = 0; row < rows; ++row) {
    entries += row_length(row, rows);
  }
  return entries;
}

static inline size_t first_column(size_t row, size_t length, size_t rows) {
  const size_t column = row > length / 2 ? row - length / 2 : 0;
  return column < rows - length ? column : rows - length;
}

static inline void fill_row(const struct matrix* a, size_t row) {
  const size_t length = a->row_ptr[row + 1] - a->row_ptr[row];
  size_t column = first_column(row, length, a->rows);
  for (size_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; ++k, ++column) {
    a->col_idx[k] = (int)column; // touch: col_idx
    a->val[k] = 1.0;             // touch: val
  }
}

static inline void multiply(const struct matrix* a, const double* x, double* y) {
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < a->rows; ++row) {
    double sum = 0;
    for (size_t k = a->row_ptr[row]; k < a->row_ptr[row + 1]; ++k) {
      sum += a->val[k] * x[a->col_idx[k]]; // use
    }
    y[row] += sum; // use
  }
}

#endif
