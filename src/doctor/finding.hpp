// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "base/text.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

enum class verdict {
  good,
  warning,     ///< works, but not as well as it could, or with varying results
  bad,         ///< something that Nodewise needs is refused
  unavailable, ///< could not be read: neither good nor bad
};

/// The result of one check.
struct finding {
  std::string name; ///< "mbind", "numa_balancing"
  doctor::verdict verdict = verdict::good;
  std::string found;   ///< "permitted", "refused: EPERM (...)", "1 (on)"
  std::string cure;    ///< the fix; empty if none is needed
  int errno_value = 0; ///< of a refused call
};

/// The finding for something that could not be read, with the reason if it is known.
[[nodiscard]] inline finding unreadable(std::string name, const std::string& why = "",
                                        std::string cure = "") {
  return {std::move(name), verdict::unavailable,
          why.empty() ? "unavailable" : "unavailable: " + why, std::move(cure), 0};
}

[[nodiscard]] inline finding fine(std::string name, std::string found, std::string cure = "") {
  return {std::move(name), verdict::good, std::move(found), std::move(cure), 0};
}

/// The finding for a value that needs no judgement; nullopt: could not be read.
[[nodiscard]] inline finding fine_if_read(std::string name, std::optional<std::string> found) {
  return found ? fine(std::move(name), *std::move(found)) : unreadable(std::move(name));
}

[[nodiscard]] inline finding doubtful(std::string name, std::string found, std::string cure) {
  return {std::move(name), verdict::warning, std::move(found), std::move(cure), 0};
}

/// Why the machine value lacks costs that were measured, or should have been; empty if there are
/// none, or they are used.
struct unused_costs {
  std::string why;
  std::string cure;
};

struct examination {
  std::vector<finding> calls;       ///< every system call, tried
  std::vector<finding> settings;    ///< of kernel, control group, process
  std::vector<finding> state;       ///< of memory, and the firmware's description of it
  std::vector<finding> environment; ///< variables that place threads and memory
  std::vector<finding> lab;         ///< what virtual machines need

  /// Whether any finding has this verdict.
  [[nodiscard]] bool has(verdict what) const {
    const std::array all = {&calls, &settings, &state, &environment, &lab};
    return std::ranges::any_of(all, [what](const std::vector<finding>* list) {
      return std::ranges::any_of(*list, [what](const finding& f) { return f.verdict == what; });
    });
  }
};

// What checks read and write.

/// The text after "Name:" at the beginning of a line, as in /proc/self/status; nullopt if there is
/// no such line. `end`: what follows the name instead of a colon.
[[nodiscard]] inline std::optional<std::string_view> field(std::string_view text,
                                                           std::string_view name, char end = ':') {
  for (std::string_view line : split(text, '\n')) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with(end)) {
      line.remove_prefix(name.size() + 1);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      return line;
    }
  }
  return std::nullopt;
}

/// Parses a list as the kernel writes it, "0-3,8"; nullopt for anything else, such as empty text.
template <class Id>
[[nodiscard]] std::optional<id_set<Id>> parse_set(const std::optional<std::string_view>& list) {
  try {
    return list ? std::optional(
                      id_set<Id>::parse(list->substr(0, list->find_last_not_of(" \t\n") + 1)))
                : std::nullopt;
  } catch (const error&) {
    return std::nullopt;
  }
}

template <class Id>
[[nodiscard]] std::optional<id_set<Id>> read_set(sys::kernel& from, const std::string& path) {
  const auto text = from.read_file(path.c_str());
  return text ? parse_set<Id>(std::string_view(text.value)) : std::nullopt;
}

/// "512 MiB".
[[nodiscard]] inline std::string mebibytes(unsigned long long bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

} // namespace nodewise::doctor
