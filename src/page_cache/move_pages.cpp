// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/move_pages.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace nodewise::page_cache {

namespace {

/// No answer of the kernel.
constexpr int not_answered = std::numeric_limits<int>::min();

/// The kernel moves pages in groups with the same node, and gives up at the first group of which it
/// could not move all: it then reports neither on that group nor on the rest
/// (`move_pages_and_store_status` in its mm/migrate.c).
/// So the nodes of pages are then asked for, and pages are moved again without those that cannot
/// be.
class mover {
 public:
  mover(sys::kernel& kernel, bool shared) : kernel_(kernel), shared_(shared) {}

  moved_pages move(std::vector<page_to_move> pages) {
    std::ranges::sort(pages, {},
                      [](const page_to_move& each) { return std::pair(each.node, each.address); });
    while (!pages.empty()) {
      const int failed = request(pages);
      std::vector<page_to_move> rest = without_settled(pages);
      if (failed != 0 && failed != ENOMEM) { // nothing of it is permitted or possible
        result_.stayed[failed] += rest.size();
        break;
      }
      if (rest.size() == pages.size()) {
        give_up_first_node(rest, failed == 0 ? EBUSY : failed);
      }
      pages = std::move(rest);
    }
    return std::move(result_);
  }

 private:
  int request(const std::vector<page_to_move>& pages) {
    std::vector<int> nodes(pages.size());
    addresses_.resize(pages.size());
    answers_.assign(pages.size(), not_answered);
    now_.assign(pages.size(), -ENOENT);
    std::ranges::transform(pages, nodes.begin(), &page_to_move::node);
    std::ranges::transform(pages, addresses_.begin(), &page_to_move::address);
    const int failed = shared_ ? kernel_.move_shared_pages(addresses_, nodes, answers_)
                               : kernel_.move_pages(addresses_, nodes, answers_);
    const bool is_complete = std::ranges::find(answers_, not_answered) == answers_.end();
    if (is_complete || kernel_.query_pages(addresses_, now_) != 0) {
      now_ = answers_;
    }
    return failed;
  }

  /// Counts pages that are where they shall be, and pages with a reason. Returns the others.
  std::vector<page_to_move> without_settled(const std::vector<page_to_move>& pages) {
    std::vector<page_to_move> rest;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if (now_[i] == pages[i].node) {
        ++result_.moved;
      } else if (now_[i] == -ENOENT) {
        ++result_.stayed[ENOENT]; // evicted meanwhile
      } else if (answers_[i] < 0 && answers_[i] != not_answered) {
        ++result_.stayed[-answers_[i]];
      } else {
        rest.push_back(pages[i]);
      }
    }
    return rest;
  }

  void give_up_first_node(std::vector<page_to_move>& rest, int why) {
    const auto end = std::ranges::find_if(
        rest, [&](const page_to_move& each) { return each.node != rest.front().node; });
    result_.stayed[why] += static_cast<std::uint64_t>(end - rest.begin());
    rest.erase(rest.begin(), end);
  }

  sys::kernel& kernel_;
  bool shared_;
  moved_pages result_;
  std::vector<void*> addresses_;
  std::vector<int> answers_;
  std::vector<int> now_;
};

} // namespace

moved_pages move_pages(sys::kernel& kernel, std::vector<page_to_move> pages, bool shared) {
  return mover(kernel, shared).move(std::move(pages));
}

} // namespace nodewise::page_cache
