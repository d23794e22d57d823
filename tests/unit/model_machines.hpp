// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Machines with costs, for tests of the model.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "model/chunks.hpp"
#include "model/costs.hpp"
#include "model/loop.hpp"
#include "model/price.hpp"
#include "model/traffic.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::test {

inline void set(machine& of, const char* name, int from, int to, double value, const char* unit,
                const char* source = "measured here") {
  of.parameters.push_back({name, node_id{from}, node_id{to}, value, unit, source});
}

/// Every node's memory moves `gb_s`; with `core_gb_s` above 0 a core draws no more than that.
inline machine equal_nodes(int nodes, int cores, double gb_s, double core_gb_s = 0, int smt = 1) {
  machine made = grid(nodes, cores, smt);
  for (int n = 0; n < nodes; ++n) {
    set(made, "bandwidth", n, n, gb_s, "GB/s");
    if (core_gb_s > 0) {
      set(made, "core_bandwidth", n, n, core_gb_s, "GB/s");
    }
  }
  return made;
}

/// 1 to 6 nodes of 1 to 4 cores with bandwidths within an order of magnitude of one another.
inline machine random_machine(model::random_numbers& random, double least_efficiency) {
  const int nodes = 1 + static_cast<int>(random.next() % 6);
  const int cores = 1 + static_cast<int>(random.next() % 4);
  machine made = grid(nodes, cores);
  for (int a = 0; a < nodes; ++a) {
    for (int b = 0; b < nodes; ++b) {
      set(made, "bandwidth", a, b, (a == b ? 10 : 3) + 10 * random.uniform(), "GB/s");
    }
    set(made, "core_bandwidth", a, a, 2 + 10 * random.uniform(), "GB/s");
    set(made, "shared_efficiency", a, a,
        least_efficiency + (1 - least_efficiency) * random.uniform(), "ratio");
  }
  return made;
}

/// The same bytes for each thread, on memories of its own choice.
inline model::traffic random_traffic(model::random_numbers& random, const model::machine_costs& on,
                                     double bytes) {
  model::traffic all;
  for (std::size_t core = 0; core < on.cores.size(); ++core) {
    model::thread_traffic thread;
    thread.core = core;
    for (std::size_t n = 0; n < on.size(); ++n) {
      thread.read.push_back(random.next() % 3 != 0 ? random.uniform() : 0);
      thread.written.push_back(random.uniform());
    }
    const double sum = model::total_bytes(thread);
    for (std::size_t n = 0; n < on.size(); ++n) {
      thread.read[n] *= bytes / sum;
      thread.written[n] *= bytes / sum;
    }
    all.threads.push_back(thread);
  }
  return all;
}

/// A loop with a thread on every core, its arrays all by one map.
inline model::loop loop_on(const model::machine_costs& on, const char* kernel,
                           const model::page_map& map, std::size_t elements = 1 << 22) {
  model::loop made;
  made.arrays = model::find_kernel(kernel)->arrays;
  made.maps.assign(made.arrays.size(), map);
  made.elements = elements;
  made.cores.resize(on.cores.size());
  std::iota(made.cores.begin(), made.cores.end(), std::size_t{0});
  return made;
}

inline model::page_map on_node(std::size_t node) {
  return model::page_map::in_turn({node});
}
inline model::page_map in_turn_over(std::size_t nodes) {
  std::vector<std::size_t> all(nodes);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return model::page_map::in_turn(all);
}
/// A loop whose data is where it is used.
inline model::loop local_loop(const model::machine_costs& on, const char* kernel,
                              std::size_t elements = 1 << 22) {
  model::loop made = loop_on(on, kernel, on_node(0), elements);
  made.maps.assign(made.arrays.size(), model::first_touch(on, made));
  return made;
}

/// Bytes a second of a whole-block loop, threads mixing evenly.
inline double rate(const model::machine_costs& on, const model::loop& of) {
  return model::price(on, model::traffic_of(on, of)).bytes_per_s();
}

} // namespace nodewise::test
