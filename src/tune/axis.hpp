// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace nodewise::tune {

/// What the settings of a race differ in.
enum class axis { threads, bind, memory, smt, nodes, pages, balancing };
/// In the order of `axis`: the words of --over.
inline constexpr std::array<std::string_view, 7> axis_names = {
    "threads", "bind", "memory", "smt", "nodes", "pages", "balancing"};

} // namespace nodewise::tune
