// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "survey/finding.hpp"
#include "survey/memory.hpp"
#include "survey/threads.hpp"

namespace nodewise::survey {

namespace {

constexpr std::uint64_t least_bytes = std::uint64_t{16} << 20; // less is not worth a finding
constexpr double one_node_limit = 0.4; // of memory, beyond the share of threads there

/// Findings by kind and evidence, so that equal ones of many hosts become one.
class collected {
 public:
  void add(fault what, const std::string& evidence, const std::string& host,
           const std::vector<int>& ranks) {
    finding& into = found_[{what, evidence}];
    into.what = what;
    into.evidence = evidence;
    if (into.hosts.empty() || into.hosts.back() != host) {
      into.hosts.push_back(host);
    }
    into.ranks.insert(into.ranks.end(), ranks.begin(), ranks.end());
  }
  void add(finding whole) {
    std::pair key(whole.what, whole.evidence);
    found_[std::move(key)] = std::move(whole);
  }

  [[nodiscard]] std::vector<finding> take() {
    std::vector<finding> all;
    for (auto& [key, each] : found_) {
      std::ranges::sort(each.ranks);
      const auto [first, last] = std::ranges::unique(each.ranks);
      each.ranks.erase(first, last);
      all.push_back(std::move(each));
    }
    return all;
  }

 private:
  std::map<std::pair<fault, std::string>, finding> found_;
};

void judge_layouts(const job& of, collected& into) {
  std::map<std::string, std::vector<layout_fault>> known;
  for (const surveyed_host& host : of.hosts) {
    std::string key = layout_key(host);
    auto found = known.find(key);
    if (found == known.end()) {
      found = known.emplace(std::move(key), judge_layout(host)).first;
    }
    for (const layout_fault& each : found->second) {
      if (each.what == fault::nodes_idle && !of.missing.empty()) {
        continue; // the missing ranks may have been there
      }
      std::vector<int> ranks;
      for (const std::size_t at : each.ranks) {
        ranks.push_back(host.ranks[at]->rank);
      }
      into.add(each.what, each.evidence, host.name, ranks);
    }
  }
}

/// The ranks with a fault of their memory, and the one where it is worst.
struct memory_faults {
  std::vector<int> ranks;
  std::vector<std::string> hosts;
  double worst = 0;
  std::string evidence;

  void add(const surveyed_host& host, const rank_record& rank, double share, std::string text) {
    ranks.push_back(rank.rank);
    if (hosts.empty() || hosts.back() != host.name) {
      hosts.push_back(host.name);
    }
    if (share > worst) {
      worst = share;
      evidence = std::move(text);
    }
  }
};

void judge_memory(const job& of, collected& into) {
  memory_faults away;
  memory_faults one_node;
  for (const surveyed_host& host : of.hosts) {
    for (const rank_record* const rank : host.ranks) {
      if (host.hardware == nullptr) {
        continue;
      }
      const memory_use use = memory_of(*rank, *host.hardware);
      const node_set near = thread_nodes(*rank, *host.hardware);
      if (use.known < least_bytes || near.empty()) {
        continue;
      }
      const auto percent = [](double share) { return static_cast<int>(share * 100 + 0.5); };
      if (use.is_away()) {
        away.add(
            host, *rank, use.away_share(),
            fmt::format(
                "rank {}: {} % of its {} MiB on other nodes, most on node {}, its threads on {}",
                rank->rank, percent(use.away_share()), use.known >> 20, to_int(use.fullest),
                nodes_text(near)));
      } else if (near.size() > 1 &&
                 use.fullest_share() - thread_share(*rank, *host.hardware, use.fullest) >
                     one_node_limit) {
        one_node.add(host, *rank, use.fullest_share(),
                     fmt::format("rank {}: {} % of its {} MiB on node {}, its threads on {}",
                                 rank->rank, percent(use.fullest_share()), use.known >> 20,
                                 to_int(use.fullest), nodes_text(near)));
      }
    }
  }
  for (auto& [what, faults] :
       {std::pair(fault::memory_away, &away), std::pair(fault::memory_on_one_node, &one_node)}) {
    if (!faults->ranks.empty()) {
      into.add({what, faults->evidence, std::move(faults->ranks), std::move(faults->hosts)});
    }
  }
}

/// What hosts should have in common, by name.
std::map<std::string, std::string> traits_of(const surveyed_host& host) {
  std::map<std::string, std::string> all = host.ranks.front()->settings;
  std::erase_if(all, [](const auto& each) { return each.first.starts_with("env."); });
  all["machine"] = host.machine;
  return all;
}

/// "machine" has a number for a value: of people its processors and nodes are of use.
std::string shown_value(const std::string& name, const std::string& value, const job& of) {
  if (name != "machine") {
    return value.empty() ? "unavailable" : printable(value);
  }
  const auto with = std::ranges::find_if(of.hosts, [&](const surveyed_host& host) {
    return host.machine == value && host.hardware != nullptr;
  });
  return with == of.hosts.end()
             ? "unknown hardware"
             : fmt::format("{} with {}", counted(with->hardware->nodes.size(), "node"),
                           counted(with->hardware->cpus().size(), "processor"));
}

void judge_differences(const job& of, collected& into) {
  std::map<std::string, std::map<std::string, std::size_t>> counts; // name, value
  for (const surveyed_host& host : of.hosts) {
    for (const auto& [name, value] : traits_of(host)) {
      ++counts[name][value];
    }
  }
  for (const surveyed_host& host : of.hosts) {
    for (const auto& [name, value] : traits_of(host)) {
      const auto& values = counts[name];
      // Of two values that are equally frequent, the first is the usual one.
      const auto usual =
          std::ranges::max_element(values, {}, [](const auto& v) { return v.second; });
      if (value != usual->first) {
        std::string has = shown_value(name, value, of);
        std::string most = shown_value(name, usual->first, of);
        if (has == most) { // the same counts, in another order
          has += " in another order";
        }
        into.add(fault::host_differs,
                 fmt::format("{}: {}, elsewhere {}", printable(name), has, most), host.name, {});
      }
    }
  }
}

void judge_ends(const job& of, collected& into) {
  if (!of.missing.empty()) {
    into.add({fault::rank_missing,
              fmt::format("no record of {}", counted(of.missing.size(), "rank")),
              of.missing,
              {}});
  }
  for (const surveyed_host& host : of.hosts) {
    for (const rank_record* const rank : host.ranks) {
      if (rank->signal) {
        into.add(fault::rank_failed, fmt::format("ended by signal {}", *rank->signal), host.name,
                 {rank->rank});
      } else if (rank->exit_code.value_or(0) != 0) {
        into.add(fault::rank_failed, fmt::format("ended with exit code {}", *rank->exit_code),
                 host.name, {rank->rank});
      }
    }
  }
}

/// The nodes of the packages that these nodes belong to.
node_set nodes_of_packages(const node_set& nodes, const host_machine& on) {
  node_set all = nodes;
  for (const host_machine::node& near : on.nodes) {
    for (const host_machine::node& each : on.nodes) {
      if (nodes.contains(near.id) && near.package >= 0 && each.package == near.package) {
        all.insert(each.id);
      }
    }
  }
  return all;
}

/// A job that leaves the nodes near its network device idle, and works on the far ones.
void judge_network(const job& of, collected& into) {
  for (const surveyed_host& host : of.hosts) {
    node_set near;
    std::string name;
    for (const near_device& each :
         host.devices == nullptr ? std::vector<near_device>{} : *host.devices) {
      if (each.kind == "fabric") {
        name = near.empty() ? each.name : name;
        near = near | each.nodes;
      }
    }
    if (near.empty() || host.hardware == nullptr) {
      continue;
    }
    const node_set around = nodes_of_packages(near, *host.hardware);
    cpu_set reached;
    for (const rank_record* const rank : host.ranks) {
      reached = reached | reach_of(*rank);
    }
    const node_set used = host.hardware->nodes_of(reached);
    if (used.empty() || used.intersects(around)) {
      continue;
    }
    std::vector<int> ranks;
    for (const rank_record* const rank : host.ranks) {
      ranks.push_back(rank->rank);
    }
    into.add(fault::network_far,
             fmt::format("{} is near {}, all ranks are on {}", printable(name), nodes_text(near),
                         nodes_text(used)),
             host.name, ranks);
  }
}

} // namespace

std::string_view name_of(fault which) noexcept {
  constexpr std::array<std::string_view, 13> names = {
      "the job is not as expected",
      "ranks failed",
      "ranks are missing",
      "hosts differ",
      "ranks share processors",
      "threads of a rank share processors",
      "threads share cores while cores are idle",
      "threads are not bound",
      "ranks are on more nodes than necessary",
      "nodes are idle",
      "memory is on other nodes than the threads",
      "memory is on one node, the threads on several",
      "ranks are far from the network"};
  return names.at(static_cast<std::size_t>(which));
}

std::vector<finding> judge(const job& of) {
  collected all;
  judge_ends(of, all);
  judge_differences(of, all);
  judge_layouts(of, all);
  judge_memory(of, all);
  judge_network(of, all);
  return all.take();
}

} // namespace nodewise::survey
