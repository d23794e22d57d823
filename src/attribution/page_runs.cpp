// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/page_runs.hpp"

#include <algorithm>

namespace nodewise::attribution {

namespace {

std::uint64_t end_of(const auto& run) {
  return run.first + run.count;
}

bool follows(const auto& runs, std::uint64_t first) {
  return !runs.empty() && end_of(runs.back()) == first;
}

} // namespace

void append(std::vector<profile::resident_run>& runs, const profile::resident_run& next) {
  if (follows(runs, next.first) && runs.back().node == next.node) {
    runs.back().count += next.count;
  } else {
    runs.push_back(next);
  }
}

void append(std::vector<profile::use_run>& runs, profile::use_run next) {
  if (follows(runs, next.first) && runs.back().by.size() == 1 && next.by.size() == 1 &&
      runs.back().by.front().by == next.by.front().by) {
    runs.back().count += next.count;
    runs.back().by.front().amount += next.by.front().amount;
  } else {
    runs.push_back(std::move(next));
  }
}

std::vector<profile::resident_run> where_of(const launch::object_report& report) {
  std::vector<profile::resident_run> made;
  if (!report.where.empty() || report.resident == 0) {
    for (const launch::object_report::run& each : report.where) {
      made.push_back({each.first, each.count, each.node});
    }
    return made;
  }
  const std::uint64_t cells = report.strip.size();
  for (std::uint64_t i = 0; i < cells; ++i) {
    using content = launch::object_report::cell::content;
    const std::uint64_t first = report.pages * i / cells;
    const std::uint64_t last = report.pages * (i + 1) / cells;
    const launch::object_report::cell& cell = report.strip[i];
    if (cell.what == content::empty || last == first) {
      continue;
    }
    append(made, {first, last - first, cell.what == content::node ? cell.node : unknown_node});
  }
  return made;
}

std::vector<profile::resident_run> where_touched(const observed_object& object,
                                                 std::uint64_t pages) {
  std::vector<profile::resident_run> made;
  const std::uint64_t known = std::min<std::uint64_t>(pages, object.pages.size());
  for (std::uint64_t page = 0; page < known; ++page) {
    if (const node_id node{object.pages[page].memory}; node != unknown_node) {
      append(made, {page, 1, node});
    }
  }
  return made;
}

std::uint64_t complete_huge_pages(observed_object& object, std::uint64_t pages,
                                  const std::vector<profile::resident_run>& where,
                                  std::size_t page_bytes, std::size_t huge_bytes) {
  const std::uint64_t huge = huge_bytes / page_bytes;
  if (huge < 2) {
    return 0;
  }
  std::uint64_t found = 0;
  auto at = where.begin();
  // Whether each page of a range is in memory; ranges ascend.
  const auto covers = [&](std::uint64_t first, std::uint64_t last) {
    at = std::find_if(at, where.end(), [&](auto& run) { return end_of(run) > first; });
    for (auto each = at; each != where.end() && each->first <= first && first < last; ++each) {
      first = end_of(*each);
    }
    return first >= last;
  };
  const std::uint64_t offset = object.start / page_bytes % huge;
  for (std::uint64_t first = (huge - offset) % huge; first + huge <= pages; first += huge) {
    std::uint64_t touched = 0;
    page_touch by;
    for (std::uint64_t page = first; page < first + huge && page < object.pages.size(); ++page) {
      if (object.is_touched(page)) {
        ++touched;
        by = object.pages[page];
      }
    }
    if (touched == 1 && covers(first, first + huge)) {
      object.pages.resize(std::max<std::size_t>(object.pages.size(), first + huge));
      std::fill_n(object.pages.begin() + static_cast<std::ptrdiff_t>(first), huge, by);
      ++found;
    }
  }
  return found;
}

std::vector<profile::touched_run> touched_of(const observed_object& object, std::uint64_t pages) {
  std::vector<profile::touched_run> made;
  const std::uint64_t known = std::min<std::uint64_t>(pages, object.pages.size());
  for (std::uint64_t page = 0; page < known; ++page) {
    const page_touch& by = object.pages[page];
    if (by.by == page_touch::none) {
      continue;
    }
    const node_id from{by.node};
    if (follows(made, page) && made.back().by == by.by && made.back().from == from) {
      ++made.back().count;
    } else {
      made.push_back({page, 1, by.by, from});
    }
  }
  return made;
}

std::uint64_t unseen_touches_of(const observed_object& object,
                                const std::vector<profile::resident_run>& where) {
  std::uint64_t count = 0;
  for (const profile::resident_run& run : where) {
    for (std::uint64_t page = run.first; page < run.first + run.count; ++page) {
      count += object.is_touched(page) ? 0U : 1U;
    }
  }
  return count;
}

std::uint64_t elsewhere_of(const std::vector<profile::touched_run>& touched,
                           const std::vector<profile::resident_run>& where) {
  std::uint64_t count = 0;
  auto at = where.begin();
  for (const profile::touched_run& run : touched) {
    at = std::find_if(at, where.end(), [&](auto& each) { return end_of(each) > run.first; });
    for (auto each = at; each != where.end() && each->first < end_of(run); ++each) {
      if (run.from != unknown_node && each->node != unknown_node && run.from != each->node) {
        count += std::min(end_of(run), end_of(*each)) - std::max(run.first, each->first);
      }
    }
  }
  return count;
}

std::vector<profile::use_run> uses_of(observed_object& object, std::uint64_t pages) {
  std::ranges::sort(object.accesses);
  std::vector<profile::use_run> made;
  for (std::size_t i = 0; i < object.accesses.size();) {
    const std::uint64_t page = object.accesses[i].page;
    profile::use_run run{page, 1, {}};
    for (; i < object.accesses.size() && object.accesses[i].page == page; ++i) {
      if (run.by.empty() || run.by.back().by != object.accesses[i].by) {
        run.by.push_back({object.accesses[i].by, 0});
      }
      run.by.back().amount += 1;
    }
    if (page >= pages) {
      break;
    }
    append(made, std::move(run));
  }
  return made;
}

void page_uses::add(const traffic::user_run& run, std::uint64_t first,
                    const std::vector<profile::thread_index>& threads) {
  const auto count = static_cast<double>(run.count);
  for (std::uint64_t page = first; page < first + run.count; ++page) {
    auto& users = by_page[page];
    for (const traffic::thread_lines& each : run.by) {
      users[threads[each.thread]] += static_cast<double>(each.lines) / count;
    }
    const auto [found, is_new] = where.try_emplace(page, run.to);
    moved += !is_new && found->second != run.to ? 1U : 0U;
    found->second = run.to;
  }
}

std::vector<profile::use_run> page_uses::runs() const {
  std::vector<profile::use_run> made;
  const std::map<profile::thread_index, double>* before = nullptr;
  for (const auto& [page, users] : by_page) {
    if (before != nullptr && *before == users && made.back().first + made.back().count == page) {
      ++made.back().count;
      for (profile::use& each : made.back().by) {
        each.amount += users.at(each.by);
      }
    } else {
      profile::use_run run{page, 1, {}};
      for (const auto& [by, amount] : users) {
        run.by.push_back({by, amount});
      }
      append(made, std::move(run));
    }
    before = &users;
  }
  return made;
}

std::vector<profile::resident_run>
page_uses::residence(const std::vector<profile::resident_run>& known) const {
  std::map<std::uint64_t, node_id> all = where;
  std::erase_if(all, [](const auto& page) { return page.second == unknown_node; });
  for (const profile::resident_run& run : known) {
    for (std::uint64_t page = run.first; page < run.first + run.count; ++page) {
      all.try_emplace(page, run.node);
    }
  }
  std::vector<profile::resident_run> made;
  for (const auto& [page, node] : all) {
    append(made, {page, 1, node});
  }
  return made;
}

initialisation::initialisation(const traffic::counts& from, traffic::process_key program,
                               const std::vector<profile::thread_index>& threads) {
  // Memory outside all objects is counted by address.
  const auto page_of = [&](const auto& run) {
    return run.object ? run.first : run.first / from.page_bytes;
  };
  constexpr std::size_t init = traffic::index_of(traffic::phase::initialisation);
  for (const traffic::page_run& run : from.pages) {
    const auto lines = static_cast<double>(run.local[init] + run.remote[init]);
    for (std::uint64_t k = 0; run.pid == program && lines > 0 && k < run.count; ++k) {
      pages_[run.object][page_of(run) + k].lines += lines / static_cast<double>(run.count);
    }
  }
  for (const traffic::touched_run& run : from.touched) {
    const auto counted = pages_.find(run.object);
    if (run.pid != program || run.thread >= threads.size() || counted == pages_.end()) {
      continue;
    }
    for (std::uint64_t k = 0; k < run.count; ++k) {
      const auto found = counted->second.find(page_of(run) + k);
      if (found != counted->second.end()) {
        found->second.by = threads[run.thread];
      }
    }
  }
}

std::vector<profile::use_run> initialisation::of(std::optional<traffic::object_id> object,
                                                 std::uint64_t first, std::uint64_t pages) const {
  std::vector<profile::use_run> made;
  const auto found = pages_.find(object);
  if (found == pages_.end()) {
    return made;
  }
  for (auto at = found->second.lower_bound(first);
       at != found->second.end() && at->first - first < pages; ++at) {
    if (at->second.by) {
      append(made, {at->first - first, 1, {{*at->second.by, at->second.lines}}});
    }
  }
  return made;
}

} // namespace nodewise::attribution
