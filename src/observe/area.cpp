// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/area.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace nodewise::observe {

namespace {

using sys::address_range;

/// Appends the pages of a mapping from one address to another to an area.
class area_builder {
 public:
  area_builder(address_range where, area_kind kind, std::string name, std::size_t page_bytes)
      : page_bytes_(page_bytes) {
    area_.where = where;
    area_.kind = kind;
    area_.name = std::move(name);
    at_ = where.first;
  }

  void add(const located_mapping& from) {
    const address_range part{std::max(from.what.where.first, area_.where.first),
                             std::min(from.what.where.last, area_.where.last)};
    if (part.first >= part.last) {
      return;
    }
    leave_out(part.first);
    std::uint64_t skip = (part.first - from.what.where.first) / page_bytes_;
    std::uint64_t wanted = (part.last - part.first) / page_bytes_;
    add_policy(wanted, from.policy);
    for (const page_run& run : from.runs) {
      const std::uint64_t skipped = std::min(skip, run.pages);
      skip -= skipped;
      const std::uint64_t pages = std::min(run.pages - skipped, wanted);
      wanted -= pages;
      append(area_.runs, {pages, run.node, run.huge});
      if (wanted == 0) {
        break;
      }
    }
    const bool whole = part == from.what.where;
    huge_known_ = huge_known_ && from.huge_bytes.has_value();
    huge_of_runs_ = huge_of_runs_ || (from.huge_bytes && !whole);
    huge_bytes_ += from.huge_bytes.value_or(0);
    if (whole) {
      for (const area::share& share : from.totals) {
        nodes_[share.node] += share.pages;
        in_totals_ += share.pages;
      }
    }
    area_.page_bytes = std::max(area_.page_bytes, from.page_bytes);
    if (area_.mapped.empty()) {
      area_.mapped = from.what.path;
    }
    at_ = part.last;
  }

  [[nodiscard]] area finish() {
    leave_out(area_.where.last);
    std::uint64_t huge_pages = 0;
    for (const page_run& run : area_.runs) {
      area_.pages += run.pages;
      huge_pages += run.huge ? run.pages : 0;
      if (run.node == zero_page) {
        area_.zeros += run.pages;
      } else if (run.node != absent_page) {
        area_.resident += run.pages;
        area_.unknown += run.node == unknown_node ? run.pages : 0;
      }
      if (to_int(run.node) >= 0) {
        nodes_[run.node] += run.pages;
      }
    }
    // Totals: how many pages are in memory and on which nodes, but not which pages.
    if (in_totals_ != 0) {
      area_.resident = in_totals_;
      area_.unknown = 0;
    }
    for (const auto& [node, pages] : nodes_) {
      area_.per_node.push_back({node, pages});
    }
    if (huge_pages != 0) {
      area_.huge_bytes = huge_pages * page_bytes_;
    } else if (huge_known_ && (!huge_of_runs_ || huge_bytes_ == 0)) {
      area_.huge_bytes = huge_bytes_;
    }
    return std::move(area_);
  }

 private:
  /// Skips addresses between mappings.
  void leave_out(std::uint64_t until) {
    if (at_ < until) {
      append(area_.runs, {(until - at_) / page_bytes_, absent_page, false});
      at_ = until;
    }
  }

  void add_policy(std::uint64_t pages, const std::string& policy) {
    if (!area_.policies.empty() && area_.policies.back().second == policy) {
      area_.policies.back().first += pages;
    } else {
      area_.policies.emplace_back(pages, policy);
    }
  }

  area area_;
  std::size_t page_bytes_;
  std::uint64_t at_ = 0;
  std::map<node_id, std::uint64_t> nodes_; ///< pages
  std::uint64_t in_totals_ = 0;
  std::uint64_t huge_bytes_ = 0;
  bool huge_known_ = true;
  bool huge_of_runs_ = false; ///< set for a part of a mapping, whose own amount is unknown
};

/// Ascending, without overlaps; the earlier in the list wins.
std::vector<named_range> settled(std::vector<named_range> names, std::size_t page_bytes) {
  // Rounds to the pages that mostly belong to the range, so that neighbours never share a page.
  const auto nearest = [&](std::uint64_t address) {
    return (address + page_bytes / 2) / page_bytes * page_bytes;
  };
  std::map<std::uint64_t, named_range> kept;
  for (named_range& n : names) {
    n.where = {nearest(n.where.first), nearest(n.where.last)};
    const auto after = kept.lower_bound(n.where.first);
    const bool overlaps_after = after != kept.end() && after->first < n.where.last;
    const bool overlaps_before =
        after != kept.begin() && std::prev(after)->second.where.last > n.where.first;
    if (n.where.first < n.where.last && !overlaps_after && !overlaps_before) {
      kept.emplace(n.where.first, std::move(n));
    }
  }
  std::vector<named_range> all;
  for (auto& [start, n] : kept) {
    all.push_back(std::move(n));
  }
  return all;
}

} // namespace

std::string_view to_string(area_kind kind) noexcept {
  constexpr std::array<std::string_view, 10> names = {"array",     "static", "heap", "stack",
                                                      "anonymous", "shared", "file", "code",
                                                      "hugetlb",   "system"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<double> area::share_on(const node_set& nodes) const {
  std::uint64_t located = 0;
  std::uint64_t there = 0;
  for (const share& s : per_node) {
    located += s.pages;
    there += nodes.contains(s.node) ? s.pages : 0;
  }
  return located == 0 ? std::nullopt
                      : std::optional(static_cast<double>(there) / static_cast<double>(located));
}

std::vector<area> areas_of(std::span<const located_mapping> mappings,
                           std::vector<named_range> names, std::size_t page_bytes) {
  std::vector<area> areas;
  const std::vector<named_range> ranges = settled(std::move(names), page_bytes);
  const auto overlapping = [&](const address_range& r) {
    const auto first = std::ranges::partition_point(
        mappings, [&](const located_mapping& m) { return m.what.where.last <= r.first; });
    const auto last = std::ranges::partition_point(
        mappings, [&](const located_mapping& m) { return m.what.where.first < r.last; });
    return std::span(first, std::max(first, last));
  };
  const auto add = [&](const address_range& where, area_kind kind, const std::string& name,
                       std::span<const located_mapping> from) {
    area_builder one(where, kind, name, page_bytes);
    for (const located_mapping& m : from) {
      one.add(m);
    }
    areas.push_back(one.finish());
  };
  for (const named_range& n : ranges) {
    if (const auto parts = overlapping(n.where); !parts.empty()) { // otherwise freed meanwhile
      add(n.where, n.kind, n.name, parts);
    }
  }
  auto next = ranges.begin();
  for (const located_mapping& m : mappings) {
    std::uint64_t at = m.what.where.first;
    const auto rest_until = [&](std::uint64_t end) {
      if (at < end) {
        add({at, end}, m.kind, m.name, {&m, 1});
      }
    };
    while (next != ranges.end() && next->where.last <= at) {
      ++next;
    }
    for (auto n = next; n != ranges.end() && n->where.first < m.what.where.last; ++n) {
      rest_until(n->where.first);
      at = std::max(at, n->where.last);
    }
    rest_until(m.what.where.last);
  }
  std::ranges::sort(areas, {}, [](const area& a) { return a.where.first; });
  return areas;
}

} // namespace nodewise::observe
