// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Texts beside rows, and the colours of rows.
#pragma once

#include <string>
#include <string_view>

#include "drawing/svg.hpp"

namespace nodewise::drawing {

/// How much a row matters.
enum class weight { plain, chosen, faint };

/// One that is seen on light and on dark paper.
[[nodiscard]] std::string_view colour_of(weight what) noexcept;

/// `text` as it is shown, cut to about this width in pixels: "a long na...".
[[nodiscard]] std::string fitting(std::string_view text, double width, const text_look& look = {});

/// The name of a row at the left end of a line, strong if chosen, and a note at the right end. Each
/// is cut where it has no room. `at`: the left end of the base line.
void draw_label(svg& into, point at, double width, std::string_view name, std::string_view note,
                weight what);

} // namespace nodewise::drawing
