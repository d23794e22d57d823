// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/owned_loop.hpp>

namespace nodewise::inline v0::detail {

void refuse_lengths(std::size_t first, std::size_t other) {
  throw error(error_kind::usage, "a loop over arrays together",
              "one has " + std::to_string(first) + " elements, another " + std::to_string(other),
              "loop over arrays of one length");
}

} // namespace nodewise::inline v0::detail
