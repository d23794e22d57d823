// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The data symbols of an ELF file. The file is read by pread and not mapped, so that a damaged
// file, or one that is truncated meanwhile, ends the reading and not the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace nodewise::agent {

struct data_symbol {
  std::uint64_t address; ///< as in the file, before it was loaded
  std::uint64_t bytes;
  bool is_public;   ///< global, neither local nor weak
  const char* name; ///< cut to 1023 bytes; valid until the next call of next()
};

class symbol_file {
 public:
  explicit symbol_file(const char* path) noexcept;
  ~symbol_file();
  symbol_file(const symbol_file&) = delete;
  symbol_file& operator=(const symbol_file&) = delete;

  /// Whether this is an ELF file for this machine with exactly these program headers. If so, it is
  /// the file that was loaded, and not a newer one of the same name.
  [[nodiscard]] bool was_loaded_as(const ElfW(Phdr) * headers, std::size_t count) const noexcept;
  /// Whether the file has a .symtab. Without one only exported symbols are known.
  [[nodiscard]] bool has_symtab() const noexcept { return has_symtab_; }
  /// The next defined data symbol of at least `least_bytes`, in the file's order. False at the end.
  [[nodiscard]] bool next(std::uint64_t least_bytes, data_symbol& into) noexcept;

 private:
  static constexpr std::size_t name_bytes = 1024;
  static constexpr std::size_t batch = 2048;
  struct buffers {
    ElfW(Sym) symbol[batch];
    char name[name_bytes];
  };

  [[nodiscard]] std::size_t read_some(std::uint64_t offset, void* into,
                                      std::size_t bytes) const noexcept;
  [[nodiscard]] bool read(std::uint64_t offset, void* into, std::size_t bytes) const noexcept {
    return read_some(offset, into, bytes) == bytes;
  }
  [[nodiscard]] bool read_section(std::uint64_t index, ElfW(Shdr) & into) const noexcept;
  void find_symbols() noexcept;
  [[nodiscard]] bool fill() noexcept;
  void read_name(std::uint64_t offset) noexcept;

  long file_;
  bool is_elf_ = false;
  bool has_symtab_ = false;
  ElfW(Ehdr) header_ {};
  ElfW(Shdr) symbols_ {}; ///< sh_size 0: no symbols
  ElfW(Shdr) names_ {};
  buffers* buffer_ = nullptr;
  std::size_t read_symbols_ = 0; ///< symbols that were read into the buffer and used up
  std::size_t in_buffer_ = 0;
  std::size_t at_ = 0;
};

} // namespace nodewise::agent
