// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/trace/stacks.hpp"

#include <atomic>
#include <cstring>

#include <elf.h>
#include <link.h>

#include "agent/clock.hpp"
#include "agent/code_sieve.hpp"
#include "agent/modules.hpp"
#include "agent/own_stack.hpp"
#include "agent/report/records.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t max_stacks = 1024;
constexpr std::size_t slot_count = 2 * max_stacks;
constexpr auto relaxed = std::memory_order_relaxed;

/// The fingerprints of the recorded stacks, by open addressing. 0 in an empty slot; the position is
/// the stack's number minus 1.
constinit std::atomic<std::uint64_t> fingerprints[slot_count] = {};
constinit std::atomic<std::size_t> told{0};
constinit std::atomic<std::uint64_t> left_out{0};

/// Equal for the same place in the program if it is reached by the same calls. Never 0.
std::uint64_t fingerprint_of(stack_words words, const void* caller,
                             std::size_t depth_bytes) noexcept {
  std::uint64_t sum = reinterpret_cast<std::uintptr_t>(caller) ^ depth_bytes << 40;
  code_sieve sieve;
  for (const std::uintptr_t word : words) {
    const char* const address = address_in(word);
    if (sieve.is_code(address)) {
      sum = (sum ^ reinterpret_cast<std::uintptr_t>(address)) * 0x9e3779b97f4a7c15U;
      sum ^= sum >> 29;
    }
  }
  return sum == 0 ? 1 : sum;
}

/// The number of a stack, 0 if there is no room for it.
std::uint32_t enter(std::uint64_t fingerprint, bool& is_new) noexcept {
  for (std::size_t at = fingerprint % slot_count;; at = (at + 1) % slot_count) {
    std::uint64_t found = fingerprints[at].load(relaxed);
    if (found == 0) {
      if (told.load(relaxed) >= max_stacks) {
        ++left_out;
        return 0;
      }
      is_new = fingerprints[at].compare_exchange_strong(found, fingerprint);
      told += is_new ? 1 : 0;
    }
    if (is_new || found == fingerprint) {
      return static_cast<std::uint32_t>(at + 1);
    }
  }
}

struct stack_record {
  nodewise_agent_stack fixed;
  char bytes[NODEWISE_AGENT_STACK_BYTES];
};

/// Reads all callee-saved registers, at one instruction of the function that this is inlined into.
[[gnu::always_inline]] inline void read_registers(nodewise_agent_stack& into) noexcept {
#if defined(__x86_64__)
  into.machine = EM_X86_64;
  asm volatile("leaq 0f(%%rip), %%rax\n"
               "0:\n\t"
               "movq %%rbx, 24(%0)\n\t"
               "movq %%rbp, 48(%0)\n\t"
               "movq %%rsp, 56(%0)\n\t"
               "movq %%r12, 96(%0)\n\t"
               "movq %%r13, 104(%0)\n\t"
               "movq %%r14, 112(%0)\n\t"
               "movq %%r15, 120(%0)\n\t"
               "movq %%rax, 128(%0)"
               :
               : "r"(into.registers)
               : "rax", "memory");
  into.known = 1U << 3 | 1U << 6 | 1U << 7 | 0x1fU << 12;
  into.ip = into.registers[16];
  into.sp = into.registers[7];
#elif defined(__aarch64__)
  into.machine = EM_AARCH64;
  asm volatile("adr x9, 0f\n"
               "0:\n\t"
               "str x9, [%0, #256]\n\t"
               "stp x19, x20, [%0, #152]\n\t"
               "stp x21, x22, [%0, #168]\n\t"
               "stp x23, x24, [%0, #184]\n\t"
               "stp x25, x26, [%0, #200]\n\t"
               "stp x27, x28, [%0, #216]\n\t"
               "stp x29, x30, [%0, #232]\n\t"
               "mov x9, sp\n\t"
               "str x9, [%0, #248]"
               :
               : "r"(into.registers)
               : "x9", "memory");
  into.known = std::uint64_t{0x3fff} << 19;
  into.ip = into.registers[32];
  into.sp = into.registers[31];
#endif
}

/// Records a copy of the stack from here on. Not inlined: the unwinder begins at its frame.
[[gnu::noinline]] void tell_stack(const void* caller, std::uint32_t number) noexcept {
  void* const memory = sys::raw::map(sizeof(stack_record), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    ++reporting.no_memory;
    return;
  }
  auto& record = *static_cast<stack_record*>(memory);
  nodewise_agent_stack& fixed = record.fixed;
  read_registers(fixed);
  const void* const from = reinterpret_cast<const void*>(fixed.sp);
  const stack_words words = own_stack(from, sizeof record.bytes);
  fixed.bytes = static_cast<std::uint32_t>(words.size_bytes());
  std::memcpy(record.bytes, words.data(), words.size_bytes());
  fixed.end = own_stack_end(from);
  fixed.time_ns = now_ns();
  fixed.caller = reinterpret_cast<std::uintptr_t>(caller);
  fixed.number = number;
  tell(NODEWISE_AGENT_STACK, fixed.header, sizeof fixed + fixed.bytes);
  sys::raw::unmap(memory, sizeof(stack_record));
}

/// The records are small, but a loop that allocates and frees must not fill the disk.
constexpr std::uint64_t max_allocations = 16384;
constinit std::atomic<std::uint64_t> allocations{0};

} // namespace

std::uint32_t number_of_stack(const void* caller) noexcept {
  const void* const here = __builtin_frame_address(0);
  const stack_words words = words_behind(own_stack(here, NODEWISE_AGENT_STACK_BYTES), caller);
  if (words.empty()) {
    return 0;
  }
  const std::size_t depth = own_stack_end(here) - reinterpret_cast<std::uintptr_t>(words.data());
  bool is_new = false;
  const std::uint32_t number = enter(fingerprint_of(words, caller, depth), is_new);
  if (is_new) {
    tell_stack(caller, number);
  }
  return number;
}

std::uint64_t stacks_left_out() noexcept {
  return left_out;
}

void forget_stacks() noexcept {
  for (auto& each : fingerprints) {
    each.store(0, relaxed);
  }
  told = 0;
  left_out = 0;
}

allocation note_allocation(const void* caller) noexcept {
  if (!is_tracing()) {
    return {};
  }
  const auto tid = static_cast<int>(sys::raw::call(SYS_gettid));
  return {now_ns(), tid, caller == nullptr ? 0 : number_of_stack(caller)};
}

void log_allocation(const object& what, std::uint64_t time_ns) noexcept {
  if (allocations++ >= max_allocations) {
    return;
  }
  nodewise_agent_allocation record = {};
  record.sequence = what.sequence;
  record.start = reinterpret_cast<std::uintptr_t>(what.start);
  record.bytes = what.bytes;
  record.time_ns = time_ns;
  record.object_kind = what.kind;
  record.stack = what.made_by.stack;
  record.tid = what.made_by.tid;
  name_code(what.caller, record.caller_module, record.caller_offset);
  copy_name(record.name, what.name == nullptr ? "" : what.name);
  tell(NODEWISE_AGENT_ALLOCATED, record.header, sizeof record);
}

std::uint64_t allocations_left_out() noexcept {
  const std::uint64_t all = allocations;
  return all > max_allocations ? all - max_allocations : 0;
}

void forget_allocations() noexcept {
  allocations = 0;
}

} // namespace nodewise::agent
