// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nodewise/id.hpp>

#include "report/style.hpp"

namespace nodewise::report {

/// A bar of `columns` columns filled up to `ratio` (0..1), in eighths of a column where the locale
/// allows. More than nothing is never drawn as nothing, less than all never as all.
[[nodiscard]] std::string bar(const style& how, double ratio, std::size_t columns);

struct share {
  std::string label;
  double ratio = 0;            ///< 0..1; not finite: "unavailable"
  node_id node = unknown_node; ///< gives the colour
  std::string note;            ///< after the percentage, "1.20 GiB"
};

/// One line a share: label, bar, percentage, note. Every line ends with a newline.
[[nodiscard]] std::string share_bars(const style& how, std::span<const share> shares,
                                     std::size_t indent = 0);

} // namespace nodewise::report
