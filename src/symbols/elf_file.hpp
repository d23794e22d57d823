// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <elfutils/libdw.h>
#include <gelf.h>

namespace nodewise::symbols {

/// An open ELF file; null if it could not be opened.
class elf_file {
 public:
  explicit elf_file(const std::string& name);
  elf_file(const elf_file&) = delete;
  elf_file& operator=(const elf_file&) = delete;
  ~elf_file();

  [[nodiscard]] Elf* get() const noexcept { return elf_; }
  /// null if there is no debug information.
  [[nodiscard]] Dwarf* dwarf();

 private:
  int fd_ = -1;
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  bool asked_ = false;
};

/// An executable or a shared object, of which the loader maps segments.
[[nodiscard]] bool is_mapped_program(Elf* elf);

template <class F>
void for_each_segment(Elf* elf, GElf_Word type, F&& f) {
  std::size_t count = 0;
  if (::elf_getphdrnum(elf, &count) != 0) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr && segment.p_type == type) {
      f(segment);
    }
  }
}

/// The first section for which `is` holds, with its header; `elf` must not be null.
template <class Is>
Elf_Scn* find_section(Elf* elf, GElf_Shdr& header, Is&& is) {
  Elf_Scn* section = nullptr;
  do {
    section = ::elf_nextscn(elf, section);
  } while (section != nullptr && (::gelf_getshdr(section, &header) == nullptr || !is(header)));
  return section;
}

/// The address, as the file numbers them, at which a file offset is mapped.
class segment_addresses {
 public:
  segment_addresses() = default;
  explicit segment_addresses(Elf* of);
  /// nullopt if no executable segment contains it.
  [[nodiscard]] std::optional<std::uint64_t> at(std::uint64_t file_offset) const noexcept;

 private:
  struct segment {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t address;
  };
  std::vector<segment> executable_;
};

/// Its build id in lower-case hexadecimal; empty if it has none or is null.
[[nodiscard]] std::string build_id_of(Elf* elf);
/// Where distributions put separate debug information; empty without a build id.
[[nodiscard]] std::string debug_file_of(Elf* elf);

} // namespace nodewise::symbols
