// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Static data that is zero at first, such as static arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace nodewise::agent {

/// The part of a module's memory that is zero at first and not from its file: the bytes after the
/// file's bytes in a writable segment.
struct zero_memory {
  static constexpr std::size_t most = 4;
  struct range {
    std::uintptr_t begin;
    std::uintptr_t end;
  } ranges[most] = {};
  std::size_t count = 0;

  explicit zero_memory(const dl_phdr_info& module) noexcept {
    for (std::size_t i = 0; i < module.dlpi_phnum && count < most; ++i) {
      const ElfW(Phdr)& segment = module.dlpi_phdr[i];
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 &&
          segment.p_memsz > segment.p_filesz) {
        const std::uintptr_t start = module.dlpi_addr + segment.p_vaddr;
        ranges[count++] = {start + segment.p_filesz, start + segment.p_memsz};
      }
    }
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += ranges[i].end - ranges[i].begin;
    }
    return sum;
  }

  [[nodiscard]] bool holds(std::uintptr_t begin, std::uint64_t bytes) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (begin >= ranges[i].begin && begin < ranges[i].end && bytes <= ranges[i].end - begin) {
        return true;
      }
    }
    return false;
  }
};

} // namespace nodewise::agent
