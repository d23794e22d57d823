// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/assemble.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace nodewise::attribution {

namespace {

enum class happening { task, code, sighting, report, allocation, freed };

void stay(profile::thread& who, node_id where) {
  const auto at = std::ranges::lower_bound(who.stays, where, {}, &profile::thread::stay::node);
  if (at != who.stays.end() && at->node == where) {
    ++at->samples;
  } else {
    who.stays.insert(at, {where, 1});
  }
}

/// An event in time, by its position in the list of its kind.
struct moment {
  std::uint64_t time_ns;
  happening what;
  std::size_t process; ///< of the agent's report
  std::size_t at;
  friend auto operator<=>(const moment&, const moment&) = default;
};

class walk {
 public:
  explicit walk(const heard& from)
      : from_(from), grid_(from.recorded.begin_ns, from.recorded.end_ns),
        lives_(from.recorded.begin_ns), samples_(from.recorded.log.read()) {
    for (const memory_node& node : from.on.nodes) {
      for (const cpu_id cpu : node.cpus) {
        node_of_[to_int(cpu)] = static_cast<std::int16_t>(to_int(node.id));
      }
    }
    for (const launch::process_report& process : from.reported.processes) {
      if (process.numa_pinner && process.numa_pinner->tid != 0) {
        agents_own_.insert(process.numa_pinner->tid);
      }
      agents_own_.insert(process.helpers.begin(), process.helpers.end());
    }
  }

  swept run() {
    if (from_.mapped != nullptr) {
      add_mapped(lives_.of(from_.recorded.pid, from_.recorded.begin_ns), *from_.mapped);
    }
    const std::vector<moment> moments = all_moments();
    next_sample_ = samples_.next();
    for (const moment& each : moments) {
      take_until(each.time_ns);
      take(each);
    }
    take_until(~std::uint64_t{0});
    for (life& each : lives_.all()) {
      each.to_ns = each.ended ? each.to_ns : from_.recorded.end_ns;
    }
    result_.programs = std::move(lives_.all());
    return std::move(result_);
  }

 private:
  std::vector<moment> all_moments() const {
    std::vector<moment> all;
    const observe::event_log& log = from_.recorded.log;
    const auto add = [&](const auto& events, auto time_ns, happening what, std::size_t process) {
      for (std::size_t i = 0; i < events.size(); ++i) {
        all.push_back({events[i].*time_ns, what, process, i});
      }
    };
    add(log.tasks(), &observe::task_event::time_ns, happening::task, 0);
    add(log.modules(), &observe::module_mapped::time_ns, happening::code, 0);
    add(log.sightings(), &observe::thread_sighting::time_ns, happening::sighting, 0);
    for (std::size_t p = 0; p < from_.reported.processes.size(); ++p) {
      const launch::process_report& process = from_.reported.processes[p];
      all.push_back({process.time_ns, happening::report, p, 0});
      add(process.allocations, &launch::allocation_report::time_ns, happening::allocation, p);
      add(process.objects, &launch::object_report::freed_ns, happening::freed, p);
    }
    std::ranges::sort(all);
    return all;
  }

  void take(const moment& at) {
    const observe::event_log& log = from_.recorded.log;
    switch (at.what) {
    case happening::task:
      if (!agents_own_.contains(log.tasks()[at.at].tid)) {
        lives_.take(log.tasks()[at.at]);
      }
      break;
    case happening::code:
      lives_.of(log.modules()[at.at].pid, at.time_ns).map_code(log.modules()[at.at]);
      break;
    case happening::sighting:
      if (const auto& seen = log.sightings()[at.at]; !agents_own_.contains(seen.tid)) {
        life& in = lives_.of(seen.pid, at.time_ns);
        const profile::thread_index who = in.thread_of(seen.tid);
        const node_id where{node_of(seen.cpu)};
        stay(in.threads[who], where);
        in.in_time.see(grid_.at(at.time_ns), who, where);
      }
      break;
    case happening::report:
      lives_.of(process(at).pid, at.time_ns).report = &process(at);
      break;
    case happening::allocation:
      take_allocation(lives_.of(process(at).pid, at.time_ns), process(at), at.at);
      break;
    case happening::freed:
      take_death(lives_.of(process(at).pid, at.time_ns), process(at).objects[at.at]);
      break;
    }
  }
  [[nodiscard]] std::int16_t node_of(int cpu) const {
    const auto found = node_of_.find(cpu);
    return found == node_of_.end() ? std::int16_t{-1} : found->second;
  }
  [[nodiscard]] const launch::process_report& process(const moment& at) const {
    return from_.reported.processes[at.process];
  }

  /// Also handles an object that moves or changes its size.
  static void take_allocation(life& in, const launch::process_report& from, std::size_t at) {
    const launch::allocation_report& object = from.allocations[at];
    const bool is_new = !in.object_by_id.contains(object.sequence);
    observed_object& made = in.object_of(object.sequence);
    if (is_new) {
      made.allocation = &object;
      made.maker_tid = object.tid;
      made.stack = object.stack;
      // Static arrays exist from the start; the agent reports them when it sees them.
      made.allocated_ns =
          object.what == launch::object_report::kind::static_array ? in.from_ns : object.time_ns;
    } else {
      in.live.erase(made.start);
    }
    made.start = object.start;
    made.bytes = object.bytes;
    in.live[made.start] = in.object_by_id[object.sequence];
    if (object.what == launch::object_report::kind::group) {
      // It grows in its own address range without further reports.
      const auto last =
          std::ranges::find(from.objects, object.sequence, &launch::object_report::sequence);
      made.bytes = std::max(made.bytes, last == from.objects.end() ? 0 : last->bytes);
    }
  }

  static void take_death(life& in, const launch::object_report& object) {
    observed_object& gone = in.object_of(object.sequence);
    if (gone.allocation == nullptr) {
      gone.allocated_ns = object.allocated_ns;
      gone.maker_tid = object.maker_tid.value_or(0);
      gone.stack = object.stack;
      gone.start = object.start;
    }
    gone.bytes = object.bytes;
    gone.freed_ns = object.freed_ns;
    gone.report = &object;
    const auto found = in.live.find(gone.start);
    if (found != in.live.end() && found->second == in.object_by_id[object.sequence]) {
      in.live.erase(found);
    }
  }

  void take_until(std::uint64_t time_ns) {
    while (next_sample_ && next_sample_->time_ns < time_ns) {
      take_stacks_before(next_sample_->time_ns);
      take(*next_sample_);
      next_sample_ = samples_.next();
      constexpr std::uint64_t now_and_then = 4096;
      if (++taken_ % now_and_then == 0 && from_.done) {
        from_.done(taken_);
      }
    }
    take_stacks_before(time_ns);
  }

  void take_stacks_before(std::uint64_t time_ns) {
    const auto& stacks = from_.recorded.log.stacks();
    for (; next_stack_ < stacks.size() && stacks[next_stack_].at.time_ns < time_ns; ++next_stack_) {
      const observe::access_sample& at = stacks[next_stack_].at;
      life& in = lives_.of(at.pid, at.time_ns);
      if (const observed_object* const object = in.object_at(at.address)) {
        const auto number = static_cast<std::size_t>(&in - lives_.all().data());
        const auto by = static_cast<std::uint32_t>(in.thread_of(at.tid));
        constexpr std::size_t enough = 8; // for one instruction, object and thread
        if (kept_[{number, object->id, at.ip, by}]++ < enough) {
          result_.stacks.push_back({next_stack_, number, object->id, at.ip, by});
        }
      }
    }
  }

  void take(const observe::access_sample& what) {
    if (agents_own_.contains(what.tid)) {
      return;
    }
    life& in = lives_.of(what.pid, what.time_ns);
    const profile::thread_index by = in.thread_of(what.tid);
    const std::int16_t from = node_of(what.cpu);
    const std::uint64_t interval = grid_.at(what.time_ns);
    stay(in.threads[by], node_id{from});
    in.in_time.see(interval, by, node_id{from});
    observed_object* const object = in.object_at(what.address);
    if (object == nullptr) {
      ++in.outside;
      return;
    }
    const std::uint64_t page = what.address / from_.page_bytes - object->start / from_.page_bytes;
    const auto number = static_cast<std::uint32_t>(by);
    if (what.kind == observe::sample_kind::access ||
        (from_.balancing && object->is_touched(page))) {
      object->accesses.push_back({static_cast<std::uint32_t>(page), number});
      ++object->accesses_at[what.ip];
      ++result_.accesses;
      in.in_time.use(interval, node_id{from}, what.node);
      return;
    }
    const auto how =
        is_kernel_code(what.ip) ? profile::touch_kind::kernel : profile::touch_kind::code;
    const touching_code code{what.ip, how, number, from, 0};
    const auto memory = static_cast<std::int16_t>(to_int(what.node));
    object->touch(page, code, memory);
    if (what.page_bytes > from_.page_bytes) { // a touch of a huge page touches all its base pages
      const std::uint64_t begin = what.address / what.page_bytes * what.page_bytes;
      const std::uint64_t end = std::min(begin + what.page_bytes, object->start + object->bytes);
      const std::uint64_t first = object->start / from_.page_bytes;
      for (std::uint64_t each = std::max(begin, object->start) / from_.page_bytes;
           each < end / from_.page_bytes; ++each) {
        object->touch(each - first, code, memory);
      }
    }
  }

  const heard& from_;
  interval_grid grid_;
  lives lives_;
  observe::event_log::reader samples_;
  std::optional<observe::access_sample> next_sample_;
  std::uint64_t taken_ = 0;
  std::size_t next_stack_ = 0;
  std::map<int, std::int16_t> node_of_; ///< by processor
  std::set<int> agents_own_;            ///< threads that the agent runs, not the program
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t, std::uint32_t>, std::size_t> kept_;
  swept result_;
};

} // namespace

swept sweep(const heard& from) {
  swept result = walk(from).run();
  for (const observe::migration& each : observe::migrations_of(from.recorded.log)) {
    for (life& in : result.programs) {
      if (in.pid == each.pid && each.time_ns >= in.from_ns && each.time_ns <= in.to_ns) {
        ++in.threads[in.thread_of(each.tid)].migrations;
        break;
      }
    }
  }
  return result;
}

} // namespace nodewise::attribution
