// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What files of counted traffic say (`nodewise run --on lab:NAME --on-counts FILE`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "topology/json_field.hpp"

namespace nodewise::cli {

inline constexpr std::string_view traffic_schema = "nodewise/traffic/1";

/// Cache lines that an array, a source line or a program moved in a phase.
struct moved_lines {
  std::uint64_t remote = 0;
  std::uint64_t all = 0;
  std::optional<double> local_share; ///< 0..1; nullopt: nothing moved, or its place is unknown
};

// All throw `error` (input) naming what is wrong.

[[nodiscard]] moved_lines moved_lines_in(const json_field& phase);
/// "init" or "use": the phase whose shares count.
[[nodiscard]] std::string judged_phase_in(const json_field& document);
/// "after initialisation"
[[nodiscard]] std::string_view phase_words(std::string_view judged);
/// The names of the programs.
[[nodiscard]] std::string counted_programs_in(const json_field& document);

} // namespace nodewise::cli
