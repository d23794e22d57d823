// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nodewise/id.hpp>

namespace nodewise::drawing {

/// A colour from dark blue (0) to yellow (1), "#00224e". Its lightness grows evenly, also for
/// colour-blind readers and in print (cividis: J. Nuñez, C. Anderton, R. Renslow, PLOS
/// ONE 13(7), 2018).
[[nodiscard]] std::string scale_colour(double share);

/// Black or white: which of the two is easier to read on `scale_colour(share)`, by the contrast
/// ratio of WCAG 2.
[[nodiscard]] std::string ink_on_scale(double share);

/// A node has the same colour everywhere. Eight colours that colour-blind readers can distinguish
/// (M. Okabe and K. Ito, "Color universal design", 2008), then the same again; grey for
/// `unknown_node`.
[[nodiscard]] std::string node_colour(node_id of);

} // namespace nodewise::drawing
