// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// false-sharing with the library: per_thread gives each worker's counter cache lines of its own, on
// a page of its node. (In an array of one's own, cache_aligned<T> keeps neighbours apart.)
//
// usage: false-sharing-library [increments per thread]
#include <functional>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"false-sharing-library", "[increments per thread]", argc, argv};
  const long increments = number_at(&line, 1, 1000000, 1000000000);
  end_at(&line, 1);
  say_what_fails();

  nodewise::openmp_teams teams;
  nodewise::per_thread<long> counters(teams.threads(), 0L);

  const double start = seconds();
  teams.on_each_worker([&](const nodewise::worker& me) {
    // Volatile: a count that the compiler keeps in a register would be another program.
    volatile long& mine = counters[me];
    for (long i = 0; i < increments; ++i) {
      mine = mine + 1;
    }
  });
  const double elapsed = seconds() - start;
  const long sum = counters.reduce(0L, std::plus<>());
  print_result(line, static_cast<double>(sum), teams, 1, elapsed);
}
