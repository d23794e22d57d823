// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The files that the program maps, and their paths, which live as long as the process.
#pragma once

#include <atomic>
#include <cstddef>

#include <sys/types.h>

namespace nodewise::agent {

/// All paths in one reserved range, each after a 0. Takes no lock.
class path_store {
 public:
  /// Returns the last part of a copy of the path; equal paths usually have one copy. nullptr if
  /// there is no room.
  [[nodiscard]] const char* keep(const char* path) noexcept;
  /// The whole path of a name that `keep` has returned.
  [[nodiscard]] static const char* path_of(const char* name) noexcept;

 private:
  [[nodiscard]] char* memory() noexcept;

  std::atomic<char*> memory_{nullptr};
  std::atomic<std::size_t> used_{1};
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit, it is there from the start
[[gnu::visibility("hidden")]] inline constinit path_store file_paths;

/// What a mapping of a descriptor from `offset` on shows.
struct mapped_file {
  std::size_t bytes_behind = 0; ///< up to the file's end; 0 if it is not a regular file
  const char* name = nullptr;   ///< kept in `file_paths`
  /// Which of its pages are cached is known only to owners and writers of a file.
  bool hides_pages = false;

  /// Of a file that shows fewer than `least` bytes only these are asked for.
  mapped_file(int file, off_t offset, std::size_t least) noexcept;
};

} // namespace nodewise::agent
