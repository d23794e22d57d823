// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/owned_loop.hpp>

#include <fmt/core.h>

namespace nodewise::inline v0::detail {

void refuse_lengths(std::size_t first, std::size_t other) {
  throw error(error_kind::usage, "cannot loop over arrays together",
              fmt::format("one has {} elements, another has {}", first, other),
              "use arrays of the same length");
}

} // namespace nodewise::inline v0::detail
