// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::agent {

/// A module of the loader's list.
struct listed_module {
  const char* start = nullptr; ///< of its first mapping; nullptr if unknown
  const char* end = nullptr;   ///< of its last mapping
  const char* path = "";       ///< empty for the executable
};

/// The executable or shared object that contains an address, for a C library without
/// `_dl_find_object` (glibc before 2.35). Takes no lock and never waits: finds nothing while a
/// module is unloaded, nor modules of dlmopen().
[[nodiscard]] listed_module find_in_loader_list(const void* address) noexcept;

/// While one exists, modules may be unloaded: no search is reading the list.
class unloading_modules {
 public:
  unloading_modules() noexcept;
  ~unloading_modules() noexcept;
  unloading_modules(const unloading_modules&) = delete;
  unloading_modules& operator=(const unloading_modules&) = delete;
};

/// In a child after fork(): the searches of other threads do not end there.
void forget_searches() noexcept;

} // namespace nodewise::agent
