// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which findings of a profile are gone, new or still there in another one.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "profile/profile.hpp"

namespace nodewise::cli {

struct observed_profile {
  const profile::profile& what;
  const topology& on;
};

/// What one profile says of a problem of some arrays.
struct finding_side {
  enum class state {
    absent,    ///< it was examined and not found
    found,     ///< worth a change
    dismissed, ///< found, but not worth a change
    unchecked, ///< not examined: evidence is missing
  };
  state is = state::absent;
  std::string note = {}; ///< the gain, the reason, what is missing; empty if absent
  friend bool operator==(const finding_side&, const finding_side&) = default;
};
inline constexpr std::array<std::string_view, 4> finding_states = {"absent", "found", "dismissed",
                                                                   "unchecked"};

/// A problem that at least one of the profiles has.
struct compared_finding {
  std::string pattern;             ///< "serial initialisation"
  std::string program;             ///< before, or after if there was none before
  std::vector<std::string> arrays; ///< by their names before; empty: a problem of the whole program
  finding_side before;
  finding_side after;

  /// "gone", "still there", "new", "found before, not checked after", "found after, not checked
  /// before".
  [[nodiscard]] std::string_view change() const noexcept;
  /// "serial initialisation of a, b and c".
  [[nodiscard]] std::string title() const;
};

/// A program and the name of an object in it; the name is empty for a problem of the whole program.
using named_object = std::pair<std::string, std::string>;

/// Those that were found before or after: gone first, then new ones, then those still there.
/// `before_name` translates names in `after` to those in `before`.
[[nodiscard]] std::vector<compared_finding>
compare_findings(const observed_profile& before, const observed_profile& after,
                 const std::function<named_object(const named_object&)>& before_name);

/// "not found", "up to 1.89x faster (predicted)", "not worth a change: ...", "not checked:
/// ...".
[[nodiscard]] std::string words_of(const finding_side& what);

/// "1 gone, 0 new, 2 still there".
[[nodiscard]] std::string summary_of(const std::vector<compared_finding>& all);

} // namespace nodewise::cli
