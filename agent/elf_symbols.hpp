// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The data symbols of an ELF file. It is read by pread, not mapped: a file that is damaged, or cut
// short while it is being read, ends the reading and not the program.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace nodewise::agent {

struct data_symbol {
  std::uint64_t address; ///< as in the file, before it was loaded
  std::uint64_t bytes;
  bool is_public;   ///< global, neither local nor weak
  const char* name; ///< cut to 1023 bytes; until the next one is asked for
};

class symbol_file {
 public:
  explicit symbol_file(const char* path) noexcept;
  ~symbol_file();
  symbol_file(const symbol_file&) = delete;
  symbol_file& operator=(const symbol_file&) = delete;

  /// Whether it is an ELF file of this machine's kind with just these program headers: the file
  /// that was loaded, and not a newer one of the same name.
  [[nodiscard]] bool was_loaded_as(const ElfW(Phdr) * headers, std::size_t count) const noexcept;
  /// Has a .symtab. Otherwise only what it exports is known.
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
  ElfW(Shdr) symbols_ {}; ///< sh_size 0: there are none
  ElfW(Shdr) names_ {};
  buffers* buffer_ = nullptr;
  std::uint64_t read_symbols_ = 0; ///< so many have been read into the buffer and used up
  std::size_t in_buffer_ = 0;
  std::size_t at_ = 0;
};

} // namespace nodewise::agent
