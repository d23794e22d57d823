// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/frame_step.hpp"

namespace nodewise::symbols {

using place = frame_rule::place;

namespace {

using value = std::optional<std::uint64_t>;

value value_of(const frame_rule& rule, std::uint64_t number, value cfa, frame_values& values) {
  const auto offset = static_cast<std::uint64_t>(rule.offset);
  switch (rule.where) {
  case place::lost:
    return std::nullopt;
  case place::no_rule:
  case place::kept:
    return values.get(number);
  case place::memory:
    return cfa ? values.memory(*cfa + offset) : std::nullopt;
  case place::cfa_sum:
    return cfa ? value(*cfa + offset) : std::nullopt;
  case place::register_sum: {
    const value from = values.get(rule.from);
    return from ? value(*from + offset) : std::nullopt;
  }
  case place::memory_at: {
    const value address = evaluate(rule.expression, cfa, values);
    return address ? values.memory(*address) : std::nullopt;
  }
  case place::computed:
    return evaluate(rule.expression, cfa, values);
  }
  return std::nullopt;
}

/// AArch64 signs return addresses in unused address bits.
std::uint64_t without_signature(std::uint64_t address, processor of) {
  constexpr std::uint64_t user_addresses = (std::uint64_t{1} << 48U) - 1;
  return of == processor::aarch64 ? address & user_addresses : address;
}

/// At the end of a function registers are already restored from the stack, and compilers do not
/// record that: the saved copies are then below the stack pointer.
bool is_taken_back(const frame_rule& rule, std::uint64_t cfa, const registers& of) {
  return rule.where == place::memory &&
         cfa + static_cast<std::uint64_t>(rule.offset) < of.get(of.stack_pointer_number());
}

} // namespace

caller caller_of(const registers& of, const frame_row& row, const stack_copy& stack) {
  frame_values values(of, stack);
  const value cfa = value_of(row.cfa, 0, std::nullopt, values);
  if (!cfa) {
    return {std::nullopt, values.beyond_copy() ? chain_end::copy_ends : chain_end::nonsense};
  }
  const frame_rule* const back = row.of(row.return_register);
  if (back != nullptr && back->where == place::lost) {
    return {std::nullopt, chain_end::outermost};
  }
  if (back == nullptr && row.return_register == of.pc_number()) {
    return {std::nullopt, chain_end::nonsense};
  }
  const value pc =
      value_of(back != nullptr ? *back : frame_rule{}, row.return_register, cfa, values);
  if (!pc) {
    return {std::nullopt, values.beyond_copy() ? chain_end::copy_ends : chain_end::nonsense};
  }
  if (*pc == 0) {
    return {std::nullopt, chain_end::outermost};
  }
  registers up = of;
  up.set(of.stack_pointer_number(), *cfa);
  for (const auto& [number, rule] : row.saved) {
    if (is_taken_back(rule, *cfa, of)) {
      continue;
    }
    if (const value is = value_of(rule, number, cfa, values)) {
      up.set(number, *is);
    } else {
      up.forget(number);
    }
  }
  up.set_pc(without_signature(*pc, of.kind()));
  return {up, {}};
}

} // namespace nodewise::symbols
