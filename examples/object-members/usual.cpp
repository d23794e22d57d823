// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// object-members, as it is usually written: the objects are made in a parallel loop, but what they
// own is allocated and filled when one thread loads them. The objects are spread over the nodes,
// their data is on one.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.4.1, on arrays of objects with dynamic members.
//
// usage: object-members [MiB] [sweeps]
#include <cstddef>
#include <memory>
#include <new>
#include <nodewise/marker.h>
#include <omp.h>

#include "../shared/command_line.h"
#include "../shared/no_memory.hpp"
#include "../shared/result.h"
#include "station.hpp"

int main(int argc, char** argv) {
  const command_line line = {"object-members", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / (station::readings * sizeof(double));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("object-members: no memory; ask for fewer MiB\n");

  auto* stations = static_cast<station*>(::operator new(n * sizeof(station)));
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    std::construct_at(&stations[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    stations[i].load(i);
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      sum += stations[i].add_one();
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  std::destroy_n(stations, n);
  ::operator delete(stations);
}
