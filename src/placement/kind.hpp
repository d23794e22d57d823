// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of placement, their words, which are the same on the command line, in plan files and in
// the agent's settings, and what is true of each kind. Freestanding: the agent uses it, too.
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

/// What a placement lists as its owners. `all_threads`: nothing, because each thread owns a part.
enum class owned_by : unsigned char { nobody, nodes, threads, all_threads };

/// How the agent divides an object into extents, each with a policy of its own. The kernel has no
/// policy for a whole process that does this. `none`: the object has one policy.
enum class division : unsigned char { none, parts, rounds };

/// Whether the agent's form of a placement has a granule.
enum class granule_field : unsigned char { never, if_any, always };

/// What is true of all placements of a kind.
struct traits {
  const char* word;
  kind sent_as; ///< the kind of its form for the agent
  owned_by owners = owned_by::nobody;
  bool has_homes = false; ///< each page belongs to particular nodes
  bool by_thread = false; ///< in a plan: it matters which thread uses which pages
  division divided = division::none;
  granule_field granule = granule_field::never;

  /// Each thread owns one part.
  [[nodiscard]] constexpr bool has_blocks() const noexcept {
    return owners == owned_by::all_threads;
  }
  [[nodiscard]] constexpr bool lists_owners() const noexcept {
    return owners == owned_by::nodes || owners == owned_by::threads;
  }
};

/// In the order of the kinds: word, sent as, owners, homes, by thread, division, granule.
inline constexpr traits all_traits[] = {
    {"none", kind::none},
    {"local", kind::local},
    {"bind", kind::bind, owned_by::nodes, true},
    {"prefer", kind::prefer, owned_by::nodes, true},
    {"interleave", kind::interleave, owned_by::nodes},
    {"weighted", kind::cyclic, owned_by::nodes, true, false, division::rounds},
    {"blocked", kind::blocked, owned_by::all_threads, true, true, division::parts,
     granule_field::if_any},
    {"cyclic", kind::cyclic, owned_by::nodes, true, true, division::rounds, granule_field::always},
    {"thread", kind::prefer, owned_by::threads, true, true},
    {"map", kind::map, owned_by::threads, true, true, division::parts},
};

/// Typed for `blocked` with a granule.
inline constexpr const char* rows_word = "rows";

[[nodiscard]] constexpr const traits& traits_of(kind what) noexcept {
  return all_traits[static_cast<unsigned>(what)];
}
[[nodiscard]] constexpr const char* word_of(kind what) noexcept {
  return traits_of(what).word;
}

} // namespace nodewise::placements
