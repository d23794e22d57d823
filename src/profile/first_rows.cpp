// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/first_rows.hpp"

#include <algorithm>
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
  return row.freed_s - group.allocated_s >= nearly * (group.freed_s - group.allocated_s);
}

/// Blocks that the same call requested before the group, in order.
std::vector<std::size_t> rows_before(const std::vector<object>& all, const object& group) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == object_kind::heap && all[i].bytes < largest_row_bytes &&
        all[i].allocated_s <= group.allocated_s && is_of_same_call(all[i], group)) {
      found.push_back(i);
    }
  }
  return found;
}

/// The row's size in an arena of the agent, where it has room in front of its group.
std::uint64_t bytes_in_arena(const object& row) {
  constexpr std::uint64_t header = 16; // agent/alloc/arena.hpp
  return (row.bytes + header - 1) / header * header + header;
}

/// Pages of a group, half-open.
struct page_range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Moves runs of pages into a range; what goes beyond it is cut off.
template <class Run>
void put(std::vector<Run>&& runs, const page_range& into, std::vector<Run>& to) {
  for (Run& each : runs) {
    each.first += into.begin;
    if (each.first < into.end) {
      each.count = std::min(each.count, into.end - each.first);
      to.push_back(std::move(each));
    }
  }
  std::ranges::sort(to, {}, &Run::first);
}

void add(const std::vector<use>& more, std::vector<use>& to) {
  std::map<thread_index, double> sums;
  for (const std::vector<use>& each : {to, more}) {
    for (const use& one : each) {
      sums[one.by] += one.amount;
    }
  }
  to.clear();
  for (const auto& [thread, amount] : sums) {
    to.push_back({thread, amount});
  }
}

/// As `put`, but no use is lost: those beyond the range count for its last page. A range without a
/// page of its own shares its first page with the row behind it.
void put_uses(std::vector<use_run>&& runs, const page_range& into, std::vector<use_run>& to) {
  std::vector<use> beyond;
  for (const use_run& each : runs) {
    if (each.first + into.begin >= into.end) {
      add(each.by, beyond);
    }
  }
  put(std::move(runs), into, to);
  if (beyond.empty()) {
    return;
  }
  const std::uint64_t last = std::max(into.end, into.begin + 1) - 1;
  const auto at = std::ranges::find_if(to, [&](const use_run& each) {
    return each.first <= last && last < each.first + each.count;
  });
  if (at == to.end()) {
    put({{last, 1, std::move(beyond)}}, {0, last + 1}, to);
  } else {
    add(beyond, at->by);
  }
}

template <class Each>
void append(std::vector<Each>&& more, std::vector<Each>& to) {
  std::ranges::move(more, std::back_inserter(to));
}

void join(object&& row, const page_range& room, std::uint64_t offset, object& group) {
  for (contested_line& each : row.contested) {
    each.offset += offset;
  }
  group.resident = std::min(group.resident + row.resident, group.pages);
  put_uses(std::move(row.uses), room, group.uses);
  put_uses(std::move(row.initialised), room, group.initialised);
  put(std::move(row.where), room, group.where);
  put(std::move(row.touched), room, group.touched);
  append(std::move(row.touches), group.touches);
  append(std::move(row.contested), group.contested);
  append(std::move(row.used_at), group.used_at);
  keep_most_used(group.used_at, most_code);
  std::ranges::sort(group.touches, std::greater{}, &first_touch::pages);
  std::ranges::sort(group.contested, std::greater{}, &contested_line::transfers);
  group.unseen_touches += row.unseen_touches;
}

/// Whether nothing lies in the group's first pages. Profiles of version 0.1 left no room there.
bool have_room(const object& group, std::uint64_t pages) {
  const auto begins_behind = [&](const auto& runs) {
    return std::ranges::none_of(runs, [&](const auto& run) { return run.first < pages; });
  };
  return begins_behind(group.where) && begins_behind(group.uses);
}

} // namespace

void join_first_rows(program& into, std::uint64_t page_bytes) {
  std::vector<object>& all = into.objects;
  std::vector<bool> joined(all.size(), false);
  for (object& group : all) {
    if (group.kind != object_kind::group || !is_first_part(all, group)) {
      continue;
    }
    const std::vector<std::size_t> rows = rows_before(all, group);
    std::uint64_t room = 0;
    for (const std::size_t row : rows) {
      room += bytes_in_arena(all[row]);
    }
    if (!have_room(group, room / page_bytes)) {
      continue;
    }
    std::uint64_t offset = 0;
    for (const std::size_t row : rows) {
      const std::uint64_t end = offset + bytes_in_arena(all[row]);
      if (lives_as_long(all[row], group)) {
        join(std::move(all[row]), {offset / page_bytes, end / page_bytes}, offset, group);
        joined[row] = true;
      }
      offset = end;
    }
  }
  std::size_t at = 0;
  std::erase_if(all, [&](const object&) { return joined[at++]; });
}

} // namespace nodewise::profile
