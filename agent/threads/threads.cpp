// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/threads/threads.hpp"

#include <atomic>
#include <bit>
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "agent/alloc/groups.hpp"
#include "agent/alloc/statics.hpp"
#include "agent/interposed.hpp"
#include "agent/modules.hpp"
#include "agent/own_stack.hpp"
#include "agent/report/records.hpp"
#include "agent/runtimes.hpp"
#include "agent/threads/bound_early.hpp"
#include "agent/threads/c11_answer.hpp"
#include "agent/threads/nested_teams.hpp"
#include "agent/threads/next_create.hpp"
#include "agent/threads/pin.hpp"
#include "agent/threads/team_numbers.hpp"
#include "agent/threads/thread_table.hpp"
#include "agent/trace/announce.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

using counter = std::atomic<std::uint64_t>;
constexpr auto relaxed = std::memory_order_relaxed;

struct thread_facts {
  std::atomic<int> pid{0}; ///< 0 until the settings are read
  pthread_t main{};
  place_list places;
  bool main_works = false;
  team_numbers ordinals;
  counter own_threads{0};
  counter pinned{0};
  counter own_affinity{0};
  std::atomic<int> pin_errno{0};
  std::atomic<std::uint32_t> main_flags{NODEWISE_AGENT_MAIN};
};

constinit thread_facts facts;

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
  return facts.pid.load(relaxed) != 0 && facts.pid.load(relaxed) == ::getpid();
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

/// Notes that the program, or a library that is not a runtime, has bound a thread.
void note_own_affinity(std::atomic<std::uint32_t>& flags) noexcept {
  if ((flags.fetch_or(NODEWISE_AGENT_OWN_AFFINITY) & NODEWISE_AGENT_OWN_AFFINITY) == 0) {
    ++facts.own_affinity;
  }
}

constinit bound_early early;

/// The first actions of a new thread.
running_thread enter(known_thread& entry) noexcept {
  announce_thread(facts.pid.load(relaxed));
  note_thread_stack(entry.stack_bytes);
  const stack_words stack = whole_stack();
  announce_stack(stack.begin(), stack.end());
  const running_thread mine = enter_running(entry);
  if (early.any() && early.take(::pthread_self())) {
    note_own_affinity(entry.flags);
  }
  return mine;
}
void leave(void* ending) {
  end_running(*static_cast<const running_thread*>(ending));
}

/// Runs the program's function, which may be left by pthread_exit() or a cancellation. A
/// thread-specific key would note the end too, but for the first key that a thread uses the C
/// library goes through all of them when it ends.
template <class Work>
void* run_until_left(known_thread& entry, const Work& work) {
  running_thread mine = enter(entry);
  void* result = nullptr;
  pthread_cleanup_push(leave, &mine);
  result = work(entry);
  pthread_cleanup_pop(1);
  return result;
}
void* run_entered(void* entry) {
  return run_until_left(*static_cast<known_thread*>(entry),
                        [](const known_thread& mine) { return mine.run(mine.argument); });
}
void* run_entered_c11(void* entry) {
  return run_until_left(*static_cast<known_thread*>(entry), [](const known_thread& mine) {
    return std::bit_cast<void*>(static_cast<std::intptr_t>(mine.run_c11(mine.argument)));
  });
}

/// A requested thread.
struct wanted_thread {
  pthread_t* into;
  const pthread_attr_t* attributes;
  void* (*run)(void*);
  int (*run_c11)(void*); ///< instead of `run`
  void* argument;

  [[nodiscard]] const void* code() const noexcept {
    return run != nullptr ? reinterpret_cast<const void*>(run)
                          : reinterpret_cast<const void*>(run_c11);
  }
};

/// C11 threads are the C library's POSIX threads, and joining them cuts the result to an int. So
/// without an entry the function may be called through the other type.
int create(const wanted_thread& wanted, const pthread_attr_t* attributes,
           known_thread* entry) noexcept {
  auto& next = next_pthread_create.get();
  if (entry != nullptr) {
    return next(wanted.into, attributes, wanted.run != nullptr ? run_entered : run_entered_c11,
                entry);
  }
  void* (*const run)(void*) =
      wanted.run != nullptr ? wanted.run : std::bit_cast<void* (*)(void*)>(wanted.run_c11);
  return next(wanted.into, attributes, run, wanted.argument);
}

void note_flags(known_thread* entry, std::uint32_t flags) noexcept {
  if (entry != nullptr) {
    entry->flags.store(flags, relaxed);
  }
}

/// The thread's place: after the main thread's if that works.
std::size_t place_of(std::uint64_t ordinal) noexcept {
  return (ordinal + (facts.main_works ? 1 : 0)) % facts.places.count();
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
  const long answer = sys::raw::sched_setaffinity(facts.pid, where.bytes, where.words);
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
    entry->inner = ordinal >= 0 ? inner_position{} : next_inner_position(wanted.code());
    entry->unjoined = ordinal >= 0;
    copy_name(entry->start_module, module);
    entry->run = wanted.run;
    entry->run_c11 = wanted.run_c11;
    entry->argument = wanted.argument;
    entry->stack_bytes = wanted_stack_bytes(wanted.attributes);
  }
  return entry;
}

int start_known(const wanted_thread& wanted) noexcept {
  const char* const module = module_name(wanted.code());
  const bool own = !is_runtime(module);
  if (own) {
    place_main();
  }
  const std::uint32_t ordinal = own ? facts.ordinals.next(facts.main_works) : 0;
  known_thread* const entry = enter_starting(wanted, module, own ? static_cast<int>(ordinal) : -1);
  const bool bound = own && have_affinity(wanted.attributes);
  note_flags(entry, bound ? NODEWISE_AGENT_OWN_AFFINITY : 0);
  const bool place = own && !bound && facts.places.count() != 0;
  const int answer = place ? create_on_place(wanted, place_of(ordinal), entry)
                           : create(wanted, wanted.attributes, entry);
  if (answer == 0) {
    facts.own_threads += own ? 1 : 0;
    facts.own_affinity += bound ? 1 : 0;
    return 0; // *wanted.into may be gone: the thread may own it and have ended
  }
  if (entry != nullptr) {
    give_back(*entry);
  }
  if (own) {
    facts.ordinals.give_back(ordinal);
  }
  return answer;
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
    early.add(thread);
    entry = find_by_handle(thread); // it may have begun meanwhile without seeing the binding
    if (entry != nullptr && !early.take(thread)) {
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

int own_tid() noexcept {
  return static_cast<int>(sys::raw::call(SYS_gettid));
}

/// Ignores threads and processes that are not ours.
void note_bound(int tid) noexcept {
  known_thread* const entry = find_by_tid(tid);
  if (entry != nullptr) {
    note_own_affinity(entry->flags);
  } else if (tid == facts.pid.load()) {
    note_own_affinity(facts.main_flags);
  }
}

} // namespace

void start_threads(const settings& asked) noexcept {
  // Looked up while no other thread runs: dlsym waits for a dlopen, which may wait for a thread.
  (void)next_pthread_create.find();
  (void)next_pthread_join.find();
  (void)next_pthread_setaffinity.find();
  (void)next_sched_setaffinity.find();
  facts.main = ::pthread_self();
  if (!facts.places.read(asked.pin)) {
    facts.pin_errno = ENOMEM;
  }
  facts.main_works = asked.main_works;
  facts.pid = ::getpid();
}

void count_threads(nodewise_agent_end& totals) noexcept {
  totals.own_threads = facts.own_threads;
  totals.pinned = facts.pinned;
  totals.own_affinity = facts.own_affinity;
  totals.pin_errno = static_cast<std::uint32_t>(facts.pin_errno.load());
}

void forget_threads() noexcept {
  forget_statics();
  if (facts.pid == 0) {
    return;
  }
  empty_thread_table();
  for (counter* each : {&facts.own_threads, &facts.pinned, &facts.own_affinity}) {
    *each = 0;
  }
  facts.ordinals.begin_anew();
  facts.pin_errno = 0;
  facts.main_flags = NODEWISE_AGENT_MAIN;
  facts.main = ::pthread_self();
  facts.pid = ::getpid();
}

void prepare_for_threads() noexcept {
  place_statics();
  settle_groups();
}

std::uint32_t main_thread_flags() noexcept {
  return facts.main_flags;
}

void place_text(const nodewise_agent_thread& of, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept {
  if ((of.flags & NODEWISE_AGENT_PINNED) != 0) {
    facts.places.text(place_of(static_cast<std::uint64_t>(of.ordinal)), into);
  }
}

} // namespace nodewise::agent

using namespace nodewise::agent;

NODEWISE_INTERPOSED int pthread_create(pthread_t* into, const pthread_attr_t* attributes,
                                       void* (*run)(void*), void* argument) noexcept {
  if (!is_this_process()) {
    return next_pthread_create.get()(into, attributes, run, argument);
  }
  prepare_for_threads();
  return start_known({into, attributes, run, nullptr, argument});
}

NODEWISE_INTERPOSED int thrd_create(thrd_t* into, thrd_start_t run, void* argument) {
  if (!is_this_process()) {
    return next_thrd_create.get()(into, run, argument);
  }
  prepare_for_threads();
  return c11_answer(start_known({into, nullptr, nullptr, run, argument}));
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
    note_bound(tid == 0 ? own_tid() : static_cast<int>(tid));
  }
  return answer;
}
