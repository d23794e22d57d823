// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan made for one number of threads, used with another: what belonged to a thread belongs to
// those that stand where it stood, as static loops are dealt out anew.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.hpp"

namespace nodewise::plans {

/// Which of `to` threads stands where the `thread`-th of `from` begins.
[[nodiscard]] std::size_t scaled_thread(std::size_t thread, std::size_t from, std::size_t to);

/// The map for `to` threads: a thread's parts are shared by those of the new ones that it overlaps,
/// in proportion, in their order. At most 8192 threads each; every thread is below `from`.
[[nodiscard]] std::vector<part_run> scaled_parts(const std::vector<part_run>& parts,
                                                 std::size_t from, std::size_t to);

/// The same map with neighbours of one thread joined and in as few parts as it can be said with,
/// not above `most`: where that needs rounding, edges move by less than one part.
[[nodiscard]] std::vector<part_run> simplified(std::vector<part_run> parts, std::uint64_t most);

} // namespace nodewise::plans
