// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of the C interface beyond y = A x, and matrices in SELL-C-sigma.
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "unit/c_matrices.hpp"

namespace nodewise::test {
namespace {

/// The calls for one type of values.
template <class T>
struct product_calls;
template <>
struct product_calls<double> {
  static constexpr auto multiply = nodewise_multiply;
  static constexpr auto multiply_add = nodewise_multiply_add;
  static constexpr auto multiply_many = nodewise_multiply_many;
  static constexpr auto multiply_product = nodewise_product_multiply;
};
template <>
struct product_calls<float> {
  static constexpr auto multiply = nodewise_multiply_float;
  static constexpr auto multiply_add = nodewise_multiply_add_float;
  static constexpr auto multiply_many = nodewise_multiply_many_float;
  static constexpr auto multiply_product = nodewise_product_multiply_float;
};

/// A matrix of each shape.
template <class T>
std::vector<std::pair<matrix_shape, plain_matrix<T>>> random_matrices() {
  std::vector<std::pair<matrix_shape, plain_matrix<T>>> all;
  for (const matrix_shape& shape : shapes) {
    all.emplace_back(shape, random_matrix<T, std::int32_t, std::int64_t>(shape.rows, shape.columns,
                                                                         shape.mean, 4));
  }
  return all;
}

class CSparseProducts : public c_matrix_test {
 protected:
  ~CSparseProducts() override {
    nodewise_product_free(product_);
    nodewise_matrix_free(sell_);
  }

  void convert(const nodewise_sell_options* options = nullptr) {
    nodewise_matrix_free(sell_);
    sell_ = nullptr;
    ASSERT_EQ(nodewise_matrix_sell(&sell_, teams_, a_, options), 0) << nodewise_error();
  }
  void make_transposed() {
    nodewise_product_free(product_);
    product_ = nullptr;
    ASSERT_EQ(nodewise_transposed_make(&product_, teams_, a_), 0) << nodewise_error();
  }

  /// A result that no product has.
  template <class T>
  static std::vector<T> unwritten(std::size_t size) {
    return std::vector<T>(size, std::numeric_limits<T>::quiet_NaN());
  }

  template <class T>
  void expect_products_of_sell() {
    const nodewise_sell_options given{4, 64};
    for (const auto& [shape, plain] : random_matrices<T>()) {
      copy(plain);
      for (const nodewise_sell_options* options :
           std::array<const nodewise_sell_options*, 2>{nullptr, &given}) {
        convert(options);
        EXPECT_EQ(nodewise_matrix_rows(sell_), shape.rows);
        EXPECT_EQ(nodewise_matrix_columns(sell_), shape.columns);
        EXPECT_EQ(nodewise_matrix_entries(sell_), plain.values.size());
        const auto x = random_vector<T>(shape.columns, 2);
        auto y = unwritten<T>(shape.rows);
        ASSERT_EQ(product_calls<T>::multiply(teams_, sell_, x.data(), x.size(), y.data(), y.size()),
                  0)
            << nodewise_error();
        const auto once = plain_product(plain, x);
        EXPECT_EQ(y, once);
        ASSERT_EQ(product_calls<T>::multiply_add(teams_, T{-2}, sell_, x.data(), x.size(), y.data(),
                                                 y.size()),
                  0)
            << nodewise_error();
        EXPECT_EQ(y, plain_product(plain, x, once, T{-2}));
      }
    }
  }

  template <class T>
  void expect_products_of_several_vectors() {
    for (const auto& [shape, plain] : random_matrices<T>()) {
      copy(plain);
      for (const std::size_t count : {1U, 3U, 13U}) {
        const auto x = random_vector<T>(shape.columns * count, 5);
        auto y = unwritten<T>(shape.rows * count);
        ASSERT_EQ(product_calls<T>::multiply_many(teams_, a_, count, x.data(), x.size(), y.data(),
                                                  y.size()),
                  0)
            << nodewise_error();
        for (std::size_t k = 0; k < count; ++k) {
          EXPECT_EQ(vector_of(y, k, count), plain_product(plain, vector_of(x, k, count))) << k;
        }
      }
    }
  }
  /// Vector k of several.
  template <class T>
  static std::vector<T> vector_of(const std::vector<T>& all, std::size_t k, std::size_t count) {
    std::vector<T> one;
    for (std::size_t i = k; i < all.size(); i += count) {
      one.push_back(all[i]);
    }
    return one;
  }

  template <class T>
  void expect_transposed_products() {
    for (const auto& [shape, plain] : random_matrices<T>()) {
      copy(plain);
      make_transposed();
      const auto x = random_vector<T>(shape.rows, 6);
      for (int round = 0; round < 2; ++round) { // buffers of the round before are cleared
        auto y = unwritten<T>(shape.columns);
        ASSERT_EQ(product_calls<T>::multiply_product(teams_, product_, x.data(), x.size(), y.data(),
                                                     y.size()),
                  0)
            << nodewise_error();
        EXPECT_EQ(y, plain_transposed(plain, x));
      }
    }
  }

  template <class T>
  void expect_a_symmetric_product() {
    // (2 1 0; 1 3 5; 0 5 4)
    copy(plain_matrix<T>{3, {0, 2, 4, 5}, {0, 1, 1, 2, 2}, {2, 1, 3, 5, 4}});
    nodewise_product_free(product_);
    product_ = nullptr;
    ASSERT_EQ(nodewise_symmetric_make(&product_, teams_, a_), 0) << nodewise_error();
    const std::vector<T> x{1, 10, 100};
    auto y = unwritten<T>(3);
    ASSERT_EQ(product_calls<T>::multiply_product(teams_, product_, x.data(), 3, y.data(), 3), 0)
        << nodewise_error();
    EXPECT_EQ(y, (std::vector<T>{12, 531, 450}));
  }

  nodewise_matrix* sell_ = nullptr;
  nodewise_product* product_ = nullptr;
};

TEST_F(CSparseProducts, SellGivesThePlainProducts) {
  expect_products_of_sell<double>();
  expect_products_of_sell<float>();
}

TEST_F(CSparseProducts, SeveralVectorsGiveThePlainProductOfEach) {
  expect_products_of_several_vectors<double>();
  expect_products_of_several_vectors<float>();
}

TEST_F(CSparseProducts, TheTransposedProductIsThePlainOne) {
  expect_transposed_products<double>();
  expect_transposed_products<float>();
}

TEST_F(CSparseProducts, TheUpperHalfCountsTwiceButTheDiagonalOnce) {
  expect_a_symmetric_product<double>();
  expect_a_symmetric_product<float>();
}

class CSparseRefusals : public CSparseProducts {
 protected:
  CSparseRefusals() { copy(random_matrix<double, std::int32_t, std::int64_t>(30, 20, 3, 4)); }
};

TEST_F(CSparseRefusals, SellIsNoFormForEveryProduct) {
  convert();
  std::vector<double> x(40);
  std::vector<double> y(60, 5.0);
  EXPECT_EQ(nodewise_multiply_many(teams_, sell_, 2, x.data(), 40, y.data(), 60), 1);
  expect_part(nodewise_error(), "a product of several vectors: the matrix is in SELL-C-sigma");
  EXPECT_EQ(nodewise_transposed_make(&product_, teams_, sell_), 1);
  expect_part(nodewise_error(), "transposed matrix: the matrix is in SELL-C-sigma");
  EXPECT_EQ(nodewise_symmetric_make(&product_, teams_, sell_), 1);
  expect_part(nodewise_error(), "symmetric matrix: the matrix is in SELL-C-sigma");
  nodewise_matrix* again = nullptr;
  EXPECT_EQ(nodewise_matrix_sell(&again, teams_, sell_, nullptr), 1);
  expect_part(nodewise_error(), "the matrix is in SELL-C-sigma");
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(product_, nullptr);
  EXPECT_EQ(y, std::vector<double>(60, 5.0));
}

TEST_F(CSparseRefusals, ChunksThatAreTooLargeAreRefused) {
  const nodewise_sell_options options{257, 0};
  EXPECT_EQ(nodewise_matrix_sell(&sell_, teams_, a_, &options), 1);
  expect_part(nodewise_error(), "at most 256 rows");
  EXPECT_EQ(sell_, nullptr);
}

TEST_F(CSparseRefusals, VectorsOfOtherSizesAndTypesAreRefused) {
  std::vector<double> x(90);
  std::vector<double> y(90, 5.0);
  EXPECT_EQ(nodewise_multiply_many(teams_, a_, 3, x.data(), 60, y.data(), 89), 1);
  expect_part(nodewise_error(), "89");
  EXPECT_EQ(nodewise_multiply_many(teams_, a_, 0, x.data(), 60, y.data(), 90), 1);
  expect_part(nodewise_error(), "0 vectors");
  EXPECT_EQ(nodewise_multiply_many(teams_, a_, 3, y.data(), 60, y.data(), 90), 1);
  expect_part(nodewise_error(), "overlap");
  EXPECT_EQ(nodewise_multiply_many(teams_, a_, SIZE_MAX, x.data(), 60, y.data(), 90), 1);
  EXPECT_EQ(nodewise_multiply_many(teams_, a_, 3, nullptr, 60, y.data(), 90), 1);
  expect_part(nodewise_error(), "null pointer for the input vector");

  make_transposed();
  EXPECT_EQ(nodewise_product_multiply(teams_, product_, x.data(), 20, y.data(), 30), 1);
  expect_part(nodewise_error(), "20");
  EXPECT_EQ(nodewise_product_multiply(teams_, product_, y.data(), 30, y.data(), 20), 1);
  expect_part(nodewise_error(), "overlap");
  EXPECT_EQ(nodewise_product_multiply(teams_, product_, x.data(), 30, nullptr, 20), 1);
  expect_part(nodewise_error(), "null pointer for the output vector");
  EXPECT_EQ(nodewise_product_multiply(teams_, nullptr, x.data(), 30, y.data(), 20), 1);
  expect_part(nodewise_error(), "null pointer for the product");
  EXPECT_EQ(nodewise_product_multiply(nullptr, product_, x.data(), 30, y.data(), 20), 1);

  std::vector<float> small(90);
  std::vector<float> result(90);
  EXPECT_EQ(nodewise_product_multiply_float(teams_, product_, small.data(), 30, result.data(), 20),
            1);
  expect_part(nodewise_error(), "the matrix has values of type double");
  EXPECT_EQ(nodewise_multiply_many_float(teams_, a_, 3, small.data(), 60, result.data(), 90), 1);
  expect_part(nodewise_error(), "the matrix has values of type double");
  EXPECT_EQ(y, std::vector<double>(90, 5.0));
}

TEST_F(CSparseRefusals, SymmetricMatricesAreSquareAndHaveNoLowerHalf) {
  EXPECT_EQ(nodewise_symmetric_make(&product_, teams_, a_), 1);
  expect_part(nodewise_error(), "30 rows and 20 columns");
  copy(plain_matrix<double>{2, {0, 1, 2}, {0, 0}, {1, 1}});
  EXPECT_EQ(nodewise_symmetric_make(&product_, teams_, a_), 1);
  expect_part(nodewise_error(), "row 1, column 0, left of the diagonal");
  EXPECT_EQ(product_, nullptr);
}

TEST_F(CSparseRefusals, OccupancyIsTheShareOfEntries) {
  EXPECT_EQ(nodewise_matrix_occupancy(nullptr), 0.0);
  EXPECT_EQ(nodewise_matrix_occupancy(a_), 1.0);
  copy(plain_matrix<double>{2, {0, 2, 3}, {0, 1, 1}, {1, 1, 1}});
  const nodewise_sell_options options{2, 0};
  convert(&options);
  EXPECT_EQ(nodewise_matrix_occupancy(sell_), 0.75); // the second row is padded
}

TEST_F(CSparseRefusals, PagesOfSellAreReported) {
  convert();
  nodewise_residency found{};
  ASSERT_EQ(nodewise_matrix_where(sell_, &found), 0) << nodewise_error();
  EXPECT_EQ(found.resident, found.pages);
  EXPECT_GE(found.pages, 4U); // an array each for rows, chunk starts, columns and values
  char text[2048];
  ASSERT_EQ(nodewise_matrix_strip(sell_, 16, text, sizeof text), 0) << nodewise_error();
  expect_part(text, "chunk starts");
}

} // namespace
} // namespace nodewise::test
