// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Records of jobs that are bound as they should be, to be spoiled by tests.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "survey/job.hpp"
#include "topology/part_sets.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::test {

inline constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// A rank with one worker bound to each of these cores, and a GiB of memory on each of its nodes.
inline survey::rank_record bound_rank(const survey::host_machine& on, std::string host, int rank,
                                      int ranks, const std::vector<std::size_t>& cores) {
  survey::rank_record made;
  made.job = "4711";
  made.launcher = "openmpi";
  made.rank = rank;
  made.ranks = ranks;
  made.started = 1'700'000'000;
  made.host = std::move(host);
  made.machine = survey::id_of(on);
  made.command = "./solver";
  made.exit_code = 0;
  made.settings = {{"kernel", "6.1.0"}, {"numa_balancing", "1"}};
  for (const std::size_t core : cores) {
    const cpu_set& cpus = on.cores.at(core);
    made.workers.push_back({cpus, cpu_set{cpus.first()}, 1000});
    made.allowed = made.allowed | cpus;
  }
  for (const node_id node : on.nodes_of(made.allowed)) {
    made.bytes[node] = gibibyte;
  }
  return made;
}

/// The cores of a machine by node: hwloc and the kernel number them in other orders.
inline std::vector<std::size_t> cores_by_node(const survey::host_machine& on) {
  std::vector<std::size_t> order;
  for (const survey::host_machine::node& node : on.nodes) {
    for (std::size_t core = 0; core < on.cores.size(); ++core) {
      if (node.cpus.includes(on.cores[core])) {
        order.push_back(core);
      }
    }
  }
  return order;
}

/// The ranks of one host, each with an equal part of the cores, in the order of the nodes.
inline std::vector<survey::rank_record> bound_host(const survey::host_machine& on,
                                                   const std::string& host, int first_rank,
                                                   int ranks_here, int ranks) {
  const std::vector<std::size_t> order = cores_by_node(on);
  const std::size_t each = order.size() / static_cast<std::size_t>(ranks_here);
  std::vector<survey::rank_record> all;
  for (int local = 0; local < ranks_here; ++local) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(each) * local;
    all.push_back(bound_rank(on, host, first_rank + local, ranks,
                             {begin, begin + static_cast<std::ptrdiff_t>(each)}));
    all.back().local = local;
    if (local == 0) {
      all.back().hardware = on;
    }
  }
  return all;
}

/// Hosts n0, n1, ... of the same machine.
inline std::vector<survey::rank_record> bound_job(const survey::host_machine& on, int hosts,
                                                  int ranks_of_host) {
  std::vector<survey::rank_record> all;
  for (int host = 0; host < hosts; ++host) {
    for (survey::rank_record& each : bound_host(on, fmt::format("n{}", host), host * ranks_of_host,
                                                ranks_of_host, hosts * ranks_of_host)) {
      all.push_back(std::move(each));
    }
  }
  return all;
}

inline survey::host_machine host_grid(int nodes, int cores, int smt = 1) {
  return survey::host_machine_of(grid(nodes, cores, smt));
}

inline survey::job_builder builder_of(const std::vector<survey::rank_record>& records) {
  survey::job_builder made;
  for (const survey::rank_record& each : records) {
    made.add(each, fmt::format("rank-{}", each.rank));
  }
  return made;
}

} // namespace nodewise::test
