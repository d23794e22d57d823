// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An ELF file whose call frame information leads through a stack; both come from outside, and what
// is mutated here is the file with the stack in it.
#include "symbols/unwind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include <dwarf.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.hpp"

using namespace nodewise;

namespace {

constexpr std::uint64_t code_start = 0x10000;
constexpr std::uint64_t stack_start = 0x7000;

/// Header, one segment, .eh_frame or .debug_frame, a stack, three sections.
struct small_file {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  char names[32] = "\0.eh_frame\0.debug_frame";
  std::array<std::uint8_t, 160> frames{};
  std::array<std::uint64_t, 24> stack{};
  std::array<Elf64_Shdr, 3> sections{};
  std::size_t filled = 0;

  explicit small_file(bool eh_frame, Elf64_Half machine) {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_phoff = offsetof(small_file, segment);
    header.e_phentsize = sizeof segment;
    header.e_phnum = 1;
    header.e_shoff = offsetof(small_file, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 1;
    segment = {PT_LOAD, PF_R | PF_X, 0, 0, 0, sizeof *this, sizeof *this, 4096};
    sections[1] = {0, SHT_STRTAB, 0, 0, offsetof(small_file, names), sizeof names, 0, 0, 1, 0};
    sections[2] = {eh_frame ? 1U : 11U,
                   SHT_PROGBITS,
                   SHF_ALLOC,
                   offsetof(small_file, frames),
                   offsetof(small_file, frames),
                   sizeof frames,
                   0,
                   0,
                   8,
                   0};
    for (std::size_t i = 0; i < stack.size(); ++i) {
      stack[i] = code_start + 8 * i + 2;
    }
  }

  /// One entry: its length is known when it ends.
  void add(std::initializer_list<unsigned> bytes) {
    frames[filled] = static_cast<std::uint8_t>(bytes.size());
    filled += 4;
    for (const unsigned byte : bytes) {
      frames[filled++] = static_cast<std::uint8_t>(byte);
    }
  }
  [[nodiscard]] std::string bytes() const {
    return {reinterpret_cast<const char*>(this), sizeof *this};
  }
};

std::string eh_frame(Elf64_Half machine, unsigned stack_pointer, unsigned back) {
  small_file file(true, machine);
  file.add({0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, back, 1, DW_EH_PE_udata4, // common
            DW_CFA_def_cfa, stack_pointer, 8, DW_CFA_offset | back, 1});
  file.add({27,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            0x40,
            0,
            0,
            0,
            0,
            DW_CFA_advance_loc | 8,
            DW_CFA_def_cfa_offset,
            32,
            DW_CFA_offset | 3,
            2,
            DW_CFA_remember_state,
            DW_CFA_advance_loc | 8,
            DW_CFA_restore_state});
  file.add({52,
            0,
            0,
            0,
            0x41,
            0,
            0,
            0,
            0xff,
            0,
            0,
            0,
            0,
            DW_CFA_def_cfa_expression,
            5,
            DW_OP_breg0 + stack_pointer,
            16,
            DW_OP_lit8,
            DW_OP_plus,
            DW_OP_nop,
            DW_CFA_expression,
            3,
            3,
            DW_OP_breg0 + stack_pointer,
            8,
            DW_OP_nop});
  return file.bytes();
}

std::string debug_frame() {
  small_file file(false, EM_X86_64);
  file.add({0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 16, DW_CFA_offset | 16, 1,
            DW_CFA_val_offset, 6, 2});
  file.add({0,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            4,
            0,
            0,
            0,
            0,
            0,
            0,
            DW_CFA_advance_loc1,
            9,
            DW_CFA_register,
            3,
            6});
  return file.bytes();
}

int file_in_memory() {
  static const int file = ::memfd_create("elf", MFD_CLOEXEC);
  return file;
}

} // namespace

std::vector<std::string> fuzz::seeds() {
  return {eh_frame(EM_X86_64, 7, 16), eh_frame(EM_AARCH64, 31, 30), debug_frame()};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = file_in_memory();
  fuzz::require(::ftruncate(file, 0) == 0 &&
                ::pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  symbols::code_map code;
  code.add({code_start, code_start + 0x1000, 0, "/proc/self/fd/" + std::to_string(file)});
  const std::size_t stack_at = std::min(offsetof(small_file, stack), size);
  const symbols::stack_copy stack{stack_start,
                                  std::as_bytes(std::span(data, size)).subspan(stack_at)};
  const unsigned any = size == 0 ? 0 : data[size / 2];
  symbols::unwinder by;
  for (const auto kind : {symbols::processor::x86_64, symbols::processor::aarch64}) {
    for (const std::uint64_t pc : {code_start + 4, code_start + 12, code_start + any}) {
      symbols::registers at(kind, pc, stack_start);
      at.set(3, stack_start + 32);
      at.set(30, code_start + 0x50);
      const auto whole = by.chain(code, at, stack).addresses;
      fuzz::require(!whole.empty() && whole.size() <= 128);
      const auto part =
          by.chain(code, at, {stack_start, stack.bytes.first(stack.bytes.size() / 4)}).addresses;
      fuzz::require(part.size() <= whole.size() &&
                    std::equal(part.begin(), part.end(), whole.begin()));
    }
  }
  return 0;
}
