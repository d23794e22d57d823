// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// oneTBB itself reads TBB_VERSION, its allocator TBB_MALLOC_USE_HUGE_PAGES and
// TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD, and its NUMA part the variables of hwloc (2021.8). It has no
// variable for the number of threads.
#include "doctor/environment.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <string>
#include <string_view>

#include "doctor/allowance.hpp"
#include "doctor/settings.hpp"

namespace nodewise::doctor {

namespace {

/// In addition to those of bind/conflicts.
constexpr std::array own_names = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                  "SLURM_CPU_BIND_LIST",
                                  "SLURM_CPU_BIND_TYPE",
                                  "SLURM_MEM_BIND_LIST",
                                  "SLURM_STEP_ID",
                                  "SLURM_STEP_TASKS_PER_NODE",
                                  "TBB_MALLOC_USE_HUGE_PAGES",
                                  "TBB_NUM_THREADS",
                                  "HWLOC_FSROOT",
                                  "HWLOC_SYNTHETIC",
                                  "HWLOC_XMLFILE"};

/// False for variables that describe a job or a rank and place nothing.
bool is_setting(std::string_view name) {
  return name != "SLURM_LOCALID" && name != "MPI_LOCALRANKID" && name != "SLURM_STEP_ID" &&
         name != "OMPI_COMM_WORLD_LOCAL_SIZE" && name != "SLURM_STEP_TASKS_PER_NODE";
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) {
    text.remove_prefix(2);
  }
  Number value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return code == std::errc{} && stop == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    parts.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

/// The number of processors in a mask such as "0x00FF"; nullopt for other text.
std::optional<std::size_t> bits_of_mask(std::string_view mask) {
  if (mask.starts_with("0x")) {
    mask.remove_prefix(2);
  }
  std::size_t bits = 0;
  for (const char& digit : mask) {
    const auto value = number_in<unsigned>(std::string_view(&digit, 1), 16);
    if (!value) {
      return std::nullopt;
    }
    bits += static_cast<std::size_t>(std::popcount(*value));
  }
  return bits > 0 ? std::optional(bits) : std::nullopt;
}

class examiner {
 public:
  examiner(sys::kernel& from, const bind::settings& said)
      : kernel_(from), said_(said), allowed_(read_allowance(from)) {}

  std::vector<finding> all() {
    if (allowed_.cpus_allowed) {
      bind::intentions ours;
      ours.command = "nodewise run ";
      for (const bind::conflict& each : bind::find_conflicts(said_, *allowed_.cpus_allowed, ours)) {
        add(each.said, each.outcome, each.cure);
      }
    } else {
      found_.push_back({"variables", verdict::unavailable,
                        "unavailable: the processors allowed are not known", "", 0});
    }
    batch_system();
    same_places();
    one_tbb();
    other_machine();
    if (found_.empty()) {
      found_.push_back(none());
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const std::string* value(std::string_view name) const {
    const auto at = said_.find(name);
    return at == said_.end() || at->second.empty() ? nullptr : &at->second;
  }
  [[nodiscard]] std::string shown(std::string_view name) const {
    return std::string(name) + "=" + *value(name);
  }
  /// Adds a finding named after the first variable in `said`.
  void add(const std::string& said, const std::string& outcome, std::string cure) {
    found_.push_back(
        doubtful(said.substr(0, said.find('=')), said + ": " + outcome, std::move(cure)));
  }

  [[nodiscard]] finding none() const {
    std::string list;
    for (const auto& [name, text] : said_) {
      if (is_setting(name) && !text.empty()) {
        list.append(list.empty() ? "" : ", ").append(name).append("=").append(text);
      }
    }
    return fine("variables", list.empty() ? "none says where threads or memory go"
                                          : list + ": no contradiction found");
  }

  /// Compares the binding that srun reports with that of this process. Slurm has its own numbers
  /// of processors, so only their count can be compared.
  void batch_system() {
    if (value("SLURM_STEP_ID") == nullptr) {
      return; // a batch script has srun's variables before any srun
    }
    const std::string* const masks = value("SLURM_CPU_BIND_LIST");
    const std::string* const type = value("SLURM_CPU_BIND_TYPE");
    const std::string* const rank = value("SLURM_LOCALID");
    const auto task = rank != nullptr ? number_in<std::size_t>(*rank) : std::nullopt;
    if (masks != nullptr && type != nullptr && type->find("mask_cpu") != std::string::npos &&
        task && allowed_.cpus_allowed) {
      const auto all = split(*masks);
      const auto given = all.empty() ? std::nullopt : bits_of_mask(all[*task % all.size()]);
      if (given && *given != allowed_.cpus_allowed->size()) {
        add(shown("SLURM_CPU_BIND_LIST") + " and the affinity of processors " +
                allowed_.cpus_allowed->to_string(),
            "srun gave this task " + std::to_string(*given) +
                ", somebody after it has changed the affinity",
            "leave out what comes between srun and the program (taskset, numactl, mpirun), or "
            "give srun --cpu-bind=none");
      }
    }
    memory_of_batch_system();
  }

  void memory_of_batch_system() {
    const char* const name =
        value("SLURM_MEM_BIND_TYPE") != nullptr ? "SLURM_MEM_BIND_TYPE" : "SLURM_MEM_BIND";
    const std::string* const type = value(name);
    if (type == nullptr) {
      return;
    }
    const auto policy = kernel_.get_mempolicy();
    constexpr std::array binding = {"local", "map_mem", "mask_mem", "rank"};
    const bool binds = std::ranges::any_of(
        binding, [&](const char* word) { return type->find(word) != std::string::npos; });
    if (binds && policy && policy.value == sys::policy::system_default) {
      add(shown(name) + " and the default policy of memory",
          "srun's policy is not in force in this process",
          "the cluster needs Slurm's task/affinity plug-in with libnuma; or nodewise run "
          "--membind");
    }
    const std::string* const list = value("SLURM_MEM_BIND_LIST");
    if (list == nullptr || type->find("map_mem") == std::string::npos || !allowed_.nodes_allowed) {
      return;
    }
    node_set outside;
    for (const std::string_view part : split(*list)) {
      const auto node = number_in<int>(part, part.starts_with("0x") ? 16 : 10);
      if (node && *node >= 0 && *node <= max_id &&
          !allowed_.nodes_allowed->contains(node_id{*node})) {
        outside.insert(node_id{*node});
      }
    }
    if (!outside.empty()) {
      add(shown("SLURM_MEM_BIND_LIST") + " and memory of nodes " +
              allowed_.nodes_allowed->to_string(),
          "this process may have no memory of node " + outside.to_string(),
          "srun --mem-bind=map_mem with nodes of " + allowed_.nodes_allowed->to_string());
    }
  }

  /// Detects unbound tasks that each bind their own threads from the first place on.
  void same_places() {
    const std::string* const bind = value("OMP_PROC_BIND");
    const bool binds = bind != nullptr ? *bind != "false" && *bind != "FALSE" && *bind != "False"
                                       : value("OMP_PLACES") != nullptr;
    const bool of_slurm = value("SLURM_STEP_ID") != nullptr;
    const char* const name = value("OMPI_COMM_WORLD_LOCAL_SIZE") != nullptr
                                 ? "OMPI_COMM_WORLD_LOCAL_SIZE"
                             : of_slurm ? "SLURM_STEP_TASKS_PER_NODE"
                                        : "";
    const std::string* const text = value(name);
    if (!binds || text == nullptr || !allowed_.cpus_allowed || !allowed_.cpus_online ||
        *allowed_.cpus_allowed != *allowed_.cpus_online) {
      return;
    }
    const auto tasks = number_in<unsigned>(std::string_view(*text).substr(0, text->find('(')));
    if (tasks && *tasks > 1) {
      add(shown(name) + " and " + shown(bind != nullptr ? "OMP_PROC_BIND" : "OMP_PLACES"),
          "this task may use all processors: tasks of which that is so bind their threads to the "
          "same places",
          "srun --cpu-bind=cores --cpus-per-task=N, or mpirun --bind-to none nodewise run "
          "--ranks-per node --bind close");
    }
  }

  void one_tbb() {
    if (value("TBB_NUM_THREADS") != nullptr) {
      add(shown("TBB_NUM_THREADS"),
          "oneTBB reads no such variable: it starts as many threads as "
          "processors are allowed",
          "nodewise run --physcpubind LIST, or tbb::global_control in the program");
    }
    const std::string* const huge = value("TBB_MALLOC_USE_HUGE_PAGES");
    const auto thp = read_settings(kernel_).thp;
    const auto reserved = read_number(kernel_, "/proc/sys/vm/nr_hugepages", 0, 1LL << 40);
    if (huge != nullptr && *huge != "0" && thp && *thp != "always" && reserved == 0) {
      add(shown("TBB_MALLOC_USE_HUGE_PAGES") + " and transparent huge pages " + *thp,
          "oneTBB's allocator finds no huge pages: none are reserved, and it takes transparent "
          "ones "
          "only if they are always there",
          "as root: echo always > /sys/kernel/mm/transparent_hugepage/enabled, or reserve some by "
          "sysctl vm.nr_hugepages");
    }
  }

  void other_machine() {
    for (const char* const name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"}) {
      if (value(name) != nullptr) {
        add(shown(name),
            "who asks hwloc (oneTBB for nodes, Open MPI) sees the machine that it describes, not "
            "this one",
            std::string("unset ") + name);
      }
    }
  }

  sys::kernel& kernel_;
  const bind::settings& said_;
  allowance allowed_;
  std::vector<finding> found_;
};

} // namespace

bind::settings read_variables(environment get) {
  bind::settings found = bind::read_settings(get);
  for (const char* const name : own_names) {
    if (const char* const text = get(name)) {
      found.emplace(name, text);
    }
  }
  return found;
}

std::vector<finding> examine_environment(sys::kernel& from, const bind::settings& said) {
  return examiner(from, said).all();
}

} // namespace nodewise::doctor
