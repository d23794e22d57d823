// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A number that says where it comes from.
#pragma once

#include <string>
#include <string_view>

namespace nodewise::model {

/// How much a number is worth.
enum class origin {
  measured,  ///< on that machine, by whoever wrote its file
  published, ///< by its maker or in a paper
  given,     ///< by whoever asks
  assumed,   ///< by us, for want of better
};
[[nodiscard]] std::string_view to_string(origin from) noexcept;
/// Of a source as machine files have it: "measured ...", "given ...", "assumed ..."; all else is a
/// publication.
[[nodiscard]] origin origin_of(std::string_view source) noexcept;

struct figure {
  double value = 0;
  origin from = origin::assumed;
  std::string source; ///< who says so
};

} // namespace nodewise::model
