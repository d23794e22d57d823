// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a matrix of the C interface holds: values of double or float, in one of two forms.
#pragma once

#include <type_traits>
#include <variant>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/sell_matrix.hpp>
#include <nodewise/sparse_matrix.hpp>

#include "c/teams.hpp"

struct nodewise_matrix {
  std::variant<nodewise::sparse_matrix<double>, nodewise::sparse_matrix<float>,
               nodewise::sell_matrix<double>, nodewise::sell_matrix<float>>
      value;
};

namespace nodewise::c {

template <class M>
inline constexpr bool in_compressed_rows = false;
template <class T>
inline constexpr bool in_compressed_rows<sparse_matrix<T>> = true;

/// Returns what `f` returns for the matrix. Throws `error` (usage) for a null pointer.
template <class F>
auto of_any_form(const nodewise_matrix* matrix, F&& f) {
  require(matrix, "matrix");
  return std::visit(f, matrix->value);
}

/// Returns what `f` returns for a matrix in compressed rows. Throws `error` (usage) for another
/// form, which says that `asked` needs them.
template <class F>
auto of_compressed_rows(const nodewise_matrix* matrix, const char* asked, F&& f) {
  using returned = std::invoke_result_t<F, const sparse_matrix<double>&>;
  return of_any_form(matrix, [&](const auto& a) -> returned {
    if constexpr (in_compressed_rows<std::remove_cvref_t<decltype(a)>>) {
      return f(a);
    } else {
      throw error(error_kind::usage, asked, "the matrix is in SELL-C-sigma",
                  "give the matrix in compressed rows");
    }
  });
}

/// Throws `error` (usage) unless vectors of `T` suit a matrix with values of `V`.
template <class T, class V>
void require_type() {
  if constexpr (!std::is_same_v<T, V>) {
    constexpr const char* names[] = {"double", "float"};
    constexpr bool is_float = std::is_same_v<V, float>;
    throw error(
        error_kind::usage,
        fmt::format("a product of a sparse matrix and vectors of type {}", names[!is_float]),
        fmt::format("the matrix has values of type {}", names[is_float]),
        is_float ? "call the function whose name ends in _float"
                 : "call the function whose name does not end in _float");
  }
}

} // namespace nodewise::c
