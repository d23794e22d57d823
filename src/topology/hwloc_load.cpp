// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The readers of `topology` that use hwloc.
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "topology/hwloc_machine.hpp"
#include "topology/json_field.hpp"

namespace nodewise::topology_detail {

namespace {

/// Changes an environment variable until it is destroyed. Only for use where the caller has
/// promised that no other thread reads the environment meanwhile.
class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) {
      before_ = before;
    }
    ::setenv(name, value, 1);
  }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;
  ~scoped_variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

hwloc_handle empty_topology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) {
    throw error(error_kind::system, "cannot create an hwloc topology", "hwloc failed",
                "free some memory", errno);
  }
  hwloc_handle topology(made);
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_type_filter(made, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_icache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // Starting a GPU's run-time library takes half a second, and the PCI bus shows GPUs, too.
  for (const char* const library : {"cuda", "gl", "levelzero", "nvml", "opencl", "rsmi"}) {
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, library);
  }
  return topology;
}

/// Checks the file before hwloc reads it, because hwloc does not report what is wrong.
void check_readable(const std::filesystem::path& file) {
  const std::string asked = fmt::format("the machine recorded in {}", file.string());
  std::error_code code;
  const auto status = std::filesystem::status(file, code);
  if (code || !std::filesystem::exists(status)) {
    throw error(error_kind::input, asked, "the file cannot be read", "check the name of the file",
                code ? code.value() : ENOENT);
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw error(error_kind::input, asked, "it is not a regular file",
                "name a file written by `lstopo file.xml`");
  }
  if (std::filesystem::file_size(file, code) > largest_machine_file) {
    throw error(error_kind::input, asked, "the file is larger than 16 MiB",
                "name a file written by `lstopo file.xml`");
  }
}

/// More processors than any machine has, but few enough that a typing error costs no gigabytes.
constexpr unsigned long most_synthetic_cpus = 65536;

[[noreturn]] void refuse(std::string_view spec, const std::string& answered) {
  throw error(error_kind::usage, fmt::format("the synthetic machine '{}'", spec.substr(0, 200)),
              answered,
              "write NODESxCORES or NODESxCORESxTHREADS, such as 4x2 or 2x8x2, or hwloc's syntax, "
              "such as \"numa:2 core:4 pu:1\"");
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Takes a number off the front of `rest`.
unsigned long take_count(std::string_view& rest, std::string_view spec) {
  if (rest.empty() || !is_digit(rest.front())) {
    refuse(spec, rest.empty() ? "a number is missing at the end"
                              : fmt::format("expected a number at '{}'", rest));
  }
  const auto count = take_number<unsigned long>(rest);
  if (!count || *count > most_synthetic_cpus) {
    refuse(spec, fmt::format("a number above {}", most_synthetic_cpus));
  }
  if (*count == 0) {
    refuse(spec, "a level of 0");
  }
  return *count;
}

void multiply(unsigned long& total, unsigned long count, std::string_view spec) {
  total *= count; // both are at most 65536
  if (total > most_synthetic_cpus) {
    refuse(spec, fmt::format("more than {} processors", most_synthetic_cpus));
  }
}

std::string from_short_form(std::string_view spec) {
  std::vector<unsigned long> counts;
  unsigned long total = 1;
  std::string_view rest = spec;
  for (;;) {
    counts.push_back(take_count(rest, spec));
    multiply(total, counts.back(), spec);
    if (rest.empty()) {
      break;
    }
    if (rest.front() != 'x') {
      refuse(spec, fmt::format("expected an x at '{}'", rest));
    }
    rest.remove_prefix(1);
  }
  if (counts.size() < 2 || counts.size() > 3) {
    refuse(spec, fmt::format("{} numbers instead of two or three", counts.size()));
  }
  return fmt::format("pack:{} [numa(memory=1073741824)] core:{} pu:{}", counts[0], counts[1],
                     counts.size() == 3 ? counts[2] : 1);
}

/// hwloc multiplies without a limit of its own. Levels are "type:count" or "count". Text in
/// parentheses describes a level and text in brackets is attached to it: neither multiplies.
void check_size(std::string_view spec) {
  unsigned long total = 1;
  int depth = 0;
  bool count_may_start = true;
  for (std::string_view rest = spec; !rest.empty();) {
    const char c = rest.front();
    if (depth == 0 && count_may_start && is_digit(c)) {
      multiply(total, take_count(rest, spec), spec);
      count_may_start = false;
      continue;
    }
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth < 0) {
      break; // hwloc will refuse it
    }
    count_may_start = c == ':' || c == ' ';
    rest.remove_prefix(1);
  }
}

/// Converts "4x2" (nodes x cores) and "4x2x2" (x threads) to hwloc's syntax and returns that syntax
/// unchanged. Throws `error` (usage) for anything else and for more than `most_synthetic_cpus`.
std::string to_hwloc_synthetic(std::string_view spec) {
  constexpr std::size_t longest = 4096;
  if (spec.empty() || spec.size() > longest) {
    refuse(spec, spec.empty() ? "it is empty" : "more than 4096 characters");
  }
  if (spec.find('\0') != std::string_view::npos) {
    refuse(spec, "a zero byte");
  }
  const bool is_short = is_digit(spec.front()) && spec.find('x') != std::string_view::npos &&
                        spec.find_first_of(" :([") == std::string_view::npos;
  if (is_short) {
    return from_short_form(spec);
  }
  check_size(spec);
  return std::string(spec);
}

struct loader {
  hwloc_handle operator()(const this_machine&) const {
    hwloc_handle topology = empty_topology();
    if (hwloc_topology_load(topology.get()) != 0) {
      throw error(error_kind::system, "cannot read the topology of this machine", "hwloc failed",
                  "check what `lstopo` reports, and that /sys and /proc are mounted", errno);
    }
    return topology;
  }

  hwloc_handle operator()(const xml_file& from) const {
    check_readable(from.file);
    hwloc_handle topology = empty_topology();
    errno = 0;
    if (hwloc_topology_set_xml(topology.get(), from.file.c_str()) != 0 ||
        hwloc_topology_load(topology.get()) != 0) {
      throw error(error_kind::input, fmt::format("the machine recorded in {}", from.file.string()),
                  "hwloc cannot read it: not XML, not written by hwloc 2, or truncated",
                  "write it again with `lstopo file.xml` of hwloc 2.0 or newer");
    }
    return topology;
  }

  hwloc_handle operator()(const sysfs_tree& from) const {
    static std::mutex one_at_a_time; // so that each call restores what it found
    const std::scoped_lock lock(one_at_a_time);
    /// The memory of a GPU is a NUMA node like any other: programs find pages there.
    const scoped_variable gpu_memory("HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES", "1");
    const scoped_variable fsroot("HWLOC_FSROOT", from.root.c_str());
    const scoped_variable components("HWLOC_COMPONENTS", "linux,stop");
    hwloc_handle topology = empty_topology();
    if (!std::filesystem::exists(from.root / "sys/devices/system/cpu") ||
        hwloc_topology_load(topology.get()) != 0) {
      throw error(
          error_kind::input, fmt::format("the machine recorded under {}", from.root.string()),
          "hwloc finds no processors there", "name the root of a tree that has sys/devices/system");
    }
    return topology;
  }

  hwloc_handle operator()(const synthetic_machine& from) const {
    const std::string description = to_hwloc_synthetic(from.spec);
    hwloc_handle topology = empty_topology();
    if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
        hwloc_topology_load(topology.get()) != 0) {
      throw error(error_kind::usage, fmt::format("the synthetic machine '{}'", from.spec),
                  "hwloc does not understand it",
                  "write 4x2 (nodes x cores), 2x8x2 (x threads), or hwloc's syntax, such as "
                  "\"numa:2 core:4 pu:1\"; HWLOC_SYNTHETIC_VERBOSE=1 shows what is wrong");
    }
    return topology;
  }
};

/// "Vendor Product" from the firmware's table.
std::string product(hwloc_obj_t root) {
  const std::string vendor = info_of(root, "DMISysVendor");
  const std::string name = info_of(root, "DMIProductName");
  return vendor.empty() || name.empty() ? vendor + name : fmt::format("{} {}", vendor, name);
}

/// What was loaded; `attributes` is the source of its figures.
topology described(const hwloc_handle& loaded, const char* attributes, std::string name,
                   std::string source, const char* note = nullptr) {
  machine all = to_machine(loaded.get(), attributes);
  all.name = std::move(name);
  all.title = product(hwloc_get_root_obj(loaded.get()));
  all.source = std::move(source);
  if (note != nullptr) {
    all.notes.emplace_back(note);
  }
  return {std::move(all), to_set<cpu_id>(hwloc_topology_get_allowed_cpuset(loaded.get())),
          to_set<node_id>(hwloc_topology_get_allowed_nodeset(loaded.get()))};
}

/// Corrects what hwloc derives by what the kernel reports: the node of each processor, and what
/// this process may use (hwloc reads the cgroup, the kernel includes the affinity mask).
topology as_the_kernel_reports(const topology& by_hwloc) {
  const topology kernel = topology::from_sysfs("/", sysfs_detail::nodes);
  machine all = by_hwloc.machine();
  for (memory_node& node : all.nodes) {
    if (const memory_node* const reported = kernel.machine().find_node(node.id)) {
      node.cpus = reported->cpus;
    }
  }
  node_set allowed = by_hwloc.allowed_nodes();
  if (const node_set missing = kernel.machine().node_ids() - all.node_ids(); !missing.empty()) {
    add_nodes_left_out(all, topology::from_sysfs().machine());
    allowed = allowed | missing;
  }
  return {std::move(all), by_hwloc.allowed_cpus() & kernel.allowed_cpus(),
          allowed & kernel.allowed_nodes()};
}

} // namespace

hwloc_handle load(const hwloc_source& source) {
  return std::visit(loader{}, source);
}

hwloc_handle load_xml_text(const std::string& text, const std::string& asked) {
  hwloc_handle topology = empty_topology();
  const auto bytes = static_cast<int>(text.size() + 1); // with the final zero
  if (hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), bytes) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw error(error_kind::system, asked, "hwloc cannot read its own output",
                "check what `lstopo -.xml` prints, and report it");
  }
  return topology;
}

} // namespace nodewise::topology_detail

namespace nodewise::inline v0 {

using namespace topology_detail;

topology topology::system() {
  const hwloc_handle loaded = load(this_machine{});
  hwloc_obj_t const root = hwloc_get_root_obj(loaded.get());
  const bool is_here = hwloc_topology_is_thissystem(loaded.get()) != 0;
  const topology read =
      described(loaded, "HMAT", info_of(root, "HostName"),
                fmt::format("hwloc {} on {} {}", info_of(root, "hwlocVersion"),
                            info_of(root, "OSName"), info_of(root, "OSRelease")),
                is_here ? nullptr : "not this machine: a variable HWLOC_* selects another");
  return is_here ? as_the_kernel_reports(read) : read;
}

topology topology::from_xml(const std::filesystem::path& file) {
  return described(load(xml_file{file}), "memory attributes recorded by hwloc",
                   file.stem().string(), "recorded by hwloc");
}

topology topology::from_sysfs_by_hwloc(const std::filesystem::path& root) {
  const auto trimmed = root.has_filename() ? root : root.parent_path();
  return described(load(sysfs_tree{root}), "HMAT", trimmed.filename().string(),
                   "a recorded sysfs, read by hwloc");
}

topology topology::synthetic(std::string_view spec) {
  return described(load(synthetic_machine{std::string(spec)}), "synthetic", std::string(spec),
                   "synthetic", "synthetic: made up from a description, not measured");
}

} // namespace nodewise::inline v0
