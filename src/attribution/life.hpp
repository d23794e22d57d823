// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One program in a process: from its exec or fork to its end or the next exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attribution/observed_object.hpp"
#include "observe/sample.hpp"
#include "profile/profile.hpp"
#include "symbols/code_map.hpp"

namespace nodewise::attribution {

/// 0 if `time_ns` is not later.
[[nodiscard]] double seconds_between(std::uint64_t begin_ns, std::uint64_t time_ns) noexcept;

struct life {
  int pid = 0;
  int parent = 0;
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  bool ended = false;
  bool replaced = false; ///< by exec
  std::string name;      ///< as the kernel reports it
  std::string file;      ///< of the program: the first code that was mapped
  symbols::code_map code;
  bool openmp = false;
  bool tbb = false;

  std::vector<profile::thread> threads; ///< in the order of their start, the main thread first
  std::map<int, profile::thread_index> by_tid; ///< the latest of each number
  std::vector<observed_object> objects;
  std::map<std::uint64_t, std::size_t> object_by_id;
  std::map<std::uint64_t, std::size_t> live;      ///< objects by address, at the current time
  const launch::process_report* report = nullptr; ///< by the agent; must outlive this
  std::uint64_t outside = 0;                      ///< faults in memory outside all objects

  /// Adds the thread if it is not known yet.
  profile::thread_index thread_of(int tid);
  profile::thread_index begin_thread(int tid);
  void map_code(const observe::module_mapped& what);
  /// Copies what a forked process has from its parent, except objects, which stay the parent's.
  void inherit(const life& from);
  observed_object& object_of(std::uint64_t id);
  /// The live object at an address; nullptr if there is none.
  [[nodiscard]] observed_object* object_at(std::uint64_t address) noexcept;
};

/// The lives of all observed processes, in order of time.
class lives {
 public:
  /// The observation starts at `begin_ns`.
  explicit lives(std::uint64_t begin_ns) : begin_ns_(begin_ns) {}

  void take(const observe::task_event& what);
  void take(const observe::module_mapped& what);
  /// The current life of a process; starts one at `time_ns` if the process is not known yet.
  life& of(int pid, std::uint64_t time_ns);
  /// Call at the end of the recording.
  void finish(std::uint64_t end_ns);

  [[nodiscard]] std::vector<life>& all() noexcept { return all_; }

 private:
  life& begin(int pid, int parent, std::uint64_t time_ns);

  std::uint64_t begin_ns_;
  std::vector<life> all_;
  std::map<int, std::size_t> present_; ///< by process
};

} // namespace nodewise::attribution
