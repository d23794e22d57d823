// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The lines that fix a finding, for the launcher in use. Options of Open MPI 4.1 (mpirun(1)),
// Hydra 4.0 (mpiexec -bind-to -help) and Slurm 22.05 (srun(1)).
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "survey/finding.hpp"
#include "survey/launcher.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::survey {

namespace {

/// The ranks of a host are divided among nodes, or among sockets if there are fewer ranks than
/// nodes: else nodes would stay idle.
std::string_view part_of(const job_shape& shape) {
  return shape.ranks < shape.nodes && shape.ranks <= shape.packages && shape.packages > 0 ? "socket"
                                                                                          : "node";
}

std::string our_options(const job_shape& shape) {
  const std::string ranks = shape.ranks == 1 ? "" : fmt::format("--ranks-per {} ", part_of(shape));
  return fmt::format("nodewise run {}--bind close --threads {} -- PROGRAM", ranks,
                     std::min(shape.workers, std::max<std::size_t>(shape.cores_of_rank(), 1)));
}

/// The launcher's own options for whole cores of a rank near each other; empty if it has none that
/// fit the job.
std::string own_options(std::string_view launcher, const job_shape& shape) {
  const std::size_t threads = std::min(shape.workers, shape.cores_of_rank());
  if (threads == 0) {
    return {};
  }
  if (launcher == "openmpi") {
    const bool even = shape.ranks % shape.nodes == 0;
    return even ? fmt::format("mpirun --map-by ppr:{}:numa:PE={} --bind-to core",
                              shape.ranks / shape.nodes, threads)
                : fmt::format("mpirun --map-by slot:PE={} --bind-to core", threads);
  }
  if (launcher == "hydra") {
    return shape.ranks == shape.nodes ? "mpiexec -bind-to numa"
                                      : fmt::format("mpiexec -bind-to core:{}", threads);
  }
  if (launcher == "slurm") {
    return fmt::format("srun --cpus-per-task={} --cpu-bind=cores --distribution=block:block",
                       threads);
  }
  return {};
}

/// The launcher's line that also binds the threads of OpenMP. Open MPI carries variables to other
/// hosts only by -x; Hydra and Slurm carry all.
std::string with_places(const std::string& line) {
  constexpr std::string_view open_mpi = "mpirun ";
  return line.starts_with(open_mpi) ? fmt::format("{}-x OMP_PLACES=cores -x OMP_PROC_BIND=close {}",
                                                  open_mpi, line.substr(open_mpi.size()))
                                    : fmt::format("OMP_PLACES=cores OMP_PROC_BIND=close {}", line);
}

void add_binding(std::vector<fix>& into, std::string_view launcher, const job_shape& shape) {
  const launcher_words words = words_of(launcher);
  const bool is_doubtful = !launcher.empty() && !words.tried;
  const std::string_view doubt = is_doubtful ? " (not tried by the authors)" : "";
  const std::string own = own_options(launcher, shape);
  if (!own.empty()) {
    into.push_back({fmt::format("with {} and OpenMP{}", words.name, doubt),
                    fmt::format("{} ... PROGRAM", shape.workers > 1 ? with_places(own) : own)});
  }
  const std::string_view start = words.unbound_start;
  into.push_back({fmt::format("with nodewise{}", doubt),
                  fmt::format("{}{}{}", start, start.empty() ? "" : " ... ", our_options(shape))});
}

/// Which options decide how many ranks are on a host.
std::string ranks_on_hosts_advice(std::string_view launcher) {
  const std::string_view options =
      launcher == "openmpi" ? " (--map-by ppr:N:node with N ranks on each host, and the host file)"
      : launcher == "hydra" ? " (-ppn N with N ranks on each host, and -hosts)"
      : launcher == "slurm" ? " (--nodes, --ntasks-per-node and --cpus-per-task)"
                            : "";
  return fmt::format("check the options of the launcher{}, and OMP_NUM_THREADS", options);
}

/// The most frequent of the values.
template <class Values>
std::size_t usual(const Values& values) {
  std::map<std::size_t, std::size_t> counts;
  for (const std::size_t each : values) {
    ++counts[each];
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return most == counts.end() ? 1 : std::max<std::size_t>(most->first, 1);
}

} // namespace

job_shape shape_of(const job& of) {
  std::vector<std::size_t> ranks;
  std::vector<std::size_t> workers;
  job_shape made;
  for (const surveyed_host& host : of.hosts) {
    ranks.push_back(host.ranks.size());
    for (const rank_record* const rank : host.ranks) {
      workers.push_back(rank->workers.size());
    }
  }
  made.ranks = usual(ranks);
  made.workers = usual(workers);
  const auto known = std::ranges::find_if(of.hosts, [&](const surveyed_host& host) {
    return host.hardware != nullptr && host.ranks.size() == made.ranks;
  });
  if (known != of.hosts.end()) {
    const host_machine& on = *known->hardware;
    std::set<int> packages;
    made.nodes = 0;
    for (const host_machine::node& node : on.nodes) {
      made.nodes += node.cpus.empty() ? 0U : 1U;
      if (!node.cpus.empty()) {
        packages.insert(node.package);
      }
    }
    made.nodes = std::max<std::size_t>(made.nodes, 1);
    made.packages = std::max<std::size_t>(packages.size(), 1);
    made.cores = on.cores.empty() ? on.cpus().size() : on.cores.size();
  }
  return made;
}

std::vector<fix> fixes_of(fault what, std::string_view launcher, const job_shape& shape) {
  std::vector<fix> all;
  switch (what) {
  case fault::other_shape:
    all.push_back({ranks_on_hosts_advice(launcher), ""});
    break;
  case fault::ranks_share:
  case fault::threads_share:
    if (shape.ranks * shape.workers > shape.cores) {
      all.push_back(
          {fmt::format("{} of {} on a host of {}: start fewer ranks, or at most {} in each",
                       counted(shape.ranks, "rank"), counted(shape.workers, "thread"),
                       counted(shape.cores, "core"),
                       counted(std::max<std::size_t>(shape.cores_of_rank(), 1), "thread")),
           ""});
    }
    add_binding(all, launcher, shape);
    break;
  case fault::hardware_threads:
  case fault::unbound:
  case fault::spans_nodes:
  case fault::nodes_idle:
    add_binding(all, launcher, shape);
    break;
  case fault::memory_away:
    all.push_back({"bind the ranks first; if the memory stays away, the program touches it before "
                   "its threads are bound, or one rank for all. To find the line",
                   "nodewise profile -- PROGRAM"});
    break;
  case fault::memory_on_one_node:
    all.push_back(
        {"one thread touches the arrays first. To find the line", "nodewise profile -- PROGRAM"});
    all.push_back({"or start one rank for each node",
                   "nodewise run --ranks-per node --bind close -- PROGRAM"});
    break;
  case fault::network_far:
    all.push_back({"use the nodes near the device: with fewer ranks than nodes, begin there",
                   "nodewise run --ranks-per node -N NODES --bind close -- PROGRAM"});
    break;
  case fault::host_differs:
    all.push_back({"have the administrator make the hosts equal, or leave them out", ""});
    break;
  case fault::rank_failed:
  case fault::rank_missing:
    all.push_back({"the survey shows only the ranks that are left", ""});
    break;
  }
  return all;
}

} // namespace nodewise::survey
