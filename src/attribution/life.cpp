// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/life.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/last_part.hpp"

namespace nodewise::attribution {

namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](auto each) { return name.starts_with(each); });
}

} // namespace

double seconds_between(std::uint64_t begin_ns, std::uint64_t time_ns) noexcept {
  return time_ns > begin_ns ? static_cast<double>(time_ns - begin_ns) * 1e-9 : 0;
}

profile::thread_index life::begin_thread(int tid) {
  profile::thread made;
  made.tid = tid;
  made.main = tid == pid;
  made.name = threads.empty() ? name : threads.front().name;
  threads.push_back(std::move(made));
  by_tid[tid] = threads.size() - 1;
  return threads.size() - 1;
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
  openmp = openmp || is_one_of(module, {"libgomp.so", "libomp.so", "libiomp5.so"});
  tbb = tbb || module.starts_with("libtbb.so");
  code.add({what.start, what.end, what.file_offset, what.path});
}

void life::inherit(const life& from) {
  name = threads.front().name = from.name;
  file = from.file;
  code = from.code;
  openmp = from.openmp;
  tbb = from.tbb;
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
  life made;
  made.pid = pid;
  made.parent = parent;
  made.from_ns = time_ns;
  present_[pid] = all_.size();
  all_.push_back(std::move(made));
  all_.back().begin_thread(pid);
  return all_.back();
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
    child.inherit(all_[parent]);
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

void lives::take(const observe::module_mapped& what) {
  of(what.pid, std::max(what.time_ns, begin_ns_)).map_code(what);
}

void lives::finish(std::uint64_t end_ns) {
  for (life& each : all_) {
    each.to_ns = each.ended ? each.to_ns : end_ns;
  }
}

} // namespace nodewise::attribution
