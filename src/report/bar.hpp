// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nodewise/id.hpp>

#include "report/style.hpp"

namespace nodewise::report {

/// A bar of `columns` columns filled up to `ratio` (0..1), in eighths of a column if the locale
/// allows. Only 0 is drawn as empty, and only 1 as full.
[[nodiscard]] std::string bar(const style& how, double ratio, std::size_t columns);

struct share {
  std::string label;
  double ratio = 0;            ///< 0..1; not finite: "unavailable"
  node_id node = unknown_node; ///< sets the colour
  std::string note;            ///< after the percentage, "1.20 GiB"
};

/// One line for each share: label, bar, percentage, note. Every line ends with a newline.
[[nodiscard]] std::string share_bars(const style& how, std::span<const share> shares,
                                     std::size_t indent = 0);

} // namespace nodewise::report
