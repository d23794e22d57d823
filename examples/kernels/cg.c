// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// cg: conjugate gradients on a sparse matrix by compressed rows, seven points of a cube and their
// neighbours. Its right-hand side is made for the solution 1.
//
// Remote share of the use phase, with n nodes: (n-1)/n; cured: 0, but for the neighbours in the
// next block, some percent. Source: the NAS parallel benchmarks have a kernel of that name; this is
// another program.
//
// usage: cg [points an edge] [iterations]
#include "kernel.h"

struct matrix {
  size_t rows;
  size_t edge;
  int* row_ptr;
  int* col_idx;
  double* val;
};

enum { most_entries = 7 };

// A row has room for all its neighbours; rows at the surface leave some of it unused.
static int fill_row(const struct matrix* a, size_t row) {
  const size_t n = a->edge;
  const size_t at[3] = {row % n, row / n % n, row / (n * n)};
  const size_t stride[3] = {1, n, n * n};
  size_t k = row * most_entries;
  a->col_idx[k] = (int)row; // touch: col_idx
  a->val[k++] = 7.0;        // touch: val
  for (int axis = 0; axis < 3; ++axis) {
    if (at[axis] > 0) {
      a->col_idx[k] = (int)(row - stride[axis]);
      a->val[k++] = -1.0;
    }
    if (at[axis] + 1 < n) {
      a->col_idx[k] = (int)(row + stride[axis]);
      a->val[k++] = -1.0;
    }
  }
  return (int)k;
}

// q = A p; returns p times q.
static double multiply(const struct matrix* a, const double* p, double* q) {
  double dot = 0;
#pragma omp parallel for schedule(static) reduction(+ : dot)
  for (size_t row = 0; row < a->rows; ++row) {
    double sum = 0;
    const size_t end = (size_t)a->row_ptr[row];
    for (size_t k = row * most_entries; k < end; ++k) {
      sum += a->val[k] * p[a->col_idx[k]]; // use
    }
    q[row] = sum;
    dot += p[row] * sum;
  }
  return dot;
}

// Moves along the search direction; returns the residual's square.
static double step(size_t n, double length, const double* p, const double* q, double* x,
                   double* r) {
  double square = 0;
#pragma omp parallel for schedule(static) reduction(+ : square)
  for (size_t i = 0; i < n; ++i) {
    x[i] += length * p[i];
    r[i] -= length * q[i];
    square += r[i] * r[i];
  }
  return square;
}

static void turn(size_t n, double share, const double* r, double* p) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    p[i] = r[i] + share * p[i];
  }
}

int main(int argc, char** argv) {
  const struct command_line line = {NAME_OF("cg"), "[points an edge] [iterations]", argc, argv};
  const size_t edge = (size_t)number_at(&line, 1, 56, 600);
  const int iterations = (int)number_at(&line, 2, 15, 1000);
  end_at(&line, 2);
  const size_t n = edge * edge * edge;
  struct matrix a = {.rows = n, .edge = edge};
  a.row_ptr = new_array(&line, n, sizeof(int));
  a.col_idx = new_array(&line, n * most_entries, sizeof(int)); // made: col_idx
  a.val = new_array(&line, n * most_entries, sizeof(double));  // made: val
  double* x = new_array(&line, n, sizeof(double));
  double* r = new_array(&line, n, sizeof(double));
  double* p = new_array(&line, n, sizeof(double));
  double* q = new_array(&line, n, sizeof(double));

  double square = 0;
  FIRST_TOUCH
  for (size_t row = 0; row < n; ++row) {
    a.row_ptr[row] = fill_row(&a, row);
    const double rhs = 14.0 - (double)((size_t)a.row_ptr[row] - row * most_entries);
    x[row] = 0.0;
    q[row] = 0.0;
    r[row] = rhs - 6.0;
    p[row] = rhs - 6.0;
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  square = step(n, 0.0, p, q, x, r);
  const double first = square;
  for (int i = 0; i < iterations; ++i) {
    const double length = square / multiply(&a, p, q);
    const double before = square;
    square = step(n, length, p, q, x, r);
    turn(n, square / before, r, p);
  }
  const double elapsed = omp_get_wtime() - start;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) {
    sum += x[i];
  }
  print_result(&line, sum, iterations, elapsed);
  // The eigenvalues are between 1 and 13, so an iteration makes the residual 0.57 times as large,
  // and the norm it is measured by is within sqrt(13) of the one that this holds for.
  const double bound = 2 * sqrt(13.0) * pow(0.57, iterations) + 1e-12;
  return verify(&line, "the residual over the first one", sqrt(square / first), bound);
}
