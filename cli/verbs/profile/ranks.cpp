// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/ranks.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <nodewise/id_set.hpp>

#include "base/text.hpp"
#include "cli/profiles/sites.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

/// The remote share of the program's uses, as far as their place is known.
std::optional<double> remote_of(const profile::program& which) {
  profile::profile alone;
  alone.programs = {which};
  double used = 0;
  double remote = 0;
  for (const auto& [key, site] : sites_of(alone)) {
    if (site.remote) {
      used += site.used;
      remote += site.used * *site.remote;
    }
  }
  return used > 0 ? std::optional(remote / used) : std::nullopt;
}

profiled_rank profiled(const profile::program& which) {
  profiled_rank made;
  made.rank = *which.rank;
  made.processors = which.processors;
  std::set<node_id> nodes;
  for (const profile::thread& each : which.threads) {
    for (const profile::thread::stay& stay : each.stays) {
      if (stay.node != unknown_node) {
        nodes.insert(stay.node);
      }
    }
    made.threads += each.stays.empty() ? 0U : 1U;
  }
  made.nodes.assign(nodes.begin(), nodes.end());
  made.remote = remote_of(which);
  return made;
}

/// The first two ranks that may run on the same processors.
std::string shared_processors(const std::vector<profiled_rank>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      const cpu_set both = cpu_set::parse(all[i].processors) & cpu_set::parse(all[k].processors);
      if (!both.empty()) {
        return fmt::format("ranks {} and {} may run on the same processors, {}: give --ranks-per "
                           "node to profile and to run, or have the launcher bind them",
                           all[i].rank, all[k].rank, both.to_string());
      }
    }
  }
  return {};
}

} // namespace

std::string sites_text(const profile::profile& of, const report::style& how) {
  const std::map<site_key, profile_site> all = sites_of(of); // ascending by name
  std::vector<std::pair<site_key, profile_site>> largest(all.begin(), all.end());
  std::ranges::sort(largest, [](const auto& a, const auto& b) {
    return std::pair(b.second.resident, a.first) < std::pair(a.second.resident, b.first);
  });
  report::table rows({report::breaking("memory"), report::right("size"),
                      report::breaking("pages on"), report::breaking("first touched at"), "by"},
                     2);
  constexpr std::size_t most = 8;
  constexpr std::uint64_t small = 100; // sites below 1/100 of the largest are left out
  for (std::size_t i = 0; i < std::min(most, largest.size()); ++i) {
    const auto& [key, site] = largest[i];
    if (site.resident < largest.front().second.resident / small) {
      break;
    }
    const std::string others =
        site.touching_lines > 1 ? fmt::format(" +{}", site.touching_lines - 1) : "";
    const std::string objects = site.objects > 1 ? fmt::format(" x{}", site.objects) : "";
    rows.add({printable(key.second) + objects, report::format_bytes(site.bytes), nodes_text(site),
              site.touched_at.empty() ? "-" : printable(site.touched_at) + others,
              site.touching_threads == 0 ? "-" : counted(site.touching_threads, "thread")});
  }
  return rows.empty() ? "" : rows.to_string(how);
}

std::vector<profiled_rank> ranks_of(const profile::profile& of) {
  std::vector<profiled_rank> all;
  for (const profile::program& each : of.programs) {
    if (each.rank) {
      all.push_back(profiled(each));
    }
  }
  std::ranges::sort(all, {}, &profiled_rank::rank);
  return all.size() > 1 ? all : std::vector<profiled_rank>{};
}

std::string ranks_text(const profile::profile& of, const report::style& how) {
  using report::right;
  const std::vector<profiled_rank> all = ranks_of(of);
  if (all.empty()) {
    return {};
  }
  report::table shown({right("rank"), "processors", "nodes", right("threads"), right("local")}, 2);
  for (const profiled_rank& each : all) {
    shown.add({std::to_string(each.rank), each.processors.empty() ? "unknown" : each.processors,
               each.nodes.empty() ? "unknown" : joined(each.nodes, ","),
               std::to_string(each.threads),
               each.remote ? report::format_percent(1 - *each.remote) : "unavailable"});
  }
  std::string text = shown.to_string(how);
  if (const std::string shared = shared_processors(all); !shared.empty()) {
    text += fmt::format("  {}\n", report::wrap_on_terminal(shared, how, 2));
  }
  return text + "\n";
}

nlohmann::ordered_json ranks_json(const profile::profile& of) {
  return report::json_list(ranks_of(of), [](const profiled_rank& each) -> nlohmann::ordered_json {
    return {{"rank", each.rank},
            {"processors", each.processors},
            {"nodes", each.nodes},
            {"threads", each.threads},
            {"remote", report::or_unavailable(each.remote)}};
  });
}

} // namespace nodewise::cli
