// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/device_name.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <nodewise/error.hpp>

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
  return std::string(kind) + ':' + std::string(name);
}

/// The folder of an entry of a class; refuses names that lead to another folder.
std::string class_entry(const char* folder, std::string_view kind, std::string_view name) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    refuse(text_of(kind, name), "that is no name of a device",
           "write the name that the system lists in " + std::string(folder));
  }
  return std::string(folder) + '/' + std::string(name);
}

bool has_name(const device& one, std::string_view name) {
  return one.name == name;
}

// PCI addresses: "0000:3b:00.0", "3b:00.0", "3b:00".

std::string hexadecimal(unsigned value, std::size_t digits) {
  std::array<char, 8> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
  std::string text(buffer.data(), end);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

std::optional<unsigned> take_hexadecimal(std::string_view text, unsigned highest) {
  unsigned value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  return whole && value <= highest ? std::optional(value) : std::nullopt;
}

/// The address as the kernel writes it, or empty.
std::string pci_address(std::string_view text) {
  std::string_view rest = text;
  const std::size_t dot = rest.rfind('.');
  const auto function =
      dot == std::string_view::npos ? 0U : take_hexadecimal(rest.substr(dot + 1), 7);
  rest = rest.substr(0, dot);
  const std::size_t last = rest.rfind(':');
  if (last == std::string_view::npos) {
    return {};
  }
  const auto slot = take_hexadecimal(rest.substr(last + 1), 0x1f);
  rest = rest.substr(0, last);
  const std::size_t first = rest.find(':');
  const auto domain =
      first == std::string_view::npos ? 0U : take_hexadecimal(rest.substr(0, first), 0xffffffff);
  const auto bus =
      take_hexadecimal(first == std::string_view::npos ? rest : rest.substr(first + 1), 0xff);
  if (!function || !slot || !domain || !bus) {
    return {};
  }
  return hexadecimal(*domain, 4) + ':' + hexadecimal(*bus, 2) + ':' + hexadecimal(*slot, 2) + '.' +
         hexadecimal(*function, 1);
}

std::string pci_folder(std::string_view name) {
  const std::string address = pci_address(name);
  if (address.empty()) {
    refuse(text_of("pci", name), "that is no address on the PCI bus",
           "write domain:bus:device.function, such as 0000:3b:00.0");
  }
  return "/sys/bus/pci/devices/" + address;
}

/// The block device that holds a file, or the file itself if it is one.
std::string file_folder(std::string_view name) {
  const std::string path(name);
  struct stat status{};
  if (path.empty() || path.find('\0') != std::string::npos || ::stat(path.c_str(), &status) != 0) {
    throw error(error_kind::usage, text_of("file", name), "there is no such file",
                "name a file that is there", path.empty() ? ENOENT : errno);
  }
  const dev_t device = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
  return "/sys/dev/block/" + std::to_string(major(device)) + ':' + std::to_string(minor(device));
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
       refuse(text_of("ip", name), "the way to a host is not looked up",
              "name the network device: netdev:eth0 (`ip route get HOST` shows it as 'dev')");
     }},
    // hwloc's word for a device with the system's name.
    {"os", has_name,
     [](std::string_view name) { return class_entry("/sys/class/net", "os", name); }},
}};
constexpr std::size_t os_row = prefixes.size() - 1;
constexpr std::size_t pci_row = 1;

std::optional<std::size_t> row_of(std::string_view name) noexcept {
  for (std::size_t row = 0; row < os_row; ++row) {
    if (prefixes[row].name == name) {
      return row;
    }
  }
  return std::nullopt;
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
      refuse(std::string(text), row ? "it names no device" : "there is no kind of device like that",
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
  const std::string hint = "name a node by its number; `nodewise topo` draws them";
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
             "`nodewise topo` lists the devices it knows; or name a node by its number");
    }
    if (*node != unknown_node && where.machine().find_node(*node) != nullptr) {
      nodes.insert(*node);
    }
  }
  if (nodes.empty()) {
    refuse(asked, "the firmware does not say which node it is near to", hint);
  }
  return nodes;
}

} // namespace nodewise::spec
