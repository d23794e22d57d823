// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The settings that a race tries for the ranks of an MPI launcher.
#pragma once

#include <vector>

#include <nodewise/topology.hpp>

#include "tune/axis.hpp"
#include "tune/setting.hpp"

namespace nodewise::tune {

/// One rank per node, socket or core, bound close; the first of these with interleaved memory, too;
/// interleaved memory alone. Rows of axes that are not in `over` are left out.
[[nodiscard]] std::vector<setting> rank_settings(const topology& on, const std::vector<axis>& over);

} // namespace nodewise::tune
