// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nodewise::html {

/// The style sheet of pages: light and dark, narrow and wide, screen and paper.
[[nodiscard]] std::string_view page_style() noexcept;

} // namespace nodewise::html
