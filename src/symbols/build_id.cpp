// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/build_id.hpp"

#include <string_view>

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <unistd.h>

namespace nodewise::symbols {

std::string build_id(const std::string& file) {
  ::elf_version(EV_CURRENT);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  Elf* const elf = fd < 0 ? nullptr : ::elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  const void* bits = nullptr;
  const ssize_t bytes = elf == nullptr ? 0 : ::dwelf_elf_gnu_build_id(elf, &bits);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (ssize_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<const unsigned char*>(bits)[i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  ::elf_end(elf);
  if (fd >= 0) {
    ::close(fd);
  }
  return text;
}

} // namespace nodewise::symbols
