// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a PCI device is, by the numbers that it reports.
#pragma once

namespace nodewise::topology_detail {

/// As PCI and its list of vendors (pci.ids) have them.
struct pci_numbers {
  unsigned device_class = 0; ///< base class and subclass: 0x0302
  unsigned vendor = 0;
  unsigned device = 0;
};

/// As `device::kind`; nullptr for devices that no program reads or writes much. Graphics adapters
/// that only show a picture, as a server's management controller has, are "other" and no "gpu".
[[nodiscard]] const char* kind_of_pci(const pci_numbers& of) noexcept;

/// Whether it is such an adapter.
[[nodiscard]] bool only_shows_pictures(const pci_numbers& of) noexcept;

} // namespace nodewise::topology_detail
