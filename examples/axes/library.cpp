// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// axes with the library: no placement serves both sweeps, but the sweep by columns need not be cut
// by columns. Each worker goes down all columns within its own rows, and the library combines what
// they found. Where a column's values depend on those above it, that does not do: keep a second
// array, transposed, with blocks of its own, if it is swept several times for each copy.
//
// Remote share of the use phase: 0.
//
// usage: axes-library [rows, a multiple of 512] [sweeps]
#include <functional>
#include <nodewise/marker.h>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

namespace {

constexpr std::size_t line_doubles = 8; // a cache line

double by_rows(std::span<double> part) {
  double sum = 0;
  for (double& each : part) {
    each += 1.0;
    sum += each;
  }
  return sum;
}

// A part of a matrix with rows of n elements: down its columns, a line's at a time.
double by_columns(std::span<double> part, std::size_t n) {
  double sum = 0;
  for (std::size_t first = 0; first < n; first += line_doubles) {
    for (std::size_t i = first; i < part.size(); i += n) {
      sum += by_rows(part.subspan(i, line_doubles));
    }
  }
  return sum;
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"axes-library", "[rows] [sweeps]", argc, argv};
  const auto asked = static_cast<std::size_t>(number_at(&line, 1, 1536, 1L << 20));
  const std::size_t n = (asked + page_doubles - 1) / page_doubles * page_doubles;
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  nodewise::array<double> a(n * n, teams.blocked(), {.staggered = false}); // lines are whole
  teams.fill(a, 0.0);

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(a, 0.0, by_rows, std::plus<>());
    sum += teams.reduce_owned(
        a, 0.0, [n](std::span<double> part) { return by_columns(part, n); }, std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
