// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// schedules with the library: the array's distribution says who owns what, and every schedule but
// the last hands out by it. There is no second description of the loop that could differ.
//
//   owned        each worker its own block                               remote 0
//   never        a node's workers take chunks of their node's pages      0
//   local-first  the same, then what the nearest node has left           what balance is worth
//   guided       the same, chunks shrinking                              what balance is worth
//   any          to any thread, as schedule(dynamic)                     ~(n-1)/n with n nodes
//
// usage: schedules-library [owned|never|local-first|guided|any] [MiB] [sweeps]
#include <functional>
#include <span>
#include <string_view>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

namespace {

nodewise::schedule schedule_at(const command_line& line, int position) {
  using nodewise::schedule;
  const char* text = text_at(&line, position, "owned");
  const std::string_view name = text;
  if (name == "owned") {
    return schedule::owned();
  }
  if (name == "never") {
    return schedule::local_first(0, nodewise::steal::never);
  }
  if (name == "local-first") {
    return schedule::local_first();
  }
  if (name == "guided") {
    return schedule::guided();
  }
  if (name == "any") {
    return schedule::any();
  }
  refuse(&line, text, "owned, never, local-first, guided or any");
}

double add_one(std::span<double> part) {
  double sum = 0;
  for (double& each : part) {
    each += 1.0;
    sum += each;
  }
  return sum;
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"schedules-library",
                             "[owned|never|local-first|guided|any] [MiB] [sweeps]", argc, argv};
  const nodewise::schedule how = schedule_at(line, 1);
  const std::size_t n = bytes_at(&line, 2, 8) / sizeof(double);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  say_what_fails();

  nodewise::openmp_teams teams;
  nodewise::array<double> data(n, teams.blocked());
  teams.fill(data, 1.0);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(data, 0.0, add_one, std::plus<>(), how);
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
