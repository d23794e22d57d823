// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The input that grows a vector, and the loop that uses it: what all forms share.
#ifndef NODEWISE_EXAMPLES_RECORDS_HPP
#define NODEWISE_EXAMPLES_RECORDS_HPP

#include <cstddef>

// A vector doubles its capacity when it is full. A page more than a power of two leaves almost half
// of it unused.
inline std::size_t records_in(std::size_t bytes) {
  return bytes / sizeof(double) + page_doubles;
}

template <class Vector>
double add_to_all(Vector& v, int sweeps) {
  const std::size_t n = v.size();
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      v[i] += 1.0; // use
      sum += v[i];
    }
  }
  return sum;
}

#endif
