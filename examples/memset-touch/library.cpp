// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// memset-touch with the library, by oneTBB: the array has its blocks when it is made. That the main
// thread still clears it changes nothing: the policy beats the touch. (It is zero anyway, and
// `teams.fill` would do it with all threads.)
//
// Remote share of the use phase: 0.
//
// usage: memset-touch-library [MiB] [sweeps] [threads]
#include <cstring>
#include <functional>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/tbb.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"memset-touch-library", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  say_what_fails();

  nodewise::tbb_teams teams(nodewise::topology::system(),
                            {.threads = static_cast<std::size_t>(threads)});
  nodewise::array<double> data(bytes / sizeof(double), teams.blocked());
  std::memset(data.data(), 0, bytes);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        data, 0.0,
        [](std::span<double> part) {
          double mine = 0;
          for (double& each : part) {
            each += 1.0;
            mine += each;
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
