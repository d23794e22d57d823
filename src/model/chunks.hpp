// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Who gets which iterations next, as the OpenMP runtimes deal them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/loop.hpp"

namespace nodewise::model {

/// Uniform numbers that are the same everywhere (splitmix64); the standard library's are not.
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}
  [[nodiscard]] std::uint64_t next() noexcept;
  [[nodiscard]] double uniform() noexcept;     ///< 0 <= x < 1
  [[nodiscard]] double exponential() noexcept; ///< of mean 1
 private:
  std::uint64_t state_;
};

class chunk_dealer {
 public:
  /// `of` outlives this.
  chunk_dealer(const loop& of, std::uint64_t seed);

  /// The next iterations of a thread that is done with its last ones; nothing when there are none.
  [[nodiscard]] std::optional<iteration_range> next(std::size_t thread);

 private:
  [[nodiscard]] std::optional<iteration_range> next_fixed(std::size_t thread);
  [[nodiscard]] std::size_t pooled_size() const;

  const loop& loop_;
  std::size_t chunk_;
  std::vector<std::size_t> dealt_; ///< chunks, by thread
  std::size_t given_ = 0;          ///< iterations of the pool
  dice dice_;
};

} // namespace nodewise::model
