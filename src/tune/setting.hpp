// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A setting that a race tries: options of `nodewise run`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise::tune {

/// Candidate 0 of a race has no options: the program runs as it is, without Nodewise.
struct setting {
  std::vector<std::string> options; ///< of `nodewise run`, one word each: "--threads", "2"
  /// That the program uses; 0 if unknown. It selects the cheapest of settings that are almost
  /// equally fast.
  std::size_t cores = 0;

  friend bool operator==(const setting&, const setting&) = default;
};

/// Whether each thread keeps its processors: --bind, but not --bind none.
[[nodiscard]] bool pins_threads(const setting& of);

/// "as it is", or "--threads 2 --bind close": in quotes where a shell needs them.
[[nodiscard]] std::string text(const setting& of);

/// The setting with these options, as a user writes them: split as a shell splits them (quotes,
/// backslashes, a comment from a # on), but nothing is expanded. An empty text is the setting "as
/// it is". `cores` is the number of --threads, which may be more than the machine has; else 0.
///
/// Throws `error` (usage) for a quote without its end, a first word that is no option, and the word
/// `--`, since a setting names no program. It does not know the options of `run`: the caller checks
/// them before the race.
[[nodiscard]] setting read_setting(std::string_view text);

/// The word of a command line in whose place `nodewise run` and its options are written:
/// "mpirun -n 4 {run} ./solver". It may occur several times.
inline constexpr std::string_view run_mark = "{run}";
[[nodiscard]] bool has_run_mark(const std::vector<std::string>& program);

/// The words that start a program with the setting. Without a mark the program comes last. `run`:
/// the words of `nodewise run`, which are left out if the program runs as it is.
[[nodiscard]] std::vector<std::string> command_of(const setting& how, std::vector<std::string> run,
                                                  const std::vector<std::string>& program);

} // namespace nodewise::tune
