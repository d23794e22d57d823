// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cli/frame/registry.hpp"

namespace nodewise::cli {

/// A parsed command line. Values are stored as typed; the accessors that convert them throw
/// `nodewise::error` (usage), which names the option.
struct invocation {
  struct option {
    const flag* what;
    std::string value; ///< empty for a toggle
  };

  /// nullptr if no verb was given, which needs `--help` or `--version`.
  const cli::verb* verb = nullptr;
  std::vector<option> options; ///< in the order they were typed
  std::vector<std::string> operands;
  std::vector<std::string> program; ///< the program to start and its arguments, or empty

  [[nodiscard]] bool has(const flag& which) const noexcept;
  /// The flag that selects the form of the result; nullptr without one.
  [[nodiscard]] const flag* selected_form() const noexcept;
  /// The text given last, or nullopt.
  [[nodiscard]] std::optional<std::string_view> text(const flag& which) const noexcept;
  /// The same, and nullopt also if the flag's value is optional and left out.
  [[nodiscard]] std::optional<std::string_view> given_value(const flag& which) const noexcept;
  /// Every text given for a `list` flag.
  [[nodiscard]] std::vector<std::string_view> texts(const flag& which) const;
  /// A whole number from `least` to `most`, both included, of `given_value`.
  [[nodiscard]] std::optional<long long>
  number(const flag& which, long long least = 0,
         long long most = std::numeric_limits<long long>::max()) const;
  /// Seconds such as "0.5", from `least` to a million, of `given_value`.
  [[nodiscard]] std::optional<std::chrono::milliseconds>
  time(const flag& which, std::chrono::milliseconds least) const;
  /// A size as "4096", "64K", "4MiB", "1.5G": binary units.
  [[nodiscard]] std::optional<std::uint64_t> bytes(const flag& which) const;

  /// The same command line without these options: verb first, "nodewise" left out.
  [[nodiscard]] std::vector<std::string>
  arguments_without(std::span<const flag* const> left_out) const;
};

/// "--membind": the name of an option in errors.
[[nodiscard]] std::string option_name(const flag& which);

/// "--membind=0": an option as one word of a command line.
[[nodiscard]] std::string word_of(const invocation::option& of);

/// The number of a process. Throws `error` (usage).
[[nodiscard]] int process_number(std::string_view text);

/// Calls `read()` and adds the option to its usage errors: "--membind: the list '0-'".
template <class Read>
auto for_option(const flag& which, Read&& read) {
  try {
    return read();
  } catch (const error& e) {
    if (e.kind() != error_kind::usage) {
      throw;
    }
    throw error(e.kind(), option_name(which) + ": " + e.asked(), e.answered(), e.hint());
  }
}

/// Reads a command line (without the name of the command). Throws `nodewise::error` (usage), which
/// proposes the nearest name for a typing error. With --help or --version among the options,
/// missing parts are not an error.
[[nodiscard]] invocation parse(std::span<const char* const> arguments);

} // namespace nodewise::cli
