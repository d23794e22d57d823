// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/paths.hpp"

namespace nodewise::cli {

/// Whether a file's first character that is not white space is this one; false if it cannot be
/// read.
[[nodiscard]] bool file_begins_with(const std::filesystem::path& file, char wanted);

/// What --input names: FILE.xml, FILE.json, sysfs:DIR, lab:NAME, 4x2 or hwloc's synthetic syntax.
/// Throws `error` as the readers do.
[[nodiscard]] topology read_machine(std::string_view what, const paths& from);

/// The same as hwloc's XML; without `what`, this machine. With the costs that are measured of it,
/// as memory attributes, if there are any. Throws `error` (usage) for machine files in JSON, which
/// hwloc has never seen; `error` (input) for costs of another machine.
[[nodiscard]] std::string machine_xml(std::optional<std::string_view> what,
                                      const std::optional<machine>& measured = std::nullopt);

/// What may follow `lab:`: the name of a machine file that comes with nodewise, the path of
/// another, or NODESxCORES[xTHREADS]. Throws `error` (usage) with the names there are.
[[nodiscard]] topology read_lab_machine(std::string_view name, const paths& from);

/// The names of the machine files that come with nodewise, in alphabetical order.
[[nodiscard]] std::vector<std::string> lab_machine_names(const paths& from);

} // namespace nodewise::cli
