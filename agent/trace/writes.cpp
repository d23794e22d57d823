// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/trace/writes.hpp"

#include <algorithm>

#include "agent/alloc/groups.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/clock.hpp"
#include "agent/page.hpp"
#include "agent/report/records.hpp"
#include "agent/trace/stacks.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint64_t max_records = 16384;
constexpr std::size_t max_threads = 1024;
constexpr std::size_t max_open = 4; ///< places that a thread writes to in turn
constexpr std::uint64_t longest_ns = 1000000000;

/// Some bytes of an object.
struct object_part {
  std::uintptr_t start; ///< of the object
  std::uint64_t sequence;
  std::size_t first; ///< bytes from `start` on
  std::size_t last;
};

/// Consecutive bytes that one place has written and that have no record yet.
struct series : object_part {
  bool is_open;
  const void* caller;
  std::uint64_t bytes;
  std::uint64_t calls;
  std::uint64_t first_ns;
  std::uint64_t last_ns;
  std::uint32_t stack;
};

/// The writes of one thread. Another thread may record them when the process ends, and the thread's
/// own signal handler may interrupt it. So a caller that finds `busy` set skips them.
struct thread_writes {
  std::atomic<bool> taken;
  std::atomic_flag busy;
  int tid;
  series of[max_open];
};

constinit thread_writes threads[max_threads] = {};
constinit std::atomic<std::size_t> threads_used{0};
constinit std::atomic<std::uint64_t> records{0};
constinit std::atomic<std::uint64_t> left_out{0};

[[gnu::tls_model("initial-exec")]] constinit thread_local thread_writes* mine = nullptr;
/// The last result of the index.
[[gnu::tls_model("initial-exec")]] constinit thread_local range_index::place known{};

class try_hold {
 public:
  /// nullptr: holds nothing.
  explicit try_hold(thread_writes* of) noexcept
      : held_(of != nullptr && !of->busy.test_and_set(std::memory_order_acquire) ? of : nullptr) {}
  try_hold(const try_hold&) = delete;
  try_hold& operator=(const try_hold&) = delete;
  ~try_hold() {
    if (held_ != nullptr) {
      held_->busy.clear(std::memory_order_release);
    }
  }
  explicit operator bool() const noexcept { return held_ != nullptr; }

 private:
  thread_writes* held_;
};

thread_writes* own_writes() noexcept {
  for (std::size_t at = 0; mine == nullptr && at < max_threads; ++at) {
    if (!threads[at].taken.load(relaxed) && !threads[at].taken.exchange(true)) {
      std::size_t used = threads_used.load();
      while (used <= at && !threads_used.compare_exchange_weak(used, at + 1)) {
      }
      threads[at].tid = static_cast<int>(sys::raw::call(SYS_gettid));
      mine = &threads[at];
    }
  }
  return mine;
}

void tell_series(series& what, int tid) noexcept {
  what.is_open = false;
  if (records.fetch_add(1) >= max_records) {
    ++left_out;
    return;
  }
  nodewise_agent_writes record = {};
  record.sequence = what.sequence;
  record.start = what.start;
  record.first = what.first;
  record.last = what.last;
  record.bytes = what.bytes;
  record.calls = what.calls;
  record.first_ns = what.first_ns;
  record.last_ns = what.last_ns;
  record.tid = tid;
  record.stack = what.stack;
  name_code(what.caller, record.caller_module, record.caller_offset);
  tell(NODEWISE_AGENT_WROTE, record.header, sizeof record);
}

void tell_all_of(thread_writes& of) noexcept {
  const try_hold held(&of);
  if (!held) {
    ++left_out;
    return;
  }
  for (series& each : of.of) {
    if (each.is_open) {
      tell_series(each, of.tid);
    }
  }
}

/// Whether the bytes are in the series or next to it. A gap of a page does not matter, since the
/// result is in pages.
bool goes_on(const series& what, const object_part& now, const void* caller) noexcept {
  const std::size_t gap = page_bytes();
  return what.is_open && what.caller == caller && what.start == now.start &&
         what.sequence == now.sequence && now.first <= what.last + gap &&
         what.first <= now.last + gap;
}

void extend(series& what, const object_part& now) noexcept {
  what.first = std::min(what.first, now.first);
  what.last = std::max(what.last, now.last);
  what.bytes += now.last - now.first;
  ++what.calls;
  what.last_ns = std::max(what.last_ns, about_now_ns());
}

void note(const object_part& now, const void* caller) noexcept {
  thread_writes* const own = own_writes();
  const try_hold held(own);
  if (!held) {
    ++left_out;
    return;
  }
  series* oldest = &own->of[0];
  for (series& each : own->of) {
    if (goes_on(each, now, caller)) {
      extend(each, now);
      if (each.last_ns - each.first_ns > longest_ns) {
        tell_series(each, own->tid);
      }
      return;
    }
    const bool older = !each.is_open || each.last_ns < oldest->last_ns;
    oldest = oldest->is_open && older ? &each : oldest;
  }
  if (oldest->is_open) {
    tell_series(*oldest, own->tid);
  }
  const std::uint64_t time = now_ns();
  *oldest = {now, true, caller, now.last - now.first, 1, time, time, number_of_stack(caller)};
}

/// False if the bytes begin in no object and in no group's arena.
bool locate(const void* start, std::size_t bytes, object_part& into) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  range_index::place found = known; // a copy: a signal handler may change `known`
  if (is_grouped(start)) {
    found = {arena_of(start), UINTPTR_MAX, NODEWISE_AGENT_NO_SEQUENCE, true, 0};
  } else if (found.version != objects.ranges().version() || address < found.begin ||
             address >= found.end) {
    if (!objects.ranges().find(address, found)) {
      return false;
    }
    known = found;
  }
  const std::size_t first = address - found.begin;
  const std::size_t last = first + std::min(bytes, found.end - address);
  into = {found.begin, found.sequence, first, last};
  return found.is_range;
}

} // namespace

void tell_own_writes() noexcept {
  if (mine != nullptr) {
    tell_all_of(*mine);
    thread_writes& was = *mine;
    mine = nullptr;
    was.taken = false;
  }
}

void tell_all_writes() noexcept {
  const std::size_t used = threads_used;
  for (std::size_t at = 0; at < used; ++at) {
    tell_all_of(threads[at]);
  }
}

void forget_writes() noexcept {
  const std::size_t used = threads_used;
  for (std::size_t at = 0; at < used; ++at) {
    threads[at].busy.clear();
    for (series& each : threads[at].of) {
      each.is_open = false;
    }
    threads[at].taken = false;
  }
  mine = nullptr;
  records = 0;
  left_out = 0;
}

std::uint64_t writes_left_out() noexcept {
  return left_out;
}

} // namespace nodewise::agent

using namespace nodewise::agent;

__attribute__((visibility("default"))) void nodewise_agent_wrote(void* start, std::size_t bytes,
                                                                 const void* caller) noexcept {
  object_part now{};
  // Most buffers are on the stack, or small.
  if (!is_grouped(start) && !objects.ranges().may_hold(reinterpret_cast<std::uintptr_t>(start)))
      [[likely]] {
    return;
  }
  if (is_tracing() && locate(start, bytes, now)) {
    const int kept = errno;
    note(now, caller);
    errno = kept;
  }
}
