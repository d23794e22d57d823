// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call frame information: where code saves its caller's registers (DWARF 5, section 6.4; .eh_frame
// after the Linux Standard Base). libdw finds the entries; this code computes the table row of one
// instruction, in bounded time and memory for any file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbols/elf_file.hpp"
#include "symbols/frame_step.hpp"

namespace nodewise::symbols {

/// An address as .eh_frame writes it; `encoding` is DW_EH_PE_*, `position` the address of `in`'s
/// first byte. nullopt for encodings that need more information.
[[nodiscard]] std::optional<std::uint64_t> encoded_address(byte_reader& in, std::uint8_t encoding,
                                                           std::uint64_t position);

/// The instructions of call frame information (DWARF 5, section 6.4.2).
class frame_program {
 public:
  struct units {
    std::uint64_t code = 1;
    std::int64_t data = 1;
    std::uint8_t encoding = 0; ///< of addresses: DW_EH_PE_*
  };
  explicit frame_program(units of) : units_(of) {}

  /// Computes the rules at `address`; the first instruction is for `begin`. False if invalid.
  [[nodiscard]] bool run(byte_span instructions, std::uint64_t begin, std::uint64_t address);
  /// Marks the current state as that of the common entry, which DW_CFA_restore restores.
  void keep_as_initial() { initial_ = now_; }
  [[nodiscard]] frame_row row() const;

 private:
  /// The general registers of x86-64 and AArch64, and their return addresses. Others (vector
  /// registers) are ignored, since no frame depends on them.
  static constexpr std::size_t registers = 33;
  static constexpr std::size_t deepest = 64;
  struct state {
    frame_rule cfa;
    std::array<frame_rule, registers> saved;
  };

  bool step(byte_reader& in, std::uint8_t code);
  bool step_of_cfa(byte_reader& in, std::uint8_t code);
  bool step_of_register(byte_reader& in, std::uint8_t code);
  // True, so that an instruction that is known ends with one of these.
  bool advance(std::uint64_t by) {
    location_ += by * units_.code;
    return true;
  }
  bool set(std::uint64_t number, frame_rule::place where, std::int64_t offset = 0,
           std::uint64_t from = 0, byte_span expression = {});
  bool restore(std::uint64_t number);
  [[nodiscard]] std::int64_t scaled(std::int64_t offset) const;

  units units_;
  state now_;
  state initial_;
  std::vector<state> remembered_;
  std::uint64_t location_ = 0;
};

/// Addresses are those of the file.
class frame_table {
 public:
  /// Reads .eh_frame, else .debug_frame. `of` and `separate` must outlive this; `separate` may be
  /// null.
  frame_table(Elf* of, Elf* separate);
  /// nullptr if there is no valid entry. Rows are cached; a pointer is valid until the next call.
  [[nodiscard]] const frame_row* row_at(std::uint64_t address);

 private:
  struct common {
    byte_span program;
    frame_program::units units;
    std::uint64_t return_register = 0;
    bool sized = false; ///< augmentation data precedes an entry's program
    bool signal = false;
  };
  struct entry {
    std::uint64_t first;
    std::uint64_t last;
    std::uint32_t shared; ///< index of `commons_`
    byte_span program;
  };
  class reader;

  [[nodiscard]] frame_row make_row(const entry& of, std::uint64_t address) const;

  std::vector<common> commons_;
  std::vector<entry> entries_; ///< ascending by first address
  std::unordered_map<std::uint64_t, frame_row> rows_;
};

} // namespace nodewise::symbols
