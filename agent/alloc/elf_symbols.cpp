// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/elf_symbols.hpp"

#include <algorithm>
#include <cstring>

#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

bool is_own_elf(const ElfW(Ehdr) & header) noexcept {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == own_class &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
         header.e_phentsize == sizeof(ElfW(Phdr));
}

} // namespace

symbol_file::symbol_file(const char* path) noexcept
    : file_(sys::raw::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)) {
  is_elf_ = file_ >= 0 && read(0, &header_, sizeof header_) && is_own_elf(header_);
  if (is_elf_) {
    find_symbols();
  }
}

symbol_file::~symbol_file() {
  if (buffer_ != nullptr) {
    sys::raw::unmap(buffer_, sizeof *buffer_);
  }
  if (file_ >= 0) {
    sys::raw::call(SYS_close, file_);
  }
}

std::size_t symbol_file::read_some(std::uint64_t offset, void* into,
                                   std::size_t bytes) const noexcept {
  std::size_t done = 0;
  while (done < bytes && offset + done <= INT64_MAX && offset + done >= offset) {
    const long got = sys::raw::call(SYS_pread64, file_, static_cast<char*>(into) + done,
                                    bytes - done, static_cast<long>(offset + done));
    if (got == -EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool symbol_file::was_loaded_as(const ElfW(Phdr) * headers, std::size_t count) const noexcept {
  if (!is_elf_ || header_.e_phnum != count) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    ElfW(Phdr) in_file;
    if (!read(header_.e_phoff + i * sizeof in_file, &in_file, sizeof in_file) ||
        std::memcmp(&in_file, headers + i, sizeof in_file) != 0) {
      return false;
    }
  }
  return true;
}

bool symbol_file::read_section(std::uint64_t index, ElfW(Shdr) & into) const noexcept {
  return header_.e_shoff != 0 && header_.e_shentsize == sizeof into &&
         read(header_.e_shoff + index * sizeof into, &into, sizeof into);
}

/// Prefers the linker's symbol table, which has all symbols, unless it was stripped off.
void symbol_file::find_symbols() noexcept {
  ElfW(Shdr) section;
  std::uint64_t count = header_.e_shnum;
  if (count == 0 && read_section(0, section)) {
    count = section.sh_size; // too many for the header's field
  }
  for (std::uint64_t i = 0; i < count && !has_symtab_ && read_section(i, section); ++i) {
    const bool symtab = section.sh_type == SHT_SYMTAB;
    if ((symtab || section.sh_type == SHT_DYNSYM) && section.sh_entsize == sizeof(ElfW(Sym)) &&
        section.sh_size != 0) {
      symbols_ = section;
      has_symtab_ = symtab;
    }
  }
  if (symbols_.sh_size == 0 || !read_section(symbols_.sh_link, names_) ||
      names_.sh_type != SHT_STRTAB) {
    symbols_.sh_size = 0;
    has_symtab_ = false;
  }
}

bool symbol_file::fill() noexcept {
  const std::size_t all = symbols_.sh_size / sizeof(ElfW(Sym));
  read_symbols_ += in_buffer_;
  at_ = in_buffer_ = 0;
  if (buffer_ == nullptr && all != 0) {
    buffer_ = static_cast<buffers*>(sys::raw::map(sizeof *buffer_, PROT_READ | PROT_WRITE, 0));
  }
  if (buffer_ == nullptr || read_symbols_ >= all) {
    return false;
  }
  const std::size_t wanted = std::min(all - read_symbols_, batch);
  in_buffer_ = read_some(symbols_.sh_offset + read_symbols_ * sizeof(ElfW(Sym)), buffer_->symbol,
                         wanted * sizeof(ElfW(Sym))) /
               sizeof(ElfW(Sym));
  return in_buffer_ != 0;
}

void symbol_file::read_name(std::uint64_t offset) noexcept {
  char* const name = buffer_->name;
  const std::size_t left = offset < names_.sh_size ? names_.sh_size - offset : 0;
  const std::size_t got =
      read_some(names_.sh_offset + offset, name, std::min(left, name_bytes - 1));
  name[got] = '\0';
}

bool symbol_file::next(std::uint64_t least_bytes, data_symbol& into) noexcept {
  while (at_ != in_buffer_ || fill()) {
    const ElfW(Sym)& symbol = buffer_->symbol[at_++];
    const bool is_data = (symbol.st_info & 0xf) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF;
    if (is_data && symbol.st_size >= least_bytes) {
      read_name(symbol.st_name);
      into = {symbol.st_value, symbol.st_size, symbol.st_info >> 4 == STB_GLOBAL, buffer_->name};
      return true;
    }
  }
  return false;
}

} // namespace nodewise::agent
