// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a fuzz target is made of: libFuzzer's one function, and good inputs to begin with. A target
// builds with libFuzzer as it is; here driver.cpp calls it, with any compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace nodewise::fuzz {

/// Inputs that make sense; the driver's are made of them.
[[nodiscard]] std::vector<std::string> seeds();

[[nodiscard]] inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// What must hold whatever the input is.
inline void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

} // namespace nodewise::fuzz
