// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A process that is killed cannot remove its temporary files. Their names say whose they are, so
// that the next run can.
#pragma once

#include <string>

namespace nodewise::launch {

/// PREFIX, the number of this process, and where that number holds: "nodewise-4711-1a2b3c4d-".
/// Other hosts and containers may share the directory.
[[nodiscard]] std::string name_of_owner(const std::string& prefix);

/// Removes what processes that have ended left in `directory` under names that begin with
/// `name_of_owner(prefix)`: files, and directories with nothing but a file `inside`. Only what
/// belongs to this user and was made on this host, in this container. What cannot be removed stays.
void remove_leftovers(const std::string& directory, const std::string& prefix,
                      const std::string& inside = "report") noexcept;

} // namespace nodewise::launch
