// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/chunks.hpp"

#include <algorithm>
#include <cmath>

namespace nodewise::model {

chunk_dealer::chunk_dealer(const loop& of, std::size_t pieces, std::uint64_t seed)
    : loop_(of), windows_(sample_of(of, pieces)), at_(of.threads()), random_(seed) {
  if (const std::size_t borders = of.borders(); borders > pieces) {
    block_windows_ = most_windows;
    block_part_ = static_cast<double>(pieces) / static_cast<double>(borders);
  }
}

std::optional<iteration_range> chunk_dealer::next_of_block(std::size_t thread) {
  const auto [begin, end] = block_of(loop_, thread);
  const auto length = static_cast<double>(end - begin);
  const auto windows = static_cast<double>(block_windows_);
  for (std::size_t& window = at_[thread].window; window < block_windows_;) {
    const double first = length * static_cast<double>(window++) / windows;
    const double last = first + length * block_part_ / windows;
    const iteration_range part = {begin + static_cast<std::size_t>(std::ceil(first)),
                                  begin + static_cast<std::size_t>(std::ceil(last))};
    if (part.first < part.last) {
      return part;
    }
  }
  return std::nullopt;
}

std::optional<iteration_range> chunk_dealer::next_in_turn(std::size_t thread) {
  for (auto& [window, turn] = at_[thread]; window < windows_.size(); ++window, turn = 0) {
    const auto [begin, end] = windows_[window];
    const std::size_t first = begin + (turn * loop_.threads() + thread) * loop_.chunk();
    if (first < end) {
      ++turn;
      return iteration_range{first, std::min(end, first + loop_.chunk())};
    }
  }
  return std::nullopt;
}

std::optional<iteration_range> chunk_dealer::next_of_pool() {
  while (pool_.window < windows_.size() &&
         pool_.dealt == windows_[pool_.window].last - windows_[pool_.window].first) {
    pool_ = {pool_.window + 1, 0};
  }
  if (pool_.window == windows_.size()) {
    return std::nullopt;
  }
  const iteration_range window = windows_[pool_.window];
  const std::size_t left = window.last - window.first - pool_.dealt;
  std::size_t size = std::min(left, loop_.chunk());
  if (loop_.how.kind == schedule_kind::guided) {
    // As in libgomp: the remaining iterations divided by the number of threads, rounded up.
    size = std::min(left, std::max(size, (left + loop_.threads() - 1) / loop_.threads()));
  }
  std::size_t first = window.first + pool_.dealt;
  pool_.dealt += size;
  if (loop_.how.kind == schedule_kind::random) {
    const std::size_t chunks = std::max<std::size_t>(1, loop_.iterations() / loop_.chunk());
    first =
        static_cast<std::size_t>(random_.uniform() * static_cast<double>(chunks)) * loop_.chunk();
  }
  return iteration_range{first, std::min(loop_.iterations(), first + size)};
}

std::optional<iteration_range> chunk_dealer::next(std::size_t thread) {
  if (loop_.how.is_pooled()) {
    return next_of_pool();
  }
  return loop_.chunk() == 0 ? next_of_block(thread) : next_in_turn(thread);
}

} // namespace nodewise::model
