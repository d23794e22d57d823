// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The machines that a command examines, and their measured bandwidths and latencies.
#pragma once

#include "cli/frame/paths.hpp"
#include "launch/run_options.hpp"

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

/// Whether what follows `lab:` is the name of a file.
[[nodiscard]] bool names_file(std::string_view name) noexcept;

/// The names of the machine files that come with nodewise, in alphabetical order.
[[nodiscard]] std::vector<std::string> lab_machine_names(const paths& from);

/// A machine with its known figures.
struct measured_machine {
  topology what;
  std::optional<machine> measured;  ///< only the measured figures, not the firmware's
  std::vector<std::string> remarks; ///< the figures' file, or why there are none
};

/// This machine by hwloc, with its saved measurement if there is one
/// (src/topology/measured_machine.hpp). Throws `error` (input) if that cannot be read.
[[nodiscard]] measured_machine this_machine_with_costs();

/// `what` with the figures of a file. The file must describe a machine with the same nodes and
/// processors. Throws `error` (input).
[[nodiscard]] measured_machine machine_with_costs(const topology& what, std::string_view file);

/// Makes weights from this machine's saved measurement. Throws `error` (input), which states the
/// request, why no measurement answers it, and how to measure.
[[nodiscard]] launch::measured_weights weigh_by_measurement(const topology& here,
                                                            const node_set& nodes);

} // namespace nodewise::cli
