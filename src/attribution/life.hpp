// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One program in a process, from its exec or fork to its end or the next exec, and its objects
// while samples are attributed to them page by page, before pages are joined into runs.
#pragma once

#include <map>

#include "attribution/in_time.hpp"
#include "launch/agent_report.hpp"
#include "observe/observer.hpp"
#include "observe/sample.hpp"
#include "profile/profile.hpp"
#include "symbols/thread_state.hpp"

namespace nodewise::attribution {

/// The first touch of a page.
struct page_touch {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t by = none;  ///< thread
  std::int16_t node = -1;   ///< of the processor
  std::uint32_t code = 0;   ///< position in `observed_object::codes`
  std::int16_t memory = -1; ///< node of the page, if the sample reports it
};

/// Code that touched or used memory, before it has a name.
struct touching_code {
  std::uint64_t ip = 0;
  profile::touch_kind how = profile::touch_kind::code;
  std::uint32_t by = 0; ///< thread
  std::int16_t node = -1;
  std::uint32_t stack = 0; ///< of the agent's records, if a system call wrote; else 0
  friend auto operator<=>(const touching_code&, const touching_code&) = default;
};

/// An access sampled after the first touch.
struct page_access {
  std::uint32_t page = 0;
  std::uint32_t by = 0; ///< thread
  friend auto operator<=>(const page_access&, const page_access&) = default;
};

struct observed_object {
  std::uint64_t id = 0;
  std::uint64_t allocated_ns = 0;
  std::uint64_t freed_ns = 0;
  std::uint64_t start = 0; ///< the latest address
  std::uint64_t bytes = 0;
  int maker_tid = 0;       ///< 0: unknown
  std::uint32_t stack = 0; ///< of its allocation, by the agent's number; 0: none
  const launch::allocation_report* allocation = nullptr;
  const launch::object_report* report = nullptr; ///< nullptr if its program was killed
  const observe::area* area = nullptr;           ///< for a process without an agent

  std::vector<page_touch> pages; ///< grows with the highest page touched
  std::vector<touching_code> codes;
  std::map<touching_code, std::uint32_t> code_number;
  std::vector<page_access> accesses;
  std::map<std::uint64_t, std::uint64_t> accesses_at; ///< samples by instruction

  void touch(std::uint64_t page, const touching_code& by, std::int16_t memory = -1);
  [[nodiscard]] bool is_touched(std::uint64_t page) const noexcept {
    return page < pages.size() && pages[page].by != page_touch::none;
  }
  [[nodiscard]] std::uint64_t page_count(std::size_t page_bytes) const noexcept;
};

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
  program_in_time in_time;
  std::uint64_t outside = 0; ///< faults in memory outside all objects

  /// Adds the thread if it is not known yet.
  profile::thread_index thread_of(int tid);
  profile::thread_index begin_thread(int tid);
  void map_code(const observe::module_mapped& what);
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
  /// The current life of a process; starts one at `time_ns` if the process is not known yet.
  life& of(int pid, std::uint64_t time_ns);

  [[nodiscard]] std::vector<life>& all() noexcept { return all_; }

 private:
  life& begin(int pid, int parent, std::uint64_t time_ns);

  std::uint64_t begin_ns_;
  std::vector<life> all_;
  std::map<int, std::size_t> present_; ///< by process
};

/// Adds objects for the areas that hold data and have pages in memory; skips small ones and code.
/// The objects refer to `memory`.
void add_mapped(life& into, const observe::page_map& memory);

/// Its kind, name, size and pages.
[[nodiscard]] profile::object object_of_area(const observe::area& what, std::size_t page_bytes);

} // namespace nodewise::attribution
