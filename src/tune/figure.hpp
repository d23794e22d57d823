// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The figure by which a race compares runs, if it is not their wall time: a number that the program
// prints.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nodewise::tune {

/// Where the figure of a run comes from. Without any of these: wall time.
struct figure_source {
  /// An extended regular expression of POSIX. Its first group is the figure, or all of the match
  /// if it has no group.
  std::optional<std::string> pattern;
  /// The file in which the program leaves its figure; nullopt: its standard output. Without a
  /// pattern the last line that is not empty is the figure.
  std::optional<std::string> file;
  bool higher_is_better = false;
  /// The part of a run in a virtual machine whose counted traffic a model prices: "use", "init",
  /// "all" or a region.
  std::optional<std::string> modelled = {};

  /// The region between marks of the program whose time is the figure.
  std::optional<std::string> marked = {};

  [[nodiscard]] bool is_wall_time() const noexcept {
    return !pattern && !file && !modelled && !marked;
  }

  friend bool operator==(const figure_source&, const figure_source&) = default;
};

/// Throws `error` (usage), with the words of the regular expression library, if the pattern is
/// invalid; without a pattern it is valid.
void check(const figure_source& source);

/// The figure in what a run printed (or in the contents of `file`): of the last match that is
/// not empty, line by line, since programs print intermediate figures first. A match never spans
/// lines. Numbers are written as in C or Fortran ("1.5", "+3e9", "1.5D+02"). Output may be long and
/// may hold any byte.
///
/// Throws `error`: (input) if nothing matches, which quotes the output's last line; if the match is
/// not a number; if the number is not finite or not above 0. (usage) as `check`.
[[nodiscard]] double figure_in(const figure_source& source, std::string_view output);

} // namespace nodewise::tune
