// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile as a file for pprof and the viewers of flame graphs that read its format
// (github.com/google/pprof, proto/profile.proto).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::exports {

/// What the file has besides the profile.
struct pprof_facts {
  std::string machine;   ///< its name
  std::string priced_on; ///< the machine whose figures the prediction has
  /// By program: the seconds that it waits for remote memory, as a model predicts. Empty, or
  /// without a value, if there is no prediction.
  std::vector<std::optional<double>> predicted_wait_s = {};
};

/// Compressed by gzip. The types of samples, each only if it was observed:
///
/// - remote_lines (count): cache lines that a thread fetched from another node or wrote back
///   there, counted in the lab
/// - remote_samples (count): the same as samples, where the kernel sampled accesses
/// - predicted_wait (nanoseconds): the predicted wait, divided in proportion to the remote uses
/// - first_touched_pages (count)
///
/// The stack of a remote use is, from the root: the calls to the allocation, the array, the code
/// that uses it. If several places use an array, its remote uses are divided among them by their
/// use, and the label `code` says so. The stack of a first touch is the calls, then the array.
[[nodiscard]] std::string pprof(const profile::profile& of, const pprof_facts& more);

/// The same without compression.
[[nodiscard]] std::string pprof_message(const profile::profile& of, const pprof_facts& more);

} // namespace nodewise::exports
