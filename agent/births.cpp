// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/births.hpp"

#include <atomic>

#include <sys/syscall.h>

#include "agent/clock.hpp"
#include "agent/process.hpp"
#include "agent/report.hpp"
#include "agent/stacks.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Small records, but an object that comes and goes in a loop must not fill the disk.
constexpr std::uint64_t max_births = 16384;
constinit std::atomic<std::uint64_t> births{0};

} // namespace

birth begin_life(const void* caller) noexcept {
  if (!is_witness()) {
    return {};
  }
  const auto tid = static_cast<int>(sys::raw::call(SYS_gettid));
  return {now_ns(), tid, caller == nullptr ? 0 : number_of_stack(caller)};
}

void tell_birth(const object& what, std::uint64_t time_ns) noexcept {
  if (births++ >= max_births) {
    return;
  }
  nodewise_agent_born record = {};
  record.sequence = what.sequence;
  record.start = reinterpret_cast<std::uintptr_t>(what.start);
  record.bytes = what.bytes;
  record.time_ns = time_ns;
  record.object_kind = what.kind;
  record.stack = what.born.stack;
  record.tid = what.born.tid;
  name_code(what.caller, record.caller_module, record.caller_offset);
  copy_name(record.name, what.name == nullptr ? "" : what.name);
  tell(NODEWISE_AGENT_BORN, record.header, sizeof record);
}

std::uint64_t births_left_out() noexcept {
  const std::uint64_t all = births;
  return all > max_births ? all - max_births : 0;
}

void forget_births() noexcept {
  births = 0;
}

} // namespace nodewise::agent
