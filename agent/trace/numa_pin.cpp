// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/trace/numa_pin.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <pthread.h>
#include <sys/prctl.h>

#include "agent/alloc/objects.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/asked.hpp"
#include "agent/clock.hpp"
#include "agent/own_descriptors.hpp"
#include "agent/page.hpp"
#include "agent/report/records.hpp"
#include "agent/threads/threads.hpp"
#include "agent/trace/announce.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Pages handled under one lock of the table, which takes some hundred microseconds.
constexpr std::size_t batch_pages = 1024;
constexpr std::size_t word_bits = sizeof(unsigned long) * 8;
constexpr int nowhere = -1;

constinit std::atomic<int> tid{0};
constinit std::atomic<int> refused_errno{0};
constinit std::atomic<bool> pins_any{false};
constinit std::atomic<int> waiting_pid{0}; ///< the process that has no thread yet, or 0

struct scratch {
  std::uint64_t entry[batch_pages]; ///< of pagemap
  void* page[batch_pages];
  int where[batch_pages];
};

/// The state of the walk through one object.
struct walk {
  scratch& memory;
  bool begun = false;
  std::size_t next = 0;    ///< page
  std::size_t pinned = 0;  ///< pages
  unsigned extents = 0;    ///< policies in force for the pinned pages
  int last_node = nowhere; ///< of the page before, if it is pinned
  bool had_some = false;   ///< some of its pages were pinned before
  bool over = false;
  bool found_more = false;
};

/// Finds for each page of a batch the node to pin it to, or `nowhere`. Returns 0 or -errno.
long locate(scratch& s, const object& what, std::size_t first, std::size_t count) noexcept {
  char* const start = what.start + first * page_bytes();
  const long entries = sys::raw::read_pagemap(start, page_bytes(), s.entry, count);
  if (entries < 0) {
    return entries;
  }
  const auto is_present = [&](std::size_t i) {
    return static_cast<long>(i) < entries && sys::raw::is_present(s.entry[i]);
  };
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    s.page[i] = start + i * page_bytes();
    s.where[i] = nowhere;
    any = any || is_present(i);
  }
  if (!any) {
    return 0;
  }
  const long answer = sys::raw::move_pages(0, count, s.page, nullptr, s.where, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const bool alone = is_present(i) && !sys::raw::is_shared_page(s.entry[i]);
    if (!alone || s.where[i] < 0 || s.where[i] >= NODEWISE_AGENT_MAX_NODES) {
      s.where[i] = nowhere;
    }
  }
  return answer;
}

/// Whether the memory has the default policy, or ours.
bool is_free(const char* at, bool may_be_ours) noexcept {
  int mode = 0;
  unsigned long mask[NODEWISE_AGENT_MAX_NODES / word_bits];
  const long answer =
      sys::raw::get_mempolicy(&mode, mask, sizeof mask / sizeof mask[0], at, sys::get_by_address);
  return answer >= 0 && (mode == static_cast<int>(sys::policy::system_default) ||
                         (may_be_ours && mode == static_cast<int>(sys::policy::bind_and_balance)));
}

/// 0 or -errno.
long bind(char* start, std::size_t bytes, int node) noexcept {
  unsigned long mask[NODEWISE_AGENT_MAX_NODES / word_bits] = {};
  const auto at = static_cast<std::size_t>(node);
  mask[at / word_bits] = 1UL << at % word_bits;
  return sys::raw::mbind(start, bytes, sys::policy::bind_and_balance, mask, at / word_bits + 1, 0);
}

/// Reserves one more policy for the object. False if the limit of policies is reached.
bool take_extent(object& what, walk& at) noexcept {
  const bool is_new = at.extents == what.extents;
  if (is_new && !reserve_extents(1)) {
    return false;
  }
  what.extents += is_new ? 1 : 0;
  ++at.extents;
  return true;
}

/// Pins no more.
void refuse(walk& at, long answer) noexcept {
  refused_errno = static_cast<int>(-answer);
  at.over = true;
}

/// Pins consecutive pages on one node.
void pin_run(object& what, std::size_t first, std::size_t count, int node, walk& at) noexcept {
  char* const start = what.start + first * page_bytes();
  if (!is_free(start, at.had_some)) {
    at.last_node = nowhere;
    return;
  }
  if (node != at.last_node && !take_extent(what, at)) {
    at.over = true;
    return;
  }
  pins_any = true;
  if (const long answer = bind(start, count * page_bytes(), node); answer < 0) {
    refuse(at, answer);
    return;
  }
  at.last_node = node;
  at.pinned += count;
  if (at.pinned > what.numa_pinned.pages) {
    what.numa_pinned.pages = at.pinned;
    at.found_more = true;
  }
}

/// Starts at the first gap of the last walk.
void begin(const object& what, walk& at) noexcept {
  at.begun = true;
  at.next = at.pinned = what.numa_pinned.front;
  at.extents = what.numa_pinned.extents;
  at.last_node = what.numa_pinned.front == 0 ? nowhere : what.numa_pinned.last_node;
  at.had_some = what.extents != 0;
}

/// The walk is complete: pages that were pinned before and are gone now no longer count.
void conclude(object& what, walk& at) noexcept {
  release_extents(what.extents - at.extents);
  what.extents = at.extents;
  what.numa_pinned.pages = at.pinned;
  at.over = true;
}

void pin_batch(object& what, void* with) noexcept {
  auto& at = *static_cast<walk*>(with);
  const std::size_t pages = what.mapped_bytes / page_bytes();
  if (what.gives_back) {
    at.over = true;
    return;
  }
  if (!at.begun) {
    begin(what, at);
  } else if (what.extents < at.extents) { // unpinned for a fork since the last batch
    at.over = at.found_more = true;
    return;
  }
  const std::size_t count = std::min(at.next < pages ? pages - at.next : 0, batch_pages);
  const long answer = count == 0 ? 0 : locate(at.memory, what, at.next, count);
  if (answer < 0) {
    refuse(at, answer);
    return;
  }
  for (std::size_t i = 0; i < count && !at.over;) {
    const int node = at.memory.where[i];
    std::size_t end = i;
    while (end < count && at.memory.where[end] == node) {
      ++end;
    }
    if (node == nowhere) {
      at.last_node = nowhere;
    } else {
      pin_run(what, at.next + i, end - i, node, at);
    }
    i = end;
  }
  at.next += count;
  if (!at.over && at.pinned == at.next) {
    what.numa_pinned = {what.numa_pinned.pages, at.pinned, at.extents, at.last_node};
  }
  if (!at.over && at.next >= pages) {
    conclude(what, at);
  }
}

/// Returns whether there were pages that were not pinned before.
bool pin_all(scratch& memory) noexcept {
  const int pid = static_cast<int>(sys::raw::call(SYS_getpid));
  bool found_more = false;
  const auto all = objects.snapshot(true);
  for (std::size_t i = 0; i < all.count && refused_errno == 0; ++i) {
    const object& what = all.objects[i];
    const bool complete = what.numa_pinned.pages * page_bytes() >= what.mapped_bytes;
    if (what.pid != pid || what.kind == NODEWISE_AGENT_GROUP || what.kind == NODEWISE_AGENT_FILE ||
        complete || what.gives_back) {
      continue;
    }
    walk at{memory};
    while (!at.over && refused_errno == 0 &&
           objects.change(what.start, what.sequence, pin_batch, &at)) {
    }
    found_more = found_more || at.found_more;
  }
  object_table::release(all);
  return found_more;
}

/// A process whose first thread has ended runs until its last thread ends. Our thread must not keep
/// it alive.
bool is_leader_gone() noexcept {
  char text[512] = {};
  const long file =
      sys::raw::call(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return false;
  }
  (void)sys::raw::call(SYS_read, file, text, sizeof text - 1);
  sys::raw::call(SYS_close, file);
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && std::strncmp(name_end, ") Z", 3) == 0;
}

void wait_ns(std::uint64_t ns) noexcept {
  constexpr std::uint64_t second = 1000000000;
  const timespec pause{static_cast<std::time_t>(ns / second), static_cast<long>(ns % second)};
  sys::raw::call(SYS_nanosleep, &pause, nullptr);
}

void pin_until_the_end(scratch& memory) noexcept {
  constexpr std::uint64_t shortest = 50'000'000;
  constexpr std::uint64_t longest = 200'000'000;
  constexpr std::uint64_t share = 10; // at most 1/10 of a processor's time
  std::uint64_t pause = shortest;
  while (refused_errno == 0 && !is_leader_gone()) {
    const std::uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
    pause = pin_all(memory) ? shortest : std::min(pause * 2, longest);
    wait_ns(std::max(pause, (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * share));
  }
}

void* run(void* /*nothing*/) noexcept {
  announce_helper();
  (void)::prctl(PR_SET_NAME, "nodewise-pin");
  tid = static_cast<int>(sys::raw::call(SYS_gettid));
  if (const long refusal = leave_descriptors(); refusal < 0) { // its files would take numbers
    refused_errno = static_cast<int>(-refusal);
  }
  report_numa_pinner();
  void* const memory = sys::raw::map(sizeof(scratch), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    refused_errno = ENOMEM;
    return nullptr;
  }
  pin_until_the_end(*static_cast<scratch*>(memory));
  sys::raw::unmap(memory, sizeof(scratch));
  return nullptr;
}

/// Starts a thread of the agent's own, which is neither announced nor counted. Returns 0 or an
/// errno.
int start_helper() noexcept {
  pthread_attr_t attributes;
  if (const int refusal = ::pthread_attr_init(&attributes)) {
    return refusal;
  }
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t made{};
  const int answer = next_pthread_create.get()(&made, &attributes, run, nullptr);
  ::pthread_attr_destroy(&attributes);
  return answer;
}

} // namespace

void begin_numa_pinning(bool has_objects) noexcept {
  tid = 0;
  refused_errno = 0;
  waiting_pid = 0;
  numa_pinned_pages = 0;
  if (!asked.numa_pin || !asked.observe || !is_tracing()) {
    return;
  }
  waiting_pid = static_cast<int>(sys::raw::call(SYS_getpid));
  if (has_objects) {
    numa_pin_also();
  }
}

void numa_pin_also() noexcept {
  int pid = waiting_pid;
  // A child of vfork() shares this memory, and must not get a thread.
  if (pid == 0 || pid != static_cast<int>(sys::raw::call(SYS_getpid)) ||
      !waiting_pid.compare_exchange_strong(pid, 0)) {
    return;
  }
  const int kept = errno;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's threads
  if (const int refusal = start_helper()) {      // the thread may also set a refusal of its own
    refused_errno = refusal;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = kept;
}

void numa_unpin_all() noexcept {
  if (pins_any) {
    objects.change_all([](object& what, void*) noexcept { reset(what); }, nullptr);
    pins_any = false;
  }
}

int numa_pinner_tid() noexcept {
  return tid;
}

void report_numa_pinner() noexcept {
  nodewise_agent_numa_pinned record = {};
  record.tid = tid;
  record.refused_errno = static_cast<std::uint32_t>(refused_errno.load());
  record.pages = numa_pinned_pages;
  tell(NODEWISE_AGENT_NUMA_PINNED, record.header, sizeof record);
}

} // namespace nodewise::agent

using namespace nodewise::agent;

__attribute__((visibility("default"))) void nodewise_agent_gives_back(void* start,
                                                                      std::size_t bytes) noexcept {
  if (asked.numa_pin && bytes <= PTRDIFF_MAX) { // also unpinned pages, which may soon be pinned
    char* const first = static_cast<char*>(start);
    const auto let_go = [](object& what, void*) noexcept {
      what.gives_back = true;
      reset(what);
    };
    objects.change_overlapping(first, first + bytes, let_go, nullptr);
  }
}
