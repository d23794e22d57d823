// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The page in front of a large object that has its mapping to itself. It ends with the same words
// that glibc puts in front of a block that it mapped (mmapped chunks, malloc.c of glibc 2.2 to
// 2.41). So code that bypasses the agent (a library loaded with RTLD_DEEPBIND, a pointer to the C
// library's own free) can free the object, ask for its size and grow it: glibc unmaps the page and
// the object like a chunk of its own. The agent does not see this, and so compares the words.
#pragma once

#include <cstddef>

#include "agent/alloc/object.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

/// glibc's chunk header. The chunk begins with it, and the chunk's size includes it.
struct chunk_words {
  std::size_t before; ///< bytes of the mapping before the chunk
  std::size_t size;   ///< of the chunk, with flags in the lowest bits

  bool operator==(const chunk_words&) const = default;
};

inline chunk_words front_of(const object& what) noexcept {
  constexpr std::size_t is_mapped = 2;
  return {what.front_bytes - sizeof(chunk_words),
          (what.mapped_bytes + sizeof(chunk_words)) | is_mapped};
}

/// Writes the words for the object's present size.
inline void write_front(const object& what) noexcept {
  if (what.front_bytes != 0) {
    reinterpret_cast<chunk_words*>(what.start)[-1] = front_of(what);
  }
}

/// Writes words that no chunk has: the C library aborts a program that frees the object.
inline void hide_front(const object& what) noexcept {
  reinterpret_cast<chunk_words*>(what.start)[-1] = {0, 0};
}

/// False if code that bypasses the agent freed the object: another block may have its address.
[[nodiscard]] inline bool has_its_front(const object& what) noexcept {
  return what.front_bytes == 0 ||
         reinterpret_cast<const chunk_words*>(what.start)[-1] == front_of(what);
}

/// The mapping of the object, with its front.
inline char* mapping_of(const object& what) noexcept {
  return what.start - what.front_bytes;
}
inline std::size_t mapping_bytes(const object& what) noexcept {
  return what.mapped_bytes + what.front_bytes;
}

/// Maps at least `bytes`, aligned to `alignment`, a power of two, with a page in front of them.
/// nullptr if the kernel refuses.
[[nodiscard]] char* map_behind_page(std::size_t bytes, std::size_t alignment) noexcept;

/// Unmaps a part of the object, or all of it, together with its policies.
inline void unmap(char* start, std::size_t bytes) noexcept {
  sys::raw::unmap(start, bytes);
}

} // namespace nodewise::agent
