// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Who gets which iterations next, as the OpenMP runtimes deal them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/loop.hpp"
#include "model/random_numbers.hpp"

namespace nodewise::model {

/// Iterations that stand for all of a loop with chunks: windows of whole rounds, evenly over the
/// loop, with about so many chunks and pages together; or one window, the whole loop. Of guided
/// chunks there are few: they are always the whole loop.
[[nodiscard]] std::vector<iteration_range> sample_of(const loop& of, std::size_t pieces);

class chunk_dealer {
 public:
  /// Of about so many chunks and borders of pages: of whole blocks, parts evenly over each; of
  /// chunks, `sample_of`. Windows follow one another without a barrier. `of` outlives this.
  chunk_dealer(const loop& of, std::size_t pieces, std::uint64_t seed);

  /// The next iterations of a thread that is done with its last ones; nothing when there are none.
  [[nodiscard]] std::optional<iteration_range> next(std::size_t thread);

 private:
  struct place {
    std::size_t window = 0;
    std::size_t dealt = 0; ///< of the window: chunks, of a pool iterations
  };
  [[nodiscard]] std::optional<iteration_range> next_of_block(std::size_t thread);
  [[nodiscard]] std::optional<iteration_range> next_in_turn(std::size_t thread);
  [[nodiscard]] std::optional<iteration_range> next_of_pool();

  const loop& loop_;
  std::vector<iteration_range> windows_;
  std::size_t block_windows_ = 1; ///< of whole blocks
  double block_part_ = 1;         ///< that is looked at
  std::vector<place> at_;         ///< by thread
  place pool_;
  random_numbers random_;
};

} // namespace nodewise::model
