// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call frame information: where code saves its caller's registers (DWARF 5, section 6.4; .eh_frame
// after the Linux Standard Base). libdw finds the entries; this code computes the table row of one
// instruction, in bounded time and memory for any file.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbols/byte_reader.hpp"
#include "symbols/elf_file.hpp"

namespace nodewise::symbols {

/// Where a register of the caller is. CFA: the canonical frame address, by convention the caller's
/// stack pointer.
struct frame_rule {
  enum class place : std::uint8_t {
    no_rule,
    lost,         ///< DW_CFA_undefined
    kept,         ///< in the same register
    memory,       ///< at CFA + offset
    cfa_sum,      ///< is CFA + offset
    register_sum, ///< is a register + offset
    memory_at,    ///< at the address that the expression gives
    computed,     ///< is the value of the expression
  };
  place where = place::no_rule;
  std::uint64_t from = 0;  ///< of register_sum
  std::int64_t offset = 0; ///< bytes
  byte_span expression;
};

/// The rules at one instruction.
struct frame_row {
  frame_rule cfa; ///< register_sum or computed
  /// By register; registers without a rule are omitted.
  std::vector<std::pair<std::uint64_t, frame_rule>> saved;
  std::uint64_t return_register = 0;
  bool signal = false; ///< a frame that the kernel made: its caller was interrupted, not calling

  [[nodiscard]] const frame_rule* of(std::uint64_t number) const noexcept;
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
    std::uint64_t code_unit = 1;
    std::int64_t data_unit = 1;
    std::uint64_t return_register = 0;
    std::uint8_t encoding = 0; ///< of addresses: DW_EH_PE_*
    bool sized = false;        ///< augmentation data precedes an entry's program
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
