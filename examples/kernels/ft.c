// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// ft: a Fourier transform in three dimensions and back. A thread transforms planes along two axes
// in place; along the third axis it gathers lines across all planes.
//
// Remote share of the use phase, with n nodes: (n-1)/n; cured: that of the third axis remains,
// (n-1)/2n.
// Source: the NAS parallel benchmarks have a kernel of that name; this is another program.
//
// usage: ft [points an edge, a power of two; twice as many along the third axis] [sweeps]
#include "kernel.h"

struct complex_number {
  double re, im;
};

enum { most_points = 4096, line_points = 4 }; // a cache line has four

static struct complex_number roots[most_points];

// A transform of n points in place, forward or (sign 1) back without its factor 1/n.
static void transform(struct complex_number* x, size_t n, double sign) {
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) {
      j ^= bit;
    }
    j |= bit;
    if (i < j) {
      const struct complex_number other = x[i];
      x[i] = x[j];
      x[j] = other;
    }
  }
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t k = 0; k < half; ++k) {
      const double re = roots[k * (most_points / half)].re;
      const double im = sign * roots[k * (most_points / half)].im;
      for (size_t i = k; i < n; i += 2 * half) {
        struct complex_number* a = &x[i];
        struct complex_number* b = &x[i + half];
        const struct complex_number t = {b->re * re - b->im * im, b->re * im + b->im * re};
        b->re = a->re - t.re;
        b->im = a->im - t.im;
        a->re += t.re;
        a->im += t.im;
      }
    }
  }
}

// As many lines at once as a cache line has points: each is fetched once.
static void transform_lines(struct complex_number* x, size_t n, size_t stride, double sign) {
  struct complex_number lines[line_points][most_points];
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < line_points; ++k) {
      lines[k][i] = x[i * stride + k]; // use
    }
  }
  for (size_t k = 0; k < line_points; ++k) {
    transform(lines[k], n, sign);
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < line_points; ++k) {
      x[i * stride + k] = lines[k][i];
    }
  }
}

static void transform_planes(struct complex_number* x, size_t n, double sign) {
#pragma omp parallel for schedule(static)
  for (size_t plane = 0; plane < 2 * n; ++plane) {
    struct complex_number* here = &x[plane * n * n];
    for (size_t row = 0; row < n; ++row) {
      transform(&here[row * n], n, sign);
    }
    for (size_t column = 0; column < n; column += line_points) {
      transform_lines(&here[column], n, n, sign);
    }
  }
}

static void transform_across(struct complex_number* x, size_t n, double sign) {
#pragma omp parallel for schedule(static)
  for (size_t first = 0; first < n * n; first += line_points) {
    transform_lines(&x[first], 2 * n, n * n, sign);
  }
}

// Whole numbers without a pattern, from 0 to 15.
static double input(size_t i) {
  return (double)((i * 2654435761U >> 7) % 16);
}

int main(int argc, char** argv) {
  const struct command_line line = {NAME_OF("ft"), "[points an edge] [sweeps]", argc, argv};
  const size_t asked = (size_t)number_at(&line, 1, 64, most_points / 2);
  const int sweeps = (int)number_at(&line, 2, 1, 1000000);
  end_at(&line, 2);
  size_t n = line_points;
  while (n < asked) {
    n *= 2;
  }
  const size_t points = 2 * n * n * n;
  struct complex_number* x = new_array(&line, points, sizeof *x); // made: x
  const double pi = acos(-1.0);
  for (size_t k = 0; k < most_points; ++k) {
    const double angle = -pi * (double)k / (double)most_points;
    roots[k] = (struct complex_number){cos(angle), sin(angle)};
  }

  FIRST_TOUCH
  for (size_t i = 0; i < points; ++i) {
    x[i].re = input(i); // touch: x
    x[i].im = 0.0;      // touch: x
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    transform_planes(x, n, 1.0);
    transform_across(x, n, 1.0);
    transform_across(x, n, -1.0);
    transform_planes(x, n, -1.0);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < points; ++i) {
      x[i].re /= (double)points;
      x[i].im /= (double)points;
    }
  }
  const double elapsed = omp_get_wtime() - start;
  double sum = 0;
  double worst = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) reduction(max : worst)
  for (size_t i = 0; i < points; ++i) {
    sum += x[i].re;
    worst = fmax(worst, fmax(fabs(x[i].re - input(i)), fabs(x[i].im)));
  }
  print_result(&line, sum, sweeps, elapsed);
  return verify(&line, "the largest difference after there and back", worst, 1e-10 * sweeps);
}
