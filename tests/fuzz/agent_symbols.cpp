// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An ELF file whose data symbols the agent reads, inside somebody else's program.
#include "agent/alloc/elf_symbols.hpp"

#include <array>
#include <cstring>

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.hpp"

using namespace nodewise;

namespace {

/// Header, one program header, names, symbols, three sections: the least that has a symbol.
struct small_file {
  ElfW(Ehdr) header {};
  ElfW(Phdr) segment {};
  char names[16] = "\0field\0other";
  std::array<ElfW(Sym), 3> symbols{};
  std::array<ElfW(Shdr), 3> sections{};

  explicit small_file(ElfW(Word) type) {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    header.e_type = ET_DYN;
    header.e_phoff = offsetof(small_file, segment);
    header.e_phentsize = sizeof segment;
    header.e_phnum = 1;
    header.e_shoff = offsetof(small_file, sections);
    header.e_shentsize = sizeof(ElfW(Shdr));
    header.e_shnum = 3;
    symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, 4096, 8192};
    symbols[2] = {7, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 1, 16384, 100};
    sections[1].sh_type = type;
    sections[1].sh_offset = offsetof(small_file, symbols);
    sections[1].sh_size = sizeof symbols;
    sections[1].sh_entsize = sizeof(ElfW(Sym));
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = offsetof(small_file, names);
    sections[2].sh_size = sizeof names;
  }

  [[nodiscard]] std::string bytes() const {
    return {reinterpret_cast<const char*>(this), sizeof *this};
  }
};

int file_in_memory() {
  static const int file = ::memfd_create("elf", MFD_CLOEXEC);
  return file;
}

} // namespace

std::vector<std::string> fuzz::seeds() {
  return {small_file(SHT_SYMTAB).bytes(), small_file(SHT_DYNSYM).bytes()};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = file_in_memory();
  fuzz::require(::ftruncate(file, 0) == 0 &&
                ::pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  agent::symbol_file symbols(("/proc/self/fd/" + std::to_string(file)).c_str());
  agent::data_symbol found{};
  std::size_t count = 0;
  while (symbols.next(64, found)) {
    fuzz::require(found.bytes >= 64 && std::strlen(found.name) < 1024);
    ++count;
  }
  fuzz::require(count <= size / sizeof(ElfW(Sym)));
  return 0;
}
