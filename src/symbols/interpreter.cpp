// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/interpreter.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

namespace nodewise::symbols {

namespace {

std::string interpreter_in(Elf* elf) {
  std::size_t count = 0;
  if (::elf_getphdrnum(elf, &count) != 0) {
    return {};
  }
  std::size_t bytes = 0;
  const char* const all = ::elf_rawfile(elf, &bytes);
  for (std::size_t i = 0; i < count && all != nullptr; ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr &&
        segment.p_type == PT_INTERP && segment.p_offset < bytes && segment.p_filesz != 0 &&
        segment.p_filesz <= bytes - segment.p_offset) {
      const std::string text(all + segment.p_offset, segment.p_filesz);
      return text.substr(0, text.find('\0'));
    }
  }
  return {};
}

} // namespace

std::string interpreter(const std::string& file) {
  ::elf_version(EV_CURRENT);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  Elf* const elf = fd < 0 ? nullptr : ::elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  std::string found = elf == nullptr ? std::string{} : interpreter_in(elf);
  ::elf_end(elf);
  if (fd >= 0) {
    ::close(fd);
  }
  return found;
}

} // namespace nodewise::symbols
