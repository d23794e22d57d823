// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A sweep in tasks of OpenMP, which one thread makes and any thread of its team may take: what both
// forms share.
#ifndef NODEWISE_EXAMPLES_PIECES_H
#define NODEWISE_EXAMPLES_PIECES_H

#include <stddef.h>

#include "../shared/command_line.h"

// Large enough that all of them can wait in a queue: a runtime whose queue is full lets the thread
// that makes tasks do them itself.
enum { piece_doubles = 16 * page_doubles };

static inline size_t end_of_piece(size_t first, size_t last) {
  return last - first < piece_doubles ? last : first + piece_doubles;
}

static inline void add_one_in_tasks(double* data, size_t first, size_t last, double* sum) {
  for (size_t piece = first; piece < last; piece += piece_doubles) {
#pragma omp task
    {
      double mine = 0;
      for (size_t i = piece; i < end_of_piece(piece, last); ++i) {
        data[i] += 1.0; // use
        mine += data[i];
      }
#pragma omp atomic
      *sum += mine;
    }
  }
#pragma omp taskwait
}

#endif
