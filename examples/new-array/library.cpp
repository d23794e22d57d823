// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// new-array with the library: the class gets an operator new[] whose pages have their nodes before
// the constructors run. They still run in one thread: the policy beats the touch. Nothing else
// changes in the program's `new` and `delete`.
//
// Remote share of the use phase: 0.
//
// usage: new-array-library [MiB] [sweeps]
#include <functional>
#include <memory>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"
#include "particle.hpp"

namespace {

struct placed_particle : particle, nodewise::place_objects<placed_particle> {};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"new-array-library", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(placed_particle);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  const std::unique_ptr<placed_particle[]> particles(new placed_particle[n]());
  nodewise::openmp_teams teams;
  const nodewise::owned_span owned(std::span(particles.get(), n), teams.blocked());

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        owned, 0.0,
        [](std::span<placed_particle> part) {
          double mine = 0;
          for (placed_particle& each : part) {
            each.move();
            mine += each.x;
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
