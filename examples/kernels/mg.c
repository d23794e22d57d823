// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// mg: multigrid V-cycles for Poisson's equation on a cube, with the smoother u += w r. The
// right-hand side is made for a known solution.
//
// Remote share of the use phase, with n nodes: (n-1)/n; cured: 0, but for the planes at the edges
// of blocks, some percent. Source: the NAS parallel benchmarks have a kernel of that name; this is
// another program.
//
// usage: mg [cells an edge, rounded up to 3 times a power of two] [cycles]
#include "kernel.h"

enum { most_levels = 16 };

// Points 0 to n of an edge, of which 0 and n are the boundary, 0.
struct grid {
  size_t n;
  double* u;
  double* f;
  double* r;
};

static inline size_t at(size_t n, size_t i, size_t j, size_t k) {
  return (i * (n + 1) + j) * (n + 1) + k;
}

static void make_grid(const struct command_line* line, struct grid* g, size_t n) {
  const size_t plane = (n + 1) * (n + 1);
  g->n = n;
  g->u = new_array(line, plane * (n + 1), sizeof(double)); // made: u
  g->f = new_array(line, plane * (n + 1), sizeof(double)); // made: f
  g->r = new_array(line, plane * (n + 1), sizeof(double)); // made: r
  FIRST_TOUCH
  for (size_t i = 0; i <= n; ++i) {
    for (size_t k = i * plane; k < (i + 1) * plane; ++k) {
      g->u[k] = 0.0; // touch: u
      g->f[k] = 0.0; // touch: f
      g->r[k] = 0.0; // touch: r
    }
  }
}

// r = f - A u, with 6 in the diagonal of A and -1 for each neighbour; returns r's square.
static double residual(const struct grid* g) {
  const size_t n = g->n;
  double square = 0;
#pragma omp parallel for schedule(static) reduction(+ : square)
  for (size_t i = 0; i <= n; ++i) {
    if (i == 0 || i == n) {
      continue;
    }
    for (size_t j = 1; j < n; ++j) {
      for (size_t k = 1; k < n; ++k) {
        const double* u = &g->u[at(n, i, j, k)];
        const size_t row = n + 1;
        const double sum = u[-1] + u[1] + u[row] + *(u - row) + u[row * row] + *(u - row * row);
        const double value = g->f[at(n, i, j, k)] - 6.0 * *u + sum; // use
        g->r[at(n, i, j, k)] = value;
        square += value * value;
      }
    }
  }
  return square;
}

static void smooth(const struct grid* g) {
  residual(g);
  const size_t plane = (g->n + 1) * (g->n + 1);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i <= g->n; ++i) {
    for (size_t k = i * plane; k < (i + 1) * plane; ++k) {
      g->u[k] += 0.857 / 6.0 * g->r[k]; // use
    }
  }
}

// The coarse right-hand side is the mean of the fine residual around each point; the square of the
// mesh width is in it. The coarse solution begins at 0.
static void restrict_to(const struct grid* coarse, const struct grid* fine) {
  static const double weight[3] = {0.25, 0.5, 0.25};
  const size_t n = coarse->n;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i <= n; ++i) {
    for (size_t j = 0; j <= n; ++j) {
      for (size_t k = 0; k <= n; ++k) {
        double sum = 0;
        for (size_t d = 0; d < 27 && i % n * (j % n) * (k % n) > 0; ++d) {
          const size_t where[3] = {d / 9, d / 3 % 3, d % 3};
          sum += weight[where[0]] * weight[where[1]] * weight[where[2]] *
                 fine->r[at(fine->n, 2 * i + where[0] - 1, 2 * j + where[1] - 1,
                            2 * k + where[2] - 1)];
        }
        coarse->f[at(n, i, j, k)] = 4.0 * sum;
        coarse->u[at(n, i, j, k)] = 0.0;
      }
    }
  }
}

// Adds the coarse solution, in between by linear interpolation.
static void prolong(const struct grid* fine, const struct grid* coarse) {
  const size_t n = fine->n;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i <= n; ++i) {
    for (size_t j = 0; j <= n; ++j) {
      for (size_t k = 0; k <= n; ++k) {
        double sum = 0;
        for (size_t corner = 0; corner < 8; ++corner) {
          sum += coarse->u[at(coarse->n, (i + corner / 4) / 2, (j + corner / 2 % 2) / 2,
                              (k + corner % 2) / 2)];
        }
        fine->u[at(n, i, j, k)] += sum / 8.0; // use
      }
    }
  }
}

static void v_cycle(const struct grid* grids, int level, int levels) {
  const struct grid* here = &grids[level];
  const int sweeps = level + 1 == levels ? 40 : 2;
  for (int i = 0; i < sweeps; ++i) {
    smooth(here);
  }
  if (level + 1 == levels) {
    return;
  }
  residual(here);
  restrict_to(&grids[level + 1], here);
  v_cycle(grids, level + 1, levels);
  prolong(here, &grids[level + 1]);
  for (int i = 0; i < sweeps; ++i) {
    smooth(here);
  }
}

int main(int argc, char** argv) {
  const struct command_line line = {NAME_OF("mg"), "[cells an edge] [cycles]", argc, argv};
  const size_t asked = (size_t)number_at(&line, 1, 96, 1024);
  const int cycles = (int)number_at(&line, 2, 1, 1000);
  end_at(&line, 2);
  size_t n = 3;
  while (n < asked) {
    n *= 2;
  }
  struct grid grids[most_levels];
  int levels = 0;
  for (size_t cells = n; cells >= 3; cells /= 2) {
    make_grid(&line, &grids[levels++], cells);
  }

  // Any right-hand side would do that is smooth, and 0 on the boundary.
  const struct grid* finest = &grids[0];
  const double pi = acos(-1.0);
  FIRST_TOUCH
  for (size_t i = 0; i <= n; ++i) {
    for (size_t j = 0; j <= n; ++j) {
      const double both = sin(pi * (double)i / (double)n) * sin(pi * (double)j / (double)n);
      for (size_t k = 0; k <= n; ++k) {
        finest->f[at(n, i, j, k)] = both * (double)(k * (n - k)) / (double)n;
      }
    }
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  const double first = residual(finest);
  for (int i = 0; i < cycles; ++i) {
    v_cycle(grids, 0, levels);
  }
  const double last = residual(finest);
  const double elapsed = omp_get_wtime() - start;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t k = 0; k < (n + 1) * (n + 1) * (n + 1); ++k) {
    sum += finest->u[k];
  }
  print_result(&line, sum / (double)n, cycles, elapsed);
  return verify(&line, "the residual over the first one", sqrt(last / first), pow(0.3, cycles));
}
