// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::string thread_name(const analysis_input& of, std::size_t w) {
  const worker& each = of.workers()[w];
  return each.ordinal == 0 ? "the main thread" : fmt::format("thread {}", each.ordinal);
}

} // namespace

bool is_worth_a_look(const analysis_input& of, const site& which) {
  constexpr double of_traffic = 0.001;
  constexpr double large = 1U << 20U;
  const auto size = [&](std::size_t i) { return of.items()[i].what->bytes; };
  return which.placeable &&
         (which.bytes >= of_traffic * of.bytes() || sum_over(which.items, size) >= large);
}

positions sites_in_use(const analysis& of) {
  const std::vector<char> all(of.input.sites().size(), 1);
  return sites_where(of, all, [](const item& what, const shape&) { return what.units > 0; });
}

bool is_serial(const item& what, const shape& how) {
  constexpr double mostly = 0.5;
  return what.units > 0 && how.touched_by_one() && how.on_one_node() && how.followed >= mostly &&
         how.remote >= some_remote;
}

std::string names_of(const analysis_input& of, const positions& sites) {
  std::vector<std::string> names;
  for (const std::size_t s : sites) {
    const site& each = of.sites()[s];
    names.push_back(each.items.size() > 1
                        ? fmt::format("{} ({} objects)", each.name, each.items.size())
                        : each.name);
  }
  return list_of(names);
}

const shape& greatest(const analysis& of, const positions& sites) {
  const auto bytes = [&](std::size_t i) { return of.input.items()[i].bytes(); };
  return of.shapes[std::ranges::max(of.input.items_of(sites), {}, bytes)];
}

std::vector<std::string> usual_evidence(const analysis& of, const positions& sites) {
  std::vector<std::string> lines;
  const shape& most = greatest(of, sites);
  if (most.toucher && most.one_thread > 0) {
    lines.push_back(
        fmt::format("{} of the observed pages were first touched by {}",
                    percent(mean_over(of, sites, &shape::one_thread)),
                    most.touched_by_one() ? thread_name(of.input, *most.toucher) : "one thread"));
  }
  if (most.memory != nowhere) {
    lines.push_back(fmt::format("{} of the pages are on node {}",
                                percent(mean_over(of, sites, &shape::on_memory)),
                                of.input.number_of(most.memory)));
  }
  if (of.input.assumed()) {
    lines.emplace_back("its uses were not observed");
    return lines;
  }
  lines.push_back(fmt::format(
      "{} on {} use it; {} of its traffic is remote", counted(most.using_threads, "thread"),
      counted(most.using_nodes, "node"), percent(mean_over(of, sites, &shape::remote))));
  if (of.input.bytes() > 0) {
    lines.push_back(fmt::format("it makes up {} of the program's traffic",
                                percent(bytes_moved(of.input, sites) / of.input.bytes())));
  }
  return lines;
}

std::vector<std::string> usual_doubts(const analysis& of, const positions& sites) {
  std::vector<std::string> lines;
  const double followed = mean_over(of, sites, &shape::followed);
  constexpr double nearly_all = 0.95;
  if (followed < nearly_all) {
    lines.push_back(fmt::format("{} of the pages are not where first touch puts them: the node was "
                                "full, the memory had a policy, or the kernel moved them",
                                percent(1 - followed)));
  }
  const profile::evidence& seen = of.input.profile().seen;
  if (seen.pages_moved > 0) {
    lines.push_back(fmt::format("the kernel moved {} while the program was observed: pages are "
                                "shown where they were at the end",
                                counted(seen.pages_moved, "page")));
  }
  if (of.input.sampled()) {
    lines.emplace_back("uses are samples of the kernel's NUMA balancing: pages that are used often "
                       "and pages that are used seldom look alike");
  }
  if (seen.lost_samples > 0) {
    lines.push_back(fmt::format("the kernel lost {}", counted(seen.lost_samples, "sample")));
  }
  return lines;
}

suspicion usual(const analysis& of, const positions& sites, std::string_view problem) {
  return {.title = fmt::format("{}: {}", names_of(of.input, sites), problem),
          .evidence = usual_evidence(of, sites),
          .remarks = usual_doubts(of, sites)};
}

} // namespace nodewise::advise
