// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// triangular with the library: chunks of rows are dealt round, and one distribution says so to the
// memory and to the loop. The workers of a node take the node's chunks one by one, so each has as
// much work as it can do. Nodes have equal work by the distribution: none takes another's chunks.
// The vector, which all rows need, is replicated: a copy on each node.
//
// Remote share of the use phase: 0. Imbalance of the nodes: near 1.
//
// usage: triangular-library [rows] [sweeps] [rows per chunk]
#include <functional>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"
#include "matrix.h"

int main(int argc, char** argv) {
  const command_line line = {"triangular-library", "[rows] [sweeps] [rows per chunk]", argc, argv};
  const auto n = static_cast<std::size_t>(number_at(&line, 1, 1024, 1L << 20));
  const int sweeps = sweeps_at(&line, 2);
  const auto chunk = static_cast<std::size_t>(number_at(&line, 3, 4, 1L << 20));
  end_at(&line, 3);
  say_what_fails();
  const std::size_t stride = row_stride(n);
  const std::size_t chunk_pages = chunk * stride / page_doubles;

  nodewise::openmp_teams teams;
  nodewise::array<double, nodewise::block_cyclic> a(
      n * stride, nodewise::block_cyclic(teams.threads().owners(), chunk_pages),
      {.staggered = false});
  nodewise::replicated<double> x(teams.threads(), n);
  x.update([n](std::span<double> copy) { fill_vector(copy.data(), n); });

  const auto chunks = nodewise::schedule::local_first(chunk_pages, nodewise::steal::never);
  teams.for_each_owned(
      a,
      [&](std::size_t first, std::span<double> rows) {
        for (std::size_t at = first; at < first + rows.size(); at += stride) {
          touch_row(a.data(), stride, at / stride);
        }
      },
      chunks);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        a, 0.0,
        [&](const nodewise::worker& me, std::size_t first, std::span<double> rows) {
          double mine = 0;
          for (std::size_t at = first; at < first + rows.size(); at += stride) {
            mine += row_times_vector(a.data(), stride, at / stride, x.local(me).data());
          }
          return mine;
        },
        std::plus<>(), chunks);
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
