// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/life.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/path.hpp"

namespace nodewise::attribution {

namespace {

using observe::area_kind;

bool holds_data(const observe::area& what) {
  constexpr std::uint64_t some_pages = 16;
  const bool by_size = what.kind != area_kind::heap && what.kind != area_kind::stack;
  return what.kind != area_kind::code && what.kind != area_kind::system &&
         what.resident >= (by_size ? some_pages : 1);
}

profile::object_kind kind_of(area_kind what) {
  using enum profile::object_kind;
  constexpr std::array kinds = {heap, static_array, heap, stack, map,
                                file, file,         file, map,   file}; // by `area_kind`
  return kinds[static_cast<std::size_t>(what)];
}

} // namespace

double seconds_between(std::uint64_t begin_ns, std::uint64_t time_ns) noexcept {
  return time_ns > begin_ns ? static_cast<double>(time_ns - begin_ns) * 1e-9 : 0;
}

profile::thread_index life::begin_thread(int tid) {
  const std::string& called = threads.empty() ? name : threads.front().name;
  threads.push_back({.tid = tid, .name = called, .main = tid == pid});
  return by_tid[tid] = threads.size() - 1;
}

profile::thread_index life::thread_of(int tid) {
  const auto found = by_tid.find(tid);
  return found != by_tid.end() ? found->second : begin_thread(tid);
}

void life::map_code(const observe::module_mapped& what) {
  if (!what.executable) {
    return;
  }
  if (file.empty() && what.path.starts_with('/')) {
    file = what.path;
  }
  const std::string_view module = last_part(what.path);
  openmp = openmp || module.starts_with("libgomp.so") || module.starts_with("libomp.so") ||
           module.starts_with("libiomp5.so");
  tbb = tbb || module.starts_with("libtbb.so");
  code.add({what.start, what.end, what.file_offset, what.path});
}

observed_object& life::object_of(std::uint64_t id) {
  const auto [found, is_new] = object_by_id.try_emplace(id, objects.size());
  if (is_new) {
    objects.emplace_back().id = id;
  }
  return objects[found->second];
}

observed_object* life::object_at(std::uint64_t address) noexcept {
  const auto after = live.upper_bound(address);
  if (after == live.begin()) {
    return nullptr;
  }
  observed_object& before = objects[std::prev(after)->second];
  return address - before.start < before.bytes ? &before : nullptr;
}

life& lives::begin(int pid, int parent, std::uint64_t time_ns) {
  present_[pid] = all_.size();
  life& made = all_.emplace_back();
  made.pid = pid;
  made.parent = parent;
  made.from_ns = time_ns;
  made.begin_thread(pid);
  return made;
}

life& lives::of(int pid, std::uint64_t time_ns) {
  const auto found = present_.find(pid);
  return found != present_.end() ? all_[found->second]
                                 : begin(pid, 0, std::max(time_ns, begin_ns_));
}

void lives::take(const observe::task_event& what) {
  switch (what.what) {
  case observe::task_change::process_forked: {
    const auto parent = static_cast<std::size_t>(&of(what.parent_pid, what.time_ns) - all_.data());
    life& child = begin(what.pid, what.parent_pid, what.time_ns);
    const life& from = all_[parent]; // its objects stay the parent's
    child.name = child.threads.front().name = from.name;
    child.file = from.file;
    child.code = from.code;
    child.openmp = from.openmp;
    child.tbb = from.tbb;
    break;
  }
  case observe::task_change::executed: {
    const auto before = present_.find(what.pid);
    int parent = what.parent_pid;
    if (before != present_.end()) {
      life& replaced = all_[before->second];
      replaced.to_ns = what.time_ns;
      replaced.ended = replaced.replaced = true;
      parent = replaced.parent;
    }
    life& now = begin(what.pid, parent, what.time_ns);
    now.name = now.threads.front().name = what.name;
    break;
  }
  case observe::task_change::thread_started: {
    life& whose = of(what.pid, what.time_ns);
    const profile::thread_index made = whose.begin_thread(what.tid);
    whose.threads[made].began_s = seconds_between(whose.from_ns, what.time_ns);
    break;
  }
  case observe::task_change::named: {
    life& whose = of(what.pid, what.time_ns);
    whose.threads[whose.thread_of(what.tid)].name = what.name;
    break;
  }
  case observe::task_change::ended:
    if (what.tid == what.pid) {
      life& whose = of(what.pid, what.time_ns);
      whose.to_ns = what.time_ns;
      whose.ended = true;
    } else if (const auto in = present_.find(what.pid); in != present_.end()) {
      life& whose = all_[in->second];
      whose.threads[whose.thread_of(what.tid)].ended_s =
          seconds_between(whose.from_ns, what.time_ns);
    }
    break;
  }
}

void observed_object::touch(std::uint64_t page, const touching_code& by, std::int16_t memory) {
  if (page >= pages.size()) {
    pages.resize(page + 1);
  }
  const auto [found, is_new] =
      code_number.try_emplace(by, static_cast<std::uint32_t>(codes.size()));
  if (is_new) {
    codes.push_back(by);
  }
  pages[page] = {by.by, by.node, found->second, memory};
}

std::uint64_t observed_object::page_count(std::size_t page_bytes) const noexcept {
  return report != nullptr ? report->pages : (bytes + page_bytes - 1) / page_bytes;
}

void add_mapped(life& into, const observe::page_map& memory) {
  if (into.name.empty()) { // the last part of the first word
    const std::string_view command = memory.command;
    into.name = last_part(command.substr(0, command.find(' ')));
  }
  for (const observe::area& each : memory.areas) {
    if (holds_data(each)) {
      const std::uint64_t id = into.objects.size();
      observed_object& made = into.object_of(id);
      made.area = &each;
      made.allocated_ns = into.from_ns;
      made.start = each.where.first;
      made.bytes = each.where.last - each.where.first;
      into.live[made.start] = id;
    }
  }
}

profile::object object_of_area(const observe::area& what, std::size_t page_bytes) {
  profile::object made;
  made.kind = kind_of(what.kind);
  made.name = what.name.empty() ? fmt::format("memory at {:#x}", what.where.first) : what.name;
  made.start = what.where.first;
  made.bytes = what.where.last - what.where.first;
  made.pages = what.pages;
  made.resident = what.resident;
  made.page_bytes = what.page_bytes != 0 ? what.page_bytes : page_bytes;
  std::uint64_t first = 0;
  for (const observe::page_run& run : what.runs) {
    if (run.node != observe::absent_page && run.node != observe::zero_page) {
      made.where.push_back({first, run.pages, run.node});
    }
    first += run.pages;
  }
  return made;
}

} // namespace nodewise::attribution
