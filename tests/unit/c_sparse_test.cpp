// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The C interface of sparse matrices, on threads of OpenMP.
#include <nodewise/sparse.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/affinity.hpp>

#include "unit/c_matrices.hpp"

namespace nodewise::test {
namespace {

/// The calls for one type of values.
template <class T>
struct c_calls;
template <>
struct c_calls<double> {
  static constexpr auto copy = nodewise_matrix_copy;
  static constexpr auto adopt = nodewise_matrix_adopt;
  static constexpr auto multiply = nodewise_multiply;
  static constexpr auto multiply_add = nodewise_multiply_add;
};
template <>
struct c_calls<float> {
  static constexpr auto copy = nodewise_matrix_copy_float;
  static constexpr auto adopt = nodewise_matrix_adopt_float;
  static constexpr auto multiply = nodewise_multiply_float;
  static constexpr auto multiply_add = nodewise_multiply_add_float;
};

class CSparse : public c_matrix_test {
 protected:
  /// Both products with the matrix must be those of `plain`.
  template <class T>
  void expect_products_of(const plain_matrix<T>& plain) {
    const auto x = random_vector<T>(plain.columns, 2);
    std::vector<T> y(plain.rows(), T{7});
    ASSERT_EQ(c_calls<T>::multiply(teams_, a_, x.data(), x.size(), y.data(), y.size()), 0)
        << nodewise_error();
    const auto once = plain_product(plain, x);
    EXPECT_EQ(y, once);
    ASSERT_EQ(c_calls<T>::multiply_add(teams_, T{-2}, a_, x.data(), x.size(), y.data(), y.size()),
              0)
        << nodewise_error();
    EXPECT_EQ(y, plain_product(plain, x, once, T{-2}));
  }

  template <class T>
  void expect_copies_and_adopts() {
    for (const matrix_shape& shape : shapes) {
      const auto plain =
          random_matrix<T, std::int32_t, std::int64_t>(shape.rows, shape.columns, shape.mean, 1);
      for (const auto make : {c_calls<T>::copy, c_calls<T>::adopt}) {
        const nodewise_crs rows = crs_of(plain);
        ASSERT_EQ(make(&a_, teams_, &rows, plain.values.data()), 0) << nodewise_error();
        expect_products_of(plain);
        nodewise_matrix_free(a_);
        a_ = nullptr;
      }
    }
  }

  /// The message of a copy that must be refused.
  std::string refused(const nodewise_crs& rows, const std::vector<double>& values) {
    EXPECT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, values.data()), 1);
    EXPECT_EQ(a_, nullptr);
    return nodewise_error();
  }
};

TEST_F(CSparse, CopiedAndAdoptedArraysGiveThePlainProducts) {
  expect_copies_and_adopts<double>();
  expect_copies_and_adopts<float>();
}

TEST_F(CSparse, ArraysThatCountFrom1AreCopied) {
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(300, 200, 9, 3);
  auto from_1 = plain;
  for (auto& each : from_1.starts) {
    ++each;
  }
  for (auto& each : from_1.indices) {
    ++each;
  }
  const nodewise_crs rows = crs_of(from_1);
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, plain.values.data()), 0) << nodewise_error();
  EXPECT_EQ(nodewise_matrix_rows(a_), 300U);
  EXPECT_EQ(nodewise_matrix_columns(a_), 200U);
  EXPECT_EQ(nodewise_matrix_entries(a_), plain.values.size());
  expect_products_of(plain);

  nodewise_matrix* adopted = nullptr;
  EXPECT_EQ(nodewise_matrix_adopt(&adopted, teams_, &rows, plain.values.data()), 1);
  EXPECT_EQ(adopted, nullptr);
  expect_part(nodewise_error(), "count from 1");
}

TEST_F(CSparse, ArraysOutOfRangeAreRefused) {
  const std::vector<double> values{1, 2, 3};
  for (const std::int64_t base : {0, 1}) {
    const auto first = static_cast<std::int32_t>(base);
    std::vector<std::int64_t> starts{base, base + 1, base + 3};
    std::vector<std::int32_t> columns{first, first, first + 1};
    nodewise_crs rows{2, 2, 3, starts.data(), columns.data()};
    for (const std::int32_t wrong : {first - 1, first + 2, INT_MIN, INT_MAX}) {
      columns[1] = wrong;
      expect_part(refused(rows, values), "in row 1, column");
    }
    columns[1] = first;
    for (const std::int64_t wrong : {std::int64_t{-1}, base + 4, INT64_MIN, INT64_MAX}) {
      starts[1] = wrong;
      expect_part(refused(rows, values), "row");
    }
    starts[1] = base + 1;
    for (const std::int64_t wrong : {std::int64_t{0}, base + 2, base + 4, INT64_MIN, INT64_MAX}) {
      starts[2] = wrong;
      expect_part(refused(rows, values), "the row starts go from");
    }
  }
}

TEST_F(CSparse, SizesThatNothingHasAreRefused) {
  const std::vector<double> values{1};
  const std::int64_t starts[] = {0, 1};
  const std::int32_t columns[] = {0};
  expect_part(refused({0, 1, 1, starts, columns}, values), "at least one row");
  expect_part(refused({1, 0, 1, starts, columns}, values), "at least one row");
  expect_part(refused({1, SIZE_MAX, 1, starts, columns}, values), "ends at");
  expect_part(refused({SIZE_MAX, 1, 1, starts, columns}, values), "no memory");
  expect_part(refused({1, 1, SIZE_MAX, starts, columns}, values), "no memory");
  expect_part(refused({1, 1, 1, nullptr, columns}, values), "null pointer for the row starts");
  expect_part(refused({1, 1, 1, starts, nullptr}, values), "null pointer for the column indices");
}

TEST_F(CSparse, AMatrixWithoutEntriesNeedsNoArraysOfThem) {
  const std::vector<std::int64_t> starts(5);
  const nodewise_crs rows{4, 3, 0, starts.data(), nullptr};
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, nullptr), 0) << nodewise_error();
  plain_matrix<double> plain;
  plain.columns = 3;
  plain.starts = starts;
  expect_products_of(plain);
}

TEST_F(CSparse, VectorsAndTypesThatDoNotFitAreRefused) {
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(30, 20, 3, 1);
  const nodewise_crs rows = crs_of(plain);
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, plain.values.data()), 0) << nodewise_error();
  std::vector<double> x(30);
  std::vector<double> y(30, 5.0);
  EXPECT_EQ(nodewise_multiply(teams_, a_, x.data(), 21, y.data(), 30), 1);
  expect_part(nodewise_error(), "21");
  EXPECT_EQ(nodewise_multiply(teams_, a_, x.data(), 20, y.data(), 29), 1);
  expect_part(nodewise_error(), "29");
  EXPECT_EQ(nodewise_multiply(teams_, a_, y.data(), 20, y.data(), 30), 1);
  expect_part(nodewise_error(), "overlap");
  EXPECT_EQ(nodewise_multiply(teams_, a_, nullptr, 20, y.data(), 30), 1);
  expect_part(nodewise_error(), "null pointer for the input vector");
  EXPECT_EQ(nodewise_multiply(nullptr, a_, x.data(), 20, y.data(), 30), 1);
  EXPECT_EQ(nodewise_multiply(teams_, nullptr, x.data(), 20, y.data(), 30), 1);
  std::vector<float> small_x(20);
  std::vector<float> small_y(30);
  EXPECT_EQ(nodewise_multiply_float(teams_, a_, small_x.data(), 20, small_y.data(), 30), 1);
  expect_part(nodewise_error(), "the matrix has values of type double");
  EXPECT_EQ(y, std::vector<double>(30, 5.0));
}

TEST_F(CSparse, OtherTeamsAreRefused) {
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(30, 20, 3, 1);
  const nodewise_crs rows = crs_of(plain);
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, plain.values.data()), 0) << nodewise_error();
  nodewise_layout* layout = nullptr;
  nodewise_teams* teams = nullptr;
  ASSERT_EQ(nodewise_layout_make(&layout, NODEWISE_CLOSE, 5), 0) << nodewise_error();
  ASSERT_EQ(nodewise_teams_make(&teams, layout, nodewise_run_openmp), 0) << nodewise_error();
  std::vector<double> x(20);
  std::vector<double> y(30);
  EXPECT_EQ(nodewise_multiply(teams, a_, x.data(), 20, y.data(), 30), 1);
  expect_part(nodewise_error(), "teams of 5 workers");
  nodewise_teams_free(teams);
  nodewise_layout_free(layout);
}

/// Runs work in ways that its contract excludes.
void skip_the_last(std::size_t workers, nodewise_part* part, void* work) {
  for (std::size_t k = 0; k + 1 < workers; ++k) {
    part(work, k);
  }
}
void repeat_the_first(std::size_t workers, nodewise_part* part, void* work) {
  part(work, 0);
  nodewise_run_openmp(workers, part, work);
}
void add_another(std::size_t workers, nodewise_part* part, void* work) {
  nodewise_run_openmp(workers + 1, part, work);
}

TEST_F(CSparse, AFunctionThatDoesNotRunEachPartOnceIsRefused) {
  const std::vector<std::int64_t> starts{0, 0, 0};
  const nodewise_crs rows{2, 2, 0, starts.data(), nullptr};
  const std::vector<std::pair<nodewise_runner*, std::string>> wrong{
      {skip_the_last, "it called part 2 0 times"},
      {repeat_the_first, "it called part 0 2 times"},
      {add_another, "it called a part that does not exist"},
      {nullptr, "null pointer for the function"}};
  for (const auto& [run, reason] : wrong) {
    nodewise_teams* teams = nullptr;
    int failed = nodewise_teams_make(&teams, layout_, run);
    if (failed == 0) {
      failed = nodewise_matrix_copy(&a_, teams, &rows, nullptr);
    }
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(a_, nullptr);
    expect_part(nodewise_error(), reason);
    nodewise_teams_free(teams);
  }
}

TEST_F(CSparse, TheCallingThreadKeepsItsProcessors) {
  const cpu_set before = thread_affinity();
  const std::vector<std::int64_t> starts{0, 0, 0};
  const nodewise_crs rows{2, 2, 0, starts.data(), nullptr};
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, nullptr), 0) << nodewise_error();
  EXPECT_EQ(thread_affinity(), before);
}

TEST_F(CSparse, FilesAreRead) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("nodewise-c-" + std::to_string(::getpid()) + ".mtx");
  std::ofstream(file) << "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
  const plain_matrix<float> plain{2, {0, 2, 3}, {0, 1, 0}, {4, -1, -1}};
  ASSERT_EQ(nodewise_matrix_read_float(&a_, teams_, file.c_str()), 0) << nodewise_error();
  expect_products_of(plain);
  nodewise_matrix* other = nullptr;
  std::ofstream(file) << "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 4\n";
  EXPECT_EQ(nodewise_matrix_read(&other, teams_, file.c_str()), 1);
  expect_part(nodewise_error(), "line 3");
  std::filesystem::remove(file);
  EXPECT_EQ(nodewise_matrix_read(&other, teams_, file.c_str()), 1);
  expect_part(nodewise_error(), "No such file");
  EXPECT_EQ(other, nullptr);
}

TEST_F(CSparse, PagesAreReported) {
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(2000, 2000, 20, 1);
  const nodewise_crs rows = crs_of(plain);
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, plain.values.data()), 0) << nodewise_error();
  nodewise_residency found{};
  ASSERT_EQ(nodewise_matrix_where(a_, &found), 0) << nodewise_error();
  const std::size_t bytes = 2001 * sizeof(std::int64_t) + plain.values.size() * 12;
  EXPECT_GE(found.pages * 4096, bytes); // base pages have 4 KiB or more
  EXPECT_EQ(found.resident, found.pages);
  char text[1024];
  ASSERT_EQ(nodewise_matrix_strip(a_, 16, text, sizeof text), 0) << nodewise_error();
  expect_part(text, "row starts");
  expect_part(text, "values");
  EXPECT_EQ(nodewise_matrix_strip(a_, 16, text, 0), 1);
  EXPECT_EQ(nodewise_matrix_where(nullptr, &found), 1);
}

TEST_F(CSparse, VectorsArePlacedByRowsAndColumns) {
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(2000, 1000, 20, 1);
  const nodewise_crs rows = crs_of(plain);
  ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, plain.values.data()), 0) << nodewise_error();
  for (const auto& make : {nodewise_by_rows, nodewise_by_columns}) {
    nodewise_distribution* by = nullptr;
    nodewise_region* memory = nullptr;
    ASSERT_EQ(make(&by, a_), 0) << nodewise_error();
    ASSERT_EQ(nodewise_region_make(&memory, 2000 * sizeof(double), by, NODEWISE_PREFER), 0)
        << nodewise_error();
    nodewise_region_free(memory);
    nodewise_distribution_free(by);
    EXPECT_EQ(make(&by, nullptr), 1);
    EXPECT_EQ(make(nullptr, a_), 1);
  }
}

TEST_F(CSparse, NothingIsFreedOrCountedForNull) {
  nodewise_matrix_free(nullptr);
  nodewise_teams_free(nullptr);
  EXPECT_EQ(nodewise_matrix_rows(nullptr), 0U);
  EXPECT_EQ(nodewise_matrix_columns(nullptr), 0U);
  EXPECT_EQ(nodewise_matrix_entries(nullptr), 0U);
}

} // namespace
} // namespace nodewise::test
