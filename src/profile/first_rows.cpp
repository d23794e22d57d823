// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/first_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace nodewise::profile {

namespace {

constexpr std::size_t most_code = 16;

bool is_of_same_call(const object& a, const object& b) {
  const std::vector<const frame*> left = returns_of(a.made_at);
  const std::vector<const frame*> right = returns_of(b.made_at);
  return !left.empty() && !right.empty() && left[0]->module == right[0]->module &&
         left[0]->offset == right[0]->offset;
}

/// Arrays from one line are parts of one group, which starts at the first of them.
bool is_first_part(const std::vector<object>& all, const object& group) {
  return std::ranges::none_of(all, [&](const object& each) {
    return each.kind == object_kind::group && each.start < group.start &&
           is_of_same_call(each, group);
  });
}

/// Excludes temporaries, such as the row that a vector of rows is filled from.
bool lives_as_long(const object& row, const object& group) {
  constexpr double nearly = 0.9;
  return row.died_s - group.born_s >= nearly * (group.died_s - group.born_s);
}

/// The last row before the group.
std::vector<object>::iterator row_before(std::vector<object>& all, const object& group) {
  auto last = all.end();
  for (auto each = all.begin(); each != all.end(); ++each) {
    const bool may_be = each->kind == object_kind::heap && each->bytes < largest_row_bytes &&
                        each->born_s <= group.born_s && lives_as_long(*each, group) &&
                        is_of_same_call(*each, group);
    last = may_be && (last == all.end() || each->born_s > last->born_s) ? each : last;
  }
  return last;
}

/// The row's size in an arena of the agent, where it becomes the front of its group.
std::uint64_t bytes_in_arena(const object& row) {
  constexpr std::uint64_t header = 16; // agent/alloc/arena.hpp
  return (row.bytes + header - 1) / header * header + header;
}

/// Gives the first `before` pages, of `pages` in all, to `first`.
template <class Run>
void put_in_front(std::vector<Run>&& first, std::uint64_t before, std::uint64_t pages,
                  std::vector<Run>& of) {
  const auto cut = [](std::vector<Run>& all, std::uint64_t end) {
    std::erase_if(all, [&](const Run& each) { return each.first >= end; });
    for (Run& each : all) {
      each.count = std::min(each.count, end - each.first);
    }
  };
  cut(first, before);
  for (Run& each : of) {
    each.first += before;
  }
  cut(of, pages);
  of.insert(of.begin(), std::make_move_iterator(first.begin()),
            std::make_move_iterator(first.end()));
}

template <class Each>
void append(std::vector<Each>&& more, std::vector<Each>& to) {
  std::ranges::move(more, std::back_inserter(to));
}

using users = std::map<thread_index, double>;

/// Uses of pages that shift by a fraction of a page. A run stays a run except at its edges.
class moved_uses {
 public:
  /// `pages`: of the whole; the last one may be only partly filled.
  explicit moved_uses(std::uint64_t pages) : last_(pages - 1) {}

  /// Adds uses of pages that start `behind` pages after the first page's start. A page that then
  /// overlaps two pages splits its use in proportion: where its rows meet is not known.
  void add(const std::vector<use_run>& runs, double behind) {
    const auto whole = static_cast<std::uint64_t>(behind);
    const double part = behind - std::floor(behind);
    for (const use_run& run : runs) {
      const std::uint64_t first = run.first + whole;
      add_page(first, run, 1 - part);
      if (run.count > 1) {
        add_page(first + run.count - 1, run, 1);
      }
      if (part > 0) {
        add_page(first + run.count, run, part);
      }
      if (run.count > 2 && first + run.count - 2 <= last_) { // a file may contain any value
        add_inner(first + 1, run);
      }
    }
  }

  [[nodiscard]] std::vector<use_run> result() && {
    for (const auto& [page, by] : edges_) {
      use_run& made = inner_.emplace_back(use_run{page, 1, {}});
      for (const auto& [thread, amount] : by) {
        made.by.push_back({thread, amount});
      }
    }
    std::ranges::sort(inner_, {}, &use_run::first);
    return std::move(inner_);
  }

 private:
  void add_page(std::uint64_t page, const use_run& of, double share) {
    for (const use& each : of.by) {
      edges_[std::min(page, last_)][each.by] += each.amount / static_cast<double>(of.count) * share;
    }
  }

  void add_inner(std::uint64_t first, const use_run& of) {
    use_run& made = inner_.emplace_back(use_run{first, of.count - 2, of.by});
    for (use& each : made.by) {
      each.amount *= static_cast<double>(made.count) / static_cast<double>(of.count);
    }
  }

  std::uint64_t last_;
  std::map<std::uint64_t, users> edges_; ///< by page
  std::vector<use_run> inner_;
};

void join(object&& row, object& group, std::uint64_t page_bytes) {
  const std::uint64_t bytes = bytes_in_arena(row);
  const double behind = static_cast<double>(bytes) / static_cast<double>(page_bytes);
  const std::uint64_t first = bytes / page_bytes;
  const std::uint64_t of_rows = group.blocks * bytes;
  const bool equal = of_rows <= group.bytes && group.bytes - of_rows < page_bytes;
  group.bytes = bytes + (equal ? of_rows : group.bytes);
  group.pages = (group.bytes + page_bytes - 1) / page_bytes;
  group.resident = std::min(group.resident + row.resident, group.pages);
  for (const auto uses : {&object::uses, &object::initialised}) {
    moved_uses all(group.pages);
    all.add(row.*uses, 0);
    all.add(group.*uses, behind);
    group.*uses = std::move(all).result();
  }
  for (contested_line& each : group.contested) {
    each.offset += bytes;
  }
  put_in_front(std::move(row.where), first, group.pages, group.where);
  put_in_front(std::move(row.touched), first, group.pages, group.touched);
  append(std::move(row.touches), group.touches);
  append(std::move(row.contested), group.contested);
  append(std::move(row.used_at), group.used_at);
  keep_most_used(group.used_at, most_code);
  std::ranges::sort(group.touches, std::greater{}, &first_touch::pages);
  std::ranges::sort(group.contested, std::greater{}, &contested_line::transfers);
  group.blocks += row.blocks;
  group.unseen_touches += row.unseen_touches;
}

} // namespace

void join_first_rows(program& into, std::uint64_t page_bytes) {
  std::vector<object>& all = into.objects;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != object_kind::group || !is_first_part(all, all[i])) {
      continue;
    }
    for (auto row = row_before(all, all[i]); row != all.end(); row = row_before(all, all[i])) {
      join(std::move(*row), all[i], page_bytes);
      i -= row < all.begin() + static_cast<std::ptrdiff_t>(i) ? 1U : 0U;
      all.erase(row);
    }
  }
}

} // namespace nodewise::profile
