// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the three forms share: a lower triangular matrix of n rows in a full square, and how a row
// is touched and used. Rows begin with a page, so no page has two owners.
#ifndef NODEWISE_EXAMPLES_MATRIX_H
#define NODEWISE_EXAMPLES_MATRIX_H

#include <stddef.h>

#include "../shared/command_line.h"

// Doubles from one row to the next: whole pages.
static inline size_t row_stride(size_t n) {
  return (n + page_doubles - 1) / page_doubles * page_doubles;
}

static inline void touch_row(double* matrix, size_t stride, size_t row) {
  for (size_t column = 0; column <= row; ++column) {
    matrix[row * stride + column] = 1.0;
  }
}

static inline double row_times_vector(const double* matrix, size_t stride, size_t row,
                                      const double* x) {
  double sum = 0;
  for (size_t column = 0; column <= row; ++column) {
    sum += matrix[row * stride + column] * x[column]; // use
  }
  return sum;
}

// Small, and used by all: where it lies matters little, since caches keep most of it.
static inline void fill_vector(double* x, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    x[i] = (double)(i % 4);
  }
}

#endif
