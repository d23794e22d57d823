// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// false-sharing: each thread counts in an element of its own, but eight elements share a cache
// line. The line must travel to the next thread that writes, although no datum is shared.
//
// With n nodes and threads on all of them, up to one fill of `counters` an increment (how many,
// timing decides), and up to (n-1)/n of them remote: the page is on the first writer's node.
// Source: Hager and Wellein, section 7.2.4.
//
// usage: false-sharing [increments per thread]
#include <omp.h>
#include <stdalign.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

enum { most_threads = 1024 };

// Volatile: a count that the compiler keeps in a register would be another program.
static alignas(64) volatile long counters[most_threads];

int main(int argc, char** argv) {
  const struct command_line line = {"false-sharing", "[increments per thread]", argc, argv};
  const long increments = number_at(&line, 1, 1000000, 1000000000);
  end_at(&line, 1);
  if (omp_get_max_threads() > most_threads) {
    omp_set_num_threads(most_threads);
  }

  const double start = omp_get_wtime();
#pragma omp parallel
  {
    const int mine = omp_get_thread_num();
    for (long i = 0; i < increments; ++i) {
      counters[mine] = counters[mine] + 1; // use
    }
  }
  const double elapsed = omp_get_wtime() - start;

  long sum = 0;
  for (int thread = 0; thread < most_threads; ++thread) {
    sum += counters[thread];
  }
  print_result(&line, (double)sum, 1, elapsed);
  return 0;
}
