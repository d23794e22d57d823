// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// file-read with the library: the array has its blocks before anyone touches it, and each is read
// by a worker of the node that owns it. Reading is local then, too, and done by all.
//
// Remote share of the use phase: 0.
//
// usage: file-read-library [MiB] [sweeps] [folder for the file]
#include <functional>
#include <numeric>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/input_file.h"
#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"file-read-library", "[MiB] [sweeps] [folder]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 3);
  say_what_fails();
  close(make_input(line.program, text_at(&line, 3, fast_folder()), bytes));

  nodewise::openmp_teams teams;
  nodewise::array<double> data(bytes / sizeof(double), teams.blocked());
  nodewise::read_into(teams, data, input_path);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        data, 0.0,
        [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
