// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// static-arrays with the library: `place` gives memory that is there already its blocks, before
// anyone has touched it; then one thread may fill it as before. It also moves pages that are in
// memory, so it cures arrays with initialisers, too.
//
// Remote share of the use phase: 0.
//
// usage: static-arrays-library [sweeps]
#include <functional>
#include <nodewise/marker.h>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

namespace {

constexpr std::size_t cells = 1 << 20; // 8 MiB an array

alignas(page_bytes) double field[cells];
alignas(page_bytes) double weight[cells];

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"static-arrays-library", "[sweeps]", argc, argv};
  const int sweeps = sweeps_at(&line, 1);
  end_at(&line, 1);
  say_what_fails();

  nodewise::openmp_teams teams;
  const nodewise::blocked by = teams.blocked();
  nodewise::place(std::as_writable_bytes(std::span(field)), by);
  nodewise::place(std::as_writable_bytes(std::span(weight)), by);
  for (std::size_t i = 0; i < cells; ++i) {
    field[i] = 0.0;
    weight[i] = static_cast<double>(i % 4);
  }
  const nodewise::owned_span fields(field, by);
  const nodewise::owned_span weights(weight, by);

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        nodewise::over(fields, weights), 0.0,
        [](std::span<double> to, std::span<double> add) {
          double mine = 0;
          for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] += add[i];
            mine += to[i];
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
