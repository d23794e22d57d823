// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Objects from one place in the code that belong to several threads, such as rows.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// Objects in allocation order that are placed alike.
struct site_part {
  positions items; ///< positions in the analysis_input
  /// The thread that uses most of it, by number. Set only if neighbours share an owner so often, or
  /// threads use objects so exclusively, that chance cannot explain it.
  std::optional<std::size_t> owner;
  std::vector<double> shares; ///< by item, 0..1: owner's share of the use by the plan's threads
};

/// Few objects: one part each. Many objects: consecutive ones with the same owner together. Empty
/// if that gives only one part, or if many objects have their owners by chance.
[[nodiscard]] std::vector<site_part> parts_of_site(const analysis_input& of,
                                                   const positions& items);

} // namespace nodewise::advise
