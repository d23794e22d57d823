// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Puts the values of different threads on separate cache lines.
//
//     std::vector<nodewise::cache_aligned<long>> counts(2);
//     std::jthread other([&] { ++counts[1].value; });
//     ++counts[0].value; // takes no cache line from the other thread
//     other.join();
//     std::printf("%ld\n", counts[0].value + counts[1].value);
#pragma once

#include <cstddef>

namespace nodewise::inline v0 {

/// The distance in bytes at which threads that write do not share a cache line: two lines of 64
/// bytes, because processors fetch a line together with its neighbour. It is a constant, whereas
/// std::hardware_destructive_interference_size depends on the compiler's flags.
inline constexpr std::size_t cache_aligned_bytes = 128;

/// A value with cache lines of its own.
template <class T>
struct alignas(cache_aligned_bytes) cache_aligned {
  T value{};
};

/// The old name of `cache_aligned_bytes`.
[[deprecated("use cache_aligned_bytes")]] inline constexpr std::size_t interference_bytes =
    cache_aligned_bytes;

/// The old name of `cache_aligned`.
template <class T>
using padded [[deprecated("use cache_aligned")]] = cache_aligned<T>;

} // namespace nodewise::inline v0
