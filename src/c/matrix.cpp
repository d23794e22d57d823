// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices of the C interface: made from arrays, files and other matrices.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <fmt/core.h>

#include <nodewise/matrix_market.hpp>

#include "c/matrix.hpp"

namespace nodewise::c {

namespace {

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

} // namespace

} // namespace nodewise::c

using nodewise::c::guarded;
using nodewise::c::of_any_form;

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

int nodewise_matrix_sell(nodewise_matrix** made, nodewise_teams* teams, const nodewise_matrix* from,
                         const nodewise_sell_options* options) {
  return guarded([&] {
    nodewise::c::require(made, "matrix");
    nodewise::c::require(teams, "teams");
    nodewise::sell_options given;
    if (options != nullptr) {
      given = {options->chunk_rows, options->sorted_rows};
    }
    *made = nodewise::c::of_compressed_rows(
        from, "cannot convert a sparse matrix to SELL-C-sigma", [&](const auto& rows) {
          using value = typename std::remove_cvref_t<decltype(rows)>::value_type;
          return new nodewise_matrix{nodewise::sell_matrix<value>::from(teams->value, rows, given)};
        });
  });
}

void nodewise_matrix_free(nodewise_matrix* matrix) {
  delete matrix;
}

std::size_t nodewise_matrix_rows(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0 : of_any_form(matrix, [](const auto& a) { return a.rows(); });
}

std::size_t nodewise_matrix_columns(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0 : of_any_form(matrix, [](const auto& a) { return a.columns(); });
}

std::size_t nodewise_matrix_entries(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0 : of_any_form(matrix, [](const auto& a) { return a.entries(); });
}

double nodewise_matrix_occupancy(const nodewise_matrix* matrix) {
  return matrix == nullptr ? 0.0 : of_any_form(matrix, [](const auto& a) {
    if constexpr (nodewise::c::in_compressed_rows<std::remove_cvref_t<decltype(a)>>) {
      return 1.0;
    } else {
      return a.occupancy();
    }
  });
}

int nodewise_by_rows(nodewise_distribution** made, const nodewise_matrix* matrix) {
  return guarded([&] {
    nodewise::c::make_distribution(
        made, of_any_form(matrix, [](const auto& a) { return a.partition().by_rows(); }));
  });
}

int nodewise_by_columns(nodewise_distribution** made, const nodewise_matrix* matrix) {
  return guarded([&] {
    nodewise::c::make_distribution(made, of_any_form(matrix, [](const auto& a) {
                                     return a.partition().by_columns(a.columns());
                                   }));
  });
}

int nodewise_matrix_where(const nodewise_matrix* matrix, nodewise_residency* found) {
  return guarded([&] {
    nodewise::c::require(found, "result");
    const auto where = of_any_form(matrix, [](const auto& a) { return a.residency(); });
    *found = {where.pages, where.resident, where.on_owner, where.unknown};
  });
}

int nodewise_matrix_strip(const nodewise_matrix* matrix, std::size_t columns, char* text,
                          std::size_t room) {
  return guarded([&] {
    nodewise::c::write_text(of_any_form(matrix, [&](const auto& a) { return a.strip(columns); }),
                            text, room);
  });
}
