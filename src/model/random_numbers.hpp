// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nodewise::model {

/// Uniform numbers that are the same everywhere (splitmix64); the standard library's are not.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) noexcept : state_(seed) {}
  [[nodiscard]] std::uint64_t next() noexcept;
  [[nodiscard]] double uniform() noexcept;     ///< 0 <= x < 1
  [[nodiscard]] double exponential() noexcept; ///< of mean 1
 private:
  std::uint64_t state_;
};

} // namespace nodewise::model
