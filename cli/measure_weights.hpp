// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel's weights for interleaving, by measured bandwidths.
#pragma once

#include <string>

#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "measure/measurement.hpp"

namespace nodewise::cli {

/// Why weights by these bandwidths should not be set on `here`: the measurement was stopped, a
/// bandwidth is missing, a processor or memory computes nonsense, or another machine was measured.
/// Empty if they may.
[[nodiscard]] std::string why_no_weights(const measure::measurement& what, const machine& of,
                                         const machine& here);

/// What --weights asks for: sets them with =apply, and returns the lines for a shell. Throws
/// `error` (input) where there is a reason not to: `why_no_weights`, or that the machine was
/// measured in part. Printing what was measured just now (`file` is empty) goes on in the latter
/// case, printing of a file in both, with a warning: it may be meant for the machine that it is of.
/// Throws `error` (input) also where a node with memory has no bandwidth, (system) where the kernel
/// refuses.
[[nodiscard]] std::string tell_weights(const measure::measurement& what, const topology& on,
                                       const std::string& file, const invocation& given);

} // namespace nodewise::cli
