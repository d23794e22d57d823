// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arrays of a profile as a page shows them: objects of one name together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/verbs/report/node_matrix.hpp"
#include "drawing/strips.hpp"
#include "profile/profile.hpp"

namespace nodewise::cli {

struct shown_array {
  std::size_t program = 0; ///< position in the profile
  std::string name;
  std::vector<std::size_t> objects; ///< positions in the program, most used first
  std::uint64_t bytes = 0;
  std::uint64_t resident = 0;         ///< pages
  double used = 0;                    ///< read and written back, in the program's unit
  double known = 0;                   ///< of `used`: nodes of thread and memory are known
  double remote = 0;                  ///< of `known`
  std::map<node_id, double> pages_on; ///< `unknown_node`: not known
  std::map<node_id, double> used_by;  ///< by the threads' nodes
  std::string touched_at;             ///< the line that first touched most of it, "and 2 other lines"; may be empty

  [[nodiscard]] std::optional<double> remote_share() const {
    return known > 0 ? std::optional(remote / known) : std::nullopt;
  }
};

[[nodiscard]] inline const profile::object& most_used(const shown_array& what,
                                                      const profile::profile& in) {
  return in.programs[what.program].objects[what.objects.front()];
}

/// Of all programs, most used first, then largest. `between` gets what was used, if not null.
[[nodiscard]] std::vector<shown_array> shown_arrays(const profile::profile& of,
                                                    node_matrix* between = nullptr);

/// The nodes of a thread, with their shares.
using places_of_thread = std::function<std::vector<profile::thread::place>(profile::thread_index)>;

/// Who uses the pages of an object: by the nodes of the threads.
[[nodiscard]] drawing::strip users_of(const profile::object& what, std::string_view title,
                                      const places_of_thread& places_of);

/// Where the pages of one object are, and below it who uses them: by the nodes of threads. Without
/// observed use, who touched them first.
[[nodiscard]] drawing::strips strips_of(const profile::object& what, const profile::program& in);

} // namespace nodewise::cli
