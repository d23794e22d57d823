// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `pages` shows, and how as text.
#pragma once

#include <chrono>
#include <span>

#include "observe/observer.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Several processes at one time.
struct pages_sample {
  std::chrono::system_clock::time_point when;
  std::vector<observe::page_map> processes;
};

/// What the other forms (flags.hpp) are written from.
struct pages_result {
  std::span<const pages_sample> samples;
  const machine& on;
  bool continued = false; ///< after samples that have been written already
};

struct pages_view_options {
  bool all = false;     ///< include mappings of less than 64 KiB
  bool totals = false;  ///< numastat's sums instead of the mappings
  std::string settings; ///< "numa_balancing 0, THP madvise", for the heading
};

/// A heading and a table. Every line ends with a newline.
[[nodiscard]] std::string pages_text(const observe::page_map& map, const report::style& how,
                                     const pages_view_options& options);

} // namespace nodewise::cli
