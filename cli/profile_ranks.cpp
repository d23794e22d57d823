// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profile_ranks.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include <nodewise/id_set.hpp>

#include "cli/profile_sites.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"

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

std::string nodes_list(const std::vector<node_id>& nodes) {
  std::string text;
  for (const node_id node : nodes) {
    text += (text.empty() ? "" : ",") + std::to_string(to_int(node));
  }
  return text.empty() ? "unknown" : text;
}

/// The first two ranks that may run on the same processors.
std::string shared_processors(const std::vector<profiled_rank>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      const cpu_set both = cpu_set::parse(all[i].processors) & cpu_set::parse(all[k].processors);
      if (!both.empty()) {
        return "ranks " + std::to_string(all[i].rank) + " and " + std::to_string(all[k].rank) +
               " may run on the same processors, " + both.to_string() +
               ": give profile and run --ranks-per node, or have the launcher bind them";
      }
    }
  }
  return {};
}

} // namespace

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
  using report::align;
  const std::vector<profiled_rank> all = ranks_of(of);
  if (all.empty()) {
    return {};
  }
  report::table shown({{"rank", align::right},
                       {"processors"},
                       {"nodes"},
                       {"threads", align::right},
                       {"local", align::right}},
                      2);
  for (const profiled_rank& each : all) {
    shown.add({std::to_string(each.rank), each.processors.empty() ? "unknown" : each.processors,
               nodes_list(each.nodes), std::to_string(each.threads),
               each.remote ? report::format_percent(1 - *each.remote) : "unavailable"});
  }
  std::string text = shown.to_string(how);
  if (const std::string shared = shared_processors(all); !shared.empty()) {
    const std::size_t width = how.terminal ? how.width : shared.size() + 2;
    text += "  " + report::wrap_indented(shared, width, 2) + "\n";
  }
  return text + "\n";
}

nlohmann::ordered_json ranks_json(const profile::profile& of) {
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const profiled_rank& each : ranks_of(of)) {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const node_id node : each.nodes) {
      nodes.push_back(to_int(node));
    }
    made.push_back({{"rank", each.rank},
                    {"processors", each.processors},
                    {"nodes", std::move(nodes)},
                    {"threads", each.threads},
                    {"remote", report::or_unavailable(each.remote)}});
  }
  return made;
}

} // namespace nodewise::cli
