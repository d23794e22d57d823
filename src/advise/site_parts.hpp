// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Objects that one place in the code makes and that belong to several threads, as rows do.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// Objects in the order of their making that are placed alike.
struct site_part {
  std::vector<std::size_t> items; ///< of the analysis_input
  /// The thread that uses most of it, by number: only where neighbours have the same so often, or
  /// threads use objects so much alone, that chance cannot have done that.
  std::optional<std::size_t> owner;
  std::vector<double> shares; ///< by item, 0..1 of what plan's threads use of it: by the owner
};

/// Each of few objects by itself; of many, those in a row with one owner together. Empty if that
/// would be one part, or if many objects have their owners by chance.
[[nodiscard]] std::vector<site_part> parts_of_site(const analysis_input& of,
                                                   const std::vector<std::size_t>& items);

} // namespace nodewise::advise
