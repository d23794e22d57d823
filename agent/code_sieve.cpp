// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Encodings of calls: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CALL
// and table 2-2; Arm Architecture Reference Manual for A-profile, BL, BLR and BLRAA.
#include "agent/code_sieve.hpp"

#include <cstdint>
#include <cstring>

#include <elf.h>
#include <link.h>

#include "agent/modules.hpp"
#include "agent/page.hpp"

namespace nodewise::agent {

namespace {

/// Bytes of `call *operand`, opcode FF; 0 if it is another instruction or longer than `count`.
std::size_t bytes_of_indirect_call(const unsigned char* at, std::size_t count) noexcept {
  const unsigned modrm = at[1];
  const unsigned mode = modrm >> 6U;
  const unsigned operand = modrm & 7U;
  if (at[0] != 0xff || (modrm >> 3U & 7U) != 2) {
    return 0;
  }
  constexpr unsigned in_register = 3;
  constexpr unsigned with_index = 4;   // another byte follows
  constexpr unsigned displacement = 5; // of 4 bytes, where mode 0 has none
  if (mode == in_register) {
    return 2;
  }
  const bool has_index = operand == with_index;
  if (has_index && count < 3) {
    return 0;
  }
  const unsigned base = has_index ? at[2] & 7U : operand;
  const std::size_t plain = has_index ? 3 : 2;
  if (mode == 0) {
    return base == displacement ? plain + 4 : plain;
  }
  return mode == 1 ? plain + 1 : plain + 4;
}

} // namespace

bool ends_call_of_x86_64(const unsigned char* back, std::size_t count) noexcept {
  constexpr std::size_t direct = 5;
  if (count >= direct && *(back - direct) == 0xe8) {
    return true;
  }
  for (const std::size_t bytes : {2U, 3U, 4U, 6U, 7U}) {
    if (count >= bytes && bytes_of_indirect_call(back - bytes, bytes) == bytes) {
      return true;
    }
  }
  return false;
}

bool ends_call_of_aarch64(const unsigned char* back, std::size_t count) noexcept {
  std::uint32_t word = 0;
  if (count < sizeof word) {
    return false;
  }
  std::memcpy(&word, back - sizeof word, sizeof word);
  const bool direct = (word & 0xfc000000U) == 0x94000000U;
  const bool indirect = (word & 0xfffffc1fU) == 0xd63f0000U;
  const bool authenticated = (word & 0xfefff800U) == 0xd63f0800U;
  return direct || indirect || authenticated;
}

bool code_sieve::is_return(const char* address) noexcept {
  look_at(address);
  // If the code ends with a call, the address after it counts as well.
  if (!readable_ || address <= code_begin_ || address > code_end_) {
    return false;
  }
  const auto* const back = reinterpret_cast<const unsigned char*>(address);
  const auto count = static_cast<std::size_t>(address - code_begin_);
#if defined(__x86_64__)
  return ends_call_of_x86_64(back, count);
#else
  return ends_call_of_aarch64(back, count);
#endif
}

void code_sieve::find(const char* address) noexcept {
  const module_of module(address);
  if (module.start == nullptr) {
    return;
  }
  module_begin_ = module.start;
  module_end_ = module.end;
  readable_ = false;
  code_begin_ = module.start; // unless the module lists its segments
  code_end_ = module.end;
  read_segments();
}

/// A module's first mapping begins with its file's header, and the table of its segments follows.
void code_sieve::read_segments() noexcept {
  ElfW(Ehdr) header;
  std::memcpy(&header, module_begin_, sizeof header);
  constexpr std::size_t first_page = 4096;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(ElfW(Phdr)) ||
      header.e_phoff + std::size_t{header.e_phnum} * sizeof(ElfW(Phdr)) > first_page) {
    return;
  }
  const char* first = nullptr; // where address 0 of the file would be
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, module_begin_ + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD) {
      continue;
    }
    if (first == nullptr) {
      first = module_begin_ - (segment.p_vaddr & ~(page_bytes() - 1));
    }
    if ((segment.p_flags & PF_X) != 0) {
      code_begin_ = first + segment.p_vaddr;
      code_end_ = code_begin_ + segment.p_memsz;
      readable_ = (segment.p_flags & PF_R) != 0;
      return;
    }
  }
}

} // namespace nodewise::agent
