// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Far traffic that belongs to no array: memory that no watched function allocated, and stacks whose
// data other threads use. No plan can place either.
#include <algorithm>

#include "advise/pattern_tools.hpp"
#include "advise/propose.hpp"

namespace nodewise::advise {

namespace {

double remote_of_sites(const analysis& of, const std::vector<std::size_t>& sites) {
  double sum = 0;
  for (const std::size_t s : sites) {
    sum += remote_bytes(of, of.input.sites()[s].items);
  }
  return sum;
}

double all_remote_bytes(const analysis& of) {
  double sum = 0;
  for (const site& each : of.input.sites()) {
    sum += remote_bytes(of, each.items);
  }
  return sum;
}

std::vector<std::size_t> sites_of(const analysis& of, profile::object_kind kind) {
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < of.input.sites().size(); ++s) {
    const site& each = of.input.sites()[s];
    if (of.input.items()[each.items.front()].what->kind == kind &&
        remote_bytes(of, each.items) > 0) {
      found.push_back(s);
    }
  }
  return found;
}

/// Every program has less than this, from its start and the C library.
bool is_much(const analysis& of, const std::vector<std::size_t>& sites) {
  constexpr double of_the_traffic = 0.05;
  constexpr double least_lines = 1U << 14U; // 1 MiB of 64-byte lines
  constexpr double least_samples = 100;
  double units = 0;
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.input.sites()[s].items) {
      units += of.shapes[i].remote * of.input.items()[i].units;
    }
  }
  return remote_of_sites(of, sites) >= of_the_traffic * of.input.bytes() &&
         units >= (of.input.sampled() ? least_samples : least_lines);
}

std::vector<std::size_t> nameless_sites(const analysis& of, const std::vector<char>&) {
  constexpr double of_the_remote = 0.2;
  std::vector<std::size_t> found = sites_of(of, profile::object_kind::other);
  const bool told = remote_of_sites(of, found) > of_the_remote * all_remote_bytes(of);
  return told && is_much(of, found) ? found : std::vector<std::size_t>();
}

std::vector<std::size_t> thread_stacks_sites(const analysis& of, const std::vector<char>&) {
  std::vector<std::size_t> found = sites_of(of, profile::object_kind::stack);
  std::erase_if(found, [&](std::size_t s) {
    return remote_bytes(of, of.input.sites()[s].items) < some_remote * of.input.sites()[s].bytes;
  });
  return is_much(of, found) ? found : std::vector<std::size_t>();
}

/// The gain if all of these sites' traffic were near.
gain worth_if_near(const analysis& of, const std::vector<std::size_t>& sites) {
  const analysis_input& all = of.input;
  flow_of_time now = empty_flow(all, of.swept);
  flow_of_time these = empty_flow(all, of.swept);
  flow_of_time after = empty_flow(all, of.swept);
  for (std::size_t i = 0; i < all.items().size(); ++i) {
    const item& each = all.items()[i];
    const bool is_one = std::ranges::find(sites, each.site) != sites.end();
    add_in_time(all, i, each.now, of.swept, now);
    add_in_time(all, i, each.now, of.swept, is_one ? these : after);
  }
  const flow_of_time near = all_local(all, these);
  for (std::size_t piece = 0; piece < after.size(); ++piece) {
    after[piece].add(near[piece]);
  }
  gain made = worth_of_placing(all, {std::move(now)}, {std::move(after)}, samples_of(all, sites));
  if (made.how == gain::kind::predicted) {
    made.how = gain::kind::at_most;
    made.note = "this is if all of it were near";
  }
  return made;
}

std::vector<std::string> evidence_of(const analysis& of, const std::vector<std::size_t>& sites) {
  std::vector<std::string> lines = usual_evidence(of, sites);
  const double all = all_remote_bytes(of);
  constexpr std::size_t most = 4;
  for (std::size_t k = 0; k < std::min(most, sites.size()); ++k) {
    lines.push_back(names_of(of.input, {sites[k]}) + ": " +
                    percent(remote_bytes(of, of.input.sites()[sites[k]].items) / all) +
                    " of the remote traffic");
  }
  return lines;
}

suspicion describe_nameless(const analysis& of, const std::vector<std::size_t>& sites) {
  const double share = remote_of_sites(of, sites) / all_remote_bytes(of);
  return {.title = percent(share) + " of the remote traffic goes to memory without a name: no "
                                    "array of the program is known to be there",
          .evidence = evidence_of(of, sites),
          .remarks = {"what has a name: blocks of malloc and new, of 16 KiB or more, or several "
                      "that one thread takes from one line; static arrays; stacks"},
          .worth = worth_if_near(of, sites)};
}

suspicion describe_thread_stacks(const analysis& of, const std::vector<std::size_t>& sites) {
  return {.title = "threads on other nodes use what is on a thread's stack, or in its "
                   "thread-local data",
          .evidence = evidence_of(of, sites),
          .remarks = {"a stack is in its thread's memory; no plan places it elsewhere"},
          .worth = worth_if_near(of, sites)};
}

} // namespace

const detector nameless{.what = pattern::nameless,
                        .needs = needs_uses | needs_objects,
                        .explains_objects = false,
                        .placement_cures = false,
                        .sites = nameless_sites,
                        .describe = describe_nameless};

const detector thread_stacks{.what = pattern::thread_stacks,
                             .needs = needs_uses | needs_objects,
                             .explains_objects = false,
                             .placement_cures = false,
                             .sites = thread_stacks_sites,
                             .describe = describe_thread_stacks};

} // namespace nodewise::advise
