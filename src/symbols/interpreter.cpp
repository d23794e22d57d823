// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/interpreter.hpp"

#include "symbols/elf_file.hpp"

namespace nodewise::symbols {

std::string interpreter(const std::string& file) {
  const elf_file opened(file);
  std::size_t bytes = 0;
  const char* const all = ::elf_rawfile(opened.get(), &bytes);
  std::string found;
  for_each_segment(opened.get(), PT_INTERP, [&](const GElf_Phdr& s) {
    if (found.empty() && all != nullptr && s.p_offset < bytes && s.p_filesz <= bytes - s.p_offset) {
      found.assign(all + s.p_offset, s.p_filesz);
    }
  });
  return found.substr(0, found.find('\0'));
}

} // namespace nodewise::symbols
