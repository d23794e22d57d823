// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/resettle.hpp"

#include <algorithm>

namespace nodewise::model {

namespace {

void add(std::vector<double>& to, const std::vector<double>& bytes, double part) {
  for (std::size_t n = 0; n < to.size(); ++n) {
    to[n] += bytes[n] * part;
  }
}

void add(thread_traffic& to, const thread_traffic& other, double part = 1) {
  add(to.read, other.read, part);
  add(to.written, other.written, part);
}

bool is_busier(const thread_traffic& one, const thread_traffic& other) {
  return total_bytes(one) < total_bytes(other);
}

} // namespace

memory_shares shares_on(std::span<const std::size_t> memory_of) {
  memory_shares shares(memory_of.size(), std::vector<double>(memory_of.size(), 0));
  for (std::size_t n = 0; n < memory_of.size(); ++n) {
    shares[n][memory_of[n]] = 1;
  }
  return shares;
}

memory_shares shares_by(const machine_costs& on, std::vector<double> weights) {
  std::ranges::for_each(weights, [sum = sum_of(weights)](double& each) { each /= sum; });
  return memory_shares(on.size(), weights);
}

traffic placed(const machine_costs& on, const traffic& what, const memory_shares& by_node) {
  const std::size_t nodes = on.size();
  traffic all;
  for (const thread_traffic& thread : what.threads) {
    const double read = sum_of(thread.read);
    const double written = sum_of(thread.written);
    const std::size_t node = on.cores[thread.core].node;
    const std::vector<double>& shares = by_node[node];
    thread_traffic there = idle_thread(thread.core, nodes);
    there.most = thread.most;
    for (std::size_t n = 0; n < nodes; ++n) {
      there.read[n] = read * shares[n];
      there.written[n] = written * shares[n];
    }
    if (total_bytes(thread) > 0) { // a limit by lines in flight follows the latency
      there.most *= core_use(on, node, thread) / core_use(on, node, there);
    }
    all.threads.push_back(std::move(there));
  }
  return all;
}

traffic moved(const traffic& what, std::span<const std::size_t> memory_of) {
  traffic all;
  for (const thread_traffic& thread : what.threads) {
    thread_traffic there = idle_thread(thread.core, memory_of.size());
    for (std::size_t n = 0; n < memory_of.size(); ++n) {
      there.read[memory_of[n]] += thread.read[n];
      there.written[memory_of[n]] += thread.written[n];
    }
    all.threads.push_back(std::move(there));
  }
  return all;
}

traffic divided(const traffic& what, std::span<const std::size_t> cores) {
  traffic all;
  if (cores.size() == what.threads.size()) {
    all = what;
    for (std::size_t t = 0; t < cores.size(); ++t) {
      all.threads[t].core = cores[t];
    }
    return all;
  }
  const std::size_t nodes = what.threads.front().read.size();
  thread_traffic part = idle_thread(0, nodes);
  for (const thread_traffic& thread : what.threads) {
    add(part, thread, 1 / static_cast<double>(cores.size()));
  }
  for (const std::size_t core : cores) {
    part.core = core;
    all.threads.push_back(part);
  }
  return all;
}

traffic mixed(const traffic& first, const traffic& second, double part) {
  traffic all;
  for (std::size_t t = 0; t < first.threads.size(); ++t) {
    const thread_traffic& one = first.threads[t];
    thread_traffic& made = all.threads.emplace_back(idle_thread(one.core, one.read.size()));
    add(made, one, 1 - part);
    add(made, second.threads[t], part);
  }
  return all;
}

traffic threads_of(traffic what) {
  if (what.threads.empty()) {
    return what;
  }
  const thread_traffic most = *std::ranges::max_element(what.threads, is_busier);
  const double least = least_of_a_thread * total_bytes(most);
  thread_traffic rest = idle_thread(most.core, most.read.size());
  for (const thread_traffic& thread : what.threads) {
    if (total_bytes(thread) < least) {
      add(rest, thread);
    }
  }
  std::erase_if(what.threads,
                [&](const thread_traffic& thread) { return total_bytes(thread) < least; });
  add(*std::ranges::max_element(what.threads, is_busier), rest);
  return what;
}

double share_elsewhere(const machine_costs& on, const traffic& what,
                       std::span<const std::size_t> memory_of) {
  double near = 0;
  for (const thread_traffic& thread : what.threads) {
    const std::size_t memory = memory_of[on.cores[thread.core].node];
    near += thread.read[memory] + thread.written[memory];
  }
  const double all = total_bytes(what);
  return all > 0 ? std::max(0.0, 1 - near / all) : 0;
}

double concentration(const traffic& what, std::size_t threads) {
  if (threads <= 1) {
    return 1;
  }
  const double most = total_bytes(*std::ranges::max_element(what.threads, is_busier));
  const double equal = 1 / static_cast<double>(threads);
  return std::clamp((most / total_bytes(what) - equal) / (1 - equal), 0.0, 1.0);
}

} // namespace nodewise::model
