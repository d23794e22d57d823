// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/threads.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace nodewise::survey {

namespace {

/// A worker's mask, and the position of its rank.
struct placed_worker {
  cpu_set mask;
  std::size_t rank = 0;
};

std::vector<placed_worker> workers_of(const surveyed_host& host) {
  std::vector<placed_worker> all;
  for (std::size_t i = 0; i < host.ranks.size(); ++i) {
    for (cpu_set& mask : masks_of(*host.ranks[i])) {
      if (!mask.empty()) {
        all.push_back({std::move(mask), i});
      }
    }
  }
  return all;
}

/// Sets of processors in which there may be too many workers: each mask, and the unions of masks
/// that overlap. Ascending by size.
std::vector<cpu_set> crowd_candidates(const std::vector<placed_worker>& workers) {
  std::map<std::string, cpu_set> by_text;
  std::vector<cpu_set> joined_masks; // disjoint
  for (const placed_worker& each : workers) {
    if (!by_text.emplace(each.mask.to_string(), each.mask).second) {
      continue;
    }
    cpu_set all = each.mask;
    std::erase_if(joined_masks, [&](const cpu_set& other) {
      const bool overlaps = other.intersects(all);
      all = overlaps ? all | other : all;
      return overlaps;
    });
    joined_masks.push_back(std::move(all));
  }
  for (const cpu_set& each : joined_masks) {
    by_text.emplace(each.to_string(), each);
  }
  std::vector<cpu_set> sets;
  for (auto& [text, set] : by_text) {
    sets.push_back(std::move(set));
  }
  std::ranges::sort(sets, {},
                    [](const cpu_set& each) { return std::pair(each.size(), each.to_string()); });
  return sets;
}

std::vector<std::size_t> positions(const std::set<std::size_t>& of) {
  return {of.begin(), of.end()};
}

/// More workers than processors, in the smallest sets of processors that show it.
void judge_crowds(const std::vector<placed_worker>& workers, std::vector<layout_fault>& into) {
  std::vector<bool> shown(workers.size());
  for (const cpu_set& set : crowd_candidates(workers)) {
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (set.includes(workers[i].mask)) {
        inside.push_back(i);
      }
    }
    if (inside.size() <= set.size() ||
        std::ranges::all_of(inside, [&](std::size_t i) { return shown[i]; })) {
      continue;
    }
    std::set<std::size_t> ranks;
    for (const std::size_t i : inside) {
      ranks.insert(workers[i].rank);
      shown[i] = true;
    }
    const bool one = ranks.size() == 1;
    const std::string of = one ? "" : fmt::format(" of {} ranks", ranks.size());
    into.push_back({one ? fault::threads_share : fault::ranks_share,
                    fmt::format("{}{} on {}", counted(inside.size(), "thread"), of,
                                counted(set.size(), "processor")),
                    positions(ranks)});
  }
}

/// Workers bound to the hardware threads of the same core, while other cores have none.
void judge_cores(const std::vector<placed_worker>& workers, const host_machine& on,
                 std::vector<layout_fault>& into) {
  std::size_t idle = 0;
  std::size_t shared = 0;
  std::size_t most = 0;
  std::set<std::size_t> ranks;
  for (const cpu_set& core : on.cores) {
    std::set<std::size_t> of_core;
    cpu_set used;
    std::size_t bound = 0;
    bool reached = false;
    for (const placed_worker& each : workers) {
      reached = reached || each.mask.intersects(core);
      if (core.includes(each.mask)) {
        ++bound;
        used = used | each.mask;
        of_core.insert(each.rank);
      }
    }
    idle += reached ? 0U : 1U;
    if (bound > 1 && used.size() >= bound) { // else too many workers: another fault
      ++shared;
      most = std::max(most, bound);
      ranks.merge(of_core);
    }
  }
  if (shared != 0 && idle >= shared) {
    into.push_back({fault::hardware_threads,
                    fmt::format("{} threads on one core, on {}, while {} of {} are idle", most,
                                counted(shared, "core"), idle, counted(on.cores.size(), "core")),
                    positions(ranks)});
  }
}

node_set nodes_with_processors(const host_machine& on) {
  return on.nodes_of(on.cpus());
}

/// Groups faults of single ranks by their evidence.
class by_evidence {
 public:
  by_evidence(fault what, std::vector<layout_fault>& into) : what_(what), into_(into) {}
  ~by_evidence() {
    for (auto& [evidence, ranks] : found_) {
      into_.push_back({what_, evidence, positions(ranks)});
    }
  }
  by_evidence(const by_evidence&) = delete;
  by_evidence& operator=(const by_evidence&) = delete;
  void add(const std::string& evidence, std::size_t rank) { found_[evidence].insert(rank); }

 private:
  fault what_;
  std::vector<layout_fault>& into_;
  std::map<std::string, std::set<std::size_t>> found_;
};

/// Threads that may move between nodes; and ranks whose bound threads are on too many nodes.
void judge_nodes(const surveyed_host& host, const std::vector<placed_worker>& workers,
                 std::vector<layout_fault>& into) {
  const host_machine& on = *host.hardware;
  const std::size_t nodes = nodes_with_processors(on).size();
  const std::size_t cores_of_node = std::max<std::size_t>(on.cores.size() / nodes, 1);
  const std::size_t share = (nodes + host.ranks.size() - 1) / host.ranks.size();
  by_evidence unbound(fault::unbound, into);
  by_evidence spanning(fault::spans_nodes, into);
  for (std::size_t i = 0; i < host.ranks.size(); ++i) {
    node_set reached;
    node_set widest;
    std::size_t count = 0;
    for (const placed_worker& each : workers) {
      if (each.rank == i) {
        const node_set its = on.nodes_of(each.mask);
        widest = its.size() > widest.size() ? its : widest;
        reached = reached | its;
        ++count;
      }
    }
    const std::size_t needed = (count + cores_of_node - 1) / cores_of_node;
    if (widest.size() > 1) {
      unbound.add(fmt::format("threads may run on any of the {}", nodes_text(widest)), i);
    } else if (host.ranks.size() > 1 && reached.size() > std::max(needed, share)) {
      spanning.add(fmt::format("{} on {}", counted(count, "thread"), nodes_text(reached)), i);
    }
  }
}

/// Nodes where no thread may run, though there are enough ranks for all of them, or enough threads
/// of the only rank.
void judge_idle(const surveyed_host& host, const std::vector<placed_worker>& workers,
                std::vector<layout_fault>& into) {
  cpu_set reached;
  for (const placed_worker& each : workers) {
    reached = reached | each.mask;
  }
  const node_set all = nodes_with_processors(*host.hardware);
  const node_set idle = all - host.hardware->nodes_of(reached);
  const std::size_t parts = host.ranks.size() == 1 ? workers.size() : host.ranks.size();
  if (!idle.empty() && parts >= all.size()) {
    into.push_back({fault::nodes_idle,
                    fmt::format("no thread may run on {} of {}", nodes_text(idle), all.size()),
                    {}});
  }
}

} // namespace

std::vector<cpu_set> masks_of(const rank_record& rank) {
  std::vector<cpu_set> masks;
  for (const worker& each : rank.workers) {
    masks.push_back(each.allowed);
  }
  return masks.empty() ? std::vector{rank.allowed} : masks;
}

cpu_set reach_of(const rank_record& rank) {
  cpu_set all;
  for (const cpu_set& each : masks_of(rank)) {
    all = all | each;
  }
  return all;
}

std::string layout_key(const surveyed_host& host) {
  std::string key = host.machine;
  for (const rank_record* const rank : host.ranks) {
    key += '|';
    for (const cpu_set& mask : masks_of(*rank)) {
      key += mask.to_string() + ' ';
    }
  }
  return key;
}

std::vector<layout_fault> judge_layout(const surveyed_host& host) {
  std::vector<layout_fault> found;
  const std::vector<placed_worker> workers = workers_of(host);
  judge_crowds(workers, found);
  if (host.hardware == nullptr || workers.empty()) {
    return found;
  }
  judge_cores(workers, *host.hardware, found);
  if (nodes_with_processors(*host.hardware).size() > 1) {
    judge_nodes(host, workers, found);
    judge_idle(host, workers, found);
  }
  return found;
}

} // namespace nodewise::survey
