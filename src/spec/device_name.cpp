// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/device_name.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/parse_number.hpp"
#include "base/split.hpp"
#include "spec/refusals.hpp"

namespace nodewise::spec {

namespace {

/// `matches` finds a device in the machine value. `folder` gives the folder of a device that only
/// the files of the system may have; it throws for an impossible name.
struct prefix {
  std::string_view name;
  bool (*matches)(const device& one, std::string_view name);
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

bool has_name(const device& one, std::string_view name) {
  return one.name == name;
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
    {"netdev", has_name,
     [](std::string_view name) { return class_entry("/sys/class/net", "netdev", name); }},
    {"pci",
     [](const device& one, std::string_view name) {
       return !one.bus.empty() && one.bus == pci_address(name);
     },
     pci_folder},
    {"block", has_name, block_folder},
    {"file", [](const device&, std::string_view) { return false; }, file_folder},
    {"ip", [](const device&, std::string_view) { return false; },
     [](std::string_view name) -> std::string {
       refuse(text_of("ip", name), "routes to hosts are not looked up",
              "name the network device: netdev:eth0 (`ip route get HOST` shows it as 'dev')");
     }},
    // hwloc's word for a device with the system's name.
    {"os", has_name,
     [](std::string_view name) { return class_entry("/sys/class/net", "os", name); }},
}};
constexpr std::size_t os_row = prefixes.size() - 1;
constexpr std::size_t pci_row = 1;

std::optional<std::size_t> row_of(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(prefixes, name, &prefix::name);
  const auto row = static_cast<std::size_t>(found - prefixes.begin());
  return row < os_row ? std::optional(row) : std::nullopt;
}

} // namespace

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
  bool known = false;
  node_set nodes;
  for (const device& each : where.machine().devices) {
    if (kind.matches(each, name.name)) {
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
