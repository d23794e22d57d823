// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of the command as data. The parser, --help, the manual and the completions read these
// tables; what a verb does is in verbs/.
#pragma once

#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

/// What may follow the options of a verb.
enum class operands {
  none,
  names,            ///< words that the verb interprets
  program,          ///< a program and its arguments, after `--` or from the first non-option on
  optional_program, ///< the same, but optional
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

/// What a flag does in a verb where its general text is not exact.
struct verb_flag_text {
  const flag* of;
  std::string_view help;
  std::string_view standard = of->standard;
};

// Named defaults, so that a verb may omit these fields.
inline constexpr std::span<const std::string_view> no_aliases;
inline constexpr std::span<const action> no_actions;
inline constexpr std::span<const verb_flag_text> no_flag_texts;

struct verb {
  std::string_view name;
  std::span<const std::string_view> aliases = no_aliases;
  std::string_view summary; ///< one line, no full stop
  std::string_view usage;   ///< what follows "nodewise NAME"
  std::string_view description;
  std::span<const flag* const> flags;
  std::span<const verb_flag_text> flag_texts = no_flag_texts;
  cli::operands takes = operands::none;
  std::span<const action> actions = no_actions;
  std::span<const example> examples;
  std::span<const verb_exit> exit_codes; ///< those worth naming besides 0 and 2
  bool hidden = false;                   ///< for the build, not for people
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
