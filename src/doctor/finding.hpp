// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  std::string cure;    ///< empty if nothing needs a cure
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

} // namespace nodewise::doctor
