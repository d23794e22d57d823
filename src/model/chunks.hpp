// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which thread gets which iterations next, as the OpenMP runtimes hand them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/loop.hpp"
#include "model/random_numbers.hpp"

namespace nodewise::model {

/// A sample of the iterations of a loop with chunks: windows of whole rounds, spread evenly over
/// the loop, with about `pieces` chunks and pages together; or one window, the whole loop. Guided
/// loops have few chunks, so their sample is always the whole loop.
[[nodiscard]] std::vector<iteration_range> sample_of(const loop& of, std::size_t pieces);

class chunk_dealer {
 public:
  /// Hands out about `pieces` chunks and page borders: of whole blocks, parts spread evenly over
  /// each; of chunks, `sample_of`. There is no barrier between windows. `of` must outlive this.
  chunk_dealer(const loop& of, std::size_t pieces, std::uint64_t seed);

  /// The next iterations of a thread that has finished its last ones; nullopt if none are left.
  [[nodiscard]] std::optional<iteration_range> next(std::size_t thread);

 private:
  struct place {
    std::size_t window = 0;
    std::size_t dealt = 0; ///< of the window: chunks, or iterations of a pool
  };
  [[nodiscard]] std::optional<iteration_range> next_of_block(std::size_t thread);
  [[nodiscard]] std::optional<iteration_range> next_in_turn(std::size_t thread);
  [[nodiscard]] std::optional<iteration_range> next_of_pool();

  const loop& loop_;
  std::vector<iteration_range> windows_;
  std::size_t block_windows_ = 1; ///< in each whole block
  double block_part_ = 1;         ///< the part of each block that is sampled
  std::vector<place> at_;         ///< by thread
  place pool_;
  random_numbers random_;
};

} // namespace nodewise::model
