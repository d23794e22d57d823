// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/first_rows.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace nodewise::attribution {

namespace {

using profile::object;
using profile::object_kind;

constexpr std::size_t most_code = 16;

bool is_of_same_call(const object& a, const object& b) {
  const std::vector<const profile::frame*> left = profile::returns_of(a.made_at);
  const std::vector<const profile::frame*> right = profile::returns_of(b.made_at);
  return !left.empty() && !right.empty() && left[0]->module == right[0]->module &&
         left[0]->offset == right[0]->offset;
}

/// Arrays from one line are parts of one group, which begins with the first of them.
bool is_first_part(const std::vector<object>& all, const object& group) {
  return std::ranges::none_of(all, [&](const object& each) {
    return each.kind == object_kind::group && each.start < group.start &&
           is_of_same_call(each, group);
  });
}

std::vector<object>::iterator first_row_of(std::vector<object>& all, const object& group) {
  auto last = all.end();
  for (auto each = all.begin(); each != all.end(); ++each) {
    const bool may_be = each->kind == object_kind::heap &&
                        each->bytes < profile::largest_row_bytes && !each->uses.empty() &&
                        each->born_s <= group.born_s && is_of_same_call(*each, group);
    last = may_be && (last == all.end() || each->born_s > last->born_s) ? each : last;
  }
  return last;
}

template <class Run>
void put_in_front(std::vector<Run>&& first, std::uint64_t pages, std::vector<Run>& of) {
  for (Run& each : of) {
    each.first += pages;
  }
  of.insert(of.begin(), std::make_move_iterator(first.begin()),
            std::make_move_iterator(first.end()));
}

template <class Each>
void append(std::vector<Each>&& more, std::vector<Each>& to) {
  std::ranges::move(more, std::back_inserter(to));
}

void join(object&& row, object& group, std::uint64_t page_bytes) {
  for (profile::contested_line& each : group.contested) {
    each.offset += row.pages * page_bytes;
  }
  put_in_front(std::move(row.where), row.pages, group.where);
  put_in_front(std::move(row.touched), row.pages, group.touched);
  put_in_front(std::move(row.uses), row.pages, group.uses);
  put_in_front(std::move(row.initialised), row.pages, group.initialised);
  append(std::move(row.touches), group.touches);
  append(std::move(row.contested), group.contested);
  append(std::move(row.used_at), group.used_at);
  profile::keep_most_used(group.used_at, most_code);
  group.bytes += row.bytes;
  group.blocks += row.blocks;
  group.pages += row.pages;
  group.resident += row.resident;
  group.unwitnessed += row.unwitnessed;
}

} // namespace

void join_first_rows(profile::program& into, std::uint64_t page_bytes) {
  std::vector<object>& all = into.objects;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != object_kind::group || all[i].uses.empty() || !is_first_part(all, all[i])) {
      continue;
    }
    const auto row = first_row_of(all, all[i]);
    if (row != all.end()) {
      join(std::move(*row), all[i], page_bytes);
      i -= row < all.begin() + static_cast<std::ptrdiff_t>(i) ? 1U : 0U;
      all.erase(row);
    }
  }
}

} // namespace nodewise::attribution
