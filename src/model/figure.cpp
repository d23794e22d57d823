// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/figure.hpp"

#include <algorithm>
#include <array>

namespace nodewise::model {

namespace {

constexpr std::array<std::string_view, 4> origins = {"measured", "published", "given", "assumed"};

} // namespace

std::string_view to_string(origin from) noexcept {
  return origins[static_cast<std::size_t>(from)];
}

origin origin_of(std::string_view source) noexcept {
  const auto* const found = std::ranges::find_if(
      origins, [&](std::string_view name) { return source.starts_with(name); });
  return found == origins.end() ? origin::published : static_cast<origin>(found - origins.begin());
}

} // namespace nodewise::model
