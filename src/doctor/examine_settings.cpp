// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <set>

#include "doctor/examine.hpp"
#include "doctor/settings.hpp"

namespace nodewise::doctor {

namespace {

constexpr long long most_number = std::int64_t{1} << 62;

class settings_examiner {
 public:
  settings_examiner(sys::kernel& from, std::optional<int> perf_errno)
      : kernel_(from), settings_(read_settings(from)), allowed_(read_allowance(from)),
        perf_errno_(perf_errno) {}

  std::vector<finding> all() {
    add(fine_if_read("kernel", settings_.kernel_release));
    add(settings_.page_bytes ? fine("page_size", fmt::format("{} bytes", *settings_.page_bytes))
                             : unreadable("page_size"));
    balancing();
    huge_pages();
    reserved_huge_pages();
    memory_tunables();
    swapping();
    std::ranges::move(examine_privileges(read_privileges(kernel_), perf_errno_),
                      std::back_inserter(found_));
    show_allowed("Cpus_allowed_list", allowed_.cpus_allowed, allowed_.cpus_online,
                 allowed_.group.cpus);
    show_allowed("Mems_allowed_list", allowed_.nodes_allowed, allowed_.nodes_online,
                 allowed_.group.nodes);
    memory_limit();
    processor_time();
    nodes();
    virtualisation();
    return std::move(found_);
  }

 private:
  void add(finding f) { found_.push_back(std::move(f)); }
  [[nodiscard]] bool several_nodes() const { return allowed_.several_nodes(); }

  void balancing() {
    const std::string name = "numa_balancing";
    if (!settings_.numa_balancing) {
      add(unreadable(name));
    } else if (*settings_.numa_balancing == 0) {
      add(fine(name, "0 (off)"));
    } else if (!several_nodes()) {
      add(fine(name, fmt::format("{} (on, one node only)", *settings_.numa_balancing)));
    } else {
      add(doubtful(name,
                   fmt::format("{} ({}): the kernel moves pages during a run, and results vary",
                               *settings_.numa_balancing,
                               settings_.balances() ? "on" : "on, between memory tiers"),
                   "sysctl kernel.numa_balancing=0 as root while measuring (but nodewise profile "
                   "uses it to sample uses); pages with a policy (nodewise run --memory) are not "
                   "moved"));
    }
  }

  void huge_pages() {
    const std::size_t bytes = kernel_.thp_bytes();
    const bool coarse = settings_.thp == "always" && several_nodes() && bytes != 0;
    add(coarse ? fine("transparent_huge_pages",
                      fmt::format("always: one touch places {} KiB, the granularity of first touch",
                                  bytes >> 10))
               : fine_if_read("transparent_huge_pages", settings_.thp));
    add(fine_if_read("transparent_huge_pages_defrag", settings_.thp_defrag));
  }

  /// Pages set aside for hugetlbfs and MAP_HUGETLB, of every size that an architecture has.
  void reserved_huge_pages() {
    constexpr std::array kibibytes = {64ULL,     1024ULL,    2048ULL,    32768ULL,
                                      524288ULL, 1048576ULL, 16777216ULL};
    const node_set nodes = allowed_.nodes_with_memory.value_or(node_set{});
    bool readable = false;
    bool uneven = false;
    std::vector<std::string> sizes;
    for (const unsigned long long size : kibibytes) {
      std::vector<std::string> of_nodes;
      std::set<long long> numbers;
      for (const node_id node : nodes) {
        const std::string folder =
            fmt::format("/sys/devices/system/node/node{}/hugepages/hugepages-{}kB/", node, size);
        const auto pages = read_number(kernel_, folder + "nr_hugepages", 0, most_number);
        const auto free = read_number(kernel_, folder + "free_hugepages", 0, most_number);
        if (pages && free) {
          numbers.insert(*pages);
          of_nodes.push_back(fmt::format("{} ({} free) on node {}", *pages, *free, node));
        }
      }
      readable = readable || !numbers.empty();
      uneven = uneven || numbers.size() > 1;
      if (!numbers.empty() && *numbers.rbegin() > 0) {
        sizes.push_back(fmt::format("{} KiB: {}", size, joined(of_nodes, ", ")));
      }
    }
    const std::string name = "reserved_huge_pages";
    if (!readable) {
      add(unreadable(name));
    } else if (uneven) {
      add(doubtful(name,
                   joined(sizes, "; ") + ": when a node has none left, programs get another node's",
                   "as root, reserve the same number on each node: echo N > "
                   "/sys/devices/system/node/nodeK/hugepages/hugepages-*/nr_hugepages"));
    } else {
      add(fine(name, sizes.empty() ? "none" : joined(sizes, "; ")));
    }
  }

  void memory_tunables() {
    const auto reclaim = read_number(kernel_, "/proc/sys/vm/zone_reclaim_mode", 0, 7);
    const std::string name = "zone_reclaim_mode";
    if (!reclaim) {
      add(unreadable(name));
    } else if (!several_nodes()) {
      add(fine(name, fmt::format("{} (one node only)", *reclaim)));
    } else if (*reclaim == 0) {
      add(fine(name, "0: when a node is full, memory comes from the next one"));
    } else {
      add(doubtful(
          name,
          fmt::format("{}: a full node first drops its page cache, which takes time", *reclaim),
          "sysctl vm.zone_reclaim_mode=0 as root, unless files are read only once"));
    }
    constexpr long long kernel_default = 65530;
    const auto maps = read_number(kernel_, "/proc/sys/vm/max_map_count", 0, most_number);
    if (!maps || *maps >= kernel_default) {
      add(maps ? fine("max_map_count", fmt::format("{}", *maps)) : unreadable("max_map_count"));
    } else {
      add(doubtful("max_map_count",
                   fmt::format("{}: each range with its own policy needs a mapping", *maps),
                   "sysctl vm.max_map_count=65530 as root"));
    }
  }

  void swapping() {
    const auto swappiness = read_number(kernel_, "/proc/sys/vm/swappiness", 0, 200);
    const auto bytes = settings_.swap_bytes;
    std::string space = bytes ? "without swap space" : "swap space unavailable";
    if (bytes.value_or(0) > 0) {
      space = fmt::format("{} of swap space{}", mebibytes(*bytes),
                          several_nodes() ? ": memory bound to a full node may be swapped "
                                            "although other nodes have room"
                                          : "");
    }
    add(swappiness ? fine("swappiness", fmt::format("{}, {}", *swappiness, space))
                   : unreadable("swappiness"));
  }

  template <class Set>
  void show_allowed(const char* name, const std::optional<Set>& some, const std::optional<Set>& all,
                    const std::optional<Set>& group) {
    if (!some) {
      add(unreadable(name));
      return;
    }
    std::string found = some->to_string();
    if (all && *all != *some) {
      found += " of " + all->to_string();
      if (group == some) {
        found += ", by the control group";
      } else if (group && group->includes(*some)) {
        found += ", by this process's affinity; the control group allows " + group->to_string();
      }
    }
    add(fine(name, std::move(found)));
  }

  void memory_limit() {
    const auto lowest = read_memory_limit(kernel_);
    const std::string room =
        lowest.room_bytes ? fmt::format(", {} left", mebibytes(*lowest.room_bytes)) : "";
    const std::string found =
        lowest.bytes ? fmt::format("{} (control group){}", mebibytes(*lowest.bytes), room) : "none";
    add(lowest.readable ? fine("memory_limit", found) : unreadable("memory_limit"));
  }

  void processor_time() {
    const cpu_quota quota = read_cpu_quota(kernel_);
    const std::string name = "cpu_quota";
    if (!quota.readable || !quota.processors) {
      add(quota.readable ? fine(name, "none") : unreadable(name));
      return;
    }
    const std::string found =
        fmt::format("{:.3g} processors' time (control group)", *quota.processors);
    const std::size_t there = allowed_.cpus_allowed ? allowed_.cpus_allowed->size() : 0;
    add(*quota.processors >= static_cast<double>(there)
            ? fine(name, found)
            : doubtful(
                  name,
                  fmt::format("{}, less than the {} allowed: with a thread on each, all threads "
                              "are stopped part of the time",
                              found, there),
                  "start no more threads than that, or remove the limit: docker run without "
                  "--cpus, Kubernetes without limits.cpu"));
  }

  void nodes() {
    const std::string name = "nodes_online";
    const auto& online = allowed_.nodes_online;
    if (!online) {
      add(unreadable(name));
    } else if (several_nodes()) {
      add(fine(name, online->to_string()));
    } else if (online->size() > 1) {
      add(fine(name,
               fmt::format("{}: this process may use memory of node {} only, nothing to place here",
                           online->to_string(),
                           allowed_.usable_nodes().value_or(node_set{}).to_string()),
               "for memory of more nodes: request whole nodes from the batch system, or set "
               "--cpuset-mems of the container"));
    } else {
      add(fine(name, fmt::format("{}: one node, nothing to place here", online->to_string()),
               "to see placement at work: nodewise run --on lab:4x2 PROGRAM"));
    }
    const auto show = [&](const char* set_name, const std::optional<node_set>& set) {
      add(set ? fine(set_name, set->empty() ? "none" : set->to_string()) : unreadable(set_name));
    };
    show("nodes_has_memory", allowed_.nodes_with_memory);
    show("nodes_has_cpu", allowed_.nodes_with_cpus);
  }

  void virtualisation() {
    const std::string name = "virtualisation";
    const std::string machine = settings_.virtualisation.value_or("none");
    add(machine == "none"
            ? fine_if_read(name, settings_.virtualisation)
            : doubtful(name,
                       machine + ": nodes and distances are those that the hypervisor reports, and "
                                 "times are a guest's",
                       "mention it with the results; to measure the machine, run on the host"));
  }

  sys::kernel& kernel_;
  settings settings_;
  allowance allowed_;
  std::optional<int> perf_errno_;
  std::vector<finding> found_;
};

} // namespace

std::vector<finding> examine_settings(sys::kernel& from, std::optional<int> perf_errno) {
  return settings_examiner(from, perf_errno).all();
}

} // namespace nodewise::doctor
