// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An object's distribution as extents: consecutive bytes on one node.
#pragma once

#include <cstddef>

#include "agent/object_table.hpp"

namespace nodewise::agent {

struct extent {
  std::size_t begin;
  std::size_t end; ///< half-open; the last one's is the object's mapped_bytes
  int node;
};

/// Goes through the extents of a blocked, mapped or cyclic object in ascending order; none is
/// empty.
class extent_cursor {
 public:
  explicit extent_cursor(const object& what) noexcept : what_(what), at_{0, 0, -1} {}

  /// False at the end.
  [[nodiscard]] bool next(extent& into) noexcept;
  /// Extents of a blocked or mapped object, and more if it is small. Before the first of them.
  [[nodiscard]] std::size_t count_steps() noexcept;

 private:
  /// Runs of owners that make one extent: one, or several where the object is to be coarse; then
  /// the longest decides.
  struct step {
    std::size_t last_run;
    int node;
  };
  [[nodiscard]] step next_step() const noexcept;
  [[nodiscard]] std::size_t end_of_run(std::size_t run) const noexcept;

  const object& what_;
  extent at_;
  std::size_t run_ = 0;   ///< of the owners, the one to come
  std::size_t round_ = 0; ///< of cyclic
};

/// How many there are at most.
[[nodiscard]] std::size_t count_extents(const object& what) noexcept;

/// Bytes of the shortest block but for rounding: what a huge page must fit into.
[[nodiscard]] std::size_t shortest_block_bytes(const object& what) noexcept;

} // namespace nodewise::agent
