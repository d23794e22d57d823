// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nodewise {

/// Bytes from "4096", "64K", "4MiB", "1.5G": binary units. nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

} // namespace nodewise
