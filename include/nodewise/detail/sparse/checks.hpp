// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The conditions of matrices and products. Functions that refuse always throw `error` (usage).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <nodewise/row_partition.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0::detail {

/// Throws `error` (usage) for a matrix without rows or columns, with more than `most + 1` columns,
/// or with more rows of `row_bytes` bytes than the machine has memory for. A row takes at least
/// `row_bytes` bytes, on average.
NODEWISE_API void require_matrix_size(std::size_t rows, std::size_t columns, std::uint64_t most,
                                      std::size_t row_bytes = 0);
[[noreturn]] NODEWISE_API void refuse_starts(std::size_t starts, std::int64_t first,
                                             std::int64_t last, std::size_t indices,
                                             std::size_t values);
[[noreturn]] NODEWISE_API void refuse_row(std::size_t row, std::int64_t begins, std::int64_t ends);
[[noreturn]] NODEWISE_API void refuse_entries(std::size_t row, std::uint64_t most);
[[noreturn]] NODEWISE_API void refuse_column(std::size_t row, std::int64_t column,
                                             std::size_t columns);
[[noreturn]] NODEWISE_API void refuse_triplet(std::size_t at, std::int64_t row, std::int64_t column,
                                              std::size_t rows, std::size_t columns);

/// Returns a product of two numbers of elements, or more than any array holds if it overflows.
[[nodiscard]] constexpr std::size_t elements_for(std::size_t each, std::size_t count) noexcept {
  return each != 0 && count > SIZE_MAX / each ? SIZE_MAX : each * count;
}
/// Returns the number of elements of a triangle, with its diagonal; more than any array holds if it
/// overflows.
[[nodiscard]] constexpr std::size_t elements_of_triangle(std::size_t rows) noexcept {
  const std::size_t even = rows % 2 == 0 ? rows / 2 : (rows - 1) / 2 + 1; // of rows, rows + 1
  return elements_for(even, rows % 2 == 0 ? rows + 1 : rows);
}
/// Throws `error` (usage) if the teams' workers are not those of the cut.
NODEWISE_API void require_same_teams(const row_partition& partition, const thread_map& threads);
/// Throws `error` (usage) for vectors that do not fit the matrix.
NODEWISE_API void require_vectors(std::size_t rows, std::size_t columns, std::size_t rows_of_y,
                                  std::size_t columns_of_x);
NODEWISE_API void require_many_vectors(std::size_t rows, std::size_t columns, std::size_t count,
                                       std::size_t elements_of_y, std::size_t elements_of_x);
/// Throws `error` (usage) if the input vector and the result overlap.
NODEWISE_API void require_apart(std::span<const std::byte> x, std::span<const std::byte> y);
NODEWISE_API void require_square(std::size_t rows, std::size_t columns);
[[noreturn]] NODEWISE_API void refuse_lower_half(std::size_t row, std::size_t column);

} // namespace nodewise::inline v0::detail
