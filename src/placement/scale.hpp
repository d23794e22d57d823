// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan made for one number of threads and used with another: the parts of a thread go to the
// threads that take its place when static loops are divided anew.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/placement.hpp"

namespace nodewise::placements {

/// The thread of `to` at the position where the `thread`-th of `from` begins.
[[nodiscard]] std::size_t scaled_thread(std::size_t thread, std::size_t from, std::size_t to);

/// The map for `to` threads: the new threads that overlap an old one share its parts in proportion,
/// in order. At most 8192 threads each; every thread is below `from`.
[[nodiscard]] std::vector<owner_run> scaled_parts(const std::vector<owner_run>& parts,
                                                  std::size_t from, std::size_t to);

/// The same map with neighbours of one thread joined, in as few parts as can express it and at most
/// `most`. If that needs rounding, edges move by less than one part.
[[nodiscard]] std::vector<owner_run> simplified(std::vector<owner_run> parts, std::uint64_t most);

} // namespace nodewise::placements
