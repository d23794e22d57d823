// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The work on a piece of the array: what both forms share.
#ifndef NODEWISE_EXAMPLES_PIECES_HPP
#define NODEWISE_EXAMPLES_PIECES_HPP

#include <cstddef>
#include <oneapi/tbb/blocked_range.h>

using range = tbb::blocked_range<std::size_t>;

inline double add_one(double* data, const range& piece) {
  double sum = 0;
  for (std::size_t i = piece.begin(); i < piece.end(); ++i) {
    data[i] += 1.0; // use
    sum += data[i];
  }
  return sum;
}

#endif
