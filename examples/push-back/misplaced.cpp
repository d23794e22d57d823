// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// push-back, half cured: the allocator touches in parallel, but by the capacity that the vector
// asks for, twice as much as it has elements. The loop over the elements cuts elsewhere: block k of
// its blocks lies where block k/2 of the allocator's is.
//
// Remote share of the use phase, with n nodes: (n-1)/n, on the first half of the nodes.
// Source: Hager and Wellein, section 8.4.2, on the Standard Template Library.
//
// usage: push-back-misplaced [MiB, a power of two] [sweeps]
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
  const command_line line = {"push-back-misplaced", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = records_in(bytes_at(&line, 1, 16));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("push-back-misplaced: no memory; ask for fewer MiB\n");

  std::vector<double, touching<double>> v;
  for (std::size_t i = 0; i < n; ++i) {
    v.push_back(static_cast<double>(i % 4));
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  const double sum = add_to_all(v, sweeps);
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
}
