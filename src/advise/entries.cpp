// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/entries.hpp"

#include <algorithm>
#include <string>

#include "advise/words.hpp"

namespace nodewise::advise {

namespace {

using placements::kind;
using plans::code_place;

constexpr std::uint64_t small_block = 64 << 10;

std::vector<code_place> places_of(const profile::object& what) {
  std::vector<code_place> all;
  for (const profile::frame* each : profile::returns_of(what.made_at)) {
    all.push_back({each->module, each->offset});
  }
  return all;
}

std::size_t same_front(const std::vector<code_place>& a, const std::vector<code_place>& b) {
  const auto differ = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(differ.in1 - a.begin());
}

/// As many return addresses as distinguish the site from all others of the program.
std::vector<code_place> stack_of(const analysis_input& of, std::size_t site) {
  const profile::object& own = of.first_object(site);
  std::vector<code_place> stack = places_of(own);
  std::size_t depth = 1;
  for (std::size_t other = 0; other < of.sites().size(); ++other) {
    const profile::object& what = of.first_object(other);
    if (other != site && of.sites()[other].program == of.sites()[site].program &&
        what.kind == own.kind) {
      depth = std::max(depth, same_front(stack, places_of(what)) + 1);
    }
  }
  stack.resize(std::min(depth, stack.size()));
  return stack;
}

plans::condition condition_for(const analysis_input& of, std::size_t site) {
  const profile::object& what = of.first_object(site);
  plans::condition made;
  made.kind = profile::to_string(what.kind);
  if (what.kind == profile::object_kind::static_array) {
    made.symbol = what.name;
    return made;
  }
  const profile::frame* const own = profile::own_frame(what.made_at);
  made.source = own != nullptr && own->line > 0 ? profile::label_of(*own) : "";
  made.stack = stack_of(of, site);
  // The next input has other sizes. Exclude only small blocks, which the same code may also
  // allocate.
  made.least_bytes = small_block;
  for (const std::size_t i : of.sites()[site].items) {
    made.least_bytes = std::min(made.least_bytes, of.items()[i].what->bytes / 2);
  }
  return made;
}

std::string reason(const analysis& of, const assignment& what) {
  const double bytes =
      sum_over(what.items, [&](std::size_t i) { return of.input.items()[i].bytes(); });
  const std::string name = of.input.sites()[what.site].name;
  std::string text = name + ": ";
  const placements::placement& where = what.how.where;
  switch (where.how) {
  case kind::blocked:
    text += "threads use it in equal blocks";
    break;
  case kind::map:
    text += "each part to the node that uses it most";
    break;
  case kind::thread:
    text += "thread " + std::to_string(where.owners.front().owner) + " and its node use it most";
    break;
  case kind::interleave:
  case kind::weighted:
    text += where.owners.empty() ? "all nodes use its pages"
                                 : "memories without threads take their part of its traffic";
    break;
  case kind::cyclic:
  case kind::none:
  case kind::local:
  case kind::bind:
  case kind::prefer:
    text += "as it is";
    break;
  }
  if (of.input.assumed()) {
    return text + " (assumed: who uses it was not observed)";
  }
  text += "; " + percent(bytes > 0 ? remote_bytes(of, what.items) / bytes : 0) +
          " of its traffic was remote";
  if (where.how == kind::map && are_scattered(of, what.items)) {
    text += "; the map follows the data of this input, and another input needs its own";
  }
  if (what.how.lost > 0.001) {
    text += "; fewer parts than pages would need leave " + percent(what.how.lost) + " of it remote";
  }
  return text;
}

plans::entry entry_of(const analysis& of, const assignment& what) {
  plans::entry made;
  made.which = condition_for(of.input, what.site);
  made.where = what.how.where;
  made.why = reason(of, what);
  const std::string& name = of.input.sites()[what.site].name;
  made.name = name == plans::label_of(made.which) ? "" : name;
  return made;
}

/// The position of the object in its site, in the order of allocation.
std::uint64_t order_in_site(const analysis_input& of, const assignment& what) {
  const positions& all = of.sites()[what.site].items;
  return static_cast<std::uint64_t>(std::ranges::find(all, what.items.front()) - all.begin());
}

} // namespace

std::vector<plans::entry> entries_for(const analysis& of, std::size_t program,
                                      const std::vector<assignment>& objects) {
  std::vector<plans::entry> made;
  const assignment* last = nullptr;
  for (const assignment& each : objects) {
    const site& where = of.input.sites()[each.site];
    if (where.program != program || where.places_itself || each.how.where.how == kind::none) {
      continue;
    }
    if (each.items.size() == where.items.size()) {
      made.push_back(entry_of(of, each));
      last = nullptr;
      continue;
    }
    const std::uint64_t nth = order_in_site(of.input, each);
    if (last != nullptr && last->site == each.site && last->how.where == each.how.where &&
        made.back().which.last == nth) {
      made.back().which.last = nth + each.items.size();
    } else {
      made.push_back(entry_of(of, each));
      made.back().which.first = nth;
      made.back().which.last = nth + each.items.size();
    }
    last = &each;
  }
  return made;
}

std::vector<plans::library> libraries_of(const std::vector<plans::entry>& entries,
                                         const profile::program& in) {
  std::vector<plans::library> all;
  for (const profile::library& each : in.libraries) {
    const bool named = std::ranges::any_of(entries, [&](const plans::entry& entry) {
      return std::ranges::find(entry.which.stack, each.name, &plans::code_place::module) !=
             entry.which.stack.end();
    });
    if (named) {
      all.push_back({each.name, each.build_id});
    }
  }
  return all;
}

} // namespace nodewise::advise
