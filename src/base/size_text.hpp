// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nodewise {

/// Bytes from "4096", "64K", "4MiB", "1.5G": binary units. nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

/// The exact size in the largest unit that divides it: "8M", "64K", "8388609".
[[nodiscard]] std::string exact_size_text(std::uint64_t bytes);

} // namespace nodewise
