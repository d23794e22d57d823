// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/assemble.hpp"

#include <algorithm>
#include <elf.h>
#include <iterator>
#include <span>

namespace nodewise::attribution {

namespace {

#if defined(__x86_64__)
constexpr auto here = symbols::processor::x86_64;
constexpr std::uint32_t here_elf = EM_X86_64;
#else
constexpr auto here = symbols::processor::aarch64;
constexpr std::uint32_t here_elf = EM_AARCH64;
#endif

symbols::registers registers_of(const sys::user_registers& from) {
  symbols::registers made(here, from.pc, from.sp);
  for (unsigned i = 0; i < from.count; ++i) {
    made.set(i, from.by_dwarf[i]);
  }
  return made;
}

symbols::registers registers_of(const launch::stack_report& from) {
  symbols::registers made(here, from.ip, from.sp);
  for (std::size_t i = 0; i < from.registers.size(); ++i) {
    if (from.registers[i]) {
      made.set(i, *from.registers[i]);
    }
  }
  return made;
}

constexpr std::size_t longest_chain = 64;

} // namespace

chain_book::chain_book(const observe::event_log& log, const swept& from) : log_(log), from_(from) {
  for (const explained_touch& each : from.stacks) {
    by_code_[{each.life, each.ip}].push_back(&each);
  }
}

std::optional<chain_book::addresses>
chain_book::most_frequent(std::size_t life, std::uint64_t object, const touching_code& by) {
  const auto found = by_code_.find({life, by.ip});
  if (found == by_code_.end()) {
    return std::nullopt;
  }
  // The nearer a copy is to the touch, the better it fits: thread and object, object, thread, any.
  const auto nearness = [&](const explained_touch* each) {
    return (each->object == object ? 2 : 0) + (each->by == by.by ? 1 : 0);
  };
  const int nearest = nearness(*std::ranges::max_element(found->second, {}, nearness));
  std::map<addresses, std::size_t> count;
  for (const explained_touch* const each : found->second) {
    if (nearness(each) == nearest) {
      const observe::kept_stack& copy = log_.stacks()[each->stack];
      ++count[unwinder_
                  .chain(from_.programs[life].code, registers_of(copy.registers),
                         {copy.registers.sp, copy.bytes}, longest_chain)
                  .addresses];
    }
  }
  return std::ranges::max_element(count, {}, [](const auto& each) { return each.second; })->first;
}

profile::call_chain chain_book::touch(std::size_t life, std::uint64_t object,
                                      const touching_code& by) {
  if (by.stack != 0) {
    return agent_stack(life, by.stack);
  }
  if (const auto chain = most_frequent(life, object, by)) {
    return namer_.frames(from_.programs[life].code, *chain);
  }
  return is_kernel_code(by.ip) ? profile::call_chain{} : instruction(life, by.ip);
}

profile::call_chain chain_book::agent_stack(std::size_t life, std::uint32_t number) {
  const auto [found, is_new] = agent_stacks_.try_emplace({life, number});
  const launch::process_report* const report = from_.programs[life].report;
  if (!is_new || report == nullptr) {
    return found->second;
  }
  const auto stack = std::ranges::find(report->stacks, number, &launch::stack_report::number);
  if (stack == report->stacks.end() || stack->machine != here_elf) {
    return found->second;
  }
  const symbols::unwound whole =
      unwinder_.chain(from_.programs[life].code, registers_of(*stack),
                      {stack->sp, std::as_bytes(std::span(stack->bytes))}, longest_chain);
  // Frames before the caller belong to the agent itself.
  const auto caller = std::ranges::find(whole.addresses, stack->caller);
  addresses chain(caller, whole.addresses.end());
  if (chain.empty()) {
    chain.push_back(stack->caller);
  }
  for (const std::uint64_t address : chain) {
    std::ranges::move(namer_.frames_of(from_.programs[life].code, address, true),
                      std::back_inserter(found->second));
  }
  return found->second;
}

profile::call_chain chain_book::instruction(std::size_t life, std::uint64_t ip) {
  const auto [found, is_new] = instructions_.try_emplace({life, ip});
  if (is_new) {
    found->second = namer_.frames_of(from_.programs[life].code, ip, false);
  }
  return found->second;
}

} // namespace nodewise::attribution
