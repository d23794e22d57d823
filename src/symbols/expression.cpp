// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include <dwarf.h>

#include "symbols/frame_step.hpp"

namespace nodewise::symbols {

namespace {

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
  void push(std::uint64_t value) {
    failed_ = failed_ || size_ == stack_.size();
    if (!failed_) {
      stack_[size_++] = value;
    }
  }

 private:
  std::uint64_t pop() {
    failed_ = failed_ || size_ == 0;
    return failed_ ? 0 : stack_[--size_];
  }
  /// Counted from the top.
  void pick(std::size_t depth) {
    failed_ = failed_ || depth >= size_;
    push(failed_ ? 0 : stack_[size_ - 1 - depth]);
  }
  void push_register(std::uint64_t number) {
    const auto found = values_.get(number);
    failed_ = failed_ || !found;
    push(found.value_or(0) + static_cast<std::uint64_t>(in_.sleb()));
  }
  void push_memory() {
    const auto found = values_.memory(pop());
    failed_ = failed_ || !found;
    push(found.value_or(0));
  }
  void branch(bool taken) {
    const auto by = static_cast<std::size_t>(in_.fixed<std::int16_t>());
    if (taken) {
      in_.go_to(in_.position() + by); // also backwards: the sum wraps
    }
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
    const auto push_signed = [this](std::int64_t value) {
      push(static_cast<std::uint64_t>(value));
    };
    switch (code) {
    case DW_OP_const1u:
      push(in_.fixed<std::uint8_t>());
      return true;
    case DW_OP_const1s:
      push_signed(in_.fixed<std::int8_t>());
      return true;
    case DW_OP_const2u:
      push(in_.fixed<std::uint16_t>());
      return true;
    case DW_OP_const2s:
      push_signed(in_.fixed<std::int16_t>());
      return true;
    case DW_OP_const4u:
      push(in_.fixed<std::uint32_t>());
      return true;
    case DW_OP_const4s:
      push_signed(in_.fixed<std::int32_t>());
      return true;
    case DW_OP_const8u:
    case DW_OP_const8s:
      push(in_.fixed<std::uint64_t>());
      return true;
    case DW_OP_constu:
      push(in_.uleb());
      return true;
    case DW_OP_consts:
      push_signed(in_.sleb());
      return true;
    default:
      return false;
    }
  }

  bool stack_operation(std::uint8_t code) {
    switch (code) {
    case DW_OP_nop:
      return true;
    case DW_OP_bregx:
      push_register(in_.uleb());
      return true;
    case DW_OP_deref:
      push_memory();
      return true;
    case DW_OP_dup:
      pick(0);
      return true;
    case DW_OP_over:
      pick(1);
      return true;
    case DW_OP_pick:
      pick(in_.fixed<std::uint8_t>());
      return true;
    case DW_OP_drop:
      (void)pop();
      return true;
    case DW_OP_swap: {
      const std::uint64_t top = pop();
      const std::uint64_t below = pop();
      push(top);
      push(below);
      return true;
    }
    case DW_OP_skip:
      branch(true);
      return true;
    case DW_OP_bra:
      branch(pop() != 0);
      return true;
    case DW_OP_plus_uconst:
      push(pop() + in_.uleb());
      return true;
    case DW_OP_neg:
      push(0 - pop());
      return true;
    case DW_OP_not:
      push(~pop());
      return true;
    default:
      return false;
    }
  }

  bool arithmetic(std::uint8_t code) {
    const std::uint64_t right = pop();
    const std::uint64_t left = pop();
    const auto l = static_cast<std::int64_t>(left);
    const auto r = static_cast<std::int64_t>(right);
    switch (code) {
    case DW_OP_plus:
      push(left + right);
      return true;
    case DW_OP_minus:
      push(left - right);
      return true;
    case DW_OP_mul:
      push(left * right);
      return true;
    case DW_OP_and:
      push(left & right);
      return true;
    case DW_OP_or:
      push(left | right);
      return true;
    case DW_OP_xor:
      push(left ^ right);
      return true;
    case DW_OP_shl:
      push(right < 64 ? left << right : 0);
      return true;
    case DW_OP_shr:
      push(right < 64 ? left >> right : 0);
      return true;
    case DW_OP_shra:
      push(static_cast<std::uint64_t>(l >> (right < 64 ? right : 63)));
      return true;
    case DW_OP_eq:
      push(l == r ? 1 : 0);
      return true;
    case DW_OP_ne:
      push(l != r ? 1 : 0);
      return true;
    case DW_OP_ge:
      push(l >= r ? 1 : 0);
      return true;
    case DW_OP_gt:
      push(l > r ? 1 : 0);
      return true;
    case DW_OP_le:
      push(l <= r ? 1 : 0);
      return true;
    case DW_OP_lt:
      push(l < r ? 1 : 0);
      return true;
    default:
      return false;
    }
  }

  byte_reader in_;
  frame_values& values_;
  std::array<std::uint64_t, 64> stack_{};
  std::size_t size_ = 0;
  bool failed_ = false;
};

} // namespace

std::optional<std::uint64_t> evaluate(byte_span expression, std::optional<std::uint64_t> first,
                                      frame_values& values) {
  machine on(expression, values);
  if (first) {
    on.push(*first);
  }
  return on.run();
}

} // namespace nodewise::symbols
