// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace nodewise::plans {

/// In the order of `place_kind`, as --places takes them.
inline constexpr std::array<std::string_view, 4> place_names = {"threads", "cores", "nodes",
                                                                "packages"};
/// In the order of `bind_policy`.
inline constexpr std::array<std::string_view, 3> bind_names = {"none", "close", "spread"};

/// False, true: the values of --main.
inline constexpr std::array<std::string_view, 2> main_names = {"waits", "works"};

} // namespace nodewise::plans
