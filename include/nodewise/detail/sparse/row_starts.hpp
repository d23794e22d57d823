// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the entries of each row begin: computed from lengths in parallel, or checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <nodewise/arithmetic.hpp>
#include <nodewise/array.hpp>
#include <nodewise/cache_aligned.hpp>
#include <nodewise/detail/sparse/checks.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0::detail {

/// Throws `error` (usage) unless the row starts begin with 0 and end with the number of entries.
template <class Offset>
void require_starts(std::span<const Offset> starts, std::size_t indices, std::size_t values) {
  if (starts.empty() || starts.front() != 0 || std::cmp_not_equal(starts.back(), indices) ||
      indices != values) {
    refuse_starts(starts.size(), starts.empty() ? 0 : static_cast<std::int64_t>(starts.front()),
                  starts.empty() ? 0 : static_cast<std::int64_t>(starts.back()), indices, values);
  }
}

/// Returns the number of entries of a row. Throws `error` (usage) if the row ends before it begins
/// or behind the last entry.
template <class Offset>
[[nodiscard]] std::size_t row_length(std::span<const Offset> starts, std::size_t row) {
  const Offset begins = starts[row];
  const Offset ends = starts[row + 1];
  if (begins < 0 || ends < begins || ends > starts.back()) {
    refuse_row(row, static_cast<std::int64_t>(begins), static_cast<std::int64_t>(ends));
  }
  return static_cast<std::size_t>(ends - begins);
}

/// Throws `error` (usage) for a column below 0 or from `columns` on.
template <class Index>
void require_columns(std::size_t row, std::span<const Index> indices, std::size_t columns) {
  for (const Index column : indices) {
    if (std::cmp_less(column, 0) || std::cmp_greater_equal(column, columns)) {
      refuse_column(row, static_cast<std::int64_t>(column), columns);
    }
  }
}

/// The number of entries before each row, and of all behind the last. Workers call `length(row)`
/// for equal parts of the rows; then each adds up its own part.
template <class Offset>
class row_starts {
 public:
  template <class Teams, class Length>
  row_starts(Teams& teams, std::size_t rows, Length& length) : before_(rows + 1, teams.blocked()) {
    const std::size_t workers = teams.threads().workers().size();
    const auto part = [=](const worker& me) {
      return arithmetic::blocked(me.number, rows, workers);
    };
    std::vector<cache_aligned<std::uint64_t>> sums(workers);
    teams.on_each_worker([&](const worker& me) {
      std::uint64_t sum = 0;
      for (std::size_t row = part(me).first; row < part(me).last; ++row) {
        const auto entries = length(row);
        sum += static_cast<std::uint64_t>(entries);
        if (std::cmp_less(entries, 0) || std::cmp_greater(entries, most) || sum > most) {
          refuse_entries(row, most);
        }
        before_[row] = static_cast<Offset>(entries);
      }
      sums[me.number].value = sum;
    });
    std::uint64_t all = 0;
    for (auto& each : sums) {
      all += std::exchange(each.value, all);
      if (all > most) {
        refuse_entries(rows - 1, most);
      }
    }
    before_[rows] = static_cast<Offset>(all);
    teams.on_each_worker([&](const worker& me) {
      auto sum = static_cast<Offset>(sums[me.number].value);
      for (std::size_t row = part(me).first; row < part(me).last; ++row) {
        sum = static_cast<Offset>(sum + std::exchange(before_[row], sum));
      }
    });
  }

  [[nodiscard]] std::span<const Offset> all() const noexcept { return before_; }

 private:
  /// Far below 2^63, so that sums of counts do not overflow before they are compared.
  static constexpr std::uint64_t most = std::min(
      static_cast<std::uint64_t>(std::numeric_limits<Offset>::max()), std::uint64_t{1} << 56);

  array<Offset> before_;
};

} // namespace nodewise::inline v0::detail
