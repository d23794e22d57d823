// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of the C interface: of matrices and vectors of the program.
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>

#include <nodewise/sparse_multiply.hpp>
#include <nodewise/sparse_scattered.hpp>

#include "c/matrix.hpp"

struct nodewise_product {
  template <class T>
  using transposed = nodewise::transposed_product<T, std::int32_t, std::int64_t>;
  template <class T>
  using symmetric = nodewise::symmetric_product<T, std::int32_t, std::int64_t>;

  std::variant<transposed<double>, transposed<float>, symmetric<double>, symmetric<float>> value;
};

namespace nodewise::c {

namespace {

/// The vectors of a product.
template <class T>
struct vectors {
  std::span<const T> x;
  std::span<T> y;

  void require_both() const {
    require(x.data(), "input vector");
    require(y.data(), "output vector");
  }
};

/// y = A x, or added to y.
template <class T>
int multiply_matrix(nodewise_teams* teams, const nodewise_matrix* matrix, const vectors<T>& of,
                    detail::row_update<T> update) {
  return guarded([&] {
    require(teams, "teams");
    of_any_form(matrix, [&]<class M>(const M& a) {
      require_type<T, typename M::value_type>();
      of.require_both();
      if constexpr (std::is_same_v<T, typename M::value_type>) {
        detail::multiply_rows(teams->value, a, of.x, of.y, update);
      }
    });
  });
}

template <class T>
int multiply_vectors(nodewise_teams* teams, const nodewise_matrix* matrix, std::size_t count,
                     const vectors<T>& of) {
  return guarded([&] {
    require(teams, "teams");
    of_compressed_rows(matrix, "a product of several vectors", [&]<class M>(const M& a) {
      require_type<T, typename M::value_type>();
      of.require_both();
      if constexpr (std::is_same_v<T, typename M::value_type>) {
        multiply_many(teams->value, a, count, of.x, of.y);
      }
    });
  });
}

/// `make(teams, a)` returns the product.
template <class Make>
int make_product(nodewise_product** made, nodewise_teams* teams, const nodewise_matrix* matrix,
                 const char* asked, Make&& make) {
  return guarded([&] {
    require(made, "product");
    require(teams, "teams");
    *made = of_compressed_rows(
        matrix, asked, [&](const auto& a) { return new nodewise_product{make(teams->value, a)}; });
  });
}

template <class T>
int multiply_product(nodewise_teams* teams, nodewise_product* product, const vectors<T>& of) {
  return guarded([&] {
    require(teams, "teams");
    require(product, "product");
    std::visit(
        [&]<class P>(P& p) {
          require_type<T, typename P::value_type>();
          of.require_both();
          if constexpr (std::is_same_v<T, typename P::value_type>) {
            multiply(teams->value, p, of.x, of.y);
          }
        },
        product->value);
  });
}

} // namespace

} // namespace nodewise::c

using nodewise::c::make_product;
using nodewise::c::multiply_matrix;
using nodewise::c::multiply_product;
using nodewise::c::multiply_vectors;

int nodewise_multiply(nodewise_teams* teams, const nodewise_matrix* matrix, const double* x,
                      std::size_t x_elements, double* y, std::size_t y_elements) {
  return multiply_matrix<double>(teams, matrix, {{x, x_elements}, {y, y_elements}}, {});
}

int nodewise_multiply_float(nodewise_teams* teams, const nodewise_matrix* matrix, const float* x,
                            std::size_t x_elements, float* y, std::size_t y_elements) {
  return multiply_matrix<float>(teams, matrix, {{x, x_elements}, {y, y_elements}}, {});
}

int nodewise_multiply_add(nodewise_teams* teams, double factor, const nodewise_matrix* matrix,
                          const double* x, std::size_t x_elements, double* y,
                          std::size_t y_elements) {
  return multiply_matrix<double>(teams, matrix, {{x, x_elements}, {y, y_elements}}, {factor, true});
}

int nodewise_multiply_add_float(nodewise_teams* teams, float factor, const nodewise_matrix* matrix,
                                const float* x, std::size_t x_elements, float* y,
                                std::size_t y_elements) {
  return multiply_matrix<float>(teams, matrix, {{x, x_elements}, {y, y_elements}}, {factor, true});
}

int nodewise_multiply_many(nodewise_teams* teams, const nodewise_matrix* matrix, std::size_t count,
                           const double* x, std::size_t x_elements, double* y,
                           std::size_t y_elements) {
  return multiply_vectors<double>(teams, matrix, count, {{x, x_elements}, {y, y_elements}});
}

int nodewise_multiply_many_float(nodewise_teams* teams, const nodewise_matrix* matrix,
                                 std::size_t count, const float* x, std::size_t x_elements,
                                 float* y, std::size_t y_elements) {
  return multiply_vectors<float>(teams, matrix, count, {{x, x_elements}, {y, y_elements}});
}

int nodewise_transposed_make(nodewise_product** made, nodewise_teams* teams,
                             const nodewise_matrix* matrix) {
  return make_product(made, teams, matrix, "a product with a transposed matrix",
                      [](auto& of, const auto& a) { return nodewise::transposed_product(of, a); });
}

int nodewise_symmetric_make(nodewise_product** made, nodewise_teams* teams,
                            const nodewise_matrix* upper) {
  return make_product(made, teams, upper, "a product with a symmetric matrix",
                      [](auto& of, const auto& a) { return nodewise::symmetric_product(of, a); });
}

void nodewise_product_free(nodewise_product* product) {
  delete product;
}

int nodewise_product_multiply(nodewise_teams* teams, nodewise_product* product, const double* x,
                              std::size_t x_elements, double* y, std::size_t y_elements) {
  return multiply_product<double>(teams, product, {{x, x_elements}, {y, y_elements}});
}

int nodewise_product_multiply_float(nodewise_teams* teams, nodewise_product* product,
                                    const float* x, std::size_t x_elements, float* y,
                                    std::size_t y_elements) {
  return multiply_product<float>(teams, product, {{x, x_elements}, {y, y_elements}});
}
