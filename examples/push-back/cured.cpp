// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// push-back, cured: the vector gets its size beforehand, so its capacity is its size, and the
// allocator's blocks are those of the loop. One line is new.
//
// Remote share of the use phase: 0.
// Source: Hager and Wellein, section 8.4.2, on the Standard Template Library.
//
// usage: push-back-cured [MiB, a power of two] [sweeps]
#include <cstddef>
#include <nodewise/marker.h>
#include <omp.h>
#include <vector>

#include "../shared/command_line.h"
#include "../shared/no_memory.hpp"
#include "../shared/result.h"
#include "records.hpp"
#include "touching.hpp"

int main(int argc, char** argv) {
  const command_line line = {"push-back-cured", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = records_in(bytes_at(&line, 1, 16));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("push-back-cured: no memory; ask for fewer MiB\n");

  std::vector<double, touching<double>> v;
  v.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    v.push_back(static_cast<double>(i % 4));
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  const double sum = add_to_all(v, sweeps);
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
}
