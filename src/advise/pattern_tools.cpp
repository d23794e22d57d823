// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::uint64_t size_of(const analysis_input& of, const site& which) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : which.items) {
    bytes += of.items()[i].what->bytes;
  }
  return bytes;
}

std::string thread_name(const analysis_input& of, std::size_t w) {
  const worker& each = of.workers()[w];
  return each.ordinal == 0 ? "the main thread" : "thread " + std::to_string(each.ordinal);
}

} // namespace

bool is_worth_a_look(const analysis_input& of, const site& which) {
  constexpr double of_traffic = 0.001;
  constexpr std::uint64_t large = std::uint64_t{1} << 20U;
  return which.placeable && (which.bytes >= of_traffic * of.bytes() || size_of(of, which) >= large);
}

bool is_serial(const item& what, const shape& how) {
  constexpr double mostly = 0.5;
  return what.units > 0 && how.touched_by_one() && how.on_one_node() && how.followed >= mostly &&
         how.remote >= some_remote;
}

std::string names_of(const analysis_input& of, const std::vector<std::size_t>& sites) {
  std::vector<std::string> names;
  for (const std::size_t s : sites) {
    const site& each = of.sites()[s];
    names.push_back(each.items.size() > 1
                        ? each.name + " (" + std::to_string(each.items.size()) + " objects)"
                        : each.name);
  }
  return list_of(names);
}

const shape& greatest(const analysis& of, const std::vector<std::size_t>& sites) {
  std::size_t most = of.input.sites()[sites.front()].items.front();
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.input.sites()[s].items) {
      most = of.input.items()[i].bytes() > of.input.items()[most].bytes() ? i : most;
    }
  }
  return of.shapes[most];
}

std::vector<std::string> usual_evidence(const analysis& of, const std::vector<std::size_t>& sites) {
  std::vector<std::string> lines;
  const shape& most = greatest(of, sites);
  if (most.toucher && most.one_thread > 0) {
    const double share = mean_over(of, sites, [](const shape& s) { return s.one_thread; });
    lines.push_back(percent(share) + " of the pages seen were first touched by " +
                    (most.touched_by_one() ? thread_name(of.input, *most.toucher) : "one thread"));
  }
  if (most.memory != nowhere) {
    lines.push_back(percent(mean_over(of, sites, [](const shape& s) { return s.on_memory; })) +
                    " of the pages are on node " + std::to_string(of.input.number_of(most.memory)));
  }
  if (of.input.assumed()) {
    lines.emplace_back("who uses it was not observed");
    return lines;
  }
  double bytes = 0;
  for (const std::size_t s : sites) {
    bytes += of.input.sites()[s].bytes;
  }
  lines.push_back(count_of(most.using_threads, "thread") + " on " +
                  count_of(most.using_nodes, "node") + " use it; " +
                  percent(mean_over(of, sites, [](const shape& s) { return s.remote; })) +
                  " of its traffic is remote");
  if (of.input.bytes() > 0) {
    lines.push_back("it makes " + percent(bytes / of.input.bytes()) + " of the program's traffic");
  }
  return lines;
}

std::vector<std::string> usual_doubts(const analysis& of, const std::vector<std::size_t>& sites) {
  std::vector<std::string> lines;
  const double followed = mean_over(of, sites, [](const shape& s) { return s.followed; });
  constexpr double nearly_all = 0.95;
  if (followed < nearly_all) {
    lines.push_back(percent(1 - followed) +
                    " of the pages are not where their first touch puts them: the node was full, "
                    "the memory had a policy, or the kernel moved them");
  }
  const std::uint64_t moved = of.input.profile().seen.pages_moved;
  if (moved > 0) {
    lines.push_back("the kernel moved " + count_of(moved, "page") +
                    " while the program was observed: pages are told as they were at the end");
  }
  if (of.input.sampled()) {
    lines.emplace_back("uses are samples of the kernel's NUMA balancing: pages that are used often "
                       "and seldom look alike");
  }
  if (of.input.profile().seen.lost_samples > 0) {
    lines.push_back(count_of(of.input.profile().seen.lost_samples, "sample") + " were lost");
  }
  return lines;
}

} // namespace nodewise::advise
