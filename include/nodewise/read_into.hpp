// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads files into placed memory, each block by a worker of the node that owns it.
//
//     #include <nodewise/openmp.hpp>
//
//     const std::filesystem::path file = "/proc/self/exe"; // the running program, as an example
//     nodewise::openmp_teams teams;
//     nodewise::array<char> a(std::filesystem::file_size(file), teams.blocked());
//     nodewise::read_into(teams, a, file);
//     std::puts(a.strip().c_str());
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <type_traits>

#include <nodewise/node_teams.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// An open file that many threads can read at any offset.
class NODEWISE_API input_file {
 public:
  /// Opens the file. Throws `error` (input) if it cannot be opened.
  explicit input_file(const std::filesystem::path& path);
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file();

  /// Fills all of `into` from the file, starting at byte `offset`. Throws `error`: (input) if the
  /// file is too short, (system) if the kernel refuses.
  void read(std::span<std::byte> into, std::uint64_t offset) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

} // namespace detail

/// Called repeatedly while a file is read, by one thread at a time, with the bytes read so far and
/// the bytes in total.
using read_progress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

/// Fills an array from a file, starting at the file's byte `offset`. Workers of the owners' nodes
/// read the blocks in parallel, whereas a plain read into fresh memory puts every page on the
/// reader's node. Throws `error`: (input) if the file cannot be opened or has too few bytes for the
/// array, (system) if it cannot be read; the array then holds what was read before.
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
