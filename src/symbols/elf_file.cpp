// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_file.hpp"

#include <utility>

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nodewise::symbols {

elf_file::elf_file(const std::string& name) {
  ::elf_version(EV_CURRENT);
  // Do not block: a process may have mapped a device.
  fd_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat is{};
  if (fd_ < 0 || ::fstat(fd_, &is) != 0 || !S_ISREG(is.st_mode)) {
    return;
  }
  elf_ = ::elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  if (elf_ != nullptr && ::elf_kind(elf_) != ELF_K_ELF) {
    ::elf_end(std::exchange(elf_, nullptr));
  }
}

elf_file::~elf_file() {
  ::dwarf_end(dwarf_);
  ::elf_end(elf_);
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Dwarf* elf_file::dwarf() {
  if (!asked_) {
    asked_ = true;
    dwarf_ = elf_ == nullptr ? nullptr : ::dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
  }
  return dwarf_;
}

bool is_mapped_program(Elf* elf) {
  GElf_Ehdr header;
  return elf != nullptr && ::gelf_getehdr(elf, &header) != nullptr &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

segment_addresses::segment_addresses(Elf* of) {
  for_each_segment(of, PT_LOAD, [this](const GElf_Phdr& s) {
    if ((s.p_flags & PF_X) != 0) {
      executable_.push_back({s.p_offset, s.p_filesz, s.p_vaddr});
    }
  });
}

std::optional<std::uint64_t> segment_addresses::at(std::uint64_t file_offset) const noexcept {
  for (const segment& s : executable_) {
    if (file_offset >= s.offset && file_offset - s.offset < s.bytes) {
      return s.address + (file_offset - s.offset);
    }
  }
  return std::nullopt;
}

std::string build_id_of(Elf* elf) {
  const void* bits = nullptr;
  const ssize_t count = elf == nullptr ? 0 : ::dwelf_elf_gnu_build_id(elf, &bits);
  std::string text;
  for (ssize_t i = 0; i < count; ++i) {
    text += fmt::format("{:02x}", static_cast<const unsigned char*>(bits)[i]);
  }
  return text;
}

std::string debug_file_of(Elf* elf) {
  const std::string id = build_id_of(elf);
  constexpr std::size_t folder = 2; // characters
  return id.size() <= folder ? std::string{}
                             : fmt::format("/usr/lib/debug/.build-id/{}/{}.debug",
                                           id.substr(0, folder), id.substr(folder));
}

} // namespace nodewise::symbols
