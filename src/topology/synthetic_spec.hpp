// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nodewise::topology_detail {

/// More processors than any machine has, but few enough that a typing error costs no gigabytes.
inline constexpr unsigned long most_synthetic_cpus = 65536;

/// Converts "4x2" (nodes x cores) and "4x2x2" (x threads) to hwloc's syntax and returns that syntax
/// unchanged. Throws `error` (usage) for anything else and for more than `most_synthetic_cpus`.
[[nodiscard]] std::string to_hwloc_synthetic(std::string_view spec);

} // namespace nodewise::topology_detail
