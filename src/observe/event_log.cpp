// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/event_log.hpp"

#include <bit>
#include <utility>

namespace nodewise::observe {

namespace {

/// Memory of an entry in the tables of numbers: the entry, its node and its share of the buckets.
constexpr std::size_t number_bytes = 64;

std::uint64_t key_of(int pid, int tid) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(pid)) << 32 |
         static_cast<std::uint32_t>(tid);
}

bool drawn(std::uint64_t lot, unsigned halved) noexcept {
  return (lot & ((std::uint64_t{1} << halved) - 1)) == 0;
}

std::size_t bytes_of(const kept_stack& what) noexcept {
  return sizeof what + what.bytes.capacity();
}

/// The time from which each process belongs to a program.
class program_life {
 public:
  /// `tasks`: ascending by time. If they have no exec of `pid`, all of `pid` belongs to it.
  program_life(int pid, beginning from, const std::vector<task_event>& tasks) {
    if (from == beginning::now) {
      begins_.emplace(pid, 0);
    }
    for (const task_event& each : tasks) {
      if (each.what == task_change::executed && each.pid == pid) {
        begins_.try_emplace(pid, each.time_ns);
      } else if (each.what == task_change::process_forked && has(each.parent_pid, each.time_ns)) {
        begins_.insert_or_assign(each.pid, each.time_ns);
      }
    }
    begins_.try_emplace(pid, 0);
  }
  [[nodiscard]] bool has(int pid, std::uint64_t time_ns) const {
    const auto found = begins_.find(pid);
    return found != begins_.end() && found->second <= time_ns;
  }
  /// A thread that has just ended still migrates and faults for a moment, but has no tid any more:
  /// the kernel writes -1.
  [[nodiscard]] bool has(int pid, int tid, std::uint64_t time_ns) const {
    return tid > 0 && has(pid, time_ns);
  }

 private:
  std::unordered_map<int, std::uint64_t> begins_;
};

} // namespace

event_log::event_log(std::size_t limit_bytes, std::size_t page_bytes)
    : limit_bytes_(limit_bytes), page_shift_(static_cast<unsigned>(std::countr_zero(page_bytes))) {}

void event_log::take(const access_sample& what) {
  packed_sample packed = pack(what);
  if (marked_) {
    packed.first = is_first(packed) ? 1 : 0;
    if (!stays(packed)) {
      ++thinned_;
      return;
    }
  }
  sample_stream& stream = stream_of(what.cpu);
  const bool grows = stream.samples.size() % sample_stream::step == 0;
  stream.append(packed);
  ++samples_;
  if (grows && used_bytes() > limit_bytes_) {
    thin();
  }
}

void event_log::take(const stack_copy& what) {
  if (!drawn(pack(what.at).lot(), stacks_halved_)) {
    ++thinned_stacks_;
    return;
  }
  stacks_.push_back({what.at, what.registers, {what.bytes.begin(), what.bytes.end()}});
  stack_bytes_ += bytes_of(stacks_.back());
  if (stack_bytes_ > limit_bytes_ / 4) {
    ++stacks_halved_;
    thinned_stacks_ += std::erase_if(stacks_, [this](const kept_stack& stack) {
      return !drawn(pack(stack.at).lot(), stacks_halved_);
    });
    count_stack_bytes();
  }
}

void event_log::take(module_mapped what) {
  if (has_room(sizeof what + what.path.size() + what.build_id.size())) {
    modules_.push_back(std::move(what));
  }
}

void event_log::take(task_event what) {
  if (has_room(sizeof what)) {
    tasks_.push_back(std::move(what));
  }
}

void event_log::take(const thread_sighting& what) {
  if (has_room(sizeof what)) {
    sightings_.push_back(what);
  }
}

bool event_log::has_room(std::size_t bytes) noexcept {
  if (other_bytes_ + bytes > limit_bytes_ / 8) {
    ++left_out_;
    return false;
  }
  other_bytes_ += bytes;
  return true;
}

std::uint32_t event_log::ip_number(std::uint64_t ip) {
  const bool full = ips_.values.size() + 1 == packed_sample::most_ips;
  return ips_.number_of(full && !ips_.numbers.contains(ip) ? 0 : ip); // 0: not distinguished
}

packed_sample event_log::pack(const access_sample& what) {
  packed_sample packed{};
  packed.time_ns = what.time_ns;
  packed.address = what.address;
  packed.ip = ip_number(what.ip) & (packed_sample::most_ips - 1);
  const int node = to_int(what.node);
  if (node >= 0 && node < static_cast<int>(packed_sample::most_nodes)) {
    packed.node = (static_cast<std::uint32_t>(node) + 1) & packed_sample::most_nodes;
  }
  packed.task = tasks_seen_.number_of(key_of(what.pid, what.tid)) & (packed_sample::most_tasks - 1);
  if (std::has_single_bit(what.page_bytes)) {
    const auto log = static_cast<unsigned>(std::countr_zero(what.page_bytes));
    packed.page =
        (log > packed_sample::page_log_base ? log - packed_sample::page_log_base : 0) & 31;
  }
  packed.kind = static_cast<std::uint32_t>(what.kind) & 3;
  return packed;
}

access_sample event_log::unpack(const packed_sample& what, int cpu) const {
  const task_ids ids = ids_of(what);
  access_sample sample;
  sample.time_ns = what.time_ns;
  sample.address = what.address;
  sample.ip = ips_.values[what.ip];
  sample.pid = ids.pid;
  sample.tid = ids.tid;
  sample.cpu = cpu;
  sample.kind = static_cast<sample_kind>(what.kind);
  sample.node = node_id{static_cast<int>(what.node) - 1};
  sample.page_bytes =
      what.page == 0 ? 0 : std::uint64_t{1} << (what.page + packed_sample::page_log_base);
  return sample;
}

sample_stream& event_log::stream_of(int cpu) {
  const auto [found, added] = stream_by_cpu_.try_emplace(cpu, streams_.size());
  if (added) {
    streams_.push_back({cpu, {}});
  }
  return streams_[found->second];
}

bool event_log::is_first(const packed_sample& what) {
  return pages_.insert(ids_of(what).pid, what.address >> page_shift_);
}

bool event_log::stays(const packed_sample& what) const noexcept {
  return drawn(what.lot(), what.first != 0 ? firsts_halved_ : repeats_halved_);
}

void event_log::mark_firsts() {
  std::ranges::for_each(streams_, &sample_stream::sort);
  stream_merge merge(streams_);
  while (const auto at = merge.next()) {
    packed_sample& sample = streams_[at->stream].samples[at->index];
    sample.first = is_first(sample) ? 1 : 0;
  }
  marked_ = true;
}

void event_log::thin() {
  if (!marked_) {
    mark_firsts();
  }
  // Free a quarter, so that this happens rarely; a log too small for its own tables stays over its
  // limit.
  const std::size_t aim = limit_bytes_ / 4 * 3;
  for (int turn = 0; turn < 8 && used_bytes() > aim; ++turn) {
    std::uint64_t repeats = 0;
    for (const sample_stream& stream : streams_) {
      repeats += static_cast<std::uint64_t>(std::ranges::count(
          stream.samples, 0U, [](const packed_sample& each) { return each.first; }));
    }
    unsigned& halved = repeats > samples_ / 8 ? repeats_halved_ : firsts_halved_;
    ++halved;
    std::uint64_t left = 0;
    for (sample_stream& stream : streams_) {
      std::erase_if(stream.samples, [this](const packed_sample& each) { return !stays(each); });
      left += stream.samples.size();
    }
    thinned_ += samples_ - left;
    samples_ = left;
  }
}

void event_log::count_stack_bytes() noexcept {
  stack_bytes_ = 0;
  for (const kept_stack& stack : stacks_) {
    stack_bytes_ += bytes_of(stack);
  }
}

std::size_t event_log::used_bytes() const noexcept {
  std::size_t bytes = stack_bytes_ + other_bytes_ + pages_.used_bytes() +
                      (ips_.values.size() + tasks_seen_.values.size()) * number_bytes;
  for (const sample_stream& stream : streams_) {
    bytes += stream.used_bytes();
  }
  return bytes;
}

void event_log::finish() {
  std::ranges::for_each(streams_, &sample_stream::sort);
  std::ranges::sort(stacks_, {}, [](const kept_stack& each) { return each.at.time_ns; });
  std::ranges::sort(modules_, {}, &module_mapped::time_ns);
  std::ranges::sort(tasks_, {}, &task_event::time_ns);
  std::ranges::sort(sightings_, {}, &thread_sighting::time_ns);
}

void event_log::keep_program(int pid, beginning from) {
  const program_life life(pid, from, tasks_);
  samples_ = 0;
  for (sample_stream& stream : streams_) {
    std::erase_if(stream.samples, [&](const packed_sample& each) {
      const task_ids by = ids_of(each);
      return !life.has(by.pid, by.tid, each.time_ns);
    });
    samples_ += stream.samples.size();
  }
  std::erase_if(stacks_, [&](const kept_stack& each) {
    return !life.has(each.at.pid, each.at.tid, each.at.time_ns);
  });
  count_stack_bytes();
  std::erase_if(modules_, [&](const auto& each) { return !life.has(each.pid, each.time_ns); });
  const auto keep_threads_in = [&](auto& list) {
    std::erase_if(list,
                  [&](const auto& each) { return !life.has(each.pid, each.tid, each.time_ns); });
  };
  keep_threads_in(tasks_);
  keep_threads_in(sightings_);
}

std::optional<access_sample> event_log::reader::next() {
  const auto at = merge_.next();
  if (!at) {
    return std::nullopt;
  }
  const sample_stream& stream = log_.streams_[at->stream];
  return log_.unpack(stream.samples[at->index], stream.cpu);
}

std::vector<migration> migrations_of(const event_log& log) {
  std::unordered_map<std::uint64_t, int> last;
  std::vector<migration> moves;
  const auto see = [&](std::uint64_t time_ns, int pid, int tid, int cpu) {
    const auto [found, added] = last.try_emplace(key_of(pid, tid), cpu);
    if (!added && found->second != cpu) {
      moves.push_back({time_ns, pid, tid, std::exchange(found->second, cpu), cpu});
    }
  };
  auto sighting = log.sightings().begin();
  const auto see_until = [&](std::uint64_t time_ns) {
    for (; sighting != log.sightings().end() && sighting->time_ns <= time_ns; ++sighting) {
      see(sighting->time_ns, sighting->pid, sighting->tid, sighting->cpu);
    }
  };
  auto samples = log.read();
  while (const auto sample = samples.next()) {
    see_until(sample->time_ns);
    see(sample->time_ns, sample->pid, sample->tid, sample->cpu);
  }
  see_until(~std::uint64_t{0});
  return moves;
}

} // namespace nodewise::observe
