// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// new-array, cured: `new particle[n]` without () writes nothing to objects of such a class, and the
// threads that use the objects construct them, by the same schedule.
//
// Remote share of the use phase: 0.
// Source: Hager and Wellein, section 8.4.1. There the class has an operator new[] that touches the
// pages in parallel before the constructors run, which also serves classes whose constructor
// writes.
//
// usage: new-array-cured [MiB] [sweeps]
#include <cstddef>
#include <memory>
#include <new>
#include <omp.h>

#include "../shared/command_line.h"
#include "../shared/no_memory.hpp"
#include "../shared/result.h"
#include "particle.hpp"

int main(int argc, char** argv) {
  const command_line line = {"new-array-cured", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(particle);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("new-array-cured: no memory; ask for fewer MiB\n");

  auto* particles = new (std::align_val_t{page_bytes}) particle[n]; // writes nothing
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    std::construct_at(&particles[i]);
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      particles[i].move();
      sum += particles[i].x;
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  ::operator delete[](particles, std::align_val_t{page_bytes});
}
