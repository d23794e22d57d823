// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of placement and their words, which are the same on the command line, in plan files and
// in the agent's settings. Freestanding: the agent uses it, too.
#pragma once

namespace nodewise::placements {

enum class kind : unsigned char {
  none,       ///< as the program or its policy has it
  local,      ///< on the node of the processor that touches a page first
  bind,       ///< on these nodes only
  prefer,     ///< on these nodes, falling back to others when full
  interleave, ///< pages in turn over the owners
  weighted,   ///< pages in turn, in proportion to the owners' weights
  blocked,    ///< one block a thread, on the thread's node; with a granule, of whole rows
  cyclic,     ///< granules in turn over the owners
  thread,     ///< on the node of one thread
  map,        ///< relative parts, each with its owner
};

/// The words, in the order of the kinds.
inline constexpr const char* words[] = {"none",     "local",   "bind",   "prefer", "interleave",
                                        "weighted", "blocked", "cyclic", "thread", "map"};

/// Typed for `blocked` with a granule.
inline constexpr const char* rows_word = "rows";

[[nodiscard]] constexpr const char* word_of(kind what) noexcept {
  return words[static_cast<unsigned>(what)];
}

} // namespace nodewise::placements
