// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// is: sorts whole numbers. Threads count the keys of their blocks by bucket, write them bucket by
// bucket, and each sorts the buckets that are its own by counting.
//
// Remote share of the use phase, with n nodes: (n-1)/n; cured: what is written bucket by bucket
// remains, a fifth of all, (n-1)/5n. Source: the NAS parallel benchmarks have a kernel of that
// name; this is another program.
//
// usage: is [keys in units of 2^20] [sweeps]
#include <stdint.h>
#include <string.h>

#include "kernel.h"

enum { buckets = 256, values = 1 << 11, bits = 11, most_threads = 1024 };

static size_t counts[most_threads][buckets];

// Whole numbers without a pattern, evenly from 0 to buckets * values - 1.
static uint32_t key_of(size_t i) {
  uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
  return (uint32_t)(mixed >> 40) % (buckets * values);
}

// Counts of keys to where each thread's part of each bucket begins; bucket b begins at begin[b].
static void add_up(int threads, size_t* begin) {
  size_t next = 0;
  for (int bucket = 0; bucket < buckets; ++bucket) {
    begin[bucket] = next;
    for (int thread = 0; thread < threads; ++thread) {
      const size_t count = counts[thread][bucket];
      counts[thread][bucket] = next;
      next += count;
    }
  }
  begin[buckets] = next;
}

static void into_buckets(const uint32_t* keys, size_t n, uint32_t* dealt, size_t* begin) {
#pragma omp parallel
  {
    size_t mine[buckets] = {0};
    const int me = omp_get_thread_num();
#pragma omp for schedule(static)
    for (size_t i = 0; i < n; ++i) {
      ++mine[keys[i] >> bits]; // use
    }
    memcpy(counts[me], mine, sizeof mine);
#pragma omp barrier
#pragma omp single
    add_up(omp_get_num_threads(), begin);
    memcpy(mine, counts[me], sizeof mine);
#pragma omp for schedule(static)
    for (size_t i = 0; i < n; ++i) {
      dealt[mine[keys[i] >> bits]++] = keys[i]; // use
    }
  }
}

static void sort_buckets(const uint32_t* dealt, const size_t* begin, uint32_t* sorted) {
#pragma omp parallel for schedule(static)
  for (int bucket = 0; bucket < buckets; ++bucket) {
    uint32_t of_value[values] = {0};
    for (size_t i = begin[bucket]; i < begin[bucket + 1]; ++i) {
      ++of_value[dealt[i] % values]; // use
    }
    size_t next = begin[bucket];
    for (uint32_t value = 0; value < values; ++value) {
      for (uint32_t k = 0; k < of_value[value]; ++k) {
        sorted[next++] = (uint32_t)bucket * values + value; // use
      }
    }
  }
}

int main(int argc, char** argv) {
  const struct command_line line = {NAME_OF("is"), "[keys in units of 2^20] [sweeps]", argc, argv};
  const size_t n = (size_t)number_at(&line, 1, 2, 2048) << 20;
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  if (omp_get_max_threads() > most_threads) {
    fprintf(stderr, "%s: at most %d threads; set OMP_NUM_THREADS\n", line.program, most_threads);
    return 1;
  }
  uint32_t* keys = new_array(&line, n, sizeof *keys);     // made: keys
  uint32_t* dealt = new_array(&line, n, sizeof *dealt);   // made: dealt
  uint32_t* sorted = new_array(&line, n, sizeof *sorted); // made: sorted
  static size_t begin[buckets + 1];

  FIRST_TOUCH
  for (size_t i = 0; i < n; ++i) {
    keys[i] = key_of(i); // touch: keys
    dealt[i] = 0;        // touch: dealt
    sorted[i] = 0;       // touch: sorted
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    into_buckets(keys, n, dealt, begin);
    sort_buckets(dealt, begin, sorted);
  }
  const double elapsed = omp_get_wtime() - start;
  double sum = 0;
  double lost = 0;
  double wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum, lost, wrong)
  for (size_t i = 0; i < n; ++i) {
    sum += sorted[i];
    lost += (double)keys[i] - (double)sorted[i];
    wrong += i > 0 && sorted[i - 1] > sorted[i];
  }
  print_result(&line, sum, sweeps, elapsed);
  return verify(&line, "the number of keys in the wrong place", wrong + fabs(lost), 0.0);
}
