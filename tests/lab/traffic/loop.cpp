// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdio>
#include <memory>

int main() {
  constexpr std::size_t n = std::size_t{1} << 21;
  const std::unique_ptr<double[]> owner(new double[n]); // the array
  double* const array = owner.get();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    array[i] = static_cast<double>(i);
  }
  for (int sweep = 0; sweep < 3; ++sweep) {
#pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      sum += array[i]; // the loop
    }
  }
  std::printf("%g\n", sum);
}
