// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Plain threads that share an array: the caller is the first of them. The program that includes it
// defines _GNU_SOURCE first.
#ifndef NODEWISE_EXAMPLES_WORKERS_H
#define NODEWISE_EXAMPLES_WORKERS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"

// A thread, and its block of the array: whole pages, in the order of the threads.
struct worker {
  int number;
  double* data;
  size_t first, last;
  int sweeps;
  double sum;
  pthread_t thread;
};

static inline void deal_out(struct worker* workers, int threads, double* data, size_t n,
                            int sweeps) {
  const size_t pages = n / page_doubles;
  const size_t all = (size_t)threads;
  for (size_t k = 0; k < all; ++k) {
    workers[k] = (struct worker){.number = (int)k,
                                 .data = data,
                                 .first = pages * k / all * page_doubles,
                                 .last = pages * (k + 1) / all * page_doubles,
                                 .sweeps = sweeps};
  }
}

// Each thread does this with its block; returns when all have.
static inline void run_workers(struct worker* workers, int threads, void* (*work)(void*)) {
  for (int k = 1; k < threads; ++k) {
    const int error = pthread_create(&workers[k].thread, NULL, work, &workers[k]);
    if (error != 0) {
      fprintf(stderr, "no thread %d: %s; ask for fewer\n", k, strerror(error));
      exit(1);
    }
  }
  work(&workers[0]);
  for (int k = 1; k < threads; ++k) {
    pthread_join(workers[k].thread, NULL);
  }
}

// The sum is written once: the workers lie side by side, and two of them in a cache line.
static inline void add_to_block(struct worker* me) {
  double sum = 0;
  for (int sweep = 0; sweep < me->sweeps; ++sweep) {
    for (size_t i = me->first; i < me->last; ++i) {
      me->data[i] += 1.0; // use
      sum += me->data[i];
    }
  }
  me->sum = sum;
}

static inline double sum_of(const struct worker* workers, int threads) {
  double sum = 0;
  for (int k = 0; k < threads; ++k) {
    sum += workers[k].sum;
  }
  return sum;
}

#endif
