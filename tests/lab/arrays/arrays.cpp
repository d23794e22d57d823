// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays as C++ programs make them, all filled by the first thread and used by all.
#include <algorithm>
#include <memory>
#include <vector>

#include "page_report.h"

namespace {

constexpr std::size_t elements = 2 << 20;
constexpr std::size_t row_count = 16384;
constexpr std::size_t row_elements = 66;

void report(const char* name, double* array) {
  use_array(array, elements);
  report_array(name, array, elements, sizeof(double));
}

void report(const char* name, std::vector<std::vector<double>>& matrix) {
  std::vector<void*> rows;
  for (auto& row : matrix) {
    rows.push_back(row.data());
  }
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    std::fill(matrix[i].begin(), matrix[i].end(), 2.0);
  }
  report_rows(name, rows.data(), rows.size(), row_elements * sizeof(double));
}

struct alignas(64) cell {
  double value[8];
};

} // namespace

int main() {
  const std::unique_ptr<double[]> by_new(new double[elements]());
  std::vector<double> vector(elements, 1.0);
  std::vector<double> grown;
  for (std::size_t i = 0; i < elements; ++i) {
    grown.push_back(1.0);
  }
  grown.shrink_to_fit();
  std::vector<cell> aligned(elements / 8);
  std::vector<std::vector<double>> matrix(row_count, std::vector<double>(row_elements, 1.0));
  std::vector<std::vector<double>> second;
  for (std::size_t i = 0; i < row_count; ++i) {
    second.emplace_back(row_elements, 1.0);
  }
  report("new", by_new.get());
  report("vector", vector.data());
  report("grown_vector", grown.data());
  report("aligned_new", aligned[0].value);
  report("matrix", matrix);
  report("grown_matrix", second);
}
