// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call frame information: where code saves its caller's registers (DWARF 5, section 6.4; .eh_frame
// after the Linux Standard Base). libdw finds the entries; this code computes the table row of one
// instruction, in bounded time and memory for any file.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "symbols/elf_file.hpp"
#include "symbols/frame_row.hpp"

namespace nodewise::symbols {

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
