// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What it costs a program that its page faults are sampled.
//
//   fault_profiling inside ROUNDS           events of this thread, without a reader; against a
//   handler fault_profiling touch ROUNDS            nothing but the faults, for a profiler in front
//   of it fault_profiling record STACK_BYTES COMMAND...   the recorder in front of a command
//
// Figures are nanoseconds of the faulting thread's processor time a page.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nodewise/error.hpp>

#include "observe/recorder.hpp"
#include "sys/perf.hpp"
#include "sys/programs.hpp"

namespace {

using namespace nodewise;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t pages = 2048;

double thread_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

volatile int depth_left;

/// As deep in calls as a program of medium size is.
[[gnu::noinline]] void touch(volatile char* first, int depth) {
  if (depth > 0) {
    touch(first, depth - 1);
    depth_left = depth; // so that the call is none at the tail
    return;
  }
  for (std::size_t i = 0; i < pages; ++i) {
    first[i * page_bytes] = 1;
  }
}

/// Memory that is fresh again for each measurement.
class fresh_pages {
 public:
  fresh_pages()
      : start_(static_cast<char*>(::mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::madvise(start_, pages * page_bytes, MADV_NOHUGEPAGE);
  }
  [[nodiscard]] char* start() const { return start_; }
  [[nodiscard]] double touch_ns() const {
    constexpr int depth = 16;
    ::madvise(start_, pages * page_bytes, MADV_DONTNEED);
    const double begin = thread_ns();
    touch(start_, depth);
    return (thread_ns() - begin) / static_cast<double>(pages);
  }

 private:
  char* start_;
};

/// Something that makes faults dearer while it is on.
struct method {
  std::string name;
  std::function<void()> begin = [] {};
  std::function<void()> end = [] {};
};

/// An event of this thread on this processor with a ring of its own, emptied after each
/// measurement.
struct own_event {
  sys::perf_event event;
  sys::perf_ring ring;
};

void check(int refused, const char* what) {
  if (refused != 0) {
    std::fprintf(stderr, "fault_profiling: %s: %s\n", what, errno_text(refused).c_str());
    std::exit(1);
  }
}

std::shared_ptr<own_event> open_event(sys::perf_request request, std::size_t ring_bytes) {
  request.cpu = cpu_id{::sched_getcpu()};
  request.disabled = true;
  request.wake_bytes = static_cast<std::uint32_t>(ring_bytes);
  auto event = sys::perf_event::open(request);
  check(event.errno_value, "perf_event_open");
  auto ring = sys::perf_ring::map(event.value, ring_bytes);
  check(ring.errno_value, "mmap of the event");
  return std::make_shared<own_event>(own_event{std::move(event.value), std::move(ring.value)});
}

method sampling(std::string name, std::vector<std::shared_ptr<own_event>> events) {
  return {std::move(name),
          [events] {
            for (const auto& each : events) {
              (void)each->event.enable();
            }
          },
          [events] {
            for (const auto& each : events) {
              (void)each->event.enable(false);
              (void)each->ring.drain([](auto) {});
            }
          }};
}

/// What the recorder does without: the frame pointers' chain, which few programs have.
method call_chain() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                     PERF_SAMPLE_CALLCHAIN;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_callchain_kernel = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  constexpr std::size_t bytes = std::size_t{1} << 20;
  const auto file = static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                                               static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
  void* const start =
      ::mmap(nullptr, bytes + page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  check(start == MAP_FAILED ? errno : 0, "an event with call chains");
  auto* const control = static_cast<perf_event_mmap_page*>(start);
  return {"samples with user call chain", [file] { ::ioctl(file, PERF_EVENT_IOC_ENABLE, 0); },
          [file, control] {
            ::ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
            control->data_tail = control->data_head;
          }};
}

void unprotect_page(int, siginfo_t* info, void*) {
  const auto page = reinterpret_cast<std::uintptr_t>(info->si_addr) / page_bytes * page_bytes;
  ::mprotect(reinterpret_cast<void*>(page), page_bytes, PROT_READ | PROT_WRITE);
}

/// The way without perf: pages are protected, a handler hears of the first access to each.
method signal_handler(char* start) {
  struct sigaction action{};
  action.sa_sigaction = unprotect_page;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  return {"SIGSEGV handler", [start] { ::mprotect(start, pages * page_bytes, PROT_NONE); },
          [start] { ::mprotect(start, pages * page_bytes, PROT_READ | PROT_WRITE); }};
}

std::vector<method> methods_for(const fresh_pages& memory) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  sys::perf_request samples;
  sys::perf_request sized = samples;
  sized.page_sizes = true;
  sys::perf_request stacks;
  stacks.what = sys::perf_counter::any_faults;
  stacks.stack_bytes = observe::fault_source_options{}.stack_bytes;
  sys::perf_request some_stacks = stacks;
  some_stacks.period = observe::fault_source_options{}.stack_period;
  const auto of_samples = open_event(samples, mib / 2);
  return {{"no event"},
          sampling("samples", {of_samples}),
          sampling("samples with page size", {open_event(sized, mib / 2)}),
          sampling("samples, stack of each 31st", {of_samples, open_event(some_stacks, mib / 4)}),
          sampling("samples, stack of each", {of_samples, open_event(stacks, 8 * mib)}),
          call_chain(),
          signal_handler(memory.start())};
}

/// Each round measures each method once, in random order.
int measure_inside(int rounds) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ::sched_setaffinity(0, sizeof one, &one);
  const fresh_pages memory;
  const std::vector<method> methods = methods_for(memory);
  std::vector<std::size_t> order(methods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int round = -2; round < rounds; ++round) { // two to get warm
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      methods[i].begin();
      const double ns = memory.touch_ns();
      methods[i].end();
      if (round >= 0) {
        std::printf("%d\t%s\t%.1f\n", round, methods[i].name.c_str(), ns);
      }
    }
  }
  return 0;
}

int measure_touch(int rounds) {
  const fresh_pages memory;
  std::vector<double> all;
  for (int round = 0; round < rounds; ++round) {
    all.push_back(memory.touch_ns());
  }
  std::ranges::nth_element(all, all.begin() + rounds / 2);
  std::printf("%.1f\n", all[static_cast<std::size_t>(rounds / 2)]);
  return 0;
}

int record(unsigned stack_bytes, const std::vector<std::string>& command) {
  observe::recording_options options;
  options.faults.stack_bytes = stack_bytes;
  const observe::recording got = observe::record_program(
      [&] {
        (void)sys::execute(command);
        ::_exit(127);
      },
      options);
  std::fprintf(stderr, "%llu\t%llu\t%zu\t%.4f\n", static_cast<unsigned long long>(got.losses.taken),
               static_cast<unsigned long long>(got.losses.lost), got.log.stacks().size(),
               got.observer_s);
  return got.end.exit_code();
}

} // namespace

int main(int count, char** words) {
  const std::vector<std::string> all(words + 1, words + count);
  if (all.size() == 2 && all[0] == "inside") {
    return measure_inside(std::stoi(all[1]));
  }
  if (all.size() == 2 && all[0] == "touch") {
    return measure_touch(std::stoi(all[1]));
  }
  if (all.size() > 2 && all[0] == "record") {
    return record(static_cast<unsigned>(std::stoul(all[1])), {all.begin() + 2, all.end()});
  }
  std::fputs("usage: fault_profiling inside|touch ROUNDS | record STACK_BYTES COMMAND...\n",
             stderr);
  return 2;
}
