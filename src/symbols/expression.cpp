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
  bool push_register(std::uint64_t number) {
    const auto found = values_.get(number);
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
    const auto push_signed = [this](std::int64_t value) {
      return push(static_cast<std::uint64_t>(value));
    };
    switch (code) {
    case DW_OP_const1u:
      return push(in_.fixed<std::uint8_t>());
    case DW_OP_const1s:
      return push_signed(in_.fixed<std::int8_t>());
    case DW_OP_const2u:
      return push(in_.fixed<std::uint16_t>());
    case DW_OP_const2s:
      return push_signed(in_.fixed<std::int16_t>());
    case DW_OP_const4u:
      return push(in_.fixed<std::uint32_t>());
    case DW_OP_const4s:
      return push_signed(in_.fixed<std::int32_t>());
    case DW_OP_const8u:
    case DW_OP_const8s:
      return push(in_.fixed<std::uint64_t>());
    case DW_OP_constu:
      return push(in_.uleb());
    case DW_OP_consts:
      return push_signed(in_.sleb());
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
    const std::uint64_t right = pop();
    const std::uint64_t left = pop();
    const auto l = static_cast<std::int64_t>(left);
    const auto r = static_cast<std::int64_t>(right);
    switch (code) {
    case DW_OP_plus:
      return push(left + right);
    case DW_OP_minus:
      return push(left - right);
    case DW_OP_mul:
      return push(left * right);
    case DW_OP_and:
      return push(left & right);
    case DW_OP_or:
      return push(left | right);
    case DW_OP_xor:
      return push(left ^ right);
    case DW_OP_shl:
      return push(right < 64 ? left << right : 0);
    case DW_OP_shr:
      return push(right < 64 ? left >> right : 0);
    case DW_OP_shra:
      return push(static_cast<std::uint64_t>(l >> (right < 64 ? right : 63)));
    case DW_OP_eq:
      return push(l == r ? 1 : 0);
    case DW_OP_ne:
      return push(l != r ? 1 : 0);
    case DW_OP_ge:
      return push(l >= r ? 1 : 0);
    case DW_OP_gt:
      return push(l > r ? 1 : 0);
    case DW_OP_le:
      return push(l <= r ? 1 : 0);
    case DW_OP_lt:
      return push(l < r ? 1 : 0);
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
