// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nodewise::agent {

/// The executable or shared object that an address lies in. It is found without a lock, so that a
/// free() inside dlopen() is safe.
struct module_of {
  const char* start = nullptr; ///< of its first mapping; nullptr if nobody knows
  const char* end = nullptr;   ///< of its last one
  const char* name = "";       ///< the file's last part

  explicit module_of(const void* address) noexcept;
  /// Whether the file is `library`, of any version: "libjemalloc" fits libjemalloc.so.2.
  [[nodiscard]] bool is(const char* library) const noexcept;
};

/// Where the loader put the executable or shared object that an address lies in; nullptr if nobody
/// knows. Takes the loader's lock.
[[nodiscard]] const void* module_base(const void* address) noexcept;

/// The last part of a path.
[[nodiscard]] const char* last_part(const char* path) noexcept;

} // namespace nodewise::agent
