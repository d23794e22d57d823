// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of the command as data. The parser, --help, the manual and the completions read these
// tables; what a verb does is in verbs/.
#pragma once

#include <ranges>
#include <span>
#include <string>

#include <nodewise/error.hpp>

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

/// The command's exit codes. `run` and `--on` end as the program that they start does.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int check_failed = 1;
inline constexpr int usage = 2;
inline constexpr int bad_input = 3;
inline constexpr int refused = 4;
inline constexpr int time_limit = 124;
inline constexpr int not_started = 125;
inline constexpr int not_executable = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;
} // namespace exit_code

struct exit_code_row {
  int code;
  std::string_view shown; ///< text, since "128+N" is not a number
  std::string_view meaning;
};

/// The table that `nodewise --help` and the manual print.
inline constexpr std::array exit_codes = {
    exit_code_row{exit_code::ok, "0", "success"},
    exit_code_row{exit_code::check_failed, "1",
                  "a check failed (--strict, lab check), or measure computed wrong values"},
    exit_code_row{exit_code::usage, "2", "invalid command line"},
    exit_code_row{exit_code::bad_input, "3",
                  "an input file cannot be read, or its content is invalid"},
    exit_code_row{exit_code::refused, "4", "the operating system refused a request"},
    exit_code_row{exit_code::time_limit, "124", "the time limit of a virtual machine was reached"},
    exit_code_row{exit_code::not_started, "125",
                  "nodewise or the lab failed before the program started"},
    exit_code_row{exit_code::not_executable, "126", "the program cannot be executed"},
    exit_code_row{exit_code::not_found, "127", "the program was not found"},
    exit_code_row{exit_code::signal_base, "128+N", "signal N ended nodewise or the program"},
};

[[nodiscard]] constexpr int exit_code_of(error_kind kind) noexcept {
  if (kind == error_kind::usage) {
    return exit_code::usage;
  }
  return kind == error_kind::input ? exit_code::bad_input : exit_code::refused;
}

/// What may follow the options of a verb.
enum class operands {
  none,
  names,            ///< words that the verb interprets
  program,          ///< a program and its arguments, after `--` or from the first non-option on
  names_or_program, ///< words; or a program and its arguments, after `--` only
};

struct example {
  std::string_view command; ///< as typed, "nodewise ..."
  std::string_view meaning;
};

/// A word that follows the verb: `lab list`.
struct action {
  std::string_view name;
  std::string_view operands; ///< "MACHINE"
  std::string_view summary;
};

/// An exit code of a verb.
struct verb_exit {
  int code;
  std::string_view meaning = no_text; ///< replaces the general text if not empty
};

/// What a flag does in a verb where its general text is not exact, and under which heading.
struct verb_flag_text {
  const flag* of;
  std::string_view help;
  std::string_view standard = of->standard;
  std::string_view group = of->group;
};

/// Two flags that cannot be combined.
using excluded_pair = std::array<const flag*, 2>;

struct verb {
  std::string_view name;
  std::span<const std::string_view> aliases = {};
  std::string_view summary; ///< one line, no full stop
  std::string_view usage;   ///< what follows "nodewise NAME"
  std::string_view description;
  std::span<const flag* const> flags;
  std::span<const verb_flag_text> flag_texts = {};
  std::span<const excluded_pair> excludes = {};
  cli::operands takes = operands::none;
  std::span<const action> actions = {};
  std::span<const example> examples;
  std::span<const verb_exit> exit_codes; ///< those worth naming besides 0 and 2
  bool hidden = false;                   ///< for the build, not for people
  bool has_page = false;                 ///< `report` shows its results as JSON
};

[[nodiscard]] std::span<const verb> all_verbs() noexcept;
/// The verbs that help, manual and completions list.
[[nodiscard]] inline auto shown_verbs() {
  return std::views::filter(all_verbs(), [](const verb& each) { return !each.hidden; });
}
/// The flags that may come without a verb: --help, --version, --color.
[[nodiscard]] std::span<const flag* const> command_flags() noexcept;

/// By name or alias; nullptr if there is none.
[[nodiscard]] const verb* find_verb(std::string_view name) noexcept;
/// By long name or its older form; nullptr if the verb has none of that name.
[[nodiscard]] const flag* find_flag(std::span<const flag* const> flags,
                                    std::string_view name) noexcept;
[[nodiscard]] const flag* find_flag(std::span<const flag* const> flags, char letter) noexcept;

/// The name a typing error was probably meant for, or "" if none is near.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string_view> names);

} // namespace nodewise::cli
