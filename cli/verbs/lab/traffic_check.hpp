// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The assertion of `nodewise lab check`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "cli/frame/invocation.hpp"
#include "traffic/summary.hpp"

namespace nodewise::cli {

struct traffic_limits {
  std::optional<double> min_local;                          ///< 0..1
  std::optional<double> max_imbalance;                      ///< 1 or more
  std::optional<traffic::phase> when = traffic::phase::use; ///< nothing: both
  std::vector<std::string> objects;                         ///< empty: all traffic
};

/// Reads the options. Throws `error` (usage) for invalid numbers, and if no limit is given.
[[nodiscard]] traffic_limits read_traffic_limits(const invocation& given);

/// What a check expects.
enum class expectation {
  local,        ///< of all traffic
  object_local, ///< of an object's traffic
  balanced,     ///< the loads of the memories
};

struct traffic_verdict {
  struct finding {
    expectation of = expectation::local;
    std::string what;            ///< "all traffic", an object, "imbalance of the memories"
    std::optional<double> found; ///< nothing: no traffic
    double limit = 0;
    bool passed = false;
  };
  std::vector<finding> findings;
  /// If locality failed: the objects and lines below the limit, worst first.
  traffic::summary offending;

  [[nodiscard]] bool passed() const noexcept;
  /// One line without its end: "failed: in use 25.0 % local, at least 95.0 % asked".
  [[nodiscard]] std::string text(const traffic_limits& asked) const;
  [[nodiscard]] nlohmann::ordered_json json(const traffic_limits& asked) const;
};

/// What the forms of the result (flags.hpp) are written from.
struct checked_traffic {
  const traffic::summary& found;
  const machine& on;
  const nlohmann::ordered_json& settings; ///< of the virtual machine
  const traffic_limits& asked;
  const traffic_verdict& verdict;
  std::string program; ///< its name as typed
};

/// Fewer cache lines are too few to judge: 64 KiB. They come from the loader and the C library,
/// which no placement changes.
inline constexpr std::uint64_t least_lines_to_judge = 1024;

/// "in use", "in both phases".
[[nodiscard]] std::string when_text(const traffic_limits& asked);

/// Throws `error` (usage) for an unknown object, and lists the known ones. If nothing was counted,
/// the check fails.
[[nodiscard]] traffic_verdict judge_traffic(const traffic::summary& found,
                                            const traffic_limits& asked);

} // namespace nodewise::cli
