// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A number and where it comes from.
#pragma once

#include <string>
#include <string_view>

namespace nodewise::model {

/// How a number was obtained, the most reliable first.
enum class origin {
  measured,  ///< on that machine, by the author of its file
  published, ///< by its maker or in a paper
  given,     ///< by the user
  assumed,   ///< by nodewise, if nothing better is known
};
[[nodiscard]] std::string_view to_string(origin from) noexcept;
/// The origin of a source in a machine file: "measured ...", "given ...", "assumed ..."; all else
/// is a publication.
[[nodiscard]] origin origin_of(std::string_view source) noexcept;

struct figure {
  double value = 0;
  origin from = origin::assumed;
  std::string source; ///< where the value comes from
};

} // namespace nodewise::model
