/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * A sparse matrix from arrays, with OpenMP's threads; docs/sparse.md shows it. Each row has 4 at
 * the diagonal and -1 beside it.
 */
#include <nodewise/sparse.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 100000 };

static int64_t row_starts[ROWS + 1];
static int32_t column_indices[3 * ROWS];
static double values[3 * ROWS];

static size_t fill(void) {
  size_t entry = 0;
  for (int row = 0; row < ROWS; ++row) {
    for (int column = row - 1; column <= row + 1; ++column) {
      if (column >= 0 && column < ROWS) {
        column_indices[entry] = column;
        values[entry++] = column == row ? 4.0 : -1.0;
      }
    }
    row_starts[row + 1] = (int64_t)entry;
  }
  return entry;
}

static void require(int failed) {
  if (failed) {
    fprintf(stderr, "%s\n", nodewise_error());
    exit(1);
  }
}

// Whether all of some vectors are A times ones.
static int is_right(const double* y, size_t count) {
  int wrong = 0;
  for (size_t i = 0; i < ROWS * count; ++i) {
    wrong += y[i] != (i < count || i >= (ROWS - 1) * count ? 3.0 : 2.0);
  }
  return wrong == 0;
}

// The same by SELL-C-sigma, for two vectors at once, and by the transposed matrix, which is A.
static int other_products_are_right(nodewise_teams* teams, const nodewise_matrix* a) {
  enum { VECTORS = 2 };
  static double x[VECTORS * ROWS], y[VECTORS * ROWS];
  const size_t n = ROWS;
  for (size_t i = 0; i < VECTORS * n; ++i) {
    x[i] = 1.0;
  }
  nodewise_matrix* sell;
  require(nodewise_matrix_sell(&sell, teams, a, NULL));
  require(nodewise_multiply(teams, sell, x, n, y, n));
  int right = is_right(y, 1) && nodewise_matrix_occupancy(sell) > 0.99;
  nodewise_matrix_free(sell);

  require(nodewise_multiply_many(teams, a, VECTORS, x, VECTORS * n, y, VECTORS * n));
  right = right && is_right(y, VECTORS);

  nodewise_product* transposed;
  require(nodewise_transposed_make(&transposed, teams, a));
  require(nodewise_product_multiply(teams, transposed, x, n, y, n));
  nodewise_product_free(transposed);
  return right && is_right(y, 1);
}

// By the upper half of (2 1; 1 3).
static int symmetric_product_is_right(nodewise_teams* teams) {
  const int64_t starts[] = {0, 2, 3};
  const int32_t columns[] = {0, 1, 1};
  const double upper[] = {2.0, 1.0, 3.0}, x[] = {1.0, 10.0};
  const struct nodewise_crs rows = {2, 2, 3, starts, columns};
  double y[2];
  nodewise_matrix* half;
  nodewise_product* whole;
  require(nodewise_matrix_copy(&half, teams, &rows, upper));
  require(nodewise_symmetric_make(&whole, teams, half));
  require(nodewise_product_multiply(teams, whole, x, 2, y, 2));
  nodewise_product_free(whole);
  nodewise_matrix_free(half);
  return y[0] == 12.0 && y[1] == 31.0;
}

int main(void) {
  const size_t n = ROWS;
  const size_t entries = fill();
  nodewise_layout* layout;
  nodewise_teams* teams;
  nodewise_matrix* a;
  nodewise_distribution *by_rows, *by_columns;
  nodewise_region *y_memory, *x_memory;

  require(nodewise_layout_make(&layout, NODEWISE_CLOSE, 0)); // a thread for each core
  require(nodewise_teams_make(&teams, layout, nodewise_run_openmp));
  const struct nodewise_crs rows = {n, n, entries, row_starts, column_indices};
  require(nodewise_matrix_copy(&a, teams, &rows, values));
  require(nodewise_by_rows(&by_rows, a));
  require(nodewise_by_columns(&by_columns, a));
  require(nodewise_region_make(&y_memory, n * sizeof(double), by_rows, NODEWISE_PREFER));
  require(nodewise_region_make(&x_memory, n * sizeof(double), by_columns, NODEWISE_PREFER));
  double* y = nodewise_region_data(y_memory);
  double* x = nodewise_region_data(x_memory);
  for (size_t i = 0; i < n; ++i) {
    x[i] = 1.0;
  }
  require(nodewise_multiply(teams, a, x, n, y, n));          // y = A x
  require(nodewise_multiply_add(teams, 0.5, a, x, n, y, n)); // y = y + 0.5 A x

  char picture[1024];
  require(nodewise_matrix_strip(a, 32, picture, sizeof picture));
  printf("%s\n", picture);
  int wrong = 0;
  for (size_t i = 0; i < n; ++i) {
    wrong += y[i] != 1.5 * (i == 0 || i == n - 1 ? 3.0 : 2.0);
  }
  wrong += !other_products_are_right(teams, a) + !symmetric_product_is_right(teams);
  struct nodewise_residency where;
  require(nodewise_matrix_where(a, &where));

  nodewise_region_free(x_memory);
  nodewise_region_free(y_memory);
  nodewise_distribution_free(by_columns);
  nodewise_distribution_free(by_rows);
  nodewise_matrix_free(a);
  nodewise_teams_free(teams);
  nodewise_layout_free(layout);
  return wrong == 0 && where.resident == where.pages ? 0 : 1;
}
