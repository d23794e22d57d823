// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the pages of an object belong: one value from the command line and the plan file to the
// agent, the model and the advice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>

#include "placement/kind.hpp"

namespace nodewise::placements {

/// Consecutive parts of an object, or turns of a round, that belong to one owner.
struct owner_run {
  std::uint64_t parts = 0;
  std::size_t owner = 0; ///< the number of a thread or of a node
  friend bool operator==(const owner_run&, const owner_run&) = default;
};

/// | kind | owners |
/// |---|---|
/// | none, local, blocked | none; blocks belong to the threads in order |
/// | bind, prefer, interleave, cyclic | nodes; without any, the user of the value decides |
/// | weighted | nodes and their weights; weight 0, or no node: as measured |
/// | thread | the thread |
/// | map | threads and their parts; for the agent nodes |
struct placement {
  kind how = kind::none;
  std::vector<owner_run> owners = {};
  /// Of cyclic; 0: the agent chooses. Of blocked a row: blocks are of whole rows; 0: they are
  /// equal.
  std::uint64_t granule_bytes = 0;
  friend bool operator==(const placement&, const placement&) = default;
};

/// Nodes as owners with one turn each.
[[nodiscard]] std::vector<owner_run> in_turn(const node_set& nodes);
/// Owners in order as runs of the same node.
[[nodiscard]] std::vector<owner_run> runs_of(const std::vector<node_id>& owners);
/// The nodes, each once.
[[nodiscard]] node_set nodes_of(const std::vector<owner_run>& runs);
/// The nodes, each as often as it has parts.
[[nodiscard]] std::vector<node_id> owners_of(const std::vector<owner_run>& runs);
/// Of weighted: by the bandwidths that were measured on the machine.
[[nodiscard]] bool is_by_measurement(const placement& what) noexcept;
[[nodiscard]] constexpr node_id node_of(const owner_run& run) noexcept {
  return node_id{static_cast<int>(run.owner)};
}

/// The places that a placement is written in. Their words (`all_words`) differ a little.
enum class grammar { command_line, plan_file };
/// Resolves a list of nodes, such as "0-3" or "all".
using node_reader = std::function<node_set(std::string_view list)>;

/// Throws `error` (usage) that names the text.
[[nodiscard]] placement read(std::string_view text, grammar of, const node_reader& nodes);
/// The words of the command line as a shell completes them: "bind:", "interleave", "interleave:".
[[nodiscard]] std::vector<std::string> command_words();
/// Whether the command line has a placement that begins with this word.
[[nodiscard]] bool is_word(std::string_view word) noexcept;

/// "blocked", "rows:8000", "interleave:0-3", "weighted:0=3,1=1", "cyclic:64K", "thread:3"; of a map
/// "map".
[[nodiscard]] std::string text_of(const placement& what);

/// No process has more memory than this.
inline constexpr std::uint64_t largest_object = std::uint64_t{1} << 47;
inline constexpr std::size_t most_threads = std::size_t{1} << 13; ///< the limit of --threads
/// Parts in one map: more than any object has pages.
inline constexpr std::uint64_t most_parts = std::uint64_t{1} << 40;

/// "0*128 1*128": owner * parts.
[[nodiscard]] std::string map_text(const std::vector<owner_run>& parts);
[[nodiscard]] std::vector<owner_run> read_map(std::string_view text);

/// The agent's form, as agent/protocol.h describes it; owners are nodes.
[[nodiscard]] std::string wire_text(const placement& what);
/// "0*4,1*4": of the owners of threads, too.
[[nodiscard]] std::string wire_text(const std::vector<owner_run>& runs);

// A plan made for one number of threads and used with another: the parts of a thread go to the
// threads that take its place when static loops are divided anew.

/// The thread of `to` at the position where the `thread`-th of `from` begins.
[[nodiscard]] std::size_t scaled_thread(std::size_t thread, std::size_t from, std::size_t to);

/// The map for `to` threads: the new threads that overlap an old one share its parts in proportion,
/// in order. At most 8192 threads each; every thread is below `from`.
[[nodiscard]] std::vector<owner_run> scaled_parts(const std::vector<owner_run>& parts,
                                                  std::size_t from, std::size_t to);

/// The same map with neighbours of one thread joined, in as few parts as can express it and at most
/// `most`. If that needs rounding, edges move by less than one part.
[[nodiscard]] std::vector<owner_run> simplified(std::vector<owner_run> parts, std::uint64_t most);

} // namespace nodewise::placements
