// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which thread gets which iterations, and which pages it therefore touches first.
#include "model/chunks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nodewise::model {

namespace {

std::size_t node_of_thread(const machine_costs& on, const loop& of, std::size_t t) {
  return on.cores[of.cores[t]].node;
}

/// Blocks of elements in ascending order; the node that touches a page's first element gets it.
class touched {
 public:
  explicit touched(const loop& by) : loop_(by) {}

  void until(std::size_t element, std::size_t node) {
    const std::size_t last = loop_.page_of(element - 1) + 1;
    if (blocks_.empty() || last > blocks_.back().last) {
      blocks_.push_back({last, node});
    }
  }
  [[nodiscard]] page_map map() && { return page_map::of_blocks(std::move(blocks_)); }

 private:
  const loop& loop_;
  std::vector<page_block> blocks_;
};

page_map by_blocks(const machine_costs& on, const loop& by) {
  touched pages(by);
  for (std::size_t t = 0; t < by.threads(); ++t) {
    const iteration_range block = block_of(by, t);
    if (block.first < block.last) {
      pages.until(by.first_element(block.last), node_of_thread(on, by, t));
    }
  }
  return std::move(pages).map();
}

page_map by_chunks_in_turn(const machine_costs& on, const loop& by) {
  // After a round of nodes, pages repeat.
  constexpr std::size_t most_pages = 1 << 20;
  const std::size_t round_bytes = by.chunk() * by.threads() * by.element_bytes;
  const std::size_t round_pages = round_bytes / std::gcd(round_bytes, by.page_bytes);
  if (by.form == shape::flat && round_pages <= most_pages) {
    std::vector<std::size_t> nodes;
    for (std::size_t page = 0; page < round_pages; ++page) {
      const std::size_t touching = page * by.page_bytes / by.element_bytes / by.chunk();
      nodes.push_back(node_of_thread(on, by, touching % by.threads()));
    }
    return page_map::in_turn(std::move(nodes));
  }
  touched pages(by);
  for (std::size_t i = 0, k = 0; i < by.iterations(); i += by.chunk(), ++k) {
    pages.until(by.first_element(std::min(by.iterations(), i + by.chunk())),
                node_of_thread(on, by, k % by.threads()));
  }
  return std::move(pages).map();
}

/// Shrinking chunks are few: each goes to a thread at random.
page_map by_guided_chunks(const machine_costs& on, const loop& by) {
  touched pages(by);
  random_numbers random(by.iterations());
  chunk_dealer dealer(by, by.pages(), 0);
  for (;;) {
    const std::size_t t = random.next() % by.threads();
    const auto chunk = dealer.next(t);
    if (!chunk) {
      return std::move(pages).map();
    }
    pages.until(by.first_element(chunk->last), node_of_thread(on, by, t));
  }
}

/// The order of threads is not known: a random node for each page, or each chunk of several pages.
page_map at_random(const machine_costs& on, const loop& by) {
  constexpr std::size_t pattern = 4096;
  random_numbers random(by.iterations());
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < pattern; ++i) {
    nodes.push_back(node_of_thread(on, by, random.next() % by.threads()));
  }
  // For a triangle this is the mean chunk.
  const std::size_t chunk_pages = by.pages() / (by.iterations() / by.chunk());
  return page_map::in_turn(std::move(nodes), std::max<std::size_t>(1, chunk_pages));
}

} // namespace

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

page_map first_touch(const machine_costs& on, const loop& by) {
  check_loop(on, by);
  switch (by.how.kind) {
  case schedule_kind::dynamic:
  case schedule_kind::random:
    return at_random(on, by);
  case schedule_kind::guided:
    return by_guided_chunks(on, by);
  case schedule_kind::fixed:
  case schedule_kind::even:
    break;
  }
  return by.chunk() > 0 ? by_chunks_in_turn(on, by) : by_blocks(on, by);
}

} // namespace nodewise::model
