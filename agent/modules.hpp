// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::agent {

/// The executable or shared object that contains an address. The search takes no lock, so that a
/// free() inside dlopen() is safe.
struct module_of {
  const char* start = nullptr; ///< of its first mapping; nullptr if unknown
  const char* end = nullptr;   ///< of its last mapping
  const char* name = "";       ///< the last part of the file's path

  explicit module_of(const void* address) noexcept;
  /// Whether the file is `library` in any version: "libjemalloc" fits libjemalloc.so.2.
  [[nodiscard]] bool is(const char* library) const noexcept;
};

/// Where the loader put the executable or shared object that contains an address; nullptr if
/// unknown. Takes the loader's lock.
[[nodiscard]] const void* module_base(const void* address) noexcept;

/// The last part of a path.
[[nodiscard]] const char* last_part(const char* path) noexcept;

} // namespace nodewise::agent
