// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the figures that were measured on this machine are kept, and how they are found again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/machine.hpp>

#include "base/environment.hpp"

namespace nodewise::measured {

/// An administrator's, for images of a cluster's nodes; only read.
inline constexpr const char* system_file = "/etc/nodewise/measured.json";

/// Where figures of this machine are written: the file that NODEWISE_MEASURED names, else
/// `measured-HOST.json` in the folder nodewise of XDG_STATE_HOME, which is ~/.local/state where it
/// is not set or no absolute path. Throws `error` (usage) where there is neither such a variable
/// nor HOME.
[[nodiscard]] std::filesystem::path file_to_write(environment get, const std::string& host);

/// Where they are looked for, in this order: NODEWISE_MEASURED alone if it is set, else the user's
/// own file and `system_file`.
[[nodiscard]] std::vector<std::filesystem::path> files_to_read(environment get,
                                                               const std::string& host);

/// What ends the source of a figure that other work disturbed.
inline constexpr const char* disturbed_mark = ", disturbed by other work";
[[nodiscard]] bool was_disturbed(const parameter& figure) noexcept;

/// This machine's name, or "unknown-host".
[[nodiscard]] std::string host_name();

/// What was measured.
struct profile {
  std::filesystem::path file;
  machine what;
};

struct findings {
  std::optional<profile> found;
  /// A sentence a file that was there and is not this machine's; or that NODEWISE_MEASURED names
  /// and is not there.
  std::vector<std::string> remarks;
};

/// The first of the files whose nodes, and the processors of each, are those of `now`. Throws
/// `error` (input) for a file that cannot be read, is no machine, or has no bandwidth and no
/// latency: it names the file, and how to have a better one.
[[nodiscard]] findings find(const machine& now, const std::vector<std::filesystem::path>& files);

/// The same of the files of this process's environment.
[[nodiscard]] findings find(const machine& now);

/// One file, whatever machine it is of. Throws `error` (input) as above.
[[nodiscard]] profile read(const std::filesystem::path& file);

/// Why figures of `of` are none of `now`: a node or its processors differ. Empty if they agree.
[[nodiscard]] std::string why_another(const machine& now, const machine& of);

/// Whether the machine has a bandwidth or a latency between nodes, from wherever.
[[nodiscard]] bool has_costs(const machine& what) noexcept;

/// `into` with the figures of `measured` in the place of those of the same name between the same
/// nodes; the rest stays. Nodes that `into` does not have are left out.
[[nodiscard]] machine with_costs(machine into, const machine& measured);

} // namespace nodewise::measured
