// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <set>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "observe/proc_text.hpp"
#include "observe/refused.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::observe {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::uint64_t monotonic_ns() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch())
          .count());
}

double own_processor_s() noexcept {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Reads from /proc, at intervals, on which processor the threads of the recorded processes run.
class thread_looks {
 public:
  explicit thread_looks(int pid) : pids_{pid} {}

  /// Reads /proc if it is time to. Adds new sightings to the log; the log also names new tasks.
  void look(event_log& log) {
    const auto begin = steady_clock::now();
    if (begin < next_) {
      return;
    }
    follow(log);
    for (const int pid : std::set(pids_)) {
      look_at(pid, log);
    }
    // Use at most a hundredth of a processor, for any number of threads.
    constexpr milliseconds shortest{100};
    const auto end = steady_clock::now();
    next_ = end + std::max<steady_clock::duration>(shortest, (end - begin) * 100);
  }

 private:
  void follow(const event_log& log) {
    for (; tasks_read_ < log.tasks().size(); ++tasks_read_) {
      const task_event& event = log.tasks()[tasks_read_];
      if (event.what == task_change::process_forked) {
        pids_.insert(event.pid);
      } else if (event.what == task_change::ended) {
        cpu_of_.erase(event.tid);
      }
    }
  }

  void look_at(int pid, event_log& log) {
    const auto process = sys::real_process(pid);
    const auto tids = process->threads();
    if (!tids) {
      pids_.erase(pid);
      return;
    }
    for (const int tid : tids.value) {
      const auto stat = read_task_stat(*process, fmt::format("task/{}/stat", tid));
      if (!stat) {
        continue; // it has ended meanwhile
      }
      const int cpu = to_int(stat->last_cpu);
      const auto [found, added] = cpu_of_.try_emplace(tid, cpu);
      if (added || found->second != cpu) {
        found->second = cpu;
        log.take(thread_sighting{monotonic_ns(), pid, tid, cpu});
      }
    }
  }

  std::set<int> pids_;
  std::unordered_map<int, int> cpu_of_; ///< by thread
  std::size_t tasks_read_ = 0;
  steady_clock::time_point next_ = steady_clock::now();
};

/// Drains a source into a log until it is stopped.
class drainer {
 public:
  drainer(sample_source& from, recording& into, const std::function<void()>& now_and_then)
      : from_(from), into_(into.log), looks_(into.pid), now_and_then_(now_and_then) {
    for (const int file : from.descriptors()) {
      files_.push_back({file, POLLIN, 0});
    }
  }

  /// Waits until there is much to drain, `more` is readable (-1: nothing), or for a while; drains.
  void turn(int more) {
    files_.push_back({more, POLLIN, 0});
    (void)::poll(files_.data(), static_cast<nfds_t>(files_.size()),
                 static_cast<int>(pause_.count()));
    files_.pop_back();
    const auto begin = steady_clock::now();
    const bool busy = from_.drain(into_) != 0;
    looks_.look(into_);
    if (const auto before = steady_clock::now(); now_and_then_ && begin >= next_) {
      now_and_then_();
      const auto after = steady_clock::now();
      next_ = after + std::max<steady_clock::duration>(longest, (after - before) * call_share);
    }
    const auto took = std::chrono::ceil<milliseconds>(steady_clock::now() - begin);
    // The rings wake the reader when they fill up, so it may sleep long after a slow turn.
    const milliseconds aim = busy ? std::max(shortest, took * turn_share) : pause_ * 2;
    pause_ = std::min(aim, longest);
  }

 private:
  static constexpr milliseconds shortest{10};
  static constexpr milliseconds longest{100};
  static constexpr int turn_share = 10;  ///< turns take at most 1 / `turn_share` of the time
  static constexpr int call_share = 100; ///< and `now_and_then_` at most 1 / `call_share`

  sample_source& from_;
  event_log& into_;
  thread_looks looks_;
  const std::function<void()>& now_and_then_;
  steady_clock::time_point next_ = steady_clock::now();
  std::vector<pollfd> files_;
  milliseconds pause_ = shortest;
};

/// Drains on a second thread while the first waits for the program's end.
class background {
 public:
  void begin(sample_source& from, recording& into, const std::function<void()>& now_and_then) {
    wake_ = sys::descriptor(::eventfd(0, EFD_CLOEXEC));
    if (!wake_) {
      throw error(error_kind::system, "cannot start the recording", "eventfd was refused",
                  "raise the limit of open files (ulimit -n)", errno);
    }
    worker_ = std::jthread([this, &from, &into, &now_and_then](const std::stop_token& ending) {
      const std::stop_callback wake(ending, [this] {
        const std::uint64_t one = 1;
        (void)!::write(wake_.number(), &one, sizeof one);
      });
      try {
        drainer drain(from, into, now_and_then);
        while (!ending.stop_requested()) {
          drain.turn(wake_.number());
        }
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }
  /// Throws what the thread threw.
  void end() {
    worker_ = std::jthread(); // the old one is asked to stop, and joined
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  sys::descriptor wake_;
  std::exception_ptr failure_;
  std::jthread worker_; ///< joined before the others are destroyed
};

void conclude(recording& what, sample_source& source, beginning from, double observer_s_before) {
  what.end_ns = monotonic_ns();
  source.stop();
  source.drain(what.log);
  what.log.finish();
  what.abilities = source.abilities();
  if (what.abilities.others) {
    what.log.keep_program(what.pid, from);
  }
  what.losses = source.losses();
  what.observer_s = own_processor_s() - observer_s_before;
}

/// Records the code that was mapped before the observation began.
void log_mappings(sys::process& of, event_log& log) {
  const auto text = of.read_file("maps");
  if (!text) {
    throw_unreadable(of, text.errno_value);
  }
  for (const mapping& each : parse_maps(text.value)) {
    if (each.executable) {
      log.take(module_mapped{.pid = of.pid(),
                             .start = each.where.first,
                             .end = each.where.last,
                             .file_offset = each.file_offset,
                             .executable = true,
                             .path = each.path.empty() ? "//anon" : each.path,
                             .build_id = {}});
    }
  }
}

/// Threads that watched ones have started meanwhile are watched already, as the log shows.
void watch_threads(sys::process& of, sample_source& source, event_log& log) {
  std::set<int> watched;
  std::size_t tasks_read = 0;
  for (bool found = true; found;) {
    found = false;
    const auto tids = of.threads();
    source.drain(log);
    for (; tasks_read < log.tasks().size(); ++tasks_read) {
      if (log.tasks()[tasks_read].what == task_change::thread_started) {
        watched.insert(log.tasks()[tasks_read].tid);
      }
    }
    for (const int tid : tids.value) {
      if (watched.insert(tid).second && source.watch(tid, beginning::now)) {
        if (const auto stat = read_task_stat(of, fmt::format("task/{}/stat", tid))) {
          log.take(task_event{.pid = of.pid(), .tid = tid, .name = stat->name});
        }
        found = true;
      }
    }
  }
}

bool has_ended(sys::process& which) {
  const auto tids = which.threads();
  if (!tids || tids.value.empty()) {
    return true;
  }
  const auto stat = read_task_stat(which, "stat");
  // A zombie has ended but is not reaped yet. Other threads can outlive the first.
  return !stat || (stat->state == 'Z' && tids.value.size() == 1);
}

} // namespace

recording record_program(const std::function<void()>& become, const recording_options& options) {
  const double used_before = own_processor_s();
  recording result;
  const auto source = make_fault_source(options.faults);
  background drain;
  result.end = sys::run_child(become, [&](int pid) {
    result.pid = pid;
    if (!source->watch(pid, beginning::at_exec)) {
      throw_ended(pid);
    }
    result.begin_ns = monotonic_ns();
    drain.begin(*source, result, options.now_and_then);
  });
  drain.end();
  conclude(result, *source, beginning::at_exec, used_before);
  return result;
}

recording record_process(int pid, std::optional<milliseconds> duration,
                         const std::function<bool()>& stop, const recording_options& options) {
  const double used_before = own_processor_s();
  recording result;
  result.pid = pid;
  const auto source = make_fault_source(options.faults);
  const auto process = sys::real_process(pid);
  if (const auto tids = process->threads(); !tids) {
    throw_unreadable(*process, tids.errno_value);
  }
  result.begin_ns = monotonic_ns();
  log_mappings(*process, result.log);
  watch_threads(*process, *source, result.log);
  const auto begin = steady_clock::now();
  drainer drain(*source, result, options.now_and_then);
  result.ended = has_ended(*process);
  while (!result.ended && !stop() && (!duration || steady_clock::now() - begin < *duration)) {
    drain.turn(-1);
    result.ended = has_ended(*process);
  }
  conclude(result, *source, beginning::now, used_before);
  return result;
}

} // namespace nodewise::observe
