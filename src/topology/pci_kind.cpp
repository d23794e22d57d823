// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/pci_kind.hpp"

#include <algorithm>
#include <array>

namespace nodewise::topology_detail {

namespace {

struct adapter {
  unsigned vendor;
  unsigned device; ///< 0: all of this vendor
};

/// Adapters of management controllers, then those of virtual machines.
constexpr std::array picture_adapters = {
    adapter{0x1a03, 0},      // ASPEED
    adapter{0x102b, 0},      // Matrox G200
    adapter{0x1002, 0x515e}, // ATI ES1000
    adapter{0x1002, 0x5969}, // ATI ES1000
    adapter{0x18ca, 0},      // XGI
    adapter{0x19e5, 0x1711}, // Huawei Hi171x
    adapter{0x1013, 0},      // Cirrus Logic, also of QEMU
    adapter{0x1234, 0x1111}, // QEMU's standard VGA
    adapter{0x1b36, 0x0100}, // QXL
    adapter{0x15ad, 0},      // VMware
    adapter{0x1af4, 0x1050}, // virtio
};

constexpr unsigned base_class(const pci_numbers& of) noexcept {
  return of.device_class >> 8;
}

} // namespace

bool only_shows_pictures(const pci_numbers& of) noexcept {
  return base_class(of) == 0x03 && std::ranges::any_of(picture_adapters, [&](const adapter& each) {
           return each.vendor == of.vendor && (each.device == 0 || each.device == of.device);
         });
}

const char* kind_of_pci(const pci_numbers& of) noexcept {
  switch (base_class(of)) {
  case 0x01:
    return "storage";
  case 0x02:
    return of.device_class == 0x0207 ? "fabric" : "network";
  case 0x03:
  case 0x12: // processing accelerators
    return only_shows_pictures(of) ? "other" : "gpu";
  case 0x0c:
    return of.device_class == 0x0c06 ? "fabric" : nullptr;
  default:
    return nullptr;
  }
}

} // namespace nodewise::topology_detail
