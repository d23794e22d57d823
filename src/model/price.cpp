// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/price.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <nodewise/error.hpp>

#include "model/demand.hpp"
#include "model/fair_share.hpp"
#include "model/ledger.hpp"

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

/// Threads that are equal to the machine: on equal cores, with equal mixes.
struct flow_class {
  flow rates;
  double bytes = 0; ///< of each
  double left = 0;
};

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
  const auto key = [&](const thread_traffic& of) {
    return std::tie(on.cores[of.core].node, of.most, of.read, of.written);
  };
  kinds found;
  std::unordered_multimap<std::size_t, std::size_t> seen; // hash to kind
  for (const thread_traffic& thread : what.threads) {
    const std::size_t hash = hash_of(thread, on.cores[thread.core].node);
    const auto [first, last] = seen.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& other) {
      return key(found.examples[other.second]) == key(thread);
    });
    if (same != last) {
      found.of_thread.push_back(same->second);
      continue;
    }
    if (found.examples.size() == most_different) {
      return std::nullopt;
    }
    seen.emplace(hash, found.examples.size());
    found.of_thread.push_back(found.examples.size());
    found.examples.push_back(thread);
  }
  return found;
}

/// Groups a node's threads by similar amounts, in about `most_different` groups; each thread is
/// priced as the mean of its group. A node's total to and from each memory does not change.
kinds grouped_kinds(const machine_costs& on, const traffic& what) {
  std::vector<std::size_t> order(what.threads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> bytes;
  for (const thread_traffic& thread : what.threads) {
    bytes.push_back(total_bytes(thread));
  }
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

/// Treats equal cores as one: the threads on them share the lines that all of these cores can have
/// in flight.
class flow_classes {
 public:
  flow_classes(const machine_costs& on, const traffic& what) : capacities_(capacities_of(on)) {
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
    for (const auto& [threads, count] : cores) {
      add(on, of.examples, threads, static_cast<double>(count));
    }
  }

  std::vector<flow_class> classes;
  [[nodiscard]] const std::vector<double>& capacities() const noexcept { return capacities_; }
  /// For each resource after memories and links, the node that its cores belong to.
  std::vector<std::size_t> core_nodes;

 private:
  void add(const machine_costs& on, const std::vector<thread_traffic>& examples,
           const core_kind& threads, double cores) {
    const std::size_t node = on.cores[examples[threads.front()].core].node;
    std::size_t shared = own_limit;
    if (on.core[node].value != unlimited) {
      shared = capacities_.size();
      capacities_.push_back(on.core[node].value * cores);
      core_nodes.push_back(node);
    }
    for (auto kind = threads.begin(); kind != threads.end();) {
      const auto end = std::upper_bound(kind, threads.end(), *kind);
      const thread_traffic& thread = examples[*kind];
      flow_class each;
      each.bytes = each.left = total_bytes(thread);
      each.rates.members = cores * static_cast<double>(end - kind);
      each.rates.most = thread.most;
      each.rates.uses = uses_of(on, node, thread, shared);
      classes.push_back(std::move(each));
      kind = end;
    }
  }

  std::vector<double> capacities_;
};

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
void run_fixed(std::vector<flow_class>& classes, std::vector<flow>& flows, fair_share& share,
               ledger& book) {
  const double together = classes.size() > many_different ? end_together : 0;
  for (std::size_t left = flows.size(); left > 0;) {
    solve(share, flows);
    const auto ends_in = [&](std::size_t c) {
      return flows[c].active ? classes[c].left / share.rates()[c] : unlimited;
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
      classes[c].left -= share.rates()[c] * step;
      if (flows[c].active && classes[c].left <= nothing_left * classes[c].bytes) {
        flows[c].active = false;
        --left;
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

prediction price(const machine_costs& on, const traffic& what, work how) {
  check_memories(on, what);
  flow_classes of(on, what);
  std::vector<flow> flows;
  prediction result;
  for (const flow_class& each : of.classes) {
    flows.push_back(each.rates);
    result.bytes += each.bytes * each.rates.members;
  }
  fair_share share(of.capacities());
  ledger book(on, share, of.core_nodes);
  if (how == work::pooled) {
    run_pooled(result.bytes, flows, share, book);
  } else {
    run_fixed(of.classes, flows, share, book);
  }
  result.seconds = book.seconds();
  result.loads = book.loads();
  return result;
}

} // namespace nodewise::model
