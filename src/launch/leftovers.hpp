// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A killed process cannot remove its temporary files. Their names identify their owner, so that the
// next run can remove them.
#pragma once

#include <string>

namespace nodewise::launch {

/// PREFIX, the pid of this process, and the scope in which that pid is valid:
/// "nodewise-4711-1a2b3c4d-". Other hosts and containers may share the directory.
[[nodiscard]] std::string name_of_owner(const std::string& prefix);

/// Removes what ended processes left in `directory` under names that begin with
/// `name_of_owner(prefix)`: files, and directories that contain nothing but a file `inside`. Only
/// entries of this user that were made on this host, in this container. Entries that cannot be
/// removed stay.
void remove_leftovers(const std::string& directory, const std::string& prefix,
                      const std::string& inside = "report") noexcept;

} // namespace nodewise::launch
