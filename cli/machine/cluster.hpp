// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The hosts of a virtual cluster.
#pragma once

#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/frame/paths.hpp"

namespace nodewise::cli {

/// Reads what may follow `lab:` where a cluster is possible: machines (`read_lab_machine`) and
/// cluster files (`nodewise/cluster/1`), joined by '+'. At least one host. Throws `error` (usage)
/// for an unknown name, and (input) for a file that is not as it should be.
[[nodiscard]] std::vector<topology> read_lab_hosts(std::string_view names, const paths& from);

} // namespace nodewise::cli
