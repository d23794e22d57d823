// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/threads/threads.hpp"

#include <bit>

#include <sched.h>
#include <threads.h>

#include "agent/alloc/groups.hpp"
#include "agent/alloc/statics.hpp"
#include "agent/modules.hpp"
#include "agent/own_stack.hpp"
#include "agent/report/records.hpp"
#include "agent/threads/thread_facts.hpp"
#include "agent/threads/thread_table.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

constinit next_function<int(thrd_t*, thrd_start_t, void*)> next_thrd_create{"thrd_create",
                                                                            no_threads<thrd_error>};
constinit next_function<int(pthread_t, void**)> next_pthread_join{"pthread_join",
                                                                  no_threads<ENOSYS>};
constinit next_function<int(thrd_t, int*)> next_thrd_join{"thrd_join", no_threads<thrd_error>};
constinit next_function<int(pthread_t, std::size_t, const cpu_set_t*)> next_pthread_setaffinity{
    "pthread_setaffinity_np", no_threads<ENOSYS>};
constinit next_function<int(pid_t, std::size_t, const cpu_set_t*)> next_sched_setaffinity{
    "sched_setaffinity"};

/// False in a child of vfork(), where the table is the parent's.
bool is_this_process() noexcept {
  const int pid = reporting.pid.load(relaxed);
  return pid != 0 && pid == ::getpid();
}

/// The last part of the path of the file with the code at `address`; "" if unknown.
const char* module_name(const void* address) noexcept {
  const module_of found(address);
  if (found.start != nullptr) {
    return found.name;
  }
  Dl_info older{}; // the C library before 2.35
  return ::dladdr(address, &older) != 0 && older.dli_fname != nullptr ? last_part(older.dli_fname)
                                                                      : "";
}

/// A requested thread.
struct wanted_thread {
  pthread_t* into;
  const pthread_attr_t* attributes;
  start_routine routine;
};

/// C11 threads are the C library's POSIX threads, and joining them cuts the result to an int. So
/// without an entry the function may be called through the other type.
int create(const wanted_thread& wanted, const pthread_attr_t* attributes,
           known_thread* entry) noexcept {
  auto& create_next = next_pthread_create.get();
  if (entry != nullptr) {
    return create_next(wanted.into, attributes, run_known, entry);
  }
  const start_routine& begin = wanted.routine;
  return create_next(wanted.into, attributes,
                     begin.run != nullptr ? begin.run
                                          : std::bit_cast<void* (*)(void*)>(begin.run_c11),
                     begin.argument);
}

void note_flags(known_thread* entry, std::uint32_t flags) noexcept {
  if (entry != nullptr) {
    entry->flags.store(flags, relaxed);
  }
}

/// A main thread that works is pinned when it starts the first thread. Before that it may ask the
/// kernel for its processors to decide how many threads to start.
void place_main() noexcept {
  if (!facts.main_works || facts.places.count() == 0 ||
      (facts.main_flags & (NODEWISE_AGENT_PINNED | NODEWISE_AGENT_OWN_AFFINITY)) != 0) {
    return;
  }
  cpu_mask where;
  facts.places.mask(0, where);
  const long answer = sys::raw::sched_setaffinity(reporting.pid, where.bytes, where.words);
  if (answer < 0) {
    int none = 0;
    facts.pin_errno.compare_exchange_strong(none, static_cast<int>(-answer));
    return;
  }
  facts.main_flags |= NODEWISE_AGENT_PINNED;
}

/// Creates the thread on its place if the kernel allows it. If the kernel refuses, the thread
/// starts without a place.
int create_on_place(const wanted_thread& wanted, std::size_t place, known_thread* entry) noexcept {
  cpu_mask where;
  facts.places.mask(place, where);
  const placed_attributes placed(wanted.attributes, where);
  int refusal = placed.failure();
  if (refusal == 0) {
    note_flags(entry, NODEWISE_AGENT_PINNED);
    int cancellable = 0; // if the kernel refuses, the C library waits at a cancellation point
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
    refusal = create(wanted, placed.get(), entry);
    ::pthread_setcancelstate(cancellable, nullptr);
    if (refusal == 0 || refusal == EAGAIN) { // EAGAIN: no more threads on any place
      facts.pinned += refusal == 0 ? 1 : 0;
      return refusal;
    }
    note_flags(entry, 0);
  }
  const int answer = create(wanted, wanted.attributes, entry);
  if (answer == 0) {
    int none = 0;
    facts.pin_errno.compare_exchange_strong(none, refusal);
  }
  return answer;
}

known_thread* enter_starting(const wanted_thread& wanted, const char* module,
                             int ordinal) noexcept {
  known_thread* const entry = take_entry();
  if (entry != nullptr) {
    entry->ordinal = ordinal;
    entry->inner = ordinal >= 0 ? inner_position{} : next_inner_position(wanted.routine.code());
    entry->unjoined = ordinal >= 0;
    copy_name(entry->start_module, module);
    entry->routine = wanted.routine;
    entry->stack_bytes = wanted_stack_bytes(wanted.attributes);
  }
  return entry;
}

int start_known(const wanted_thread& wanted) noexcept {
  const char* const module = module_name(wanted.routine.code());
  const bool own = !is_runtime(module);
  if (own) {
    place_main();
  }
  const std::uint32_t ordinal = own ? facts.ordinals.next(facts.main_works) : 0;
  known_thread* const entry = enter_starting(wanted, module, own ? static_cast<int>(ordinal) : -1);
  const bool bound = own && have_affinity(wanted.attributes);
  note_flags(entry, bound ? NODEWISE_AGENT_OWN_AFFINITY : 0);
  const bool place = own && !bound && facts.places.count() != 0;
  const int answer = place ? create_on_place(wanted, facts.place_of(ordinal), entry)
                           : create(wanted, wanted.attributes, entry);
  if (answer == 0) {
    facts.own_threads += own ? 1 : 0;
    facts.own_affinity += bound ? 1 : 0;
    return 0; // *wanted.into may be gone: the thread may own it and have ended
  }
  if (entry != nullptr) {
    entry->set_state(thread_state::none);
  }
  if (own) {
    facts.ordinals.give_back(ordinal);
  }
  return answer;
}

/// Converts an errno of pthread_create() to a result of thrd_create().
int c11_answer(int answer) noexcept {
  switch (answer) {
  case 0:
    return thrd_success;
  case ENOMEM:
    return thrd_nomem;
  case EBUSY:
    return thrd_busy;
  case ETIMEDOUT:
    return thrd_timedout;
  default:
    return thrd_error;
  }
}

bool is_own_call(const void* caller) noexcept {
  return is_this_process() && !is_runtime(module_name(caller));
}

void note_bound(pthread_t thread) noexcept {
  if (::pthread_equal(thread, facts.main) != 0) {
    note_own_affinity(facts.main_flags);
    return;
  }
  known_thread* entry = find_by_handle(thread);
  if (entry == nullptr) {
    facts.early.add(thread);
    entry = find_by_handle(thread); // it may have begun meanwhile without seeing the binding
    if (entry != nullptr && !facts.early.take(thread)) {
      return;
    }
  }
  if (entry != nullptr) {
    note_own_affinity(entry->flags);
  }
}

void note_join(pthread_t thread) noexcept {
  if (is_this_process() && note_joined(thread)) {
    facts.ordinals.leave();
  }
}

/// Ignores threads and processes that are not ours.
void note_bound(int tid) noexcept {
  known_thread* const entry = find_by_tid(tid);
  if (entry != nullptr) {
    note_own_affinity(entry->flags);
  } else if (tid == reporting.pid) {
    note_own_affinity(facts.main_flags);
  }
}

} // namespace

void start_threads(const settings& asked) noexcept {
  // Looked up while no other thread runs: dlsym waits for a dlopen, which may wait for a thread.
  find_all(next_pthread_create, next_pthread_join, next_pthread_setaffinity,
           next_sched_setaffinity);
  facts.main = ::pthread_self();
  if (!facts.places.read(asked.pin)) {
    facts.pin_errno = ENOMEM;
  }
  facts.main_works = asked.main_works;
}

void count_threads(nodewise_agent_end& totals) noexcept {
  totals.own_threads = facts.own_threads;
  totals.pinned = facts.pinned;
  totals.own_affinity = facts.own_affinity;
  totals.pin_errno = static_cast<std::uint32_t>(facts.pin_errno.load());
}

void forget_threads() noexcept {
  forget_statics();
  if (reporting.pid == 0) {
    return;
  }
  empty_thread_table();
  facts.own_threads = facts.pinned = facts.own_affinity = 0;
  facts.ordinals.begin_anew();
  facts.pin_errno = 0;
  facts.main_flags = NODEWISE_AGENT_MAIN;
  facts.main = ::pthread_self();
}

void prepare_for_threads() noexcept {
  place_statics();
  settle_groups();
}

} // namespace nodewise::agent

using namespace nodewise::agent;

NODEWISE_INTERPOSED int pthread_create(pthread_t* into, const pthread_attr_t* attributes,
                                       void* (*run)(void*), void* argument) noexcept {
  if (!is_this_process()) {
    return next_pthread_create.get()(into, attributes, run, argument);
  }
  prepare_for_threads();
  return start_known({into, attributes, {.run = run, .argument = argument}});
}

NODEWISE_INTERPOSED int thrd_create(thrd_t* into, thrd_start_t run, void* argument) {
  if (!is_this_process()) {
    return next_thrd_create.get()(into, run, argument);
  }
  prepare_for_threads();
  return c11_answer(start_known({into, nullptr, {.run_c11 = run, .argument = argument}}));
}

// Waiting in these functions may be cancelled, so they are not noexcept.
NODEWISE_INTERPOSED int pthread_join(pthread_t thread, void** result) {
  const int answer = next_pthread_join.get()(thread, result);
  if (answer == 0) {
    note_join(thread);
  }
  return answer;
}

NODEWISE_INTERPOSED int thrd_join(thrd_t thread, int* result) {
  const int answer = next_thrd_join.get()(thread, result);
  if (answer == thrd_success) {
    note_join(thread);
  }
  return answer;
}

NODEWISE_INTERPOSED int pthread_setaffinity_np(pthread_t thread, std::size_t bytes,
                                               const cpu_set_t* mask) noexcept {
  const int answer = next_pthread_setaffinity.get()(thread, bytes, mask);
  if (answer == 0 && is_own_call(NODEWISE_CALLER)) {
    note_bound(thread);
  }
  return answer;
}

NODEWISE_INTERPOSED int sched_setaffinity(pid_t tid, std::size_t bytes,
                                          const cpu_set_t* mask) noexcept {
  const int answer = next_sched_setaffinity.get()(tid, bytes, mask);
  if (answer == 0 && is_own_call(NODEWISE_CALLER)) {
    note_bound(tid == 0 ? static_cast<int>(nodewise::sys::raw::call(SYS_gettid)) : tid);
  }
  return answer;
}
