// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Machines and topologies as JSON: `nodewise/machine/1` and `nodewise/topology/1` of
// docs/formats.md and docs/schemas. Used by all code that reads or writes a result.
#pragma once

#include <array>

#include <nodewise/topology.hpp>

#include "topology/json_field.hpp"

namespace nodewise {

inline constexpr std::string_view machine_schema = "nodewise/machine/1";
inline constexpr std::string_view topology_schema = "nodewise/topology/1";

/// In the normal form: cores and packages by processors, equal caches gathered where possible.
/// Text that is not UTF-8 is written with replacement characters.
[[nodiscard]] nlohmann::ordered_json machine_json(const machine& what);

/// Checks every field. Throws `error` (input) naming the one that is wrong.
[[nodiscard]] machine machine_from_json(const json_field& document);

/// With the envelope of every result; the caller fills in `settings`.
[[nodiscard]] nlohmann::ordered_json topology_json(const topology& what);

/// Reads a machine, or any nodewise result that contains one. Without the field "allowed",
/// everything is allowed.
[[nodiscard]] topology topology_from_json(const json_field& document);

// The names of the enumerations in JSON, in the order of their values.
inline constexpr std::array<std::string_view, 6> memory_kind_names = {"unknown", "dram", "hbm",
                                                                      "cxl",     "gpu",  "other"};
inline constexpr std::array<std::string_view, 3> cache_kind_names = {"unified", "data",
                                                                     "instruction"};
[[nodiscard]] inline std::string_view name_of(memory_kind kind) noexcept {
  return memory_kind_names[static_cast<std::size_t>(kind)];
}
[[nodiscard]] inline std::string_view name_of(cache_kind kind) noexcept {
  return cache_kind_names[static_cast<std::size_t>(kind)];
}

} // namespace nodewise
