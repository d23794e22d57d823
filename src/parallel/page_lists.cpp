// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <nodewise/arithmetic.hpp>
#include <nodewise/schedule.hpp>

namespace nodewise::inline v0 {

page_lists::page_lists(std::span<const extent> pages, const thread_map& threads)
    : lists_(threads.teams().size() + 1) {
  struct homes {
    std::vector<std::size_t> teams;
    std::size_t turn = 0; ///< short extents of a node without workers go to its teams in turn
  };
  std::map<int, homes> of_node;
  for (const extent& e : pages) {
    homes& near = of_node[to_int(e.owner)];
    if (near.teams.empty()) {
      near.teams = threads.nearest_to(e.owner);
    }
    const std::size_t count = near.teams.size();
    for (std::size_t part = 0; part < count; ++part) {
      const auto cut = arithmetic::blocked(part, e.pages(), count);
      if (cut.size() != 0) {
        const std::size_t team = near.teams[(near.turn + part) % count];
        append(team, e.first_page + cut.first, e.first_page + cut.last, team);
        append(everything(), e.first_page + cut.first, e.first_page + cut.last, team);
      }
    }
    near.turn = (near.turn + 1) % count;
  }
}

void page_lists::append(std::size_t list, std::size_t first_page, std::size_t last_page,
                        std::size_t home) {
  std::vector<run>& runs = lists_[list];
  if (!runs.empty() && runs.back().last_page == first_page && runs.back().home == home) {
    runs.back().last_page = last_page;
    return;
  }
  runs.push_back({first_page, last_page, home, pages(list)});
}

std::size_t page_lists::pages(std::size_t list) const noexcept {
  const std::vector<run>& runs = lists_[list];
  return runs.empty() ? 0 : runs.back().before + runs.back().last_page - runs.back().first_page;
}

std::size_t page_lists::find(std::size_t list, std::size_t position) const noexcept {
  const std::vector<run>& runs = lists_[list];
  const auto after = std::ranges::upper_bound(runs, position, {}, &run::before);
  return after == runs.begin() ? 0 : static_cast<std::size_t>(after - runs.begin()) - 1;
}

chunk owned_part(const page_lists& pages, const thread_map& threads, const worker& me) noexcept {
  const auto part = arithmetic::blocked(me.in_team, pages.pages(me.team),
                                        threads.teams()[me.team].workers.size());
  return {me.team, part.first, part.last};
}

} // namespace nodewise::inline v0
