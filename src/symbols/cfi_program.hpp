// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The instructions of call frame information (DWARF 5, section 6.4.2).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/frame_row.hpp"

namespace nodewise::symbols {

/// An address as .eh_frame writes it; `encoding` is DW_EH_PE_*, `position` the address of `in`'s
/// first byte. nullopt for encodings that need more information.
[[nodiscard]] std::optional<std::uint64_t> encoded_address(byte_reader& in, std::uint8_t encoding,
                                                           std::uint64_t position);

class frame_program {
 public:
  struct units {
    std::uint64_t code;
    std::int64_t data;
    std::uint8_t encoding;
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

} // namespace nodewise::symbols
