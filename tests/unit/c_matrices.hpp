// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Matrices of the C interface, on threads of OpenMP.
#pragma once

#include <nodewise/sparse.h>

#include <string>

#include <gtest/gtest.h>

#include "unit/sparse_matrices.hpp"

namespace nodewise::test {

/// Teams of three threads, and a matrix to fill in.
class c_matrix_test : public testing::Test {
 protected:
  c_matrix_test() {
    EXPECT_EQ(nodewise_layout_make(&layout_, NODEWISE_CLOSE, 3), 0) << nodewise_error();
    EXPECT_EQ(nodewise_teams_make(&teams_, layout_, nodewise_run_openmp), 0) << nodewise_error();
  }
  ~c_matrix_test() override {
    nodewise_matrix_free(a_);
    nodewise_teams_free(teams_);
    nodewise_layout_free(layout_);
  }

  template <class T>
  static nodewise_crs crs_of(const plain_matrix<T>& plain) {
    return {plain.rows(), plain.columns, plain.values.size(), plain.starts.data(),
            plain.indices.data()};
  }
  /// Makes the matrix of `plain`, in place of the one before.
  template <class T>
  void copy(const plain_matrix<T>& plain) {
    nodewise_matrix_free(a_);
    a_ = nullptr;
    const nodewise_crs rows = crs_of(plain);
    if constexpr (std::is_same_v<T, double>) {
      ASSERT_EQ(nodewise_matrix_copy(&a_, teams_, &rows, plain.values.data()), 0)
          << nodewise_error();
    } else {
      ASSERT_EQ(nodewise_matrix_copy_float(&a_, teams_, &rows, plain.values.data()), 0)
          << nodewise_error();
    }
  }

  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  nodewise_layout* layout_ = nullptr;
  nodewise_teams* teams_ = nullptr;
  nodewise_matrix* a_ = nullptr;
};

} // namespace nodewise::test
