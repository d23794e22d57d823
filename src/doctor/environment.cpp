// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// oneTBB itself reads TBB_VERSION, its allocator TBB_MALLOC_USE_HUGE_PAGES and
// TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD, and its NUMA part the variables of hwloc (2021.8). It has no
// variable for the number of threads.

#include "base/numbers.hpp"
#include "doctor/examine.hpp"
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

/// The number of processors in a mask such as "0x00FF"; nullopt for other text.
std::optional<std::size_t> bits_of_mask(std::string_view mask) {
  mask.remove_prefix(mask.starts_with("0x") ? 2 : 0);
  std::size_t bits = 0;
  for (const char& digit : mask) {
    const auto value = parse_number<unsigned>(std::string_view(&digit, 1), 16);
    if (!value) {
      return std::nullopt;
    }
    bits += static_cast<std::size_t>(std::popcount(*value));
  }
  return bits > 0 ? std::optional(bits) : std::nullopt;
}

/// A node's number, decimal or after "0x".
std::optional<node_id> node_in(std::string_view text) {
  const auto node =
      text.starts_with("0x") ? parse_number<int>(text.substr(2), 16) : parse_number<int>(text);
  return node && *node >= 0 && *node <= max_id ? std::optional(node_id{*node}) : std::nullopt;
}

bool mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

class examiner {
 public:
  examiner(sys::kernel& from, const bind::settings& around)
      : kernel_(from), variables_(around), allowed_(read_allowance(from)) {}

  std::vector<finding> all() {
    if (allowed_.cpus_allowed) {
      bind::intentions ours;
      ours.command = "nodewise run ";
      for (const bind::conflict& each :
           bind::find_conflicts(variables_, *allowed_.cpus_allowed, ours)) {
        add(each.said, each.outcome, each.hint);
      }
    } else {
      found_.push_back(unreadable("variables", "the allowed processors are unknown"));
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
  [[nodiscard]] std::string_view value(std::string_view name) const {
    return bind::value_of(variables_, name);
  }
  [[nodiscard]] std::string shown(std::string_view name) const {
    return bind::shown(variables_, name);
  }
  /// Adds a finding named after the first variable in `subject`.
  void add(const std::string& subject, std::string_view outcome, std::string cure) {
    found_.push_back(doubtful(subject.substr(0, subject.find('=')),
                              fmt::format("{}: {}", subject, outcome), std::move(cure)));
  }

  [[nodiscard]] finding none() const {
    std::vector<std::string> set;
    for (const auto& [name, text] : variables_) {
      if (is_setting(name) && !text.empty()) {
        set.push_back(shown(name));
      }
    }
    return fine("variables", set.empty() ? "no variable places threads or memory"
                                         : joined(set, ", ") + ": no contradiction found");
  }

  /// Compares the binding that srun reports with that of this process. Slurm has its own numbers
  /// of processors, so only their count can be compared.
  void batch_system() {
    if (value("SLURM_STEP_ID").empty()) {
      return; // a batch script has srun's variables before any srun
    }
    const auto task = parse_number<std::size_t>(value("SLURM_LOCALID"));
    if (mentions(value("SLURM_CPU_BIND_TYPE"), "mask_cpu") && task && allowed_.cpus_allowed) {
      const auto masks = split(value("SLURM_CPU_BIND_LIST"), ',');
      const auto given = bits_of_mask(masks[*task % masks.size()]);
      if (given && *given != allowed_.cpus_allowed->size()) {
        add(fmt::format("{} and the affinity of processors {}", shown("SLURM_CPU_BIND_LIST"),
                        allowed_.cpus_allowed->to_string()),
            fmt::format("srun gave this task {}; the affinity was changed after srun", *given),
            "remove what runs between srun and the program (taskset, numactl, mpirun), or use "
            "srun --cpu-bind=none");
      }
    }
    memory_of_batch_system();
  }

  void memory_of_batch_system() {
    const char* const name =
        value("SLURM_MEM_BIND_TYPE").empty() ? "SLURM_MEM_BIND" : "SLURM_MEM_BIND_TYPE";
    const std::string_view type = value(name);
    const auto policy = kernel_.get_mempolicy();
    constexpr std::array binding = {"local", "map_mem", "mask_mem", "rank"};
    const bool binds =
        std::ranges::any_of(binding, [&](const char* word) { return mentions(type, word); });
    if (binds && policy && policy.value == sys::policy::system_default) {
      add(shown(name) + " and the default memory policy",
          "srun's policy is not active in this process",
          "the cluster needs Slurm's task/affinity plugin with libnuma; or use nodewise run "
          "--membind");
    }
    if (!mentions(type, "map_mem") || !allowed_.nodes_allowed) {
      return;
    }
    node_set outside;
    for (const std::string_view part : split(value("SLURM_MEM_BIND_LIST"), ',')) {
      const auto node = node_in(part);
      if (node && !allowed_.nodes_allowed->contains(*node)) {
        outside.insert(*node);
      }
    }
    if (!outside.empty()) {
      const std::string nodes = allowed_.nodes_allowed->to_string();
      add(fmt::format("{} and memory of nodes {}", shown("SLURM_MEM_BIND_LIST"), nodes),
          fmt::format("this process may not use memory of node {}", outside.to_string()),
          "use srun --mem-bind=map_mem with nodes in " + nodes);
    }
  }

  /// Detects unbound tasks that each bind their own threads from the first place on.
  void same_places() {
    const std::string_view bind = value("OMP_PROC_BIND");
    const bool binds = bind.empty() ? !value("OMP_PLACES").empty()
                                    : bind != "false" && bind != "FALSE" && bind != "False";
    const char* const name = !value("OMPI_COMM_WORLD_LOCAL_SIZE").empty()
                                 ? "OMPI_COMM_WORLD_LOCAL_SIZE"
                             : !value("SLURM_STEP_ID").empty() ? "SLURM_STEP_TASKS_PER_NODE"
                                                               : "";
    if (!binds || !allowed_.cpus_allowed || allowed_.cpus_allowed != allowed_.cpus_online) {
      return;
    }
    std::string_view text = value(name);
    if (take_number<unsigned>(text).value_or(1) > 1) {
      add(fmt::format("{} and {}", shown(name),
                      shown(bind.empty() ? "OMP_PLACES" : "OMP_PROC_BIND")),
          "this task may use all processors, so all such tasks bind their threads to the same "
          "places",
          "use srun --cpu-bind=cores --cpus-per-task=N, or mpirun --bind-to none nodewise run "
          "--ranks-per node --bind close");
    }
  }

  void one_tbb() {
    if (!value("TBB_NUM_THREADS").empty()) {
      add(shown("TBB_NUM_THREADS"),
          "oneTBB does not read this variable: it starts as many threads as processors are allowed",
          "use nodewise run --physcpubind LIST, or tbb::global_control in the program");
    }
    const std::string_view huge = value("TBB_MALLOC_USE_HUGE_PAGES");
    const auto thp = read_settings(kernel_).thp;
    const auto reserved = read_number(kernel_, "/proc/sys/vm/nr_hugepages", 0, 1LL << 40);
    if (!huge.empty() && huge != "0" && thp && *thp != "always" && reserved == 0) {
      add(fmt::format("{} and transparent huge pages {}", shown("TBB_MALLOC_USE_HUGE_PAGES"), *thp),
          "oneTBB's allocator finds no huge pages: none are reserved, and it uses transparent huge "
          "pages only if they are always on",
          "as root: echo always > /sys/kernel/mm/transparent_hugepage/enabled, or reserve some "
          "with sysctl vm.nr_hugepages");
    }
  }

  void other_machine() {
    for (const char* const name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"}) {
      if (!value(name).empty()) {
        add(shown(name),
            "users of hwloc (oneTBB for nodes, Open MPI) see the machine that it describes, not "
            "this one",
            fmt::format("unset {}", name));
      }
    }
  }

  sys::kernel& kernel_;
  const bind::settings& variables_;
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

std::vector<finding> examine_environment(sys::kernel& from, const bind::settings& variables) {
  return examiner(from, variables).all();
}

} // namespace nodewise::doctor
