// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/page_runs.hpp"

#include <algorithm>
#include <utility>

namespace nodewise::attribution {

namespace {

template <class Run>
bool follows(const std::vector<Run>& runs, std::uint64_t first) {
  return !runs.empty() && runs.back().first + runs.back().count == first;
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

namespace {

/// Whether each page of a range is in memory; ranges must ascend.
class residence {
 public:
  explicit residence(const std::vector<profile::resident_run>& where)
      : at_(where.begin()), end_(where.end()) {}
  bool covers(std::uint64_t first, std::uint64_t last) {
    while (at_ != end_ && at_->first + at_->count <= first) {
      ++at_;
    }
    std::uint64_t reached = first;
    for (auto each = at_; each != end_ && each->first <= reached && reached < last; ++each) {
      reached = each->first + each->count;
    }
    return reached >= last;
  }

 private:
  std::vector<profile::resident_run>::const_iterator at_;
  std::vector<profile::resident_run>::const_iterator end_;
};

} // namespace

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
  residence resident(where);
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
    if (touched == 1 && resident.covers(first, first + huge)) {
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
    const node_id from = by.node < 0 ? unknown_node : node_id{by.node};
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
    while (at != where.end() && at->first + at->count <= run.first) {
      ++at;
    }
    const std::uint64_t end = run.first + run.count;
    for (auto each = at; each != where.end() && each->first < end; ++each) {
      if (run.from != unknown_node && each->node != unknown_node && run.from != each->node) {
        count += std::min(end, each->first + each->count) - std::max(run.first, each->first);
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

} // namespace nodewise::attribution
