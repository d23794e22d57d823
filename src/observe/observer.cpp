// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/observer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include <pwd.h>
#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "observe/ended.hpp"

namespace nodewise::observe {

namespace {

constexpr std::uint64_t least_array_bytes = 64U << 10;

std::string process_text(int pid) {
  return fmt::format("cannot observe process {}", pid);
}

std::string user_name(unsigned uid) {
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    return entry.pw_name;
  }
  return fmt::format("user {}", uid);
}

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
    throw error(error_kind::usage, process_text(of.pid()),
                task->name + " is a kernel thread and has no memory of its own",
                "give the number of a user's process");
  }
  throw_ended(of.pid());
}

std::uint64_t in_base_pages(std::uint64_t count, std::uint64_t unit_bytes, std::size_t page_bytes) {
  return count * std::max<std::uint64_t>(1, unit_bytes / page_bytes);
}

std::uint64_t resident_pages(const numa_line& line, std::size_t page_bytes) {
  std::uint64_t pages = 0;
  for (const auto& [node, count] : line.pages) {
    pages += in_base_pages(count, line.page_bytes, page_bytes);
  }
  return pages;
}

} // namespace

void throw_ended(int pid) {
  throw error(error_kind::system, process_text(pid), "it has ended",
              "start it under `nodewise pages -- PROGRAM` to see its pages at its end", ESRCH);
}

void throw_unreadable(sys::process& which, int errno_value) {
  const auto owner = which.user();
  if (!owner || errno_value == ESRCH || errno_value == ENOENT) {
    throw error(error_kind::usage, process_text(which.pid()), "there is no such process",
                "`ps -e` lists all processes", ESRCH);
  }
  if (owner.value == ::geteuid()) {
    throw error(error_kind::system, process_text(which.pid()), "access is not permitted",
                "the process is not dumpable or has more capabilities: run with CAP_SYS_PTRACE",
                errno_value);
  }
  throw error(
      error_kind::system, process_text(which.pid()),
      fmt::format("it belongs to {}, not to {}", user_name(owner.value), user_name(::geteuid())),
      "run as the same user or as root (CAP_SYS_PTRACE); a process that changes its user "
      "or is not dumpable belongs to root",
      errno_value);
}

observer::observer(sys::kernel& kernel, const machine& on)
    : kernel_(kernel), machine_(on), system_(locator::system::read(kernel)) {}

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
    if (line != lines.end()) {
      facts.resident_pages = resident_pages(*line->second, system_.page_bytes);
      if (how.by_count && line->second->pages.size() == 1) {
        facts.sole_node = node_id{line->second->pages.begin()->first};
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
    if (where.used() == method::numa_maps && line != lines.end()) {
      for (const auto& [node, count] : line->second->pages) {
        m.totals.push_back(
            {node_id{node}, in_base_pages(count, line->second->page_bytes, system_.page_bytes)});
      }
    }
  }
  into.how = where.used();
  into.refused_errno = where.refused_errno();
  into.knows_huge = where.knows_huge();
  into.counted = where.counted();
  into.query_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void observer::read_agent(sys::process& of, name_finder& names, std::vector<named_range>& ranges,
                          page_map& into) {
  const auto view = names.agent_view();
  if (!view) {
    return;
  }
  const auto objects = read_agent_objects(of, *view);
  if (!objects) {
    into.notes.emplace_back("the agent's table of arrays could not be read: that needs permission "
                            "to trace the process (kernel.yama.ptrace_scope) and an agent of the "
                            "same version");
    return;
  }
  for (named_range& r : names.arrays(*objects)) {
    ranges.push_back(std::move(r));
  }
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
    const numa_line* const known = line == lines.end() ? nullptr : line->second;
    mappings.push_back({parsed[i],
                        names.kind_of(i, known),
                        names.name_of(i),
                        known == nullptr ? "" : known->policy,
                        known == nullptr ? 0 : known->page_bytes,
                        std::nullopt,
                        {},
                        {}});
  }
  locate_all(of, how, mappings, lines, map);
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

  std::vector<named_range> ranges;
  if (how.names) {
    read_agent(of, names, ranges, map);
    for (auto& more :
         {names.static_arrays(least_array_bytes),
          names.stacks(map.threads, parse_stack_bytes(of.read_file("limits").value))}) {
      ranges.insert(ranges.end(), more.begin(), more.end());
    }
  }
  map.areas = areas_of(mappings, std::move(ranges), system_.page_bytes);
  return map;
}

} // namespace nodewise::observe
