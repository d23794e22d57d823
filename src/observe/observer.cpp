// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/observer.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "observe/agent_objects.hpp"
#include "observe/refused.hpp"

namespace nodewise::observe {

namespace {

constexpr std::uint64_t least_array_bytes = 64U << 10;

/// The words of a command line are separated by zeros.
std::string command_of(sys::process& of) {
  std::string text = of.read_file("cmdline").value;
  while (text.ends_with('\0')) {
    text.pop_back();
  }
  std::ranges::replace(text, '\0', ' ');
  return text.empty() ? read_task_stat(of, "stat").value_or(task_stat{}).name : text;
}

void refuse_what_has_no_memory(sys::process& of) {
  const auto task = read_task_stat(of, "stat");
  constexpr unsigned kernel_thread = 0x00200000; // PF_KTHREAD
  if (task && (task->flags & kernel_thread) != 0) {
    throw error(error_kind::usage, fmt::format("cannot observe process {}", of.pid()),
                task->name + " is a kernel thread and has no memory of its own",
                "give the number of a user's process");
  }
  throw_ended(of.pid());
}

/// Base pages by node.
std::vector<area::share> shares_of(const numa_line& line, std::size_t page_bytes) {
  std::vector<area::share> shares;
  for (const auto& [node, count] : line.pages) {
    shares.push_back(
        {node_id{node}, count * std::max<std::uint64_t>(1, line.page_bytes / page_bytes)});
  }
  return shares;
}

std::vector<named_range> agent_arrays(sys::process& of, name_finder& names, page_map& into) {
  const auto view = names.agent_view();
  if (!view) {
    return {};
  }
  const auto objects = read_agent_objects(of, *view);
  if (!objects) {
    into.notes.emplace_back("the agent's table of arrays could not be read: that needs permission "
                            "to trace the process (kernel.yama.ptrace_scope) and an agent of the "
                            "same version");
    return {};
  }
  std::vector<named_range> all;
  for (const agent_object& o : *objects) {
    if (o.where.first < o.where.last) {
      all.push_back({o.where, area_kind::array, names.code_name(o.caller)});
    }
  }
  return all;
}

} // namespace

observer::observer(sys::kernel& kernel, const machine& on)
    : machine_(on), system_(locator::system::read(kernel)) {}

std::vector<thread_facts> observer::look_at_threads(sys::process& of) {
  std::vector<thread_facts> threads = read_threads(of, machine_, ticks_);
  ticks_.clear();
  for (const thread_facts& t : threads) {
    ticks_[t.tid] = t.cpu_ticks;
  }
  return threads;
}

void observer::locate_all(sys::process& of, const options& how,
                          std::vector<located_mapping>& mappings,
                          const std::map<std::uint64_t, const numa_line*>& lines, page_map& into) {
  const auto begin = std::chrono::steady_clock::now();
  locator where(of, system_, how.best);
  for (located_mapping& m : mappings) {
    const auto line = lines.find(m.what.where.first);
    range_facts facts{m.what.where, m.page_bytes, !m.what.shared, std::nullopt, std::nullopt};
    std::vector<area::share> shares;
    if (line != lines.end()) {
      shares = shares_of(*line->second, system_.page_bytes);
      facts.resident_pages = 0;
      for (const area::share& each : shares) {
        *facts.resident_pages += each.pages;
      }
      if (how.by_count && shares.size() == 1) {
        facts.sole_node = shares.front().node;
      }
    }
    const bool untouchable = facts.resident_pages == 0U && !m.what.readable && !m.what.writable;
    if (untouchable || m.kind == area_kind::system) {
      // Guard pages, and the kernel's own pages, whose node the program did not choose.
      append(m.runs,
             {(m.what.where.last - m.what.where.first) / system_.page_bytes, absent_page, false});
    } else {
      m.runs = where.locate(facts);
    }
    if (where.used() == method::numa_maps) {
      m.totals = std::move(shares);
    }
  }
  into.how = where.used();
  into.refused_errno = where.refused_errno();
  into.knows_huge = where.knows_huge();
  into.counted = where.counted();
  into.query_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

page_map observer::look(sys::process& of, const options& how) {
  page_map map;
  map.pid = of.pid();
  map.page_bytes = system_.page_bytes;
  const auto maps = of.read_file("maps");
  if (!maps) {
    throw_unreadable(of, maps.errno_value);
  }
  if (maps.value.empty()) {
    refuse_what_has_no_memory(of);
  }
  map.command = command_of(of);
  map.threads = how.threads != nullptr ? *how.threads : look_at_threads(of);

  const auto numa_text = of.read_file("numa_maps");
  if (!numa_text) {
    map.notes.push_back(fmt::format("cannot read numa_maps: {}: policies, page sizes and totals "
                                    "are unknown",
                                    errno_text(numa_text.errno_value)));
  }
  const std::vector<numa_line> numa = parse_numa_maps(numa_text.value);
  map.totals = totals_of(numa, system_.page_bytes);
  std::map<std::uint64_t, const numa_line*> lines;
  for (const numa_line& line : numa) {
    lines[line.start] = &line;
  }

  std::vector<mapping> parsed = parse_maps(maps.value);
  std::erase_if(parsed, [](const mapping& m) { return m.path == "[vsyscall]"; });
  name_finder names(parsed, of.pid(), modules_);
  std::vector<located_mapping> mappings;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const auto line = lines.find(parsed[i].where.first);
    const numa_line& known = line == lines.end() ? numa_line{} : *line->second;
    mappings.push_back({parsed[i],
                        names.kind_of(i, known.huge),
                        names.name_of(i),
                        known.policy,
                        known.page_bytes,
                        std::nullopt,
                        {},
                        {}});
  }
  locate_all(of, how, mappings, lines, map);
  if (how.follows && map.how != method::numa_maps) {
    std::vector<placed_run> now = placed_runs(mappings, system_.page_bytes);
    moved_ += moved_pages(placed_, now);
    placed_ = std::move(now);
    map.moved = moved_;
  }
  if (map.knows_huge || system_.thp_bytes == 0) {
    for (located_mapping& m : mappings) {
      m.huge_bytes = 0; // the runs contain it
    }
  } else if (const auto smaps = of.read_file("smaps")) {
    const auto huge = parse_smaps_huge_bytes(smaps.value);
    for (located_mapping& m : mappings) {
      const auto found = huge.find(m.what.where.first);
      m.huge_bytes = found == huge.end() ? 0 : found->second;
    }
  }

  std::vector<named_range> ranges = agent_arrays(of, names, map);
  for (const auto& more :
       {names.static_arrays(least_array_bytes),
        names.stacks(map.threads, parse_stack_bytes(of.read_file("limits").value))}) {
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  map.areas = areas_of(mappings, std::move(ranges), system_.page_bytes);
  return map;
}

} // namespace nodewise::observe
