// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How far apart the data of different threads must lie.
#pragma once

#include <cstddef>

namespace nodewise::inline v0 {

/// Data of different threads at this distance does not take cache lines from one another: two lines
/// of 64 bytes, since processors fetch the neighbour of a line with it. A constant, where
/// std::hardware_destructive_interference_size depends on the compiler's flags.
inline constexpr std::size_t interference_bytes = 128;

/// A value on lines of its own.
template <class T>
struct alignas(interference_bytes) padded {
  T value{};
};

} // namespace nodewise::inline v0
