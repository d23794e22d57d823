// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/propose.hpp"

#include <fmt/core.h>

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

/// As many return addresses as distinguish the site from all others of the program.
std::vector<code_place> stack_of(const analysis_input& of, std::size_t site) {
  const profile::object& own = of.first_object(site);
  std::vector<code_place> stack = places_of(own);
  std::size_t depth = 1;
  for (std::size_t other = 0; other < of.sites.size(); ++other) {
    const profile::object& what = of.first_object(other);
    if (other != site && of.sites[other].program == of.sites[site].program &&
        what.kind == own.kind) {
      const auto differs = std::ranges::mismatch(stack, places_of(what)).in1;
      depth = std::max(depth, static_cast<std::size_t>(differs - stack.begin()) + 1);
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
  for (const std::size_t i : of.sites[site].items) {
    made.least_bytes = std::min(made.least_bytes, of.items[i].what->bytes / 2);
  }
  return made;
}

std::string reason(const analysis& of, const assignment& what) {
  const double bytes = sum_over(what.items, [&](std::size_t i) { return of.items[i].bytes(); });
  const std::string name = of.sites[what.site].name;
  std::string text = name + ": ";
  const placements::placement& where = what.how.where;
  const placements::traits& is = placements::traits_of(where.how);
  if (is.has_blocks()) {
    text += "threads use it in equal blocks";
  } else if (is.divided == placements::division::parts) {
    text += "each part to the node that uses it most";
  } else if (is.owners == placements::owned_by::threads) {
    text += fmt::format("thread {} and its node use it most", where.owners.front().owner);
  } else if (is.owners == placements::owned_by::nodes) {
    text += where.owners.empty() ? "all nodes use its pages"
                                 : "memories without threads take their part of its traffic";
  } else {
    text += "as it is";
  }
  if (of.assumed) {
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
  made.which = condition_for(of, what.site);
  made.where = what.how.where;
  made.why = reason(of, what);
  const std::string& name = of.sites[what.site].name;
  made.name = name == plans::label_of(made.which) ? "" : name;
  return made;
}

/// The entry for the same objects, regardless of size; nullptr if there is none.
auto* find(auto& plan, const plans::condition& which) {
  const auto same = std::ranges::find_if(plan.objects, [&](const plans::entry& each) {
    plans::condition sized = which;
    sized.least_bytes = each.which.least_bytes;
    sized.most_bytes = each.which.most_bytes;
    return each.which == sized;
  });
  return same == plan.objects.end() ? nullptr : &*same;
}

/// A static array's symbol, or the line that allocates the memory.
std::string label_of(const profile::object& what) {
  const profile::frame* const own = profile::own_frame(what.made_at);
  return what.name.empty() && own != nullptr ? profile::label_of(*own) : what.name;
}

bool has_site(const analysis_input& of, std::size_t program, const plans::condition& which) {
  const std::string label = plans::label_of(which);
  return std::ranges::any_of(of.items, [&](const item& each) {
    return each.program == program && label_of(*each.what) == label;
  });
}

void widen(const plans::condition& by, plans::condition& into) {
  into.least_bytes = std::min(into.least_bytes, by.least_bytes);
  into.most_bytes = into.most_bytes && by.most_bytes
                        ? std::optional(std::max(*into.most_bytes, *by.most_bytes))
                        : std::nullopt;
}

std::string rank_text(const analysis_input& of, std::size_t program) {
  return fmt::format("rank {}", of.program(program).rank.value_or(-1));
}

/// What one rank needs for objects that the other rank has but leaves alone; empty if nothing.
std::string needed_alone(const analysis_input& of, const proposal& by, const proposal& from) {
  for (const plans::entry& each : by.plan.objects) {
    if (find(from.plan, each.which) == nullptr && has_site(of, from.program, each.which)) {
      return fmt::format("{} needs {} {}, and {} as it is", rank_text(of, by.program),
                         plans::label_of(each.which), placements::text_of(each.where),
                         rank_text(of, from.program));
    }
  }
  return {};
}

std::string disagreement_of(const analysis_input& of, const proposal& other, const proposal& into) {
  const std::string both =
      fmt::format("{} and {} differ: ", rank_text(of, into.program), rank_text(of, other.program));
  if (into.plan.threads != other.plan.threads || into.plan.bind != other.plan.bind) {
    return both + fmt::format("{} threads, bound {}; {}, bound {}", into.plan.threads,
                              to_string(into.plan.bind), other.plan.threads,
                              to_string(other.plan.bind));
  }
  for (const plans::entry& each : other.plan.objects) {
    if (const auto* const same = find(into.plan, each.which);
        same != nullptr && same->where != each.where) {
      return both + fmt::format("{} {}; {}", plans::label_of(each.which),
                                placements::text_of(same->where), placements::text_of(each.where));
    }
  }
  std::string alone = needed_alone(of, other, into);
  alone = alone.empty() ? needed_alone(of, into, other) : alone;
  return alone.empty() ? alone : both + alone;
}

} // namespace

std::vector<plans::entry> entries_for(const analysis& of, std::size_t program,
                                      const std::vector<assignment>& objects) {
  std::vector<plans::entry> made;
  const assignment* last = nullptr;
  for (const assignment& each : objects) {
    const site& where = of.sites[each.site];
    if (where.program != program || where.places_itself || each.how.where.how == kind::none) {
      continue;
    }
    const bool is_whole = each.items.size() == where.items.size();
    // The position of its first object in the site, in the order of allocation.
    const auto first = std::ranges::find(where.items, each.items.front()) - where.items.begin();
    const auto nth = static_cast<std::uint64_t>(first);
    const bool goes_on = !is_whole && last != nullptr && last->site == each.site &&
                         last->how.where == each.how.where && made.back().which.last == nth;
    if (!goes_on) {
      made.push_back(entry_of(of, each));
    }
    if (!is_whole) {
      made.back().which.first = goes_on ? made.back().which.first : nth;
      made.back().which.last = nth + each.items.size();
    }
    last = is_whole ? nullptr : &each;
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

void join(const analysis_input& of, const proposal& other, proposal& into) {
  into.disagreement = disagreement_of(of, other, into);
  if (!into.disagreement.empty()) {
    into.remarks.push_back(fmt::format("for {} alone, because ranks need different plans: {}",
                                       rank_text(of, into.program), into.disagreement));
    return;
  }
  for (const plans::entry& each : other.plan.objects) {
    if (plans::entry* const same = find(into.plan, each.which)) {
      widen(each.which, same->which);
    } else {
      into.plan.objects.push_back(each);
    }
  }
  for (const plans::library& each : other.plan.libraries) {
    if (std::ranges::find(into.plan.libraries, each.name, &plans::library::name) ==
        into.plan.libraries.end()) {
      into.plan.libraries.push_back(each);
    }
  }
}

} // namespace nodewise::advise
