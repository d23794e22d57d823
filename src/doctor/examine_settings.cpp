// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "doctor/allowance.hpp"
#include "doctor/examine.hpp"
#include "doctor/privileges.hpp"
#include "doctor/settings.hpp"
#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

constexpr long long most_number = std::int64_t{1} << 62;

/// "2.5", without zeros at the end.
std::string decimal(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
  return {text.data(), end.ptr};
}

class settings_examiner {
 public:
  settings_examiner(sys::kernel& from, std::optional<int> perf_errno)
      : kernel_(from), settings_(read_settings(from)), allowed_(read_allowance(from)),
        perf_errno_(perf_errno) {}

  std::vector<finding> all() {
    kernel_and_pages();
    balancing();
    huge_pages();
    reserved_huge_pages();
    memory_tunables();
    std::ranges::move(examine_privileges(read_privileges(kernel_), perf_errno_),
                      std::back_inserter(found_));
    allowed();
    limits();
    nodes();
    virtualisation();
    return std::move(found_);
  }

 private:
  void add(finding f) { found_.push_back(std::move(f)); }
  [[nodiscard]] bool several_nodes() const { return allowed_.several_nodes(); }

  void kernel_and_pages() {
    add(settings_.kernel_release ? fine("kernel", *settings_.kernel_release)
                                 : unreadable("kernel"));
    add(settings_.page_bytes ? fine("page_size", std::to_string(*settings_.page_bytes) + " bytes")
                             : unreadable("page_size"));
  }

  void balancing() {
    const std::string name = "numa_balancing";
    if (!settings_.numa_balancing) {
      add(unreadable(name));
      return;
    }
    const int mode = *settings_.numa_balancing;
    const std::string number = std::to_string(mode);
    if (mode == 0) {
      add(fine(name, number + " (off)"));
    } else if (!several_nodes()) {
      add(fine(name, number + " (on, one node only)"));
    } else {
      add(doubtful(name,
                   number + (settings_.balances() ? " (on)" : " (on, between tiers of memory)") +
                       ": the kernel moves pages during a run, and results vary",
                   "sysctl kernel.numa_balancing=0 as root while measuring (but nodewise profile "
                   "samples uses by it); pages with a policy (nodewise run --memory) stay where "
                   "they are"));
    }
  }

  void huge_pages() {
    const std::size_t bytes = kernel_.thp_bytes();
    if (!settings_.thp) {
      add(unreadable("transparent_huge_pages"));
    } else if (*settings_.thp == "always" && several_nodes() && bytes != 0) {
      add(fine("transparent_huge_pages", "always: one touch places " + std::to_string(bytes >> 10) +
                                             " KiB, which is the grain of first touch"));
    } else {
      add(fine("transparent_huge_pages", *settings_.thp));
    }
    add(settings_.thp_defrag ? fine("transparent_huge_pages_defrag", *settings_.thp_defrag)
                             : unreadable("transparent_huge_pages_defrag"));
  }

  /// Pages set aside for hugetlbfs and MAP_HUGETLB, of every size that an architecture has.
  void reserved_huge_pages() {
    constexpr std::array kibibytes = {64ULL,     1024ULL,    2048ULL,    32768ULL,
                                      524288ULL, 1048576ULL, 16777216ULL};
    const node_set nodes = allowed_.nodes_with_memory.value_or(node_set{});
    bool readable = false;
    bool uneven = false;
    std::string found;
    for (const unsigned long long size : kibibytes) {
      const auto here = reserved_on(nodes, size);
      readable = readable || here.readable;
      uneven = uneven || here.uneven;
      found += here.text.empty() ? "" : (found.empty() ? "" : "; ") + here.text;
    }
    const std::string name = "reserved_huge_pages";
    if (!readable) {
      add(unreadable(name));
    } else if (uneven) {
      add(doubtful(name, found + ": where a node has none left, programs get another node's",
                   "as root, the same number for each: echo N > "
                   "/sys/devices/system/node/nodeK/hugepages/hugepages-*/nr_hugepages"));
    } else {
      add(fine(name, found.empty() ? "none" : found));
    }
  }

  struct reserved {
    bool readable = false;
    bool uneven = false;
    std::string text; ///< empty if no node has any
  };
  [[nodiscard]] reserved reserved_on(const node_set& nodes, unsigned long long kibibytes) {
    reserved found;
    std::optional<long long> first;
    bool some = false;
    for (const node_id node : nodes) {
      const std::string folder = "/sys/devices/system/node/node" + std::to_string(to_int(node)) +
                                 "/hugepages/hugepages-" + std::to_string(kibibytes) + "kB/";
      const auto pages = read_number(kernel_, folder + "nr_hugepages", 0, most_number);
      const auto free = read_number(kernel_, folder + "free_hugepages", 0, most_number);
      if (!pages || !free) {
        continue;
      }
      found.readable = true;
      some = some || *pages > 0;
      found.uneven = found.uneven || (first && *first != *pages);
      first = first.value_or(*pages);
      found.text += (found.text.empty() ? "" : ", ") + std::to_string(*pages) + " (" +
                    std::to_string(*free) + " free) on node " + std::to_string(to_int(node));
    }
    found.text = some ? std::to_string(kibibytes) + " KiB: " + found.text : "";
    return found;
  }

  void memory_tunables() {
    const auto reclaim = read_number(kernel_, "/proc/sys/vm/zone_reclaim_mode", 0, 7);
    const std::string name = "zone_reclaim_mode";
    if (!reclaim) {
      add(unreadable(name));
    } else if (!several_nodes()) {
      add(fine(name, std::to_string(*reclaim) + " (one node only)"));
    } else if (*reclaim == 0) {
      add(fine(name, "0: a full node takes memory of the next one"));
    } else {
      add(doubtful(
          name, std::to_string(*reclaim) + ": a full node drops its page cache first, which stalls",
          "sysctl vm.zone_reclaim_mode=0 as root, unless files are read once only"));
    }
    constexpr long long kernel_default = 65530;
    const auto maps = read_number(kernel_, "/proc/sys/vm/max_map_count", 0, most_number);
    if (!maps) {
      add(unreadable("max_map_count"));
    } else if (*maps >= kernel_default) {
      add(fine("max_map_count", std::to_string(*maps)));
    } else {
      add(doubtful("max_map_count",
                   std::to_string(*maps) + ": each range with a policy of its own takes a mapping",
                   "sysctl vm.max_map_count=65530 as root"));
    }
    swapping();
  }

  void swapping() {
    const auto swappiness = read_number(kernel_, "/proc/sys/vm/swappiness", 0, 200);
    if (!swappiness) {
      add(unreadable("swappiness"));
      return;
    }
    std::string found = std::to_string(*swappiness);
    if (!settings_.swap_bytes) {
      found += ", swap space unavailable";
    } else if (*settings_.swap_bytes == 0) {
      found += ", without swap space";
    } else {
      found += ", " + mebibytes(*settings_.swap_bytes) + " of swap space" +
               (several_nodes() ? ": memory bound to a node that is full may be swapped, though "
                                  "other nodes have room"
                                : "");
    }
    add(fine("swappiness", std::move(found)));
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
      if (group && *group == *some) {
        found += ", by the control group";
      } else if (group && group->includes(*some)) {
        found += ", by this process' affinity; the control group allows " + group->to_string();
      }
    }
    add(fine(name, std::move(found)));
  }

  void allowed() {
    show_allowed("Cpus_allowed_list", allowed_.cpus_allowed, allowed_.cpus_online,
                 allowed_.group.cpus);
    show_allowed("Mems_allowed_list", allowed_.nodes_allowed, allowed_.nodes_online,
                 allowed_.group.nodes);
  }

  void limits() {
    const memory_limit lowest = read_memory_limit(kernel_);
    if (!lowest.readable) {
      add(unreadable("memory_limit"));
    } else {
      add(fine("memory_limit",
               lowest.limited
                   ? mebibytes(lowest.bytes) + " (control group)" +
                         (lowest.room_bytes ? ", " + mebibytes(*lowest.room_bytes) + " left" : "")
                   : "none"));
    }
    const cpu_quota quota = read_cpu_quota(kernel_);
    const std::string name = "cpu_quota";
    if (!quota.readable) {
      add(unreadable(name));
    } else if (!quota.processors) {
      add(fine(name, "none"));
    } else {
      const std::string found = decimal(*quota.processors) + " processors' time (control group)";
      const std::size_t there = allowed_.cpus_allowed ? allowed_.cpus_allowed->size() : 0;
      if (*quota.processors >= static_cast<double>(there)) {
        add(fine(name, found));
      } else {
        add(doubtful(name,
                     found + ", less than the " + std::to_string(there) +
                         " allowed: with a thread on each, all are stopped for a part of the time",
                     "as many threads as that, or no limit: docker run without --cpus, "
                     "Kubernetes without limits.cpu"));
      }
    }
  }

  void nodes() {
    const auto usable = allowed_.usable_nodes();
    if (!allowed_.nodes_online) {
      add(unreadable("nodes_online"));
    } else if (several_nodes()) {
      add(fine("nodes_online", allowed_.nodes_online->to_string()));
    } else if (allowed_.nodes_online->size() > 1) {
      add({"nodes_online", verdict::good,
           allowed_.nodes_online->to_string() + ": memory of node " +
               usable.value_or(node_set{}).to_string() +
               " alone is there for this process, nothing to place here",
           "for memory of more nodes: whole nodes of the batch system, --cpuset-mems of the "
           "container",
           0});
    } else {
      add({"nodes_online", verdict::good,
           allowed_.nodes_online->to_string() + ": one node, nothing to place here",
           "to see placement at work: nodewise run --on lab:4x2 PROGRAM", 0});
    }
    const auto show = [&](const char* name, const std::optional<node_set>& set) {
      add(set ? fine(name, set->empty() ? "none" : set->to_string()) : unreadable(name));
    };
    show("nodes_has_memory", allowed_.nodes_with_memory);
    show("nodes_has_cpu", allowed_.nodes_with_cpus);
  }

  void virtualisation() {
    if (!settings_.virtualisation) {
      add(unreadable("virtualisation"));
    } else if (*settings_.virtualisation == "none") {
      add(fine("virtualisation", "none"));
    } else {
      add(doubtful("virtualisation",
                   *settings_.virtualisation +
                       ": nodes and distances are what the hypervisor says, times are its guest's",
                   "say so beside results; to measure the machine, run on the host"));
    }
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
