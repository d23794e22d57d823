// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/chunks.hpp"

#include <algorithm>
#include <cmath>

namespace nodewise::model {

std::uint64_t dice::next() noexcept {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

double dice::uniform() noexcept {
  return static_cast<double>(next() >> 11U) * 0x1p-53;
}

double dice::exponential() noexcept {
  return -std::log1p(-uniform());
}

chunk_dealer::chunk_dealer(const loop& of, std::uint64_t seed)
    : loop_(of), chunk_(std::max<std::size_t>(1, of.how.chunk)), dealt_(of.threads(), 0),
      dice_(seed) {}

std::optional<iteration_range> chunk_dealer::next_fixed(std::size_t thread) {
  const std::size_t turn = dealt_[thread]++;
  if (loop_.how.kind == schedule_kind::even || loop_.how.chunk == 0) {
    const iteration_range block = block_of(loop_, thread);
    return turn == 0 && block.first < block.last ? std::optional(block) : std::nullopt;
  }
  const std::size_t first = (turn * loop_.threads() + thread) * chunk_;
  if (first >= loop_.iterations()) {
    return std::nullopt;
  }
  return iteration_range{first, std::min(loop_.iterations(), first + chunk_)};
}

std::size_t chunk_dealer::pooled_size() const {
  const std::size_t left = loop_.iterations() - given_;
  if (loop_.how.kind != schedule_kind::guided) {
    return std::min(left, chunk_);
  }
  // libgomp: what is left over the number of threads, rounded up.
  const std::size_t part = (left + loop_.threads() - 1) / loop_.threads();
  return std::min(left, std::max(chunk_, part));
}

std::optional<iteration_range> chunk_dealer::next(std::size_t thread) {
  if (!loop_.how.is_pooled()) {
    return next_fixed(thread);
  }
  if (given_ >= loop_.iterations()) {
    return std::nullopt;
  }
  const std::size_t size = pooled_size();
  std::size_t first = given_;
  given_ += size;
  if (loop_.how.kind == schedule_kind::random) {
    const std::size_t whole_chunks = std::max<std::size_t>(1, loop_.iterations() / chunk_);
    first = static_cast<std::size_t>(dice_.uniform() * static_cast<double>(whole_chunks)) * chunk_;
  }
  return iteration_range{first, std::min(loop_.iterations(), first + size)};
}

} // namespace nodewise::model
