// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/trace/allocation_log.hpp"

#include <atomic>

#include <sys/syscall.h>

#include "agent/clock.hpp"
#include "agent/report/records.hpp"
#include "agent/trace/stacks.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The records are small, but a loop that allocates and frees must not fill the disk.
constexpr std::uint64_t max_allocations = 16384;
constinit std::atomic<std::uint64_t> allocations{0};

} // namespace

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
