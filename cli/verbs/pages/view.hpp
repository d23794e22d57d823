// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Shows the results of `pages` as text, JSON and CSV.
#pragma once

#include <chrono>

#include <nlohmann/json_fwd.hpp>

#include "observe/observer.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Several processes at one time.
struct pages_sample {
  std::chrono::system_clock::time_point when;
  std::vector<observe::page_map> processes;
};

struct pages_view_options {
  bool all = false;     ///< include mappings of less than 64 KiB
  bool totals = false;  ///< numastat's sums instead of the mappings
  std::string settings; ///< "numa_balancing 0, THP madvise", for the heading
};

/// A heading and a table. Every line ends with a newline.
[[nodiscard]] std::string pages_text(const observe::page_map& map, const report::style& how,
                                     const pages_view_options& options);

/// `nodewise/pages/1`.
[[nodiscard]] nlohmann::ordered_json pages_json(const std::vector<pages_sample>& samples,
                                                const machine& on, nlohmann::ordered_json settings);

inline constexpr std::string_view pages_csv_header =
    "time_s,process,node,resident_bytes,threads,active_threads\n";
/// One row for each process and node; times in seconds since 1970.
[[nodiscard]] std::string pages_csv(const pages_sample& sample, const machine& on);

} // namespace nodewise::cli
