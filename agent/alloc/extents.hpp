// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An object's distribution as extents: consecutive bytes on one node.
#pragma once

#include <cstddef>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

struct extent {
  std::size_t begin;
  std::size_t end; ///< half-open; of the last extent the object's mapped_bytes
  int node;
};

/// Iterates over the extents of a blocked, mapped or cyclic object in ascending order. No extent is
/// empty.
class extent_cursor {
 public:
  explicit extent_cursor(const object& what) noexcept : what_(what), at_{0, 0, -1} {}

  /// False at the end.
  [[nodiscard]] bool next(extent& into) noexcept;
  /// An upper bound of the extents of a blocked or mapped object, exact unless the object is small.
  /// Call it before next().
  [[nodiscard]] std::size_t count_steps() noexcept;

 private:
  /// The runs of owners that make one extent: one, or several if the object's placement is coarse.
  /// Then the longest run decides the node.
  struct step {
    std::size_t last_run;
    int node;
  };
  [[nodiscard]] step next_step() const noexcept;
  [[nodiscard]] std::size_t end_of_run(std::size_t run) const noexcept;

  const object& what_;
  extent at_;
  std::size_t run_ = 0;   ///< the next run of owners
  std::size_t round_ = 0; ///< cyclic: the round
};

/// The largest number of extents that the object can have.
[[nodiscard]] std::size_t count_extents(const object& what) noexcept;

/// Bytes of the shortest block before rounding. A huge page must fit into it.
[[nodiscard]] std::size_t shortest_block_bytes(const object& what) noexcept;

} // namespace nodewise::agent
