// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/profile.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <nodewise/error.hpp>

#include "base/text.hpp"

namespace nodewise::profile {

namespace {

program& rank_of(kept_profile& part) {
  if (part.what.programs.empty()) {
    throw error(error_kind::usage, part.file, "contains no program", "leave it out");
  }
  return part.what
      .programs[static_cast<std::size_t>(largest_program(part.what) - part.what.programs.data())];
}

/// Numbers the ranks in order if no rank has a number. Only the largest program of each is a rank.
void number_ranks(std::vector<kept_profile>& parts) {
  std::map<int, std::string> file_of;
  std::size_t numbered = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    program& which = rank_of(parts[i]);
    const auto rank = which.rank;
    for (program& each : parts[i].what.programs) {
      each.rank.reset();
    }
    numbered += rank ? 1U : 0U;
    which.rank = rank.value_or(static_cast<int>(i));
    const auto [same, is_new] = file_of.try_emplace(*which.rank, parts[i].file);
    if (rank && !is_new) {
      throw error(error_kind::usage, fmt::format("{} and {}", same->second, parts[i].file),
                  fmt::format("both are rank {} of a host", *rank),
                  "give the files of one run on one host, each once");
    }
  }
  if (numbered != 0 && numbered != parts.size()) {
    throw error(error_kind::usage, "combining several profiles",
                "only some of them are of MPI ranks", "give the files of one run");
  }
}

/// Evidence is present if all parts have it; counts are added up.
void add_evidence(const evidence& from, evidence& into) {
  for (bool evidence::* const each : {&evidence::faults, &evidence::chains, &evidence::kernel,
                                      &evidence::hinting, &evidence::counts, &evidence::agent}) {
    into.*each = into.*each && from.*each;
  }
  for (std::uint64_t evidence::* const each :
       {&evidence::fault_samples, &evidence::hinting_samples, &evidence::lost_samples,
        &evidence::thinned_samples, &evidence::pages_moved, &evidence::pages_bound}) {
    into.*each += from.*each;
  }
}

/// Each sentence once, with its files if it does not concern all of them.
std::vector<std::string> missing_of(const std::vector<kept_profile>& parts) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::size_t>> whose;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& each : parts[i].what.seen.missing) {
      if (!whose.contains(each)) {
        order.push_back(each);
      }
      whose[each].push_back(i);
    }
  }
  for (std::string& each : order) {
    const std::vector<std::size_t>& some = whose[each];
    if (some.size() < parts.size()) {
      each +=
          fmt::format(" (in {})", joined(some, ", ", [&](std::size_t i) { return parts[i].file; }));
    }
  }
  return order;
}

/// The memory before the first rank began: later ranks saw what earlier ones had already taken.
void add_memory(const std::vector<node_memory>& from, std::vector<node_memory>& into) {
  for (const node_memory& each : from) {
    const auto same = std::ranges::find(into, each.node, &node_memory::node);
    if (same == into.end()) {
      into.push_back(each);
    } else if (each.free_bytes > same->free_bytes) {
      *same = each;
    }
  }
  std::ranges::sort(into, {}, &node_memory::node);
}

} // namespace

profile merge(std::vector<kept_profile> parts) {
  number_ranks(parts);
  std::ranges::sort(parts, {}, [](kept_profile& each) { return *rank_of(each).rank; });
  profile made = parts.front().what;
  made.seen.missing = missing_of(parts);
  for (auto part = std::next(parts.begin()); part != parts.end(); ++part) {
    profile& from = part->what;
    if (from.page_bytes != made.page_bytes) {
      throw error(error_kind::usage, fmt::format("{} and {}", parts.front().file, part->file),
                  "the sizes of their base pages differ", "give the files of one run on one host");
    }
    add_evidence(from.seen, made.seen);
    add_memory(from.memory, made.memory);
    made.cost.wall_s = std::max(made.cost.wall_s, from.cost.wall_s);
    made.cost.observer_s += from.cost.observer_s;
    std::ranges::move(from.programs, std::back_inserter(made.programs));
  }
  return made;
}

} // namespace nodewise::profile
