// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/frame/paths.hpp"

namespace nodewise::cli {

/// Whether the file's first character other than white space is `wanted`; false if the file cannot
/// be read.
[[nodiscard]] bool file_begins_with(const std::filesystem::path& file, char wanted);

/// Reads the machine that --input names: FILE.xml, FILE.json, sysfs:DIR, lab:NAME, 4x2 or hwloc's
/// synthetic syntax. Throws `error` as the readers do.
[[nodiscard]] topology read_machine(std::string_view what, const paths& from);

/// The same machine as hwloc's XML; without `what`, this machine. Any measured costs are added as
/// memory attributes. Throws `error` (usage) for machine files in JSON, which hwloc cannot read,
/// and `error` (input) for costs of another machine.
[[nodiscard]] std::string machine_xml(std::optional<std::string_view> what,
                                      const std::optional<machine>& measured = std::nullopt);

/// Reads what may follow `lab:`: the name of a machine file that comes with nodewise, the path of
/// another, or NODESxCORES[xTHREADS]. Throws `error` (usage), which lists the known names.
[[nodiscard]] topology read_lab_machine(std::string_view name, const paths& from);

/// The names of the machine files that come with nodewise, in alphabetical order.
[[nodiscard]] std::vector<std::string> lab_machine_names(const paths& from);

} // namespace nodewise::cli
