// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "model/chunks.hpp"
#include "model/loop.hpp"
#include "model/random_numbers.hpp"

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

/// The round of nodes after which pages repeat; nullopt if it is too long or there is none.
std::optional<page_map> in_rounds(const machine_costs& on, const loop& by) {
  constexpr std::size_t most_pages = 1 << 20;
  const std::size_t round_bytes = by.chunk() * by.threads() * by.element_bytes;
  const std::size_t pages = round_bytes / std::gcd(round_bytes, by.page_bytes);
  if (by.form != shape::flat || pages > most_pages) {
    return std::nullopt;
  }
  std::vector<std::size_t> nodes;
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t touching = page * by.page_bytes / by.element_bytes / by.chunk();
    nodes.push_back(node_of_thread(on, by, touching % by.threads()));
  }
  return page_map::in_turn(std::move(nodes));
}

page_map by_chunks_in_turn(const machine_costs& on, const loop& by) {
  if (auto rounds = in_rounds(on, by)) {
    return *std::move(rounds);
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

page_map first_touch(const machine_costs& on, const loop& by) {
  check_loop(on, by);
  switch (by.how.kind) {
  case schedule_kind::dynamic:
  case schedule_kind::random:
    return at_random(on, by);
  case schedule_kind::guided:
    return by_guided_chunks(on, by);
  case schedule_kind::fixed:
    return by.chunk() > 0 ? by_chunks_in_turn(on, by) : by_blocks(on, by);
  case schedule_kind::even:
    break;
  }
  return by_blocks(on, by);
}

} // namespace nodewise::model
