// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/examine.hpp"

#include <cstdint>
#include <string_view>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "doctor/settings.hpp"
#include "sys/node_memory.hpp"

namespace nodewise::doctor {

namespace {

finding unreadable(std::string name) {
  return {std::move(name), verdict::unavailable, "unavailable", "", 0};
}

finding fine(std::string name, std::string found) {
  return {std::move(name), verdict::good, std::move(found), "", 0};
}

finding doubtful(std::string name, std::string found, std::string cure) {
  return {std::move(name), verdict::warning, std::move(found), std::move(cure), 0};
}

/// What stands behind "Name:" on a line of its own.
std::string_view field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t at = line.find(name);
    if (at == std::string_view::npos || (at > 0 && line[at - 1] != ' ') ||
        line.substr(at + name.size(), 1) != ":") {
      continue;
    }
    line.remove_prefix(at + name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line;
  }
  return {};
}

template <class Id>
std::optional<id_set<Id>> read_set(sys::kernel& from, const char* path) {
  const auto text = from.read_file(path);
  try {
    return text ? std::optional(id_set<Id>::parse(text.value)) : std::nullopt;
  } catch (const error&) {
    return std::nullopt;
  }
}

class examiner {
 public:
  explicit examiner(sys::kernel& from)
      : kernel_(from), settings_(read_settings(from)),
        online_(read_set<node_id>(from, "/sys/devices/system/node/online")) {}

  std::vector<finding> all() {
    kernel_and_pages();
    balancing();
    huge_pages();
    memory_tunables();
    allowed();
    limit();
    nodes();
    virtualisation();
    return std::move(found_);
  }

 private:
  void add(finding f) { found_.push_back(std::move(f)); }
  [[nodiscard]] bool several_nodes() const { return !online_ || online_->size() > 1; }

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
    } else if (*settings_.numa_balancing == 0 || !several_nodes()) {
      add(fine(name, std::to_string(*settings_.numa_balancing) +
                         (*settings_.numa_balancing == 0 ? " (off)" : " (on, one node only)")));
    } else {
      add(doubtful(name,
                   std::to_string(*settings_.numa_balancing) +
                       " (on): the kernel moves pages during a run, and results vary",
                   "sysctl kernel.numa_balancing=0 as root while measuring; pages with a policy "
                   "(nodewise run --memory) stay where they are"));
    }
  }

  void huge_pages() {
    const std::size_t bytes = kernel_.thp_bytes();
    if (!settings_.thp) {
      add(unreadable("transparent_huge_pages"));
    } else if (*settings_.thp == "always" && several_nodes()) {
      add(fine("transparent_huge_pages", "always: one touch places " + std::to_string(bytes >> 10) +
                                             " KiB, which is the grain of first touch"));
    } else {
      add(fine("transparent_huge_pages", *settings_.thp));
    }
    add(settings_.thp_defrag ? fine("transparent_huge_pages_defrag", *settings_.thp_defrag)
                             : unreadable("transparent_huge_pages_defrag"));
  }

  void memory_tunables() {
    const auto reclaim = read_number(kernel_, "/proc/sys/vm/zone_reclaim_mode");
    if (!reclaim) {
      add(unreadable("zone_reclaim_mode"));
    } else if (*reclaim == 0) {
      add(fine("zone_reclaim_mode", "0: a full node takes memory of the next one"));
    } else {
      add(doubtful("zone_reclaim_mode",
                   std::to_string(*reclaim) +
                       ": a full node drops its page cache first, which stalls",
                   "sysctl vm.zone_reclaim_mode=0 as root, unless files are read once only"));
    }
    constexpr long long kernel_default = 65530;
    const auto maps = read_number(kernel_, "/proc/sys/vm/max_map_count");
    if (!maps) {
      add(unreadable("max_map_count"));
    } else if (*maps >= kernel_default) {
      add(fine("max_map_count", std::to_string(*maps)));
    } else {
      add(doubtful("max_map_count",
                   std::to_string(*maps) + ": each range with a policy of its own takes a mapping",
                   "sysctl vm.max_map_count=65530 as root"));
    }
    paranoid();
    const auto swappiness = read_number(kernel_, "/proc/sys/vm/swappiness");
    add(swappiness ? fine("swappiness", std::to_string(*swappiness)) : unreadable("swappiness"));
  }

  void paranoid() {
    const auto level = read_number(kernel_, "/proc/sys/kernel/perf_event_paranoid");
    if (!level) {
      add(unreadable("perf_event_paranoid"));
    } else if (*level <= 2) {
      add(fine("perf_event_paranoid", std::to_string(*level)));
    } else {
      add(doubtful("perf_event_paranoid",
                   std::to_string(*level) + ": counters are for root or CAP_PERFMON",
                   "sysctl kernel.perf_event_paranoid=2 as root"));
    }
  }

  void allowed() {
    const auto status = kernel_.read_file("/proc/self/status");
    const auto show = [&](const char* name, std::string_view list, const std::string& all) {
      if (list.empty()) {
        add(unreadable(name));
      } else {
        add(fine(name, std::string(list) + (all.empty() || all == list ? "" : " of " + all)));
      }
    };
    const auto cpus = read_set<cpu_id>(kernel_, "/sys/devices/system/cpu/online");
    show("Cpus_allowed_list", field(status.value, "Cpus_allowed_list"),
         cpus ? cpus->to_string() : "");
    show("Mems_allowed_list", field(status.value, "Mems_allowed_list"),
         online_ ? online_->to_string() : "");
  }

  void limit() {
    const memory_limit lowest = read_memory_limit(kernel_);
    if (!lowest.readable) {
      add(unreadable("memory_limit"));
    } else {
      add(fine("memory_limit", lowest.limited
                                   ? std::to_string(lowest.bytes >> 20) + " MiB (control group)"
                                   : "none"));
    }
  }

  void nodes() {
    if (!online_) {
      add(unreadable("nodes_online"));
    } else if (several_nodes()) {
      add(fine("nodes_online", online_->to_string()));
    } else {
      add({"nodes_online", verdict::good,
           online_->to_string() + ": one node, nothing to place here",
           "to see placement at work: nodewise run --on lab:4x2 PROGRAM", 0});
    }
    for (const char* const what : {"has_memory", "has_cpu"}) {
      const std::string path = std::string("/sys/devices/system/node/") + what;
      const auto set = read_set<node_id>(kernel_, path.c_str());
      const std::string name = std::string("nodes_") + what;
      add(set ? fine(name, set->to_string()) : unreadable(name));
    }
    const auto with_memory = read_set<node_id>(kernel_, "/sys/devices/system/node/has_memory");
    for (const node_id node : with_memory.value_or(node_set{})) {
      free_memory(node);
    }
  }

  void free_memory(node_id node) {
    const std::string number = std::to_string(to_int(node));
    const std::string name = "free_memory_node_" + number;
    const auto now = sys::read_node_memory(kernel_, node);
    if (!now) {
      add(unreadable(name));
      return;
    }
    const std::string found = std::to_string(now->free_bytes >> 20) + " MiB of " +
                              std::to_string(now->total_bytes >> 20) + " MiB, page cache " +
                              std::to_string(now->cache_bytes >> 20) + " MiB";
    if (now->free_bytes >= now->total_bytes / 20 || !several_nodes()) {
      add(fine(name, found));
    } else {
      add(doubtful(name, found + ": allocations here spill to other nodes",
                   "bind with --membind to make that an error, or empty the page cache as root: "
                   "echo 1 > /proc/sys/vm/drop_caches"));
    }
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
  std::optional<node_set> online_;
  std::vector<finding> found_;
};

std::vector<finding> examine_lab(const surroundings& around) {
  std::vector<finding> found;
  const auto look_for = [&](const std::string& program, const std::string& package) {
    const auto path = around.find_program(program);
    found.push_back(path ? fine(program, *path)
                         : doubtful(program, "not found: --on lab:MACHINE will not work",
                                    "install it: apt install " + package));
  };
  look_for("qemu-system-x86_64", "qemu-system-x86");
  look_for("python3", "python3");
  return found;
}

} // namespace

std::vector<finding> examine_settings(sys::kernel& from) {
  return examiner(from).all();
}

examination examine(const surroundings& around) {
  return {try_calls(around), examine_settings(*around.kernel), examine_lab(around)};
}

} // namespace nodewise::doctor
