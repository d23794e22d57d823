// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel's interleave weights, from measured bandwidths.
#pragma once

#include <string>

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "measure/measurement.hpp"

namespace nodewise::cli {

/// Why weights from these bandwidths should not be set on `here`: the measurement was stopped, a
/// bandwidth is missing, a processor or memory gave wrong results, or another machine was measured.
/// Empty if they may be set.
[[nodiscard]] std::string why_no_weights(const measure::measurement& what, const machine& of,
                                         const machine& here);

/// Does what --weights asks for: sets the weights with =apply, and returns the lines for a shell.
/// Throws `error` (input) for a reason in `why_no_weights` or a machine measured in part. Printing
/// a new measurement (`file` is empty) goes on with a warning if the machine was measured in part;
/// printing a file does in both cases, since it may be meant for its own machine. Also throws
/// `error` (input) if a node with memory has no bandwidth, and (system) if the kernel refuses.
[[nodiscard]] std::string weight_lines(const measure::measurement& what, const topology& on,
                                       const std::string& file, const invocation& given);

} // namespace nodewise::cli
