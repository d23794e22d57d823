// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/fault_source.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "observe/event_log.hpp"
#include "observe/fault_rings.hpp"
#include "observe/locate.hpp"
#include "observe/refused.hpp"
#include "sys/perf.hpp"

namespace nodewise::observe {

namespace {

using std::chrono::steady_clock;

enum class role : std::uint8_t {
  samples,   ///< of each fault; also task events
  moves,     ///< of threads between processors
  stacks,    ///< of some faults
  all_stacks ///< of each fault
};

struct opened_event {
  sys::perf_event event;
  role as;
};

cpu_set online_cpus() {
  const auto text = sys::real_kernel().read_file("/sys/devices/system/cpu/online");
  if (!text) {
    throw error(error_kind::system, "cannot read /sys/devices/system/cpu/online", "", "mount sysfs",
                text.errno_value);
  }
  return cpu_set::parse(text.value);
}

// The kernel's records as the types of sample.hpp.

std::string digits_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  }
  return text;
}

access_sample sample_of(const sys::perf_sample& record, int cpu, const frame_map& frames) {
  static const auto frame_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const node_id node =
      record.physical == 0 ? unknown_node : frames.node_of(record.physical / frame_bytes);
  return {record.time_ns,     record.address,    record.ip, record.pid, record.tid, cpu,
          sample_kind::fault, record.page_bytes, node};
}

module_mapped module_of(const sys::perf_mapping& record) {
  return {.pid = record.pid,
          .time_ns = record.time_ns,
          .start = record.start,
          .end = record.start + record.bytes,
          .file_offset = record.file_offset,
          .executable = record.executable,
          .path = std::string(record.path),
          .build_id = digits_of(record.build_id)};
}

task_event event_of(const sys::perf_task& record) {
  return {.time_ns = record.time_ns,
          .what = record.ended                      ? task_change::ended
                  : record.pid == record.parent_pid ? task_change::thread_started
                                                    : task_change::process_forked,
          .pid = record.pid,
          .tid = record.tid,
          .parent_pid = record.parent_pid,
          .parent_tid = record.parent_tid,
          .name = {}};
}

task_event event_of(const sys::perf_name& record) {
  return {.time_ns = record.time_ns,
          .what = record.by_exec ? task_change::executed : task_change::named,
          .pid = record.pid,
          .tid = record.tid,
          .name = std::string(record.name)};
}

class perf_fault_source final : public sample_source {
 public:
  explicit perf_fault_source(const fault_source_options& options)
      : options_(options), whole_(options.whole_machine) {}

  [[nodiscard]] source_abilities abilities() const override {
    source_abilities can{.first_touches = true,
                         .kernel = !user_only_,
                         .stacks = options_.stack_bytes != 0,
                         .others = whole_,
                         .missing = {}};
    if (user_only_) {
      can.missing.emplace_back(
          "page faults inside system calls (read(2) into fresh memory) were not sampled: sysctl "
          "kernel.perf_event_paranoid=1 as root, or CAP_PERFMON, permits it");
    }
    return can;
  }
  bool watch(int tid, beginning when) override {
    if (rings_.empty()) {
      sys::raise_open_files();
      cpus_ = online_cpus();
      learn_permissions(tid);
      rings_ = make_rings(cpus_, options_.ring_bytes, options_.stack_bytes != 0);
    }
    if (whole_ && !events_.empty()) {
      return true; // all threads are watched already
    }
    const std::size_t before = events_.size();
    for (const processor_rings& rings : rings_) {
      const int refused = open_on(rings, tid, when);
      if (refused == 0 || refused == ENODEV) { // a processor went offline
        continue;
      }
      const std::size_t opened = events_.size();
      // Also before an error: reporting it may need a file.
      events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(before), events_.end());
      if (refused == ESRCH) {
        return false;
      }
      throw_events_refused(tid, opened, refused);
    }
    return true;
  }
  [[nodiscard]] std::vector<int> descriptors() const override {
    std::vector<int> all;
    for (const processor_rings& each : rings_) {
      for (const anchored_ring* const ring : {&each.samples, &each.stacks}) {
        if (ring->anchor.descriptor() >= 0) {
          all.push_back(ring->anchor.descriptor());
        }
      }
    }
    return all;
  }
  std::uint64_t drain(event_log& into) override {
    std::uint64_t samples = 0;
    for (processor_rings& each : rings_) {
      drain_samples(each, into, samples);
    }
    if (options_.stack_bytes != 0) {
      std::uint64_t stacks = 0;
      const std::uint64_t lost_before = losses_.stacks;
      for (processor_rings& each : rings_) {
        drain_stacks(each, into, stacks);
      }
      adjust_stacks(samples, stacks, losses_.stacks - lost_before);
    }
    losses_.taken += samples;
    return samples;
  }
  void stop() override {
    losses_.counted = 0;
    for (const opened_event& each : events_) {
      (void)each.event.enable(false);
      if (each.as == role::samples) {
        losses_.counted += each.event.count().value;
      }
    }
  }
  /// The kernel reports a loss with the next record that fits, so it never reports the last ones,
  /// and it does not report which of them were samples.
  [[nodiscard]] source_losses losses() const override {
    source_losses all = losses_;
    if (all.counted != 0) {
      all.lost = all.counted - std::min(all.counted, all.taken);
      all.others = losses_.lost - std::min(losses_.lost, all.lost);
    }
    return all;
  }

 private:
  [[nodiscard]] sys::perf_request request_of(role as, int tid, cpu_id cpu) const {
    using enum sys::perf_counter;
    sys::perf_request request{.tid = whole_ ? sys::any_task : tid,
                              .cpu = cpu,
                              .frames = frames_ && (as == role::samples || as == role::moves),
                              .user_only = user_only_};
    if (as == role::samples) {
      request.what = minor_faults;
      request.task_records = true;
      request.build_ids = build_ids_;
    } else if (as == role::moves) {
      request.what = migrations;
    } else {
      // A different counter for nearly the same faults; perf_request explains why.
      request.what = any_faults;
      request.period = as == role::stacks ? options_.stack_period : 1;
      request.stack_bytes = options_.stack_bytes;
    }
    return request;
  }

  /// Finds out what this system permits, by the first thread that is watched.
  void learn_permissions(int tid) {
    for (;;) {
      sys::perf_request request = request_of(role::samples, tid, cpus_.first());
      request.disabled = true;
      const int refused = sys::perf_event::open(request).errno_value;
      if (refused == 0 || refused == ESRCH) {
        return;
      }
      const bool forbidden = refused == EACCES || refused == EPERM;
      if (forbidden && whole_) {
        whole_ = false;
      } else if (forbidden && (frames_ || !user_only_)) {
        user_only_ = !frames_;
        frames_ = false;
      } else if (refused == EINVAL && frames_) {
        frames_ = false;
      } else if (refused == EINVAL && build_ids_) {
        build_ids_ = false;
      } else {
        throw_events_refused(tid, 0, refused);
      }
    }
  }

  [[nodiscard]] int open(role as, int tid, beginning when, cpu_id cpu, const anchored_ring& into) {
    sys::perf_request request = request_of(as, tid, cpu);
    const bool from_exec = when == beginning::at_exec && !whole_; // a processor's event has no exec
    request.from_exec = from_exec;
    request.disabled = true;
    auto event = sys::perf_event::open(request);
    if (!event) {
      return event.errno_value;
    }
    if (const int refused = event.value.redirect_to(into.anchor)) {
      return refused;
    }
    // Enable only now, so that every sample has a ring.
    if (!from_exec && (as != role::all_stacks || all_stacks_on_)) {
      if (const int refused = event.value.enable()) {
        return refused;
      }
    }
    events_.push_back({std::move(event.value), as});
    return 0;
  }

  [[nodiscard]] int open_on(const processor_rings& rings, int tid, beginning when) {
    using enum role;
    for (const role as : {stacks, all_stacks, moves, samples}) {
      const bool for_stacks = as == stacks || as == all_stacks;
      if ((for_stacks && options_.stack_bytes == 0) || (as == moves && user_only_)) {
        continue;
      }
      if (const int refused =
              open(as, tid, when, rings.cpu, for_stacks ? rings.stacks : rings.samples)) {
        return refused;
      }
    }
    return 0;
  }

  /// Passes on what is in a ring, except that it counts lost and damaged records.
  template <class Take>
  void drain_ring(sys::perf_ring& from, const sys::perf_layout& layout, std::uint64_t& lost,
                  const Take& take) {
    losses_.damaged += from.drain([&](std::span<const std::byte> bytes) {
      const sys::perf_record record = sys::decode_record(bytes, layout);
      if (const auto* const full = std::get_if<sys::perf_lost>(&record)) {
        lost += full->count;
      } else if (std::holds_alternative<sys::perf_damaged>(record)) {
        ++losses_.damaged;
      } else {
        take(record);
      }
    });
  }

  void drain_samples(processor_rings& from, event_log& into, std::uint64_t& samples) {
    const int cpu = to_int(from.cpu);
    const sys::perf_layout layout{.physical = frames_};
    drain_ring(from.samples.ring, layout, losses_.lost, [&](const sys::perf_record& record) {
      const auto* const sample = std::get_if<sys::perf_sample>(&record);
      if (sample != nullptr && sample->address != 0) {
        into.take(sample_of(*sample, cpu, nodes_));
        ++samples;
      } else if (sample != nullptr) { // only migrations have no address
        into.take(thread_sighting{sample->time_ns, sample->pid, sample->tid, cpu});
      } else if (const auto* const mapping = std::get_if<sys::perf_mapping>(&record)) {
        into.take(module_of(*mapping));
      } else if (const auto* const task = std::get_if<sys::perf_task>(&record)) {
        into.take(event_of(*task));
      } else if (const auto* const name = std::get_if<sys::perf_name>(&record)) {
        into.take(event_of(*name));
      }
    });
  }

  void drain_stacks(processor_rings& from, event_log& into, std::uint64_t& stacks) {
    const sys::perf_layout layout{.stack = true};
    drain_ring(from.stacks.ring, layout, losses_.stacks, [&](const sys::perf_record& record) {
      const auto* const sample = std::get_if<sys::perf_sample>(&record);
      if (sample == nullptr || sample->stack.empty()) {
        losses_.stacks += sample == nullptr ? 0 : 1;
        return;
      }
      into.take(stack_copy{sample_of(*sample, to_int(from.cpu), nodes_), sample->registers,
                           sample->stack});
      ++stacks;
    });
  }

  /// Rarely touched arrays should have a stack from their first pages on, and large ones should not
  /// produce too many copies.
  void adjust_stacks(std::uint64_t samples, std::uint64_t stacks, std::uint64_t stacks_lost) {
    constexpr std::uint64_t many_stacks = 24;
    constexpr std::int64_t few_a_second = 500;
    constexpr std::chrono::milliseconds long_enough{5};
    const auto now = steady_clock::now();
    if (all_stacks_on_) {
      if (stacks >= many_stacks || stacks_lost != 0) {
        switch_all_stacks(false);
      }
      counted_from_ = now;
      return;
    }
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - counted_from_);
    counted_faults_ += samples;
    if (passed >= long_enough) {
      if (static_cast<std::int64_t>(counted_faults_) * 1000 < few_a_second * passed.count()) {
        switch_all_stacks(true);
      }
      counted_faults_ = 0;
      counted_from_ = now;
    }
  }

  void switch_all_stacks(bool on) {
    all_stacks_on_ = on;
    for (const opened_event& each : events_) {
      if (each.as == role::all_stacks) {
        // Refused only if the thread has ended.
        (void)each.event.enable(on);
      }
    }
  }

  fault_source_options options_;
  cpu_set cpus_; ///< online
  std::vector<processor_rings> rings_;
  std::vector<opened_event> events_;
  bool user_only_ = false;
  bool whole_; ///< events are of processors, not of tasks
  frame_map nodes_ = frame_map::read();
  bool frames_ = !nodes_.empty(); ///< samples have physical addresses
  bool build_ids_ = true;
  bool all_stacks_on_ = true;
  steady_clock::time_point counted_from_ = steady_clock::now();
  std::uint64_t counted_faults_ = 0; ///< since then
  source_losses losses_;
};

} // namespace

std::unique_ptr<sample_source> make_fault_source(const fault_source_options& options) {
  return std::make_unique<perf_fault_source>(options);
}

} // namespace nodewise::observe
