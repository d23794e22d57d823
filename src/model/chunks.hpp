// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which thread gets which iterations next, as the OpenMP runtimes hand them out.
#pragma once

#include "model/loop.hpp"
#include "model/random_numbers.hpp"

namespace nodewise::model {

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
