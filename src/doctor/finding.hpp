// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace nodewise::doctor {

enum class verdict {
  good,
  warning,     ///< works, with less than there could be or with results that vary
  bad,         ///< something that Nodewise needs is refused
  unavailable, ///< could not be read: neither good nor bad
};

/// One thing that was looked at.
struct finding {
  std::string name; ///< "mbind", "numa_balancing"
  doctor::verdict verdict = verdict::good;
  std::string found;   ///< "permitted", "refused: EPERM (...)", "1 (on)"
  std::string cure;    ///< empty where there is nothing to cure
  int errno_value = 0; ///< of a refused call
};

struct examination {
  std::vector<finding> calls;    ///< every system call, tried
  std::vector<finding> settings; ///< of kernel, control group, machine
  std::vector<finding> lab;      ///< what virtual machines need

  /// Whether anything was found to be so.
  [[nodiscard]] bool has(verdict what) const {
    const auto in = [what](std::span<const finding> list) {
      return std::ranges::any_of(list, [what](const finding& f) { return f.verdict == what; });
    };
    return in(calls) || in(settings) || in(lab);
  }
};

} // namespace nodewise::doctor
