// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <set>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "observe/ended.hpp"
#include "observe/proc_text.hpp"
#include "observe/thread_looks.hpp"
#include "sys/process.hpp"

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

/// Drains a source into a log until it is stopped.
class drainer {
 public:
  drainer(sample_source& from, event_log& into, int pid, const std::function<void()>& now_and_then)
      : from_(from), into_(into), looks_(pid), now_and_then_(now_and_then) {
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
    if (now_and_then_ && begin >= next_) {
      call_now_and_then();
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
  static constexpr int look_share = 100; ///< and `now_and_then_` at most 1 / `look_share`

  void call_now_and_then() {
    const auto begin = steady_clock::now();
    now_and_then_();
    const auto end = steady_clock::now();
    next_ = end + std::max<steady_clock::duration>(longest, (end - begin) * look_share);
  }

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
  background() = default;
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  ~background() {
    end();
    if (wake_ >= 0) {
      ::close(wake_);
    }
  }

  void begin(sample_source& from, event_log& into, int pid,
             const std::function<void()>& now_and_then) {
    wake_ = ::eventfd(0, EFD_CLOEXEC);
    if (wake_ < 0) {
      throw error(error_kind::system, "cannot start the recording", "eventfd was refused",
                  "raise the limit of open files (ulimit -n)", errno);
    }
    worker_ = std::thread([this, &from, &into, pid, &now_and_then] {
      try {
        drainer drain(from, into, pid, now_and_then);
        while (!ending_) {
          drain.turn(wake_);
        }
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }
  void end() noexcept {
    if (worker_.joinable()) {
      ending_ = true;
      const std::uint64_t one = 1;
      (void)!::write(wake_, &one, sizeof one);
      worker_.join();
    }
  }
  void rethrow() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  int wake_ = -1;
  std::atomic<bool> ending_ = false;
  std::exception_ptr failure_;
  std::thread worker_;
};

void conclude(recording& what, sample_source& source, sample_source::beginning from,
              double observer_s_before) {
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

/// Records what was mapped before the observation began.
void log_mappings(sys::process& of, bool data_too, event_log& log) {
  const auto text = of.read_file("maps");
  if (!text) {
    throw_unreadable(of, text.errno_value);
  }
  for (const mapping& each : parse_maps(text.value)) {
    if (each.executable || data_too) {
      log.take(module_mapped{of.pid(),
                             0,
                             each.where.first,
                             each.where.last,
                             each.file_offset,
                             each.executable,
                             each.path.empty() ? "//anon" : each.path,
                             {}});
    }
  }
}

void log_name(sys::process& of, int tid, event_log& log) {
  if (const auto stat = read_task_stat(of, fmt::format("task/{}/stat", tid))) {
    log.take(task_event{0, task_change::named, of.pid(), tid, 0, 0, stat->name});
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
      if (watched.insert(tid).second && source.watch(tid, sample_source::beginning::now)) {
        log_name(of, tid, log);
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
  result.log = event_log(options.limit_bytes);
  const auto source = make_fault_source(options.faults);
  background drain;
  result.end = sys::run_child(become, [&](int pid) {
    result.pid = pid;
    if (!source->watch(pid, sample_source::beginning::at_exec)) {
      throw_ended(pid);
    }
    result.begin_ns = monotonic_ns();
    drain.begin(*source, result.log, pid, options.now_and_then);
  });
  drain.end();
  drain.rethrow();
  conclude(result, *source, sample_source::beginning::at_exec, used_before);
  return result;
}

recording record_process(int pid, std::optional<milliseconds> duration,
                         const std::function<bool()>& stop, const recording_options& options) {
  const double used_before = own_processor_s();
  recording result;
  result.log = event_log(options.limit_bytes);
  result.pid = pid;
  const auto source = make_fault_source(options.faults);
  const auto process = sys::real_process(pid);
  if (const auto tids = process->threads(); !tids) {
    throw_unreadable(*process, tids.errno_value);
  }
  result.begin_ns = monotonic_ns();
  log_mappings(*process, options.faults.data_mappings, result.log);
  watch_threads(*process, *source, result.log);
  const auto begin = steady_clock::now();
  drainer drain(*source, result.log, pid, options.now_and_then);
  result.ended = has_ended(*process);
  while (!result.ended && !stop() && (!duration || steady_clock::now() - begin < *duration)) {
    drain.turn(-1);
    result.ended = has_ended(*process);
  }
  conclude(result, *source, sample_source::beginning::now, used_before);
  return result;
}

} // namespace nodewise::observe
