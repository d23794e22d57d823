// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/assemble.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "attribution/page_runs.hpp"
#include "base/path.hpp"
#include "symbols/module.hpp"

namespace nodewise::attribution {

namespace {

constexpr std::size_t most_touches = 16; ///< reported per object
constexpr std::size_t most_using = 16;
constexpr std::uint64_t rest_id = ~std::uint64_t{0} >> 2U;

profile::object_kind kind_of(launch::object_report::kind what) {
  using enum profile::object_kind;
  constexpr std::array kinds = {heap, map, static_array, group, region, file}; // by `kind`
  return kinds[static_cast<std::size_t>(what)];
}

/// Of GCC's and LLVM's OpenMP, and tbb::task_group::wait.
bool starts_tasks(const std::string& file) {
  constexpr std::array<std::string_view, 4> starters = {
      "GOMP_task", "__kmpc_omp_task", "__kmpc_taskloop", "_ZN3tbb6detail2r14waitE"};
  return symbols::imports_any(file, starters);
}

class assembly {
 public:
  assembly(const heard& from, std::size_t huge_bytes)
      : from_(from), huge_bytes_(huge_bytes), swept_(sweep(from)),
        chains_(from.recorded.log, swept_) {}

  profile::profile run() {
    profile::profile made;
    made.page_bytes = from_.page_bytes;
    made.seen = evidence();
    made.cost.wall_s = seconds_between(from_.recorded.begin_ns, from_.recorded.end_ns);
    made.cost.observer_s = from_.recorded.observer_s;
    std::uint64_t elsewhere = 0;
    for (std::size_t i = 0; i < swept_.programs.size(); ++i) {
      const life& in = swept_.programs[i];
      if (in.outside != 0 || !in.objects.empty() || in.report != nullptr) {
        made.programs.push_back(program(i));
        for (const profile::object& each : made.programs.back().objects) {
          elsewhere += elsewhere_of(each.touched, each.where);
        }
      }
    }
    made.seen.pages_moved = std::min(elsewhere, from_.migrated); // the rest: node was full
    return made;
  }

 private:
  profile::evidence evidence() const {
    const observe::recording& heard = from_.recorded;
    profile::evidence made;
    made.faults = heard.abilities.first_touches;
    made.chains = heard.abilities.stacks;
    made.kernel = heard.abilities.kernel;
    made.hinting = from_.balancing && made.faults;
    made.agent = !from_.reported.processes.empty();
    made.hinting_samples = swept_.accesses;
    made.fault_samples = heard.log.samples() - std::min(heard.log.samples(), swept_.accesses);
    made.lost_samples = heard.losses.lost;
    made.thinned_samples = heard.log.thinned();
    made.missing = heard.abilities.missing;
    for (const launch::process_report& each : from_.reported.processes) {
      made.pages_bound += each.numa_pinner ? each.numa_pinner->pages : 0;
    }
    if (heard.losses.others != 0) {
      made.missing.push_back(
          fmt::format("{} records of threads and loaded files were lost", heard.losses.others));
    }
    return made;
  }

  profile::program program(std::size_t index) {
    life& in = swept_.programs[index];
    profile::program made;
    made.pid = in.pid;
    made.parent = in.parent;
    made.file = in.file;
    made.build_id = symbols::build_id(in.file);
    made.name = in.report != nullptr && !in.report->program.empty() ? in.report->program : in.name;
    made.end = end_of(in);
    made.began_s = seconds_between(from_.recorded.begin_ns, in.from_ns);
    made.ended_s = seconds_between(from_.recorded.begin_ns, in.to_ns);
    made.openmp = in.openmp;
    made.tbb = in.tbb;
    made.tasks = starts_tasks(in.file);
    made.use_from =
        from_.balancing ? profile::use_source::hinting_faults : profile::use_source::none;
    std::ranges::sort(in.objects, {}, &observed_object::id);
    for (observed_object& each : in.objects) {
      made.objects.push_back(each.area != nullptr ? mapped_object(index, each)
                                                  : object(index, each));
    }
    if (in.outside != 0) {
      made.objects.push_back(rest_of(in));
    }
    made.libraries = libraries_of(in, made.objects);
    add_reported_threads(in);
    made.threads = in.threads;
    add_times(in, made);
    return made;
  }

  void add_times(const life& in, profile::program& made) const {
    const interval_grid grid(from_.recorded.begin_ns, from_.recorded.end_ns);
    made.interval_s = grid.length_s();
    made.uses_in_time = in.in_time.uses();
    for (std::size_t i = 0; i < made.threads.size(); ++i) {
      const std::optional<double>& ended_s = made.threads[i].ended_s;
      const std::uint64_t end_ns =
          ended_s ? in.from_ns + static_cast<std::uint64_t>(*ended_s * 1e9) : in.to_ns;
      made.threads[i].seen = in.in_time.seen(i, grid.at(end_ns));
    }
  }

  /// The files with a build id whose code is on the stack of an allocation, without the program
  /// itself.
  static std::vector<profile::library> libraries_of(const life& in,
                                                    const std::vector<profile::object>& objects) {
    std::map<std::string, std::string> build_of;
    for (const profile::object& object : objects) {
      for (const profile::frame& frame : object.made_at) {
        if (!frame.module.empty() && frame.module != last_part(in.file)) {
          build_of.try_emplace(frame.module);
        }
      }
    }
    std::vector<profile::library> all;
    for (auto& [name, build] : build_of) {
      build = symbols::build_id(in.code.file_named(name));
      if (!build.empty()) {
        all.push_back({name, build});
      }
    }
    return all;
  }

  profile::program_end end_of(const life& in) const {
    if (in.replaced) {
      return profile::program_end::replaced;
    }
    if (!in.ended && !from_.recorded.ended) {
      return profile::program_end::running;
    }
    const bool by_itself =
        in.report == nullptr ? in.pid != from_.recorded.pid || from_.recorded.end.exit_code() < 128
                             : in.report->totals.has_value();
    return by_itself ? profile::program_end::exited : profile::program_end::killed;
  }

  profile::object object(std::size_t index, observed_object& what) {
    life& in = swept_.programs[index];
    add_writes(in, what);
    profile::object made;
    made.id = what.id;
    made.start = what.start;
    made.bytes = what.bytes;
    const bool has_end = what.report != nullptr;
    made.kind = kind_of(has_end ? what.report->what : what.allocation->what);
    made.name = has_end ? what.report->name : what.allocation->name;
    made.blocks = has_end ? what.report->blocks : 1;
    made.made_at = made_at(index, what);
    if (what.maker_tid != 0) {
      made.made_by = in.thread_of(what.maker_tid);
    }
    made.allocated_s = seconds_between(in.from_ns, what.allocated_ns);
    made.freed_s = seconds_between(in.from_ns, has_end ? what.freed_ns : in.to_ns);
    made.live_at_end = !has_end || what.report->live_at_end;
    made.pages = what.page_count(from_.page_bytes);
    add_residence(what, made);
    add_observed(index, what, made);
    return made;
  }

  profile::object mapped_object(std::size_t index, observed_object& what) {
    const life& in = swept_.programs[index];
    profile::object made = object_of_area(*what.area, from_.page_bytes);
    made.id = what.id;
    made.freed_s = seconds_between(in.from_ns, in.to_ns);
    made.live_at_end = true;
    add_observed(index, what, made);
    return made;
  }

  /// Adds first touches and uses; needs to know where the object's pages are.
  void add_observed(std::size_t index, observed_object& what, profile::object& made) {
    made.touched = touched_of(what, made.pages);
    made.unseen_touches = unseen_touches_of(what, made.where);
    made.uses = uses_of(what, made.pages);
    add_touches(index, what, made);
    add_using_code(index, what, made);
  }

  profile::call_chain made_at(std::size_t index, const observed_object& what) {
    const auto kind = what.report != nullptr ? what.report->what : what.allocation->what;
    if (kind == launch::object_report::kind::static_array) {
      return {};
    }
    if (what.stack != 0) {
      profile::call_chain chain = chains_.agent_stack(index, what.stack);
      if (std::ranges::any_of(chain, [](const auto& each) { return !each.module.empty(); })) {
        return chain; // otherwise it is not known what was mapped where
      }
    }
    const auto caller = [](const auto& reported) {
      const profile::frame where{reported.caller_module, reported.caller_offset, "", "", 0, false};
      return where.module.empty() ? profile::call_chain() : profile::call_chain{where};
    };
    return what.report != nullptr ? caller(*what.report) : caller(*what.allocation);
  }

  void add_residence(observed_object& what, profile::object& made) const {
    if (what.report != nullptr) {
      made.resident = what.report->resident;
      made.where = where_of(*what.report);
    }
    // Balancing may have moved them since.
    if ((what.report == nullptr || what.report->not_asked) && !from_.balancing) {
      made.where = where_touched(what, made.pages);
      made.resident = pages_in(made.where);
    }
    const std::uint64_t huge =
        complete_huge_pages(what, made.pages, made.where, from_.page_bytes, huge_bytes_);
    if (made.resident != 0) {
      const bool mostly = huge * (huge_bytes_ / from_.page_bytes) * 2 > made.resident;
      made.page_bytes = mostly ? huge_bytes_ : from_.page_bytes;
    }
  }

  /// Adds system calls that wrote into pages not touched before.
  void add_writes(life& in, observed_object& what) const {
    if (in.report == nullptr) {
      return;
    }
    for (const launch::write_report& each : in.report->writes) {
      const bool is_here = each.sequence ? *each.sequence == what.id
                                         : each.start + each.first - what.start < what.bytes;
      if (!is_here || each.last <= each.first) {
        continue;
      }
      const std::uint64_t start = each.sequence ? each.first : each.start + each.first - what.start;
      const touching_code by{0, profile::touch_kind::kernel,
                             static_cast<std::uint32_t>(in.thread_of(each.tid)), -1, each.stack};
      const std::uint64_t first = start / from_.page_bytes;
      const std::uint64_t last = (start + each.last - each.first - 1) / from_.page_bytes;
      for (std::uint64_t page = first; page <= last && page < what.page_count(from_.page_bytes);
           ++page) {
        if (!what.is_touched(page)) {
          what.touch(page, by);
        }
      }
    }
  }

  void add_touches(std::size_t index, const observed_object& what, profile::object& made) {
    std::vector<std::uint64_t> pages(what.codes.size(), 0);
    for (const page_touch& each : what.pages) {
      if (each.by != page_touch::none) {
        ++pages[each.code];
      }
    }
    // Several instructions of one call chain are reported as one.
    std::vector<std::size_t> order(what.codes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::pair(pages[b], a) < std::pair(pages[a], b);
    });
    for (const std::size_t i : order) {
      if (pages[i] == 0) {
        break;
      }
      const touching_code& by = what.codes[i];
      profile::first_touch touch{{}, by.how, by.by, node_id{by.node}, pages[i]};
      if (made.touches.size() < most_touches) {
        touch.where = chains_.touch(index, what.id, by);
      }
      add_touch(std::move(touch), made.touches);
    }
    std::ranges::sort(
        made.touches, [](const profile::first_touch& a, const profile::first_touch& b) {
          return std::tuple(b.pages, a.by, a.from) < std::tuple(a.pages, b.by, b.from);
        });
  }

  static void add_touch(profile::first_touch touch, std::vector<profile::first_touch>& into) {
    const auto label = [](const profile::first_touch& each) {
      const profile::frame* const own = profile::own_frame(each.where);
      return own == nullptr ? "" : profile::label_of(*own);
    };
    const auto same = std::ranges::find_if(into, [&](const profile::first_touch& each) {
      return each.how == touch.how && each.by == touch.by && each.from == touch.from &&
             (touch.where.empty() || label(each) == label(touch));
    });
    if (same != into.end()) {
      same->pages += touch.pages;
    } else {
      into.push_back(std::move(touch));
    }
  }

  void add_using_code(std::size_t index, const observed_object& what, profile::object& made) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> most; // samples, instruction
    for (const auto& [ip, samples] : what.accesses_at) {
      most.emplace_back(samples, ip);
    }
    std::ranges::sort(most, std::ranges::greater{});
    most.resize(std::min(most.size(), 4 * most_using));
    for (const auto& [samples, ip] : most) {
      const profile::call_chain where = chains_.instruction(index, ip);
      const profile::frame* const own = profile::own_frame(where);
      const profile::frame first = where.empty() ? profile::frame{} : where.front();
      made.used_at.push_back({own != nullptr ? *own : first, static_cast<double>(samples)});
    }
    profile::keep_most_used(made.used_at, most_using);
  }

  profile::object rest_of(const life& in) const {
    profile::object made;
    made.id = rest_id;
    made.kind = profile::object_kind::other;
    made.name = "memory outside of large objects";
    made.pages = made.resident = in.outside;
    made.bytes = in.outside * from_.page_bytes;
    made.freed_s = seconds_between(in.from_ns, in.to_ns);
    made.live_at_end = true;
    return made;
  }

  /// Adds thread numbers that the agent reported. Places a thread without samples on the node where
  /// it may run, if it is one.
  void add_reported_threads(life& in) const {
    if (in.report == nullptr) {
      return;
    }
    for (const launch::thread_report& each : in.report->threads) {
      profile::thread& who = in.threads[in.thread_of(each.tid)];
      if (each.ordinal) {
        who.number = static_cast<std::size_t>(*each.ordinal);
      }
      if (each.team_sizes.size() > 1) {
        who.nested = {each.team_sizes, each.inner_number};
      }
      const cpu_set cpus = cpus_of(each);
      if (!who.stays.empty() || cpus.empty()) {
        continue;
      }
      for (const memory_node& node : from_.on.nodes) {
        if (node.cpus.includes(cpus)) {
          who.stays = {{node.id, 0}};
        }
      }
    }
  }
  /// None if the list was cut off: it may run in many places.
  static cpu_set cpus_of(const launch::thread_report& of) {
    try {
      return cpu_set::parse(of.cpus);
    } catch (const error&) {
      return {};
    }
  }

  const heard& from_;
  std::size_t huge_bytes_;
  swept swept_;
  chain_book chains_;
};

} // namespace

profile::profile assemble(const heard& from, std::size_t huge_bytes) {
  return assembly(from, huge_bytes).run();
}

} // namespace nodewise::attribution
