// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/devices.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "spec/numactl_list.hpp"
#include "topology/pci_kind.hpp"

namespace nodewise::spec {

namespace {

using topology_detail::numbered_entries;
using topology_detail::read_mask;
using topology_detail::read_small_file;

/// Whether a reader made this value from the running system and it has the system's name.
bool is_running_system(const machine& of) {
  utsname system{};
  return (of.source.starts_with("sysfs of ") || of.source.starts_with("hwloc ")) &&
         ::uname(&system) == 0 && of.name == system.nodename;
}

std::optional<int> number_in(const std::string& path) {
  return parse_number<int>(read_small_file(path).value_or(""));
}

/// "0000:3b:00.0", "3b:00.0" or "3b:00" as the kernel writes it; empty if it is not a PCI address.
std::string pci_address(std::string_view text) {
  const auto number = [](std::string_view digits, unsigned highest) {
    const auto value = parse_number<unsigned>(digits, 16);
    return value && *value <= highest ? value : std::nullopt;
  };
  const std::size_t dot = text.rfind('.');
  const auto function = dot == std::string_view::npos ? 0U : number(text.substr(dot + 1), 7);
  const auto fields = split(text.substr(0, dot), ':');
  if (fields.size() < 2 || fields.size() > 3) {
    return {};
  }
  const auto domain = fields.size() == 3 ? number(fields.front(), 0xffffffff) : 0U;
  const auto bus = number(fields[fields.size() - 2], 0xff);
  const auto slot = number(fields.back(), 0x1f);
  if (!function || !slot || !domain || !bus) {
    return {};
  }
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *slot, *function);
}

/// A number as in "0x10de"; 0 if there is none.
unsigned hexadecimal(const std::string& path) {
  const std::string text = read_small_file(path).value_or("");
  return text.starts_with("0x")
             ? parse_number<unsigned>(std::string_view(text).substr(2), 16).value_or(0)
             : 0;
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none; // no folder, no entries
  for (const auto& each : std::filesystem::directory_iterator(folder, none)) {
    names.push_back(each.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// The PCI address of the device with this folder; empty if it is no PCI device.
std::string address_at(const std::string& folder) {
  std::error_code none;
  return pci_address(std::filesystem::canonical(folder, none).filename().string());
}

/// `folder` gives the folder of a device that only the files of the system may have; it throws for
/// an impossible name.
struct prefix {
  std::string_view name;
  bool is_name; ///< what follows is the device's name in the machine value
  std::string (*folder)(std::string_view name);
};

std::string text_of(std::string_view kind, std::string_view name) {
  return fmt::format("{}:{}", kind, name);
}

/// The folder of an entry of a class; refuses names that lead to another folder.
std::string class_entry(const char* folder, std::string_view kind, std::string_view name) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    refuse(text_of(kind, name), "not a device name",
           fmt::format("use a name that the system lists in {}", folder));
  }
  return fmt::format("{}/{}", folder, name);
}

std::string pci_folder(std::string_view name) {
  const std::string address = pci_address(name);
  if (address.empty()) {
    refuse(text_of("pci", name), "not a PCI address",
           "write domain:bus:device.function, such as 0000:3b:00.0");
  }
  return "/sys/bus/pci/devices/" + address;
}

/// The block device that holds a file, or the file itself if it is one.
std::string file_folder(std::string_view name) {
  const std::string path(name);
  struct stat status{};
  if (path.empty() || path.find('\0') != std::string::npos || ::stat(path.c_str(), &status) != 0) {
    throw error(error_kind::usage, text_of("file", name), "no such file", "name an existing file",
                path.empty() ? ENOENT : errno);
  }
  const dev_t device = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
  return fmt::format("/sys/dev/block/{}:{}", major(device), minor(device));
}

std::string block_folder(std::string_view name) {
  return name.starts_with('/') ? file_folder(name) : class_entry("/sys/class/block", "block", name);
}

constexpr std::array<prefix, 6> prefixes{{
    {"netdev", true,
     [](std::string_view name) { return class_entry("/sys/class/net", "netdev", name); }},
    {"pci", false, pci_folder},
    {"block", true, block_folder},
    {"file", false, file_folder},
    {"ip", false,
     [](std::string_view name) -> std::string {
       refuse(text_of("ip", name), "routes to hosts are not looked up",
              "name the network device: netdev:eth0 (`ip route get HOST` shows it as 'dev')");
     }},
    // hwloc's word for a device with the system's name.
    {"os", true, [](std::string_view name) { return class_entry("/sys/class/net", "os", name); }},
}};
constexpr std::size_t os_row = prefixes.size() - 1;
constexpr std::size_t pci_row = 1;

std::optional<std::size_t> row_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(prefixes, name, &prefix::name);
  const auto row = static_cast<std::size_t>(found - prefixes.begin());
  return row < os_row ? std::optional(row) : std::nullopt;
}

} // namespace

system_files::system_files(std::string_view root, const machine& of) : prefix_(root) {
  while (prefix_.ends_with('/')) {
    prefix_.pop_back();
  }
  there_ = !prefix_.empty() || is_running_system(of);
}

std::optional<node_id> system_files::node_of_device(const std::string& folder) const {
  char real[PATH_MAX];
  if (!there_ || ::realpath((prefix_ + folder).c_str(), real) == nullptr) {
    return std::nullopt;
  }
  // Walk up: a partition is below its disk, a network interface below its card.
  for (std::string at = real; at.size() > prefix_.size(); at.resize(at.rfind('/'))) {
    if (const auto node = number_in(at + "/numa_node")) {
      return *node < 0 || *node > max_id ? unknown_node : node_id{*node};
    }
  }
  return unknown_node;
}

std::vector<device> system_files::devices_of(std::string_view kind) const {
  std::vector<device> found;
  const auto add_all = [&](const std::string& folder, const char* to_device, const auto& is_one) {
    for (const std::string& name : entries(prefix_ + folder)) {
      const std::string of = fmt::format("{}/{}{}", folder, name, to_device);
      if (there_ && is_one(prefix_ + of) && !std::filesystem::exists(prefix_ + of + "/physfn")) {
        const node_id node = node_of_device(of).value_or(unknown_node);
        found.push_back({name, std::string(kind), address_at(prefix_ + of),
                         node == unknown_node ? node_set{} : node_set{node}});
      }
    }
  };
  if (kind == "fabric") { // whatever its PCI class is: adapters for Ethernet may be one
    for (const char* const folder : {"/sys/class/infiniband", "/sys/class/cxi"}) {
      add_all(folder, "/device", [](const std::string&) { return true; });
    }
  } else {
    add_all("/sys/bus/pci/devices", "", [&](const std::string& folder) {
      const char* const its = topology_detail::kind_of_pci({hexadecimal(folder + "/class") >> 8,
                                                            hexadecimal(folder + "/vendor"),
                                                            hexadecimal(folder + "/device")});
      return its != nullptr && its == kind;
    });
  }
  return found;
}

std::vector<cache> system_files::caches_of(const cpu_set& cpus) const {
  std::vector<cache> found;
  if (!there_) {
    return found;
  }
  constexpr int most_indices = 16;
  for (int index = 0; index < most_indices; ++index) {
    const std::size_t before = found.size();
    for (cpu_set rest = cpus; !rest.empty();) {
      const cpu_id first = rest.first();
      const std::string folder =
          fmt::format("{}/sys/devices/system/cpu/cpu{}/cache/index{}/", prefix_, first, index);
      cache one;
      one.level = number_in(folder + "level").value_or(0);
      one.cpus = read_mask(folder + "shared_cpu_map").value_or(cpu_set{}) & cpus;
      one.cpus.insert(first);
      rest = std::move(rest) - one.cpus;
      if (one.level > 0) {
        const auto kind = read_small_file(folder + "type");
        one.kind = kind == "Instruction" ? cache_kind::instruction
                   : kind == "Data"      ? cache_kind::data
                                         : cache_kind::unified;
        found.push_back(std::move(one));
      }
    }
    if (found.size() == before) {
      break;
    }
  }
  return found;
}

node_set system_files::initiators_of(node_id node) const {
  node_set nodes;
  if (!there_) {
    return nodes;
  }
  const std::string folder = fmt::format("{}/sys/devices/system/node/node{}", prefix_, node);
  // access1 lists processors only; the older access0 also lists devices that start transfers.
  for (const char* const access : {"/access1/initiators", "/access0/initiators"}) {
    if (const auto numbers = numbered_entries(folder + access, "node")) {
      for (const int number : *numbers) {
        nodes.insert(node_id{number});
      }
      break;
    }
  }
  return nodes;
}

bool names_device(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  return colon != std::string_view::npos && (kind == "near" || row_of(kind));
}

std::optional<device_name> read_device_name(std::string_view text) {
  constexpr std::string_view near = "near:";
  if (text.starts_with(near)) {
    std::string_view rest = text.substr(near.size());
    const std::string_view kind = take_until(rest, '=');
    const auto row = row_of(kind);
    if (!row || rest.empty()) {
      refuse(std::string(text), row ? "it names no device" : "unknown kind of device",
             "write near:netdev=eth0, near:pci=0000:3b:00.0, near:block=sda or near:file=PATH");
    }
    return device_name{*row, rest};
  }
  std::string_view rest = text;
  const std::string_view kind = take_until(rest, ':');
  const auto row = kind.size() < text.size() ? row_of(kind) : std::nullopt;
  return row ? std::optional(device_name{*row, rest}) : std::nullopt;
}

std::optional<device_name> hwloc_device_name(std::string_view word, std::string_view name) {
  if (word == "os" || word == "osdev") {
    return device_name{os_row, name};
  }
  return word == "pci" || word == "pcidev" ? std::optional(device_name{pci_row, name})
                                           : std::nullopt;
}

node_set nodes_near(const device_name& name, const topology& where, const system_files& files) {
  const prefix& kind = prefixes[name.kind];
  const std::string asked = text_of(kind.name, name.name);
  const std::string address = name.kind == pci_row ? pci_address(name.name) : "";
  bool known = false;
  node_set nodes;
  for (const device& each : where.machine().devices) {
    if (kind.is_name ? each.name == name.name : !address.empty() && each.bus == address) {
      known = true;
      nodes = nodes | (each.nodes & where.machine().node_ids());
    }
  }
  if (!known) {
    // `folder` throws for an impossible name, on any machine.
    std::optional<node_id> node = files.node_of_device(kind.folder(name.name));
    if (!node && name.kind == os_row) {
      node = files.node_of_device(class_entry("/sys/class/block", "os", name.name));
    }
    if (!node) {
      refuse(asked, "this machine has no such device",
             "`nodewise topo` lists the known devices; or name a node by its number");
    }
    if (*node != unknown_node && where.machine().find_node(*node) != nullptr) {
      nodes.insert(*node);
    }
  }
  if (nodes.empty()) {
    refuse(asked, "the firmware does not report which node is nearest to it",
           "name a node by its number; `nodewise topo` draws them");
  }
  return nodes;
}

} // namespace nodewise::spec
