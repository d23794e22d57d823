// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads sparse matrices from Matrix Market files (.mtx), in parallel.
//
//     #include <nodewise/openmp.hpp>
//
//     const std::filesystem::path file = std::filesystem::temp_directory_path() / "two-rows.mtx";
//     std::FILE* const out = std::fopen(file.c_str(), "w");
//     std::fputs("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 1 -1\n", out);
//     std::fclose(out);
//     nodewise::openmp_teams teams;
//     const auto a = nodewise::read_matrix_market<double>(teams, file);
//     std::printf("%zu entries\n", a.entries());
//     std::filesystem::remove(file);
//
// Source of the format: Boisvert, Pozo and Remington, The Matrix Market exchange formats, NISTIR
// 5935 (1996).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/array.hpp>
#include <nodewise/export.hpp>
#include <nodewise/read_into.hpp>
#include <nodewise/sparse_matrix.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// What the first lines of a file say.
struct matrix_file {
  enum class values { real, integer, pattern };
  enum class halves { whole, symmetric, skew };

  std::string name;
  values field = values::real;
  halves symmetry = halves::whole;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t entries = 0; ///< lines of entries
  std::size_t body = 0;    ///< where the entries begin, in bytes
  double largest = 0;      ///< of the values, without their signs, that the matrix can hold
};

/// An entry as the file has it, but counted from 0.
struct file_entry {
  std::size_t row;
  std::size_t column;
  double value;
};

/// Where a file is not as the format demands.
struct file_fault {
  std::size_t at = 0; ///< in bytes
  std::string reason;
};

/// Returns the size of a file that can be read. Throws `error` (input) otherwise.
[[nodiscard]] NODEWISE_API std::size_t matrix_file_bytes(const std::filesystem::path& path);
/// Reads the first lines. Throws `error` (input) for another format, for sizes above `most`, and
/// for more entries than the file has room for. Later, values beyond `largest` are faults.
[[nodiscard]] NODEWISE_API matrix_file read_matrix_head(std::string_view text, std::string name,
                                                        std::uint64_t most, double largest);
/// Reads the lines that begin in part `part` of `parts` equal parts of the entries' text, and
/// appends their entries. Returns the first fault.
[[nodiscard]] NODEWISE_API std::optional<file_fault>
read_matrix_part(std::string_view text, const matrix_file& of, std::size_t part, std::size_t parts,
                 std::vector<file_entry>& entries);
/// Throws `error` (input) for the first fault, or for another number of lines than announced.
NODEWISE_API void require_no_fault(std::string_view text, const matrix_file& of,
                                   const std::vector<std::optional<file_fault>>& faults,
                                   std::size_t lines);

} // namespace detail

/// Reads a matrix from a Matrix Market file of the kind `coordinate`, with real, integer or pattern
/// values (a pattern has ones), general, symmetric or skew-symmetric; the other half of the latter
/// two is filled in. Workers read and parse equal parts of the text. Entries at one place are
/// added. Throws `error`: (input) for a file that cannot be read or breaks the format, with the
/// number of the line, has values beyond the range of `T`, or announces more than a million rows
/// and 100 for each of its bytes; (system) if memory runs out. Needs the size of the file and about
/// 60 bytes for each entry until it returns.
template <std::floating_point T, std::signed_integral Index = std::int32_t,
          std::integral Offset = std::int64_t, class Teams>
[[nodiscard]] sparse_matrix<T, Index, Offset>
read_matrix_market(Teams& teams, const std::filesystem::path& path) {
  array<char> bytes(detail::matrix_file_bytes(path), teams.blocked());
  read_into(teams, bytes, path);
  const std::string_view text(bytes.data(), bytes.size());
  const detail::matrix_file head = detail::read_matrix_head(
      text, path.string(), static_cast<std::uint64_t>(std::numeric_limits<Index>::max()),
      static_cast<double>(std::min<long double>(std::numeric_limits<T>::max(),
                                                std::numeric_limits<double>::max())));

  const std::size_t workers = teams.threads().workers().size();
  std::vector<std::vector<detail::file_entry>> parts(workers);
  std::vector<std::optional<detail::file_fault>> faults(workers);
  teams.on_each_worker([&](const worker& me) {
    faults[me.number] = detail::read_matrix_part(text, head, me.number, workers, parts[me.number]);
  });
  std::vector<std::size_t> before{0};
  for (const auto& part : parts) {
    before.push_back(before.back() + part.size());
  }
  detail::require_no_fault(text, head, faults, before.back());
  using half = detail::matrix_file::halves;
  const std::size_t times = head.symmetry == half::whole ? 1 : 2;
  // Mirror images on the diagonal are zeros, so that all entries have places known before.
  array<triplet<T, Index>> all(std::max<std::size_t>(before.back() * times, 1), teams.blocked());
  teams.on_each_worker([&](const worker& me) {
    auto to = all.begin() + before[me.number] * times;
    for (const detail::file_entry& each : parts[me.number]) {
      const auto row = static_cast<Index>(each.row);
      const auto column = static_cast<Index>(each.column);
      const auto value = static_cast<T>(each.value);
      *to++ = {row, column, value};
      if (head.symmetry != half::whole) {
        const T mirrored = row == column ? T{0} : head.symmetry == half::skew ? -value : value;
        *to++ = {column, row, mirrored};
      }
    }
  });
  return sparse_matrix<T, Index, Offset>::from_triplets(
      teams, head.rows, head.columns, std::span(all.data(), before.back() * times));
}

} // namespace nodewise::inline v0
