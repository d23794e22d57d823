// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// jagged with the library: each row is made by a worker of the node that owns it, with the memory
// resource of that node. A row that grows later stays on its node.
//
// Remote share of the use phase: 0, but for a few pages where blocks of rows meet.
//
// usage: jagged-library [MiB] [sweeps]
#include <functional>
#include <memory_resource>
#include <nodewise/marker.h>
#include <span>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

namespace {

constexpr std::size_t row_doubles = 80; // 640 bytes: six rows to a page
using row = std::pmr::vector<double>;

row make_row(std::size_t /*number*/, std::pmr::memory_resource* from) {
  row made(row_doubles, from);
  for (std::size_t i = 0; i < row_doubles; ++i) {
    made[i] = static_cast<double>(i % 4);
  }
  return made;
}

double add_one(std::span<row> rows) {
  double sum = 0;
  for (row& each : rows) {
    for (double& element : each) {
      element += 1.0;
      sum += element;
    }
  }
  return sum;
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"jagged-library", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / (row_doubles * sizeof(double));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  nodewise::objects<row> rows(teams, n, teams.blocked(), make_row);

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(rows, 0.0, add_one, std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
