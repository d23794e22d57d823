// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/figures.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace nodewise::traffic {

void locality::add(node_id from, node_id to, std::uint64_t lines) noexcept {
  if (from == unknown_node || to == unknown_node) {
    unknown += lines;
  } else if (from == to) {
    local += lines;
  } else {
    remote += lines;
  }
}

locality& locality::operator+=(const locality& other) noexcept {
  local += other.local;
  remote += other.remote;
  unknown += other.unknown;
  return *this;
}

std::optional<double> locality::share() const noexcept {
  return total() == 0 ? std::nullopt
                      : std::optional(static_cast<double>(local) / static_cast<double>(total()));
}

bool is_worse(const locality& a, const locality& b) noexcept {
  return std::pair(a.remote + a.unknown, a.local) > std::pair(b.remote + b.unknown, b.local);
}

phase_totals totals(const counts& of, phase when) {
  phase_totals all;
  for (const cell& c : of.cells) {
    if (c.when == when) {
      all.where.add(of.node_of(c.cpu), c.to, c.lines.asked());
      all.lines += c.lines;
      all.dirty += c.dirty;
    }
  }
  return all;
}

phase judged_phase(const counts& of) {
  constexpr std::uint64_t hardly = 100; // the end of every process is use
  const std::uint64_t use = totals(of, phase::use).where.total();
  const std::uint64_t before = totals(of, phase::initialisation).where.total();
  return use != 0 && use >= before / hardly ? phase::use : phase::initialisation;
}

std::uint64_t node_matrix::total() const noexcept {
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0});
}

node_matrix node_by_node(const counts& of, phase when) {
  std::set<node_id> from;
  std::set<node_id> to(of.memories.begin(), of.memories.end());
  for (const processor& p : of.processors) {
    from.insert(p.node);
  }
  std::map<site::way, std::uint64_t> lines;
  for (const cell& c : of.cells) {
    if (c.when == when && c.lines.asked() != 0) {
      from.insert(of.node_of(c.cpu));
      to.insert(c.to);
      lines[{of.node_of(c.cpu), c.to}] += c.lines.asked();
    }
  }
  node_matrix all{{from.begin(), from.end()}, {to.begin(), to.end()}, {}};
  for (const node_id row : all.from) {
    for (const node_id column : all.to) {
      const auto found = lines.find({row, column});
      all.lines.push_back(found == lines.end() ? 0 : found->second);
    }
  }
  return all;
}

std::vector<memory_load> memory_loads(const counts& of, std::optional<phase> when) {
  std::map<node_id, std::uint64_t> lines;
  for (const node_id node : of.memories) {
    lines[node] = 0;
  }
  for (const cell& c : of.cells) {
    if (!when || c.when == *when) {
      lines[c.to] += c.lines.moved();
    }
  }
  lines.erase(unknown_node);
  std::vector<memory_load> all;
  for (const auto& [node, sum] : lines) {
    all.push_back({node, sum});
  }
  return all;
}

std::optional<double> imbalance(const std::vector<memory_load>& loads) {
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (const memory_load& load : loads) {
    sum += load.lines;
    most = std::max(most, load.lines);
  }
  if (sum == 0) {
    return std::nullopt;
  }
  return static_cast<double>(most) * static_cast<double>(loads.size()) / static_cast<double>(sum);
}

locality site::where(phase when) const noexcept {
  locality all;
  for (const auto& [from_to, lines] : flows[index_of(when)]) {
    all.add(from_to.first, from_to.second, lines.asked());
  }
  return all;
}

site site_of(const object& which) {
  return {.kind = which.kind,
          .module = which.module,
          .offset = which.offset,
          .name = which.name,
          .pid = which.pid};
}

namespace {

/// Groups objects by site.
class grouping {
 public:
  explicit grouping(const counts& of) : of_(of) {
    for (const object& o : of.objects) {
      site& to = site_for(o);
      ++to.objects;
      to.freed += o.freed ? 1 : 0;
      to.bytes += o.bytes;
    }
  }
  site& of(process_key pid, std::optional<object_id> id) {
    if (const object* const found = id ? of_.find_object(pid, *id) : nullptr) {
      return site_for(*found);
    }
    site& rest = by_key_[{object_kind::other, {}, 0, {}}];
    rest.pid = pid;
    return rest;
  }
  std::vector<site> take() {
    std::vector<site> all;
    for (auto& [key, each] : by_key_) {
      all.push_back(std::move(each));
    }
    return all;
  }

 private:
  site& site_for(const object& o) {
    const site its = site_of(o);
    return by_key_.try_emplace(its.key(), its).first->second;
  }

  const counts& of_;
  std::map<site::identity, site> by_key_;
};

} // namespace

std::vector<site> sites_of(const counts& of) {
  grouping groups(of);
  for (const object_traffic& t : of.by_object) {
    groups.of(t.pid, t.object).flows[index_of(t.when)][{t.from, t.to}] += t.lines;
  }
  for (const page_run& run : of.pages) {
    groups.of(run.pid, run.object).pages[run.to] += run.count;
  }
  std::vector<site> all = groups.take();
  const phase judged = judged_phase(of);
  std::ranges::sort(all, [&](const site& a, const site& b) {
    const locality of_a = a.where(judged);
    const locality of_b = b.where(judged);
    return is_worse(of_a, of_b) || (!is_worse(of_b, of_a) && a.key() < b.key());
  });
  return all;
}

} // namespace nodewise::traffic
