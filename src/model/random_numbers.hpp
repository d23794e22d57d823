// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace nodewise::model {

/// Uniform numbers that are the same everywhere (splitmix64); the standard library's are not.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) noexcept : state_(seed) {}
  [[nodiscard]] std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// 0 <= x < 1
  [[nodiscard]] double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  /// Of mean 1.
  [[nodiscard]] double exponential() noexcept { return -std::log1p(-uniform()); }

 private:
  std::uint64_t state_;
};

} // namespace nodewise::model
