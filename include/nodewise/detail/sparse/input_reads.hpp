// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which cache lines of the input vector the rows of a worker read, and which node has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <nodewise/detail/sparse/read_distance.hpp>
#include <nodewise/export.hpp>
#include <nodewise/row_partition.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0::detail {

/// What a worker has of the caches if the machine does not describe them.
inline constexpr std::size_t assumed_cache_bytes = std::size_t{1} << 20;

/// Returns the bytes that a worker has of the caches: of the one that gives it most, if the workers
/// that share a cache have equal parts. 0 if no size is known.
[[nodiscard]] NODEWISE_API std::size_t cache_bytes_of(const thread_map& threads,
                                                      const worker& me) noexcept;

/// The cache lines of an input vector, and the team (a position in `thread_map::teams`) whose node
/// has each, to within a page.
class NODEWISE_API input_lines {
 public:
  input_lines(const row_partition& partition, const thread_map& threads, std::size_t columns,
              std::size_t element_bytes);

  /// The number of lines.
  [[nodiscard]] std::size_t size() const noexcept { return ends_.back(); }
  [[nodiscard]] std::size_t line_of(std::size_t column) const noexcept {
    return column * element_bytes_ / line_bytes;
  }
  /// The team of a line if each worker has a block.
  [[nodiscard]] std::size_t blocked(std::size_t line) const noexcept;
  /// The team of a line if pages are in turn over the teams' nodes.
  [[nodiscard]] std::size_t interleaved(std::size_t line) const noexcept;
  /// The number of teams.
  [[nodiscard]] std::size_t teams() const noexcept { return teams_; }

 private:
  std::vector<std::size_t> ends_;    ///< of the workers' blocks, in lines
  std::vector<std::size_t> team_of_; ///< by worker
  std::size_t teams_;
  std::size_t element_bytes_;
  std::size_t page_lines_;
};

/// What a worker moves in a product.
struct worker_reads {
  std::vector<std::size_t> blocked;     ///< lines by the team that has them
  std::vector<std::size_t> interleaved; ///< the same if pages are in turn over the nodes
  std::size_t matrix_bytes = 0;         ///< values, column indices, row starts
  std::size_t result_bytes = 0;
  std::size_t update_bytes = 0; ///< its block of the input vector

  /// The number of lines.
  [[nodiscard]] std::size_t lines() const noexcept {
    std::size_t all = 0;
    for (const std::size_t each : blocked) {
      all += each;
    }
    return all;
  }
};

/// The lines of a vector that a cache holds: of all lines that share a place in it, the last one
/// that was read.
class cached_lines {
 public:
  cached_lines(std::size_t lines, std::size_t cache_bytes)
      // Odd: strides of powers of two do not meet in one place.
      : last_read_(std::min(lines, cache_bytes / line_bytes | 1), none) {}

  /// Reads a line. Returns whether it comes from memory.
  bool misses(std::size_t line) noexcept {
    std::size_t& held = last_read_[line % last_read_.size()];
    const bool missed = held != line;
    held = line;
    return missed;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<std::size_t> last_read_;
};

/// Counts the lines that the rows of a worker read from memory.
template <class Matrix>
[[nodiscard]] worker_reads reads_of_rows(const Matrix& a, index_range rows,
                                         const input_lines& lines, std::size_t cache_bytes) {
  worker_reads found{.blocked = std::vector<std::size_t>(lines.teams()),
                     .interleaved = std::vector<std::size_t>(lines.teams())};
  cached_lines cache(lines.size(), cache_bytes);
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    for (const auto column : a.row(row).columns) {
      const std::size_t line = lines.line_of(static_cast<std::size_t>(column));
      if (cache.misses(line)) {
        ++found.blocked[lines.blocked(line)];
        ++found.interleaved[lines.interleaved(line)];
      }
    }
  }
  return found;
}

} // namespace nodewise::inline v0::detail
