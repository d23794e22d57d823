// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/price.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

#include <nodewise/error.hpp>

namespace nodewise::model {

namespace {

// A thread has ended when no more than this part of its work is left: sums are not exact.
constexpr double nothing_left = 1e-9;

// More different threads than this cost more time than their detail is worth.
constexpr std::size_t most_different = 128;
// Threads whose amounts differ by more than this factor are never grouped.
constexpr double alike = 1.05;
// With more classes than this, those that end at nearly the same time end together.
constexpr std::size_t many_different = 64;
constexpr double end_together = 1e-4; // of the time until then

std::size_t hash_of(const thread_traffic& thread, std::size_t node) {
  std::size_t hash = node;
  const auto mix = [&hash](double value) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  };
  mix(thread.most);
  std::ranges::for_each(thread.read, mix);
  std::ranges::for_each(thread.written, mix);
  return hash;
}

/// Threads by kind; threads of one kind are priced alike.
struct kinds {
  std::vector<std::size_t> of_thread;
  std::vector<thread_traffic> examples; ///< one per kind; its core is one of the kind's
};

/// Puts equal threads in one kind. nullopt if there are too many different ones.
std::optional<kinds> equal_kinds(const machine_costs& on, const traffic& what) {
  const auto node = [&](const thread_traffic* of) { return on.cores[of->core].node; };
  const auto hash = [&](const thread_traffic* of) { return hash_of(*of, node(of)); };
  const auto equal = [&](const thread_traffic* a, const thread_traffic* b) {
    return node(a) == node(b) && a->most == b->most && a->read == b->read &&
           a->written == b->written;
  };
  kinds found;
  std::unordered_map<const thread_traffic*, std::size_t, decltype(hash), decltype(equal)> seen(
      most_different, hash, equal);
  for (const thread_traffic& thread : what.threads) {
    const auto [at, is_new] = seen.try_emplace(&thread, found.examples.size());
    found.of_thread.push_back(at->second);
    if (is_new) {
      found.examples.push_back(thread);
    }
    if (found.examples.size() > most_different) {
      return std::nullopt;
    }
  }
  return found;
}

/// Groups a node's threads by similar amounts, in about `most_different` groups; each thread is
/// priced as the mean of its group. A node's total to and from each memory does not change.
kinds grouped_kinds(const machine_costs& on, const traffic& what) {
  std::vector<std::size_t> order(what.threads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> bytes;
  std::ranges::transform(what.threads, std::back_inserter(bytes),
                         [](const thread_traffic& thread) { return total_bytes(thread); });
  const auto node = [&](std::size_t t) { return on.cores[what.threads[t].core].node; };
  std::ranges::sort(order, {}, [&](std::size_t t) { return std::tuple(node(t), bytes[t], t); });
  const std::size_t size = (order.size() + most_different - 1) / most_different;
  kinds found;
  found.of_thread.resize(order.size());
  std::size_t members = 0;
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const thread_traffic& thread = what.threads[order[i]];
    if (i == 0 || members == size || node(order[i - 1]) != node(order[i]) ||
        bytes[order[i]] > alike * least) {
      least = bytes[order[i]];
      found.examples.push_back(thread);
      members = 1;
    } else {
      thread_traffic& mean = found.examples.back();
      const double part = 1.0 / static_cast<double>(++members);
      for (std::size_t n = 0; n < on.size(); ++n) {
        mean.read[n] += (thread.read[n] - mean.read[n]) * part;
        mean.written[n] += (thread.written[n] - mean.written[n]) * part;
      }
      mean.most = std::max(mean.most, thread.most);
    }
    found.of_thread[order[i]] = found.examples.size() - 1;
  }
  return found;
}

using core_kind = std::vector<std::size_t>; ///< the kinds of a core's threads, in order

/// Threads that are equal to the machine are one flow: on equal cores, with equal mixes. Equal
/// cores are treated as one: the threads on them share the lines that all of these cores can have
/// in flight.
struct flows_of_kinds {
  std::vector<flow> flows;
  std::vector<double> bytes;           ///< of a member of each flow
  std::vector<double> capacities;      ///< of memories, links, then kinds of cores
  std::vector<std::size_t> core_nodes; ///< of each kind of cores with a limit
};

void add_cores(flows_of_kinds& to, const machine_costs& on, const kinds& of,
               const core_kind& threads, double cores) {
  const std::size_t node = on.cores[of.examples[threads.front()].core].node;
  std::size_t shared = own_limit;
  if (on.core[node].value != unlimited) {
    shared = to.capacities.size();
    to.capacities.push_back(on.core[node].value * cores);
    to.core_nodes.push_back(node);
  }
  for (auto kind = threads.begin(); kind != threads.end();) {
    const auto end = std::upper_bound(kind, threads.end(), *kind);
    const thread_traffic& thread = of.examples[*kind];
    to.flows.push_back({.uses = uses_of(on, node, thread, shared),
                        .members = cores * static_cast<double>(end - kind),
                        .most = thread.most});
    to.bytes.push_back(total_bytes(thread));
    kind = end;
  }
}

flows_of_kinds flows_of(const machine_costs& on, const traffic& what) {
  const std::optional<kinds> equal = equal_kinds(on, what);
  const kinds of = equal ? *equal : grouped_kinds(on, what);
  std::vector<core_kind> threads_of(on.cores.size());
  for (std::size_t t = 0; t < what.threads.size(); ++t) {
    if (total_bytes(of.examples[of.of_thread[t]]) > 0) {
      threads_of[what.threads[t].core].push_back(of.of_thread[t]);
    }
  }
  std::map<core_kind, std::size_t> cores;
  for (core_kind& threads : threads_of) {
    std::ranges::sort(threads);
    ++cores[threads];
  }
  cores.erase(core_kind());
  flows_of_kinds all;
  all.capacities = capacities_of(on);
  for (const auto& [threads, count] : cores) {
    add_cores(all, on, of, threads, static_cast<double>(count));
  }
  return all;
}

void solve(fair_share& share, const std::vector<flow>& flows) {
  share.solve(flows);
  for (std::size_t c = 0; c < flows.size(); ++c) {
    if (flows[c].active && !(share.rates()[c] < unlimited)) {
      throw error(error_kind::input, "predicting the time of the traffic",
                  "neither memories, links nor cores limit some of it",
                  "give the machine a bandwidth or a core_bandwidth");
    }
  }
}

/// Runs all flows at once until each has ended.
void run_fixed(const std::vector<double>& bytes, std::vector<flow>& flows, fair_share& share,
               ledger& book) {
  const double together = flows.size() > many_different ? end_together : 0;
  std::vector<double> left = bytes;
  for (std::size_t active = flows.size(); active > 0;) {
    solve(share, flows);
    const auto ends_in = [&](std::size_t c) {
      return flows[c].active ? left[c] / share.rates()[c] : unlimited;
    };
    double next = unlimited;
    for (std::size_t c = 0; c < flows.size(); ++c) {
      next = std::min(next, ends_in(c));
    }
    const double soon = next + together * (book.seconds() + next);
    double step = next;
    for (std::size_t c = 0; c < flows.size(); ++c) {
      step = ends_in(c) <= soon ? std::max(step, ends_in(c)) : step;
    }
    book.pass(flows, step);
    for (std::size_t c = 0; c < flows.size(); ++c) {
      left[c] -= share.rates()[c] * step;
      if (flows[c].active && left[c] <= nothing_left * bytes[c]) {
        flows[c].active = false;
        --active;
      }
    }
  }
}

void run_pooled(double bytes, const std::vector<flow>& flows, fair_share& share, ledger& book) {
  solve(share, flows);
  double rate = 0;
  for (std::size_t c = 0; c < flows.size(); ++c) {
    rate += share.rates()[c] * flows[c].members;
  }
  if (rate > 0) {
    book.pass(flows, bytes / rate);
  }
}

} // namespace

ledger::ledger(const machine_costs& on, const fair_share& of, std::vector<std::size_t> core_nodes)
    : on_(on), share_(of), core_nodes_(std::move(core_nodes)), moved_(of.capacities().size(), 0),
      bound_(of.capacities().size(), 0) {}

void ledger::pass(const std::vector<flow>& flows, double seconds) {
  seconds_ += seconds;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (!flows[f].active) {
      continue;
    }
    const double thread_seconds = seconds * flows[f].members;
    thread_seconds_ += thread_seconds;
    const std::size_t limiter = share_.limiters()[f];
    (limiter == own_limit ? own_bound_ : bound_[limiter]) += thread_seconds;
    for (const resource_use& use : flows[f].uses) {
      moved_[use.resource] += thread_seconds * share_.rates()[f] * use.amount;
    }
  }
}

resource_load ledger::named(std::size_t resource) const {
  const std::size_t memories = on_.size();
  const std::size_t others = memories + on_.links.size();
  const auto [kind, at] = resource < memories ? std::pair(resource_kind::memory, resource)
                          : resource < others
                              ? std::pair(resource_kind::link, resource - memories)
                              : std::pair(resource_kind::core, core_nodes_[resource - others]);
  return {kind, at, share_.capacities()[resource], moved_[resource], bound_[resource]};
}

std::vector<resource_load> ledger::loads() const {
  std::vector<resource_load> all;
  for (std::size_t resource = 0; resource < moved_.size(); ++resource) {
    if (moved_[resource] <= 0) {
      continue;
    }
    const resource_load one = named(resource);
    const auto same = std::ranges::find_if(all, [&](const resource_load& other) {
      return one.kind == resource_kind::core && other.kind == one.kind && other.at == one.at;
    });
    if (same == all.end()) {
      all.push_back(one);
    } else { // the cores of a node are one row
      same->bytes_per_s += one.bytes_per_s;
      same->busy += one.busy;
      same->bound += one.bound;
    }
  }
  for (resource_load& each : all) {
    each.busy /= each.bytes_per_s * seconds_;
    each.bound /= thread_seconds_;
  }
  if (own_bound_ > 0) {
    all.push_back({resource_kind::thread, 0, 0, 0, own_bound_ / thread_seconds_});
  }
  std::ranges::sort(all, {}, [](const resource_load& each) {
    return std::tuple(-each.bound, -each.busy, each.kind, each.at);
  });
  return all;
}

prediction price(const machine_costs& on, const traffic& what, work how) {
  check_memories(on, what);
  flows_of_kinds of = flows_of(on, what);
  prediction result;
  for (std::size_t c = 0; c < of.flows.size(); ++c) {
    result.bytes += of.bytes[c] * of.flows[c].members;
  }
  fair_share share(of.capacities);
  ledger book(on, share, of.core_nodes);
  if (how == work::pooled) {
    run_pooled(result.bytes, of.flows, share, book);
  } else {
    run_fixed(of.bytes, of.flows, share, book);
  }
  result.seconds = book.seconds();
  result.loads = book.loads();
  return result;
}

} // namespace nodewise::model
