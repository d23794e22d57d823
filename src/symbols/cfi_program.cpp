// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/cfi_program.hpp"

#include <dwarf.h>

namespace nodewise::symbols {

using rule_place = frame_rule::place;

namespace {

std::optional<std::uint64_t> encoded_value(byte_reader& in, std::uint8_t encoding) {
  const auto extended = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  switch (encoding & 0x0fU) {
  case DW_EH_PE_absptr:
  case DW_EH_PE_udata8:
  case DW_EH_PE_sdata8:
    return in.fixed<std::uint64_t>();
  case DW_EH_PE_uleb128:
    return in.uleb();
  case DW_EH_PE_udata2:
    return in.fixed<std::uint16_t>();
  case DW_EH_PE_udata4:
    return in.fixed<std::uint32_t>();
  case DW_EH_PE_sleb128:
    return extended(in.sleb());
  case DW_EH_PE_sdata2:
    return extended(in.fixed<std::int16_t>());
  case DW_EH_PE_sdata4:
    return extended(in.fixed<std::int32_t>());
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<std::uint64_t> encoded_address(byte_reader& in, std::uint8_t encoding,
                                             std::uint64_t position) {
  const std::uint64_t here = position + in.position();
  const auto value = encoded_value(in, encoding);
  const unsigned relative_to = encoding & 0xf0U;
  if (!value || in.failed() || (relative_to != DW_EH_PE_absptr && relative_to != DW_EH_PE_pcrel)) {
    return std::nullopt;
  }
  return relative_to == DW_EH_PE_pcrel ? *value + here : *value;
}

bool frame_program::run(byte_span instructions, std::uint64_t begin, std::uint64_t address) {
  byte_reader in(instructions);
  location_ = begin;
  while (!in.at_end() && !in.failed()) {
    // Nearly always one or two bytes, rarely more than a hundred in all.
    if (!step(in, in.fixed<std::uint8_t>())) {
      return false;
    }
    if (location_ > address) {
      return !in.failed();
    }
  }
  return !in.failed();
}

bool frame_program::step(byte_reader& in, std::uint8_t code) {
  const std::uint8_t operand = code & 0x3fU;
  switch (code & 0xc0U) {
  case DW_CFA_advance_loc:
    return advance(operand);
  case DW_CFA_offset:
    return set(operand, rule_place::memory, scaled(static_cast<std::int64_t>(in.uleb())));
  case DW_CFA_restore:
    return restore(operand);
  default:
    break;
  }
  switch (code) {
  case DW_CFA_nop:
  case DW_CFA_GNU_window_save: // AArch64: toggles signing of return addresses
    return true;
  case DW_CFA_GNU_args_size:
    (void)in.uleb();
    return true;
  case DW_CFA_set_loc:
    // Its own position is not known here, so only absolute addresses work.
    if (const auto to = encoded_address(in, units_.encoding, 0);
        to && (units_.encoding & 0xf0U) == DW_EH_PE_absptr && *to >= location_) {
      location_ = *to;
      return true;
    }
    return false;
  case DW_CFA_advance_loc1:
    return advance(in.fixed<std::uint8_t>());
  case DW_CFA_advance_loc2:
    return advance(in.fixed<std::uint16_t>());
  case DW_CFA_advance_loc4:
    return advance(in.fixed<std::uint32_t>());
  case DW_CFA_remember_state:
    remembered_.push_back(now_);
    return remembered_.size() <= deepest;
  case DW_CFA_restore_state:
    if (remembered_.empty()) {
      return false;
    }
    now_ = remembered_.back();
    remembered_.pop_back();
    return true;
  default:
    return step_of_cfa(in, code) || step_of_register(in, code);
  }
}

bool frame_program::step_of_cfa(byte_reader& in, std::uint8_t code) {
  switch (code) {
  case DW_CFA_def_cfa:
    now_.cfa = {rule_place::register_sum, in.uleb(), static_cast<std::int64_t>(in.uleb()), {}};
    return true;
  case DW_CFA_def_cfa_sf:
    now_.cfa = {rule_place::register_sum, in.uleb(), scaled(in.sleb()), {}};
    return true;
  case DW_CFA_def_cfa_register:
    now_.cfa.from = in.uleb();
    return now_.cfa.where == rule_place::register_sum;
  case DW_CFA_def_cfa_offset:
    now_.cfa.offset = static_cast<std::int64_t>(in.uleb());
    return now_.cfa.where == rule_place::register_sum;
  case DW_CFA_def_cfa_offset_sf:
    now_.cfa.offset = scaled(in.sleb());
    return now_.cfa.where == rule_place::register_sum;
  case DW_CFA_def_cfa_expression:
    now_.cfa = {rule_place::computed, 0, 0, in.block(in.uleb())};
    return true;
  default:
    return false;
  }
}

bool frame_program::step_of_register(byte_reader& in, std::uint8_t code) {
  const std::uint64_t number = in.uleb(); // all other instructions begin with a register
  switch (code) {
  case DW_CFA_offset_extended:
    return set(number, rule_place::memory, scaled(static_cast<std::int64_t>(in.uleb())));
  case DW_CFA_offset_extended_sf:
    return set(number, rule_place::memory, scaled(in.sleb()));
  case DW_CFA_GNU_negative_offset_extended:
    return set(number, rule_place::memory, scaled(static_cast<std::int64_t>(0 - in.uleb())));
  case DW_CFA_val_offset:
    return set(number, rule_place::cfa_sum, scaled(static_cast<std::int64_t>(in.uleb())));
  case DW_CFA_val_offset_sf:
    return set(number, rule_place::cfa_sum, scaled(in.sleb()));
  case DW_CFA_restore_extended:
    return restore(number);
  case DW_CFA_undefined:
    return set(number, rule_place::lost);
  case DW_CFA_same_value:
    return set(number, rule_place::kept);
  case DW_CFA_register:
    return set(number, rule_place::register_sum, 0, in.uleb());
  case DW_CFA_expression:
    return set(number, rule_place::memory_at, 0, 0, in.block(in.uleb()));
  case DW_CFA_val_expression:
    return set(number, rule_place::computed, 0, 0, in.block(in.uleb()));
  default:
    return false;
  }
}

bool frame_program::set(std::uint64_t number, rule_place where, std::int64_t offset,
                        std::uint64_t from, byte_span expression) {
  if (number < registers) {
    now_.saved[number] = {where, from, offset, expression};
  }
  return true;
}

bool frame_program::restore(std::uint64_t number) {
  if (number < registers) {
    now_.saved[number] = initial_.saved[number];
  }
  return true;
}

std::int64_t frame_program::scaled(std::int64_t offset) const {
  // Unsigned, since the product may overflow.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) *
                                   static_cast<std::uint64_t>(units_.data));
}

frame_row frame_program::row() const {
  frame_row row;
  row.cfa = now_.cfa;
  for (std::size_t i = 0; i < registers; ++i) {
    if (now_.saved[i].where != rule_place::no_rule) {
      row.saved.emplace_back(i, now_.saved[i]);
    }
  }
  return row;
}

} // namespace nodewise::symbols
