// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the figures measured on this machine are stored, and how they are found again.
#pragma once

#include <filesystem>

#include <nodewise/machine.hpp>

#include "base/environment.hpp"

namespace nodewise::measured {

/// The administrator's file, for images of a cluster's nodes; only read, never written.
inline constexpr const char* system_file = "/etc/nodewise/measured.json";

/// The file to which figures of this machine are written: the one that NODEWISE_MEASURED names,
/// else `measured-HOST.json` in the folder nodewise of XDG_STATE_HOME (~/.local/state if it is not
/// set or not an absolute path). Throws `error` (usage) if neither such a variable nor HOME is set.
[[nodiscard]] std::filesystem::path file_to_write(environment get, const std::string& host);

/// The files that are searched, in this order: only NODEWISE_MEASURED if it is set, else the user's
/// own file and `system_file`.
[[nodiscard]] std::vector<std::filesystem::path> files_to_read(environment get,
                                                               const std::string& host);

/// The end of a figure's source if other work disturbed the measurement.
inline constexpr const char* disturbed_mark = ", disturbed by other work";
[[nodiscard]] bool was_disturbed(const parameter& figure) noexcept;

/// This machine's name, or "unknown-host".
[[nodiscard]] std::string host_name();

/// A file of measured figures.
struct profile {
  std::filesystem::path file;
  machine what;
};

struct findings {
  std::optional<profile> found;
  /// One sentence for each file that exists but is not this machine's, or that NODEWISE_MEASURED
  /// names but does not exist.
  std::vector<std::string> remarks;
};

/// The first of the files whose nodes, and the processors of each, are those of `now`. Throws
/// `error` (input) for a file that cannot be read, is not a machine, or has neither a bandwidth nor
/// a latency. The error names the file and how to get a better one.
[[nodiscard]] findings find(const machine& now, const std::vector<std::filesystem::path>& files);

/// The same for the files of this process's environment.
[[nodiscard]] findings find(const machine& now);

/// Reads one file, of any machine. Throws `error` (input) as above.
[[nodiscard]] profile read(const std::filesystem::path& file);

/// Why figures of `of` do not apply to `now`: a node or its processors differ. Empty if they agree.
[[nodiscard]] std::string why_another(const machine& now, const machine& of);

/// Whether the machine has a bandwidth or a latency between nodes, from any source.
[[nodiscard]] bool has_costs(const machine& what) noexcept;

/// `into`, with the figures of `measured` replacing those of the same name between the same nodes;
/// the rest is unchanged. Figures of nodes that `into` does not have are skipped.
[[nodiscard]] machine with_costs(machine into, const machine& measured);

} // namespace nodewise::measured
