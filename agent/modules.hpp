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

/// The function that the code at `caller` would find without the agent, if the function is not in
/// the global scope: a plug-in loaded with RTLD_LOCAL sees its own libraries, and RTLD_NEXT does
/// not. nullptr if there is none. Takes microseconds and the loader's lock.
[[nodiscard]] void* find_seen_from(const void* caller, const char* name) noexcept;

/// Whether a shared object is a runtime or a communication library, by the last part of its path.
/// The agent leaves these alone: they start threads that they bind themselves or want unbound, and
/// their static arrays hold no data of the program.
[[nodiscard]] bool is_runtime(const char* file) noexcept;
/// Whether a shared object is the C library, the dynamic linker, or the library of a language.
[[nodiscard]] bool is_language_library(const char* file) noexcept;

} // namespace nodewise::agent
