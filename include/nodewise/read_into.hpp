// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Files read into placed memory, each block by a worker of the node that owns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <type_traits>

#include <nodewise/export.hpp>
#include <nodewise/node_teams.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// A file open for reading at any offset, by many threads.
class NODEWISE_API input_file {
 public:
  /// Throws `error` (input).
  explicit input_file(const std::filesystem::path& path);
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file();

  /// Fills all of `into` from the file's byte `offset` on. Throws `error` (input) where the file
  /// ends before, (system) where the system refuses.
  void read(std::span<std::byte> into, std::uint64_t offset) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

} // namespace detail

/// Told now and then while a file is read, by one thread at a time: bytes so far, bytes in all.
using read_progress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

/// Fills an array from a file, beginning at the file's byte `offset`: each block is read by a
/// worker of the node that owns it, all at once. A plain read into fresh memory puts every page on
/// the reader's node. Throws `error`: (input) if the file cannot be opened or is shorter than the
/// array, (system) if it cannot be read; what was read until then is in the array.
template <class Teams, owned_range A>
void read_into(Teams& teams, A& array, const std::filesystem::path& path, std::uint64_t offset = 0,
               const read_progress& progress = {}) {
  using element = detail::element_of<A>;
  static_assert(std::is_trivially_copyable_v<element>);
  constexpr std::size_t piece = std::max<std::size_t>((std::size_t{4} << 20) / sizeof(element), 1);
  const detail::input_file file(path);
  const std::uint64_t all = array.size() * sizeof(element);
  std::uint64_t done = 0;
  std::mutex telling;
  teams.for_each_owned(array, [&](std::size_t first, std::span<element> part) {
    for (std::size_t at = 0; at < part.size(); at += piece) {
      const auto some = std::as_writable_bytes(part.subspan(at, std::min(piece, part.size() - at)));
      file.read(some, offset + (first + at) * sizeof(element));
      if (progress) {
        const std::lock_guard lock(telling);
        progress(done += some.size(), all);
      }
    }
  });
}

} // namespace nodewise::inline v0
