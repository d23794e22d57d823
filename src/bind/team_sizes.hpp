// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Nested parallel regions in OpenMP's variables: OMP_NUM_THREADS=4,2 means a team of 4 threads,
// each of which starts a team of 2.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise::bind {

/// Outermost first. Stops at the first invalid number, so the result is empty if the text does not
/// begin with a number.
[[nodiscard]] std::vector<std::size_t> parse_team_sizes(std::string_view text);
/// The total number of threads in the innermost teams; 0 for no sizes. At most SIZE_MAX.
[[nodiscard]] std::size_t threads_of_teams(const std::vector<std::size_t>& sizes);
/// OMP_PROC_BIND for a layout with a place for each of these threads: the outer teams spread over
/// its places, and the threads of an inner team on the places beside their starting thread.
[[nodiscard]] std::string nested_proc_bind(const std::vector<std::size_t>& sizes);

} // namespace nodewise::bind
