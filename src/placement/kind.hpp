// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kinds of placement, what is true of each kind, and the words for them on the command line, in
// plan files and in the agent's settings. Freestanding: the agent uses it, too.
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
enum class owned_by : unsigned char { none, nodes, threads, all_threads };

/// How the agent divides an object into extents, each with a policy of its own. The kernel has no
/// policy for a whole process that does this. `none`: the object has one policy.
enum class division : unsigned char { none, parts, rounds };

/// The kernel's policy for the pages of an object that is not divided. `none`: it is left as it is.
enum class kernel_policy : unsigned char { none, local, bind, prefer, interleave };

/// Whether the agent's form of a placement has a granule.
enum class granule_field : unsigned char { never, if_any, always };

/// What is true of all placements of a kind.
struct traits {
  const char* word;
  kind sent_as; ///< the kind of its form for the agent
  owned_by owners = owned_by::none;
  kernel_policy policy = kernel_policy::none;
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

/// In the order of the kinds: word, sent as, owners, policy, homes, by thread, division, granule.
inline constexpr traits all_traits[] = {
    {"none", kind::none},
    {"local", kind::local, owned_by::none, kernel_policy::local},
    {"bind", kind::bind, owned_by::nodes, kernel_policy::bind, true},
    {"prefer", kind::prefer, owned_by::nodes, kernel_policy::prefer, true},
    {"interleave", kind::interleave, owned_by::nodes, kernel_policy::interleave},
    {"weighted", kind::cyclic, owned_by::nodes, kernel_policy::none, true, false, division::rounds},
    {"blocked", kind::blocked, owned_by::all_threads, kernel_policy::none, true, true,
     division::parts, granule_field::if_any},
    {"cyclic", kind::cyclic, owned_by::nodes, kernel_policy::none, true, true, division::rounds,
     granule_field::always},
    {"thread", kind::prefer, owned_by::threads, kernel_policy::prefer, true, true},
    {"map", kind::map, owned_by::threads, kernel_policy::none, true, true, division::parts},
};

[[nodiscard]] constexpr const traits& traits_of(kind what) noexcept {
  return all_traits[static_cast<unsigned>(what)];
}
[[nodiscard]] constexpr const char* word_of(kind what) noexcept {
  return traits_of(what).word;
}

/// What follows a word after a colon. `never`: the word is not in that grammar.
enum class rest : unsigned char {
  never,
  nothing,
  nodes,
  perhaps_nodes,
  weights,
  row,
  granule,
  perhaps_granule,
  thread
};

/// The owners of a placement that lists none.
enum class if_unlisted : unsigned char { none, memories, nodes_of_threads, threads };

/// A word as people write it.
struct word {
  const char* name;
  kind how;
  rest in_command;
  rest in_plan;
  if_unlisted owners_in_command = if_unlisted::none;
  if_unlisted owners_in_plan = if_unlisted::none;
  const char* help = ""; ///< what --help adds in parentheses
};

/// All words. `map` is not one of them: a plan file has it as an object.
inline constexpr word all_words[] = {
    {"none", kind::none, rest::never, rest::nothing},
    {"local", kind::local, rest::nothing, rest::never, if_unlisted::none, if_unlisted::none,
     "where each page is touched first"},
    {"bind", kind::bind, rest::nodes, rest::never},
    {"prefer", kind::prefer, rest::nodes, rest::never},
    {"interleave", kind::interleave, rest::perhaps_nodes, rest::perhaps_nodes,
     if_unlisted::memories, if_unlisted::nodes_of_threads},
    {"blocked", kind::blocked, rest::nothing, rest::nothing, if_unlisted::none, if_unlisted::none,
     "one block per thread"},
    {"rows", kind::blocked, rest::row, rest::row, if_unlisted::none, if_unlisted::none,
     "the same, but in whole rows of SIZE bytes"},
    {"cyclic", kind::cyclic, rest::granule, rest::perhaps_granule, if_unlisted::nodes_of_threads,
     if_unlisted::threads, "pieces of SIZE, in turn over the threads' nodes or over NODES"},
    {"weighted", kind::weighted, rest::weights, rest::weights, if_unlisted::memories,
     if_unlisted::none,
     "pages in turn over the nodes, in proportion to WEIGHT; auto: to the measured bandwidth"},
    {"thread", kind::thread, rest::never, rest::thread},
};

} // namespace nodewise::placements
