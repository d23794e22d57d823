// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices of the C interface: a matrix of double or float values behind one handle.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>

#include <fmt/core.h>

#include <nodewise/matrix_market.hpp>
#include <nodewise/sparse_multiply.hpp>

#include "c/teams.hpp"

struct nodewise_matrix {
  std::variant<nodewise::sparse_matrix<double>, nodewise::sparse_matrix<float>> value;
};

namespace nodewise::c {

namespace {

template <class T>
constexpr const char* name_of_type = std::is_same_v<T, double> ? "double" : "float";

/// The program's arrays in compressed rows.
template <class T>
struct crs_arrays {
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> indices;
  std::span<const T> values;
};

template <class T>
crs_arrays<T> arrays_of(const nodewise_crs* rows, const T* values) {
  require(rows, "arrays in compressed rows");
  detail::require_matrix_size(rows->rows, rows->columns,
                              static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
  constexpr auto most =
      static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(std::int64_t);
  if (rows->rows >= most || rows->entries > most) {
    throw error(error_kind::usage,
                fmt::format("arrays in compressed rows with {} rows and {} entries", rows->rows,
                            rows->entries),
                "no memory can hold them", "give the sizes of the arrays");
  }
  require(rows->row_starts, "row starts");
  if (rows->entries > 0) {
    require(rows->column_indices, "column indices");
    require(values, "values");
  }
  return {{rows->row_starts, rows->rows + 1},
          {rows->column_indices, rows->entries},
          {values, rows->entries}};
}

/// Copies arrays that count from 1, as Fortran's do.
template <class T>
sparse_matrix<T> copy_from_1(program_teams& teams, std::size_t columns, const crs_arrays<T>& from) {
  if (from.starts.back() < 1 ||
      static_cast<std::uint64_t>(from.starts.back() - 1) != from.values.size()) {
    detail::refuse_starts(from.starts.size(), 1, from.starts.back(), from.indices.size(),
                          from.values.size());
  }
  return sparse_matrix<T>::from_rows(
      teams, from.starts.size() - 1, columns,
      [&](std::size_t row) { return detail::row_length(from.starts, row); },
      [&](std::size_t row, std::span<std::int32_t> indices, std::span<T> values) {
        const auto first = static_cast<std::size_t>(from.starts[row] - 1);
        std::ranges::transform(
            from.indices.subspan(first, indices.size()), indices.begin(),
            // The lowest number would overflow; it becomes one that is out of range, too.
            [](std::int32_t column) { return std::max(column, std::int32_t{0}) - 1; });
        std::ranges::copy(from.values.subspan(first, values.size()), values.begin());
      });
}

template <class T>
int copy_matrix(nodewise_matrix** made, nodewise_teams* teams, const nodewise_crs* rows,
                const T* values) {
  return guarded([&] {
    require(made, "matrix");
    require(teams, "teams");
    const auto from = arrays_of(rows, values);
    *made = new nodewise_matrix{
        from.starts.front() == 1 ? copy_from_1(teams->value, rows->columns, from)
                                 : sparse_matrix<T>::copy(teams->value, rows->columns, from.starts,
                                                          from.indices, from.values)};
  });
}

template <class T>
int adopt_matrix(nodewise_matrix** made, nodewise_teams* teams, const nodewise_crs* rows,
                 const T* values) {
  return guarded([&] {
    require(made, "matrix");
    require(teams, "teams");
    const auto from = arrays_of(rows, values);
    if (from.starts.front() == 1) {
      throw error(error_kind::usage, "cannot adopt the arrays of a sparse matrix",
                  "they count from 1", "copy the matrix, or let the arrays count from 0");
    }
    *made = new nodewise_matrix{sparse_matrix<T>::adopt(teams->value, rows->columns, from.starts,
                                                        from.indices, from.values)};
  });
}

template <class T>
int read_matrix(nodewise_matrix** made, nodewise_teams* teams, const char* path) {
  return guarded([&] {
    require(made, "matrix");
    require(teams, "teams");
    require(path, "path");
    *made = new nodewise_matrix{read_matrix_market<T>(teams->value, path)};
  });
}

template <class T>
const sparse_matrix<T>& matrix_of(const nodewise_matrix* matrix) {
  require(matrix, "matrix");
  if (const auto* found = std::get_if<sparse_matrix<T>>(&matrix->value)) {
    return *found;
  }
  const bool is_float = std::is_same_v<T, double>;
  throw error(error_kind::usage,
              fmt::format("a product of a sparse matrix and vectors of type {}", name_of_type<T>),
              fmt::format("the matrix has values of type {}", is_float ? "float" : "double"),
              is_float ? "call the function whose name ends in _float"
                       : "call the function whose name does not end in _float");
}

template <class T>
struct vectors {
  std::span<const T> x;
  std::span<T> y;
};

/// y = factor A x, or added to y.
template <class T>
int product(nodewise_teams* teams, const nodewise_matrix* matrix, const vectors<T>& of,
            detail::row_update<T> update) {
  return guarded([&] {
    require(teams, "teams");
    const sparse_matrix<T>& a = matrix_of<T>(matrix);
    require(of.x.data(), "input vector");
    require(of.y.data(), "output vector");
    detail::multiply_rows(teams->value, a, of.x, of.y, update);
  });
}

/// Returns what `f` returns for the matrix of either type.
template <class F>
auto of_either_type(const nodewise_matrix* matrix, F&& f) {
  require(matrix, "matrix");
  return std::visit(f, matrix->value);
}

} // namespace

} // namespace nodewise::c

using nodewise::c::guarded;
using nodewise::c::of_either_type;

int nodewise_matrix_copy(nodewise_matrix** made, nodewise_teams* teams, const nodewise_crs* rows,
                         const double* values) {
  return nodewise::c::copy_matrix(made, teams, rows, values);
}

int nodewise_matrix_copy_float(nodewise_matrix** made, nodewise_teams* teams,
                               const nodewise_crs* rows, const float* values) {
  return nodewise::c::copy_matrix(made, teams, rows, values);
}

int nodewise_matrix_adopt(nodewise_matrix** made, nodewise_teams* teams, const nodewise_crs* rows,
                          const double* values) {
  return nodewise::c::adopt_matrix(made, teams, rows, values);
}

int nodewise_matrix_adopt_float(nodewise_matrix** made, nodewise_teams* teams,
                                const nodewise_crs* rows, const float* values) {
  return nodewise::c::adopt_matrix(made, teams, rows, values);
}

int nodewise_matrix_read(nodewise_matrix** made, nodewise_teams* teams, const char* path) {
  return nodewise::c::read_matrix<double>(made, teams, path);
}

int nodewise_matrix_read_float(nodewise_matrix** made, nodewise_teams* teams, const char* path) {
  return nodewise::c::read_matrix<float>(made, teams, path);
}

void nodewise_matrix_free(nodewise_matrix* matrix) {
  delete matrix;
}

std::size_t nodewise_matrix_rows(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0 : of_either_type(matrix, [](const auto& a) { return a.rows(); });
}

std::size_t nodewise_matrix_columns(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0 : of_either_type(matrix, [](const auto& a) { return a.columns(); });
}

std::size_t nodewise_matrix_entries(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0 : of_either_type(matrix, [](const auto& a) { return a.entries(); });
}

int nodewise_by_rows(nodewise_distribution** made, const nodewise_matrix* matrix) {
  return guarded([&] {
    nodewise::c::make_distribution(
        made, of_either_type(matrix, [](const auto& a) { return a.partition().by_rows(); }));
  });
}

int nodewise_by_columns(nodewise_distribution** made, const nodewise_matrix* matrix) {
  return guarded([&] {
    nodewise::c::make_distribution(made, of_either_type(matrix, [](const auto& a) {
                                     return a.partition().by_columns(a.columns());
                                   }));
  });
}

int nodewise_matrix_where(const nodewise_matrix* matrix, nodewise_residency* found) {
  return guarded([&] {
    nodewise::c::require(found, "result");
    const auto where = of_either_type(matrix, [](const auto& a) { return a.residency(); });
    *found = {where.pages, where.resident, where.on_owner, where.unknown};
  });
}

int nodewise_matrix_strip(const nodewise_matrix* matrix, std::size_t columns, char* text,
                          std::size_t room) {
  return guarded([&] {
    nodewise::c::write_text(of_either_type(matrix, [&](const auto& a) { return a.strip(columns); }),
                            text, room);
  });
}

int nodewise_multiply(nodewise_teams* teams, const nodewise_matrix* matrix, const double* x,
                      std::size_t x_elements, double* y, std::size_t y_elements) {
  return nodewise::c::product<double>(teams, matrix, {{x, x_elements}, {y, y_elements}}, {});
}

int nodewise_multiply_float(nodewise_teams* teams, const nodewise_matrix* matrix, const float* x,
                            std::size_t x_elements, float* y, std::size_t y_elements) {
  return nodewise::c::product<float>(teams, matrix, {{x, x_elements}, {y, y_elements}}, {});
}

int nodewise_multiply_add(nodewise_teams* teams, double factor, const nodewise_matrix* matrix,
                          const double* x, std::size_t x_elements, double* y,
                          std::size_t y_elements) {
  return nodewise::c::product<double>(teams, matrix, {{x, x_elements}, {y, y_elements}},
                                      {factor, true});
}

int nodewise_multiply_add_float(nodewise_teams* teams, float factor, const nodewise_matrix* matrix,
                                const float* x, std::size_t x_elements, float* y,
                                std::size_t y_elements) {
  return nodewise::c::product<float>(teams, matrix, {{x, x_elements}, {y, y_elements}},
                                     {factor, true});
}
