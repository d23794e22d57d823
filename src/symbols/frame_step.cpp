// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/frame_step.hpp"

#include <array>

#include <dwarf.h>

namespace nodewise::symbols {

using place = frame_rule::place;

namespace {

using stack_word = std::uint64_t;

std::int64_t as_signed(stack_word value) {
  return static_cast<std::int64_t>(value);
}

/// The two upper numbers; the uppermost is on the right.
struct operands {
  stack_word left;
  stack_word right;
};
struct binary_operation {
  std::uint8_t code;
  stack_word (*result)(operands of);
};
constexpr std::array<binary_operation, 15> binary_operations = {{
    {DW_OP_plus, [](operands of) { return of.left + of.right; }},
    {DW_OP_minus, [](operands of) { return of.left - of.right; }},
    {DW_OP_mul, [](operands of) { return of.left * of.right; }},
    {DW_OP_and, [](operands of) { return of.left & of.right; }},
    {DW_OP_or, [](operands of) { return of.left | of.right; }},
    {DW_OP_xor, [](operands of) { return of.left ^ of.right; }},
    {DW_OP_shl, [](operands of) { return of.right < 64 ? of.left << of.right : 0; }},
    {DW_OP_shr, [](operands of) { return of.right < 64 ? of.left >> of.right : 0; }},
    {DW_OP_shra,
     [](operands of) {
       return static_cast<stack_word>(as_signed(of.left) >> std::min<stack_word>(of.right, 63));
     }},
    {DW_OP_eq, [](operands of) { return stack_word{of.left == of.right}; }},
    {DW_OP_ne, [](operands of) { return stack_word{of.left != of.right}; }},
    {DW_OP_ge, [](operands of) { return stack_word{as_signed(of.left) >= as_signed(of.right)}; }},
    {DW_OP_gt, [](operands of) { return stack_word{as_signed(of.left) > as_signed(of.right)}; }},
    {DW_OP_le, [](operands of) { return stack_word{as_signed(of.left) <= as_signed(of.right)}; }},
    {DW_OP_lt, [](operands of) { return stack_word{as_signed(of.left) < as_signed(of.right)}; }},
}};

/// A stack machine of bounded size and time.
class machine {
 public:
  machine(byte_span expression, frame_values& values) : in_(expression), values_(values) {}

  std::optional<std::uint64_t> run() {
    // Expressions that branch may not end; usual ones have about ten operations.
    for (int steps = 0; steps < 1000 && !failed_ && !in_.failed(); ++steps) {
      if (in_.at_end()) {
        return size_ == 0 ? std::nullopt : std::optional(pop());
      }
      step(in_.fixed<std::uint8_t>());
    }
    return std::nullopt;
  }
  /// True, so that an operation that is known ends with it.
  bool push(std::uint64_t value) {
    failed_ = failed_ || size_ == stack_.size();
    if (!failed_) {
      stack_[size_++] = value;
    }
    return true;
  }

 private:
  std::uint64_t pop() {
    failed_ = failed_ || size_ == 0;
    return failed_ ? 0 : stack_[--size_];
  }
  /// Counted from the top.
  bool pick(std::size_t depth) {
    failed_ = failed_ || depth >= size_;
    return push(failed_ ? 0 : stack_[size_ - 1 - depth]);
  }
  bool push_register(std::uint64_t which) {
    const auto found = values_.of.get(which);
    failed_ = failed_ || !found;
    return push(found.value_or(0) + static_cast<std::uint64_t>(in_.sleb()));
  }
  bool push_memory() {
    const auto found = values_.memory(pop());
    failed_ = failed_ || !found;
    return push(found.value_or(0));
  }
  bool branch(bool taken) {
    const auto by = static_cast<std::size_t>(in_.fixed<std::int16_t>());
    if (taken) {
      in_.go_to(in_.position() + by); // also backwards: the sum wraps
    }
    return true;
  }

  void step(std::uint8_t code) {
    if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
      push(code - DW_OP_lit0);
    } else if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
      push_register(code - DW_OP_breg0);
    } else if (!constant(code) && !stack_operation(code) && !arithmetic(code)) {
      failed_ = true;
    }
  }

  bool constant(std::uint8_t code) {
    if (code >= DW_OP_const1u && code <= DW_OP_const8s) { // of 1, 2, 4, 8 bytes, each u and s
      const unsigned which = code - DW_OP_const1u;
      return push(in_.number(1U << which / 2, which % 2 != 0));
    }
    switch (code) {
    case DW_OP_constu:
      return push(in_.uleb());
    case DW_OP_consts:
      return push(static_cast<std::uint64_t>(in_.sleb()));
    default:
      return false;
    }
  }

  bool stack_operation(std::uint8_t code) {
    switch (code) {
    case DW_OP_nop:
      return true;
    case DW_OP_bregx:
      return push_register(in_.uleb());
    case DW_OP_deref:
      return push_memory();
    case DW_OP_dup:
      return pick(0);
    case DW_OP_over:
      return pick(1);
    case DW_OP_pick:
      return pick(in_.fixed<std::uint8_t>());
    case DW_OP_drop:
      (void)pop();
      return true;
    case DW_OP_swap: {
      const std::uint64_t top = pop();
      const std::uint64_t below = pop();
      push(top);
      return push(below);
    }
    case DW_OP_skip:
      return branch(true);
    case DW_OP_bra:
      return branch(pop() != 0);
    case DW_OP_plus_uconst:
      return push(pop() + in_.uleb());
    case DW_OP_neg:
      return push(0 - pop());
    case DW_OP_not:
      return push(~pop());
    default:
      return false;
    }
  }

  bool arithmetic(std::uint8_t code) {
    const stack_word right = pop();
    const operands both{pop(), right};
    const auto* const found = std::ranges::find(binary_operations, code, &binary_operation::code);
    return found != binary_operations.end() && push(found->result(both));
  }

  byte_reader in_;
  frame_values& values_;
  std::array<std::uint64_t, 64> stack_{};
  std::size_t size_ = 0;
  bool failed_ = false;
};

using value = std::optional<std::uint64_t>;

value value_of(const frame_rule& rule, std::uint64_t number, value cfa, frame_values& values) {
  const auto offset = static_cast<std::uint64_t>(rule.offset);
  switch (rule.where) {
  case place::lost:
    return std::nullopt;
  case place::no_rule:
  case place::kept:
    return values.of.get(number);
  case place::memory:
    return cfa ? values.memory(*cfa + offset) : std::nullopt;
  case place::cfa_sum:
    return cfa ? value(*cfa + offset) : std::nullopt;
  case place::register_sum: {
    const value from = values.of.get(rule.from);
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

std::optional<std::uint64_t> evaluate(byte_span expression, std::optional<std::uint64_t> first,
                                      frame_values& values) {
  machine on(expression, values);
  if (first) {
    on.push(*first);
  }
  return on.run();
}

caller caller_of(const registers& of, const frame_row& row, const stack_copy& stack) {
  frame_values values{of, stack};
  const value cfa = value_of(row.cfa, 0, std::nullopt, values);
  if (!cfa) {
    return {std::nullopt, values.beyond_copy ? chain_end::copy_ends : chain_end::nonsense};
  }
  const frame_rule* const found = row.of(row.return_register);
  const frame_rule back = found != nullptr ? *found : frame_rule{};
  if (back.where == place::lost) {
    return {std::nullopt, chain_end::outermost};
  }
  if (found == nullptr && row.return_register == of.pc_number()) {
    return {std::nullopt, chain_end::nonsense};
  }
  const value pc = value_of(back, row.return_register, cfa, values);
  if (!pc) {
    return {std::nullopt, values.beyond_copy ? chain_end::copy_ends : chain_end::nonsense};
  }
  if (*pc == 0) {
    return {std::nullopt, chain_end::outermost};
  }
  registers up = of;
  up.set(of.stack_pointer_number(), *cfa);
  for (const auto& [number, rule] : row.saved) {
    if (!is_taken_back(rule, *cfa, of)) {
      up.set(number, value_of(rule, number, cfa, values));
    }
  }
  up.set_pc(without_signature(*pc, of.kind()));
  return {up, {}};
}

} // namespace nodewise::symbols
