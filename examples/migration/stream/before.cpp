// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Four loops of STREAM's kind, before: `new` for the arrays, one thread that fills them, all
// threads that work on them. docs/migration.md has it beside after.cpp.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
#include <cstddef>
#include <cstdio>

#include <nodewise/marker.h>

int main() {
  constexpr std::size_t n = 1 << 20;
  constexpr int sweeps = 3;
  auto* a = new double[n];
  auto* b = new double[n];
  auto* c = new double[n];
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = 1.0;
    b[i] = 2.0;
    c[i] = 0.0;
  }

  NODEWISE_MARKER_USE();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
      c[i] = a[i]; // copy
    }
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = 0.5 * c[i]; // scale
    }
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
      c[i] = a[i] + b[i]; // add
    }
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = b[i] + 0.25 * c[i]; // triad
    }
  }
  std::printf("a: %.9f ... %.9f\n", a[0], a[n - 1]);
  delete[] c;
  delete[] b;
  delete[] a;
}
