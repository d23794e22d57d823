// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "exports/trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "base/text.hpp"

namespace nodewise::exports {

namespace {

using trace_json = nlohmann::ordered_json;

double microseconds(double seconds) {
  return seconds * 1e6;
}

std::string node_name(node_id node) {
  return node == unknown_node ? "unknown node" : fmt::format("node {}", to_int(node));
}

/// The bytes of an object on each node, at its end.
std::map<node_id, std::uint64_t> bytes_by_node(const profile::object& what,
                                               std::uint64_t page_bytes) {
  std::map<node_id, std::uint64_t> bytes;
  for (const profile::resident_run& run : what.where) {
    bytes[run.node] += run.count * page_bytes;
  }
  return bytes;
}

trace_json by_name(const std::map<node_id, std::uint64_t>& bytes) {
  trace_json made = trace_json::object();
  for (const auto& [node, count] : bytes) {
    made[node_name(node)] = count;
  }
  return made;
}

/// Objects that were neither allocated nor freed at a known time have 0 for both.
bool has_times(const profile::object& what) {
  return what.freed_s > 0 && what.freed_s >= what.allocated_s;
}

class trace_writer {
 public:
  explicit trace_writer(const profile::profile& of) : of_(of) {}

  trace_json run(const std::string& machine) {
    for (const profile::program& each : of_.programs) {
      write(each);
    }
    return {{"traceEvents", std::move(events_)},
            {"displayTimeUnit", "ms"},
            {"otherData",
             {{"nodewise", NODEWISE_VERSION},
              {"machine", machine},
              {"command", of_.command},
              {"arrays_without_times", without_times_},
              {"missing", of_.seen.missing}}}};
  }

 private:
  // Kernels reuse the numbers of processes and threads, and a program that exec replaced has the
  // same number as its successor. Viewers need distinct ones, so they count from 1.
  void write(const profile::program& which) {
    pid_ = next_++;
    zero_s_ = which.ended_s > 0 ? which.began_s : 0;
    interval_s_ = which.interval_s;
    name_track("process_name", pid_, fmt::format("{} ({})", which.name, which.pid));
    name_track("thread_name", pid_, "run of the program");
    trace_json args = {{"pid", which.pid},
                       {"end", profile::to_string(which.end)},
                       {"uses_from", profile::to_string(which.use_from)}};
    if (which.rank) {
      args["rank"] = *which.rank;
    }
    const std::optional<double> length_s =
        which.ended_s > 0 ? std::optional(std::max(0.0, which.ended_s - which.began_s))
                          : std::nullopt;
    span(pid_, which.name, "program", 0, length_s, std::move(args));
    for (const profile::thread& each : which.threads) {
      write(each, length_s);
    }
    write_objects(which);
    write_uses(which);
  }

  void write(const profile::thread& which, std::optional<double> end_of_program) {
    const std::uint64_t track = next_++;
    name_track("thread_name", track,
               fmt::format("{}{}{}", which.name, which.name.empty() ? "" : " ", which.tid));
    trace_json stays = trace_json::array();
    for (const profile::thread::stay& each : which.stays) {
      const bool known = each.node != unknown_node;
      stays.push_back({{"node", known ? trace_json(to_int(each.node)) : trace_json("unknown")},
                       {"samples", each.samples}});
    }
    trace_json args = {{"tid", which.tid},
                       {"main", which.main},
                       {"migrations", which.migrations},
                       {"stays", std::move(stays)}};
    if (which.instructions > 0) {
      args["instructions"] = which.instructions;
    }
    const std::string nodes =
        joined(which.stays, ", ", [](const auto& each) { return node_name(each.node); });
    const std::optional<double> end_s = which.ended_s ? which.ended_s : end_of_program;
    span(track, nodes.empty() ? "node unknown" : nodes, "thread", which.began_s,
         end_s ? std::optional(std::max(0.0, *end_s - which.began_s)) : std::nullopt,
         std::move(args));
    if (end_s) {
      write_seen(which, track, *end_s);
    }
  }

  /// Spans inside that of the thread, one for each stay.
  void write_seen(const profile::thread& which, std::uint64_t track, double end_s) {
    for (const profile::node_run& run : which.seen) {
      const double from = std::max(time_of(run.first), which.began_s);
      const double to = std::min(time_of(run.first + run.count), end_s);
      if (from < to) {
        span(track, node_name(run.node), "node", from, to - from, trace_json::object());
      }
    }
  }

  void write_uses(const profile::program& which) {
    for (const profile::timed_uses& run : which.uses_in_time) {
      double local = 0;
      double remote = 0;
      double unknown = 0;
      for (const profile::node_use& each : run.by) {
        const bool known = each.from != unknown_node && each.memory != unknown_node;
        (!known ? unknown : each.from == each.memory ? local : remote) += each.amount;
      }
      trace_json one = event("C", "sampled accesses", std::max(0.0, time_of(run.first)));
      one["args"] = {{"local", std::llround(local)},
                     {"remote", std::llround(remote)},
                     {"unknown", std::llround(unknown)}};
      events_.push_back(std::move(one));
    }
  }

  /// The begin of an interval, after the start of the program that is being written.
  [[nodiscard]] double time_of(std::uint64_t interval) const {
    return static_cast<double>(interval) * interval_s_ - zero_s_;
  }

  void write_objects(const profile::program& which) {
    const std::vector<std::string> names = profile::names_of(which);
    // by time; added up modulo 2^64, so that what is added goes to 0 again
    std::map<double, std::map<node_id, std::uint64_t>> changes;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const profile::object& what = which.objects[i];
      if (!has_times(what)) {
        ++without_times_;
        continue;
      }
      write(what, names[i]);
      for (const auto& [node, bytes] : bytes_by_node(what, of_.page_bytes)) {
        changes[what.allocated_s][node] += bytes;
        changes[what.freed_s][node] -= bytes;
      }
    }
    std::map<node_id, std::uint64_t> now;
    for (const auto& [when_s, change] : changes) {
      for (const auto& [node, bytes] : change) {
        now[node] += bytes;
      }
      trace_json one = event("C", "array bytes by node", when_s);
      one["args"] = by_name(now);
      events_.push_back(std::move(one));
    }
  }

  void write(const profile::object& what, const std::string& name) {
    const std::string id = hexadecimal(next_++);
    trace_json begin = event("b", name, what.allocated_s);
    begin["cat"] = "array";
    begin["id"] = id;
    begin["args"] = {{"id", what.id},
                     {"kind", profile::to_string(what.kind)},
                     {"bytes", what.bytes},
                     {"resident_pages", what.resident},
                     {"live_at_end", what.live_at_end},
                     {"bytes_by_node", by_name(bytes_by_node(what, of_.page_bytes))}};
    events_.push_back(std::move(begin));
    trace_json end = event("e", name, what.freed_s);
    end["cat"] = "array";
    end["id"] = id;
    events_.push_back(std::move(end));
  }

  /// Of the program that is being written, at a time after its start.
  [[nodiscard]] trace_json event(const char* phase, const std::string& name, double when_s) const {
    return {{"ph", phase}, {"name", name}, {"ts", microseconds(zero_s_ + when_s)}, {"pid", pid_}};
  }

  void name_track(const char* kind, std::uint64_t track, const std::string& name) {
    events_.push_back(
        {{"ph", "M"}, {"name", kind}, {"pid", pid_}, {"tid", track}, {"args", {{"name", name}}}});
  }

  void span(std::uint64_t track, const std::string& name, const char* category, double begin_s,
            std::optional<double> length_s, trace_json args) {
    trace_json one = event(length_s ? "X" : "B", name, begin_s);
    one["tid"] = track;
    one["cat"] = category;
    if (length_s) {
      one["dur"] = microseconds(*length_s);
    }
    one["args"] = std::move(args);
    events_.push_back(std::move(one));
  }

  const profile::profile& of_;
  trace_json events_ = trace_json::array();
  std::uint64_t next_ = 1;
  std::uint64_t pid_ = 0; ///< of the program that is being written
  double zero_s_ = 0;     ///< its start
  double interval_s_ = 0; ///< its intervals
  std::size_t without_times_ = 0;
};

} // namespace

nlohmann::ordered_json trace(const profile::profile& of, const std::string& machine) {
  return trace_writer(of).run(machine);
}

} // namespace nodewise::exports
