// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs of pages as text, so that a profile of a million pages stays a readable file:
//
//     where    "0+128@0 128+128@1"      128 pages from page 0 on node 0, ...
//     touched  "0+256@3/1"              by thread 3 on a processor of node 1; "-" if unknown
//     used     "0+128 0:512,2:7.5"      512 units by thread 0, 7.5 by thread 2; a line per run
//     seen     "0+12@0 12+116@1"        as `where`, with intervals instead of pages
//     in time  "3+1 0/0:51,1/0:7"       51 accesses of threads on node 0 to its memory, 7 of node 1
//
// And the fields of a profile's parts in a file, in the order in which they are written.
#pragma once

#include <tuple>

#include "profile/profile.hpp"

namespace nodewise::profile {

[[nodiscard]] std::string text_of(const std::vector<resident_run>& runs);
[[nodiscard]] std::string text_of(const std::vector<touched_run>& runs);
[[nodiscard]] std::string text_of(const use_run& run);
[[nodiscard]] std::string text_of(const timed_uses& run);

/// What a text must fit: ascending runs that do not overlap, in an object of `pages` pages and a
/// program with `threads` threads.
struct run_bounds {
  std::uint64_t pages = 0;
  std::size_t threads = 0;
};

/// Each returns false for a text that does not fit; `into` may then be partly filled.
[[nodiscard]] bool read(std::string_view text, const run_bounds& in,
                        std::vector<resident_run>& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in,
                        std::vector<touched_run>& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in, use_run& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in, timed_uses& into);

/// The form of a value in a file, where its type does not determine it.
enum class form {
  usual,
  address,      ///< hexadecimal text
  from_one,     ///< a number of at least 1
  processors,   ///< a list of processors
  pages,        ///< the number of the object's pages: runs after it must fit
  intervals,    ///< runs of intervals instead of pages
  thread,       ///< a position in `program::threads`
  number,       ///< of a thread of the program
  team,         ///< the number of a team's threads
  inner_number, ///< of a thread of inner teams
  newer,        ///< missing in files of older versions
};

/// A field with the value of a member.
template <class Of, class Value>
struct json_member {
  const char* name;
  Value Of::* value;
  form as;
  bool (*is_present)(const Of&); ///< nullptr: always
  const char* name_in_1 = name;  ///< in files of version 1
};

template <class Of, class Value>
constexpr json_member<Of, Value> always(const char* name, Value Of::* value,
                                        form as = form::usual) {
  return {name, value, as, nullptr};
}

template <class Of, class Value>
constexpr json_member<Of, Value> renamed(const char* name, const char* before, Value Of::* value,
                                         form as = form::usual) {
  return {name, value, as, nullptr, before};
}

template <auto Member, class Of>
bool is_set(const Of& of) {
  if constexpr (requires { (of.*Member).empty(); }) {
    return !(of.*Member).empty();
  } else {
    return static_cast<bool>(of.*Member);
  }
}

/// A field that is left out if `Member` is empty or 0.
template <auto Member, class Of, class Value>
constexpr json_member<Of, Value> if_set(const char* name, Value Of::* value,
                                        form as = form::usual) {
  return {name, value, as, is_set<Member, Of>};
}
template <auto Member>
constexpr auto if_set(const char* name, form as = form::usual) {
  return if_set<Member>(name, Member, as);
}

constexpr auto fields_of(const frame&) {
  return std::tuple(
      if_set<&frame::module>("module"), always("offset", &frame::offset, form::address),
      if_set<&frame::function>("function"), if_set<&frame::file>("file"),
      if_set<&frame::line>("line", form::from_one), if_set<&frame::inlined>("inlined"));
}

constexpr auto fields_of(const thread::stay&) {
  return std::tuple(always("node", &thread::stay::node), always("samples", &thread::stay::samples));
}

constexpr auto fields_of(const thread::inner&) {
  return std::tuple(always("teams", &thread::inner::teams, form::team),
                    always("number", &thread::inner::number, form::inner_number));
}

constexpr auto fields_of(const thread&) {
  return std::tuple(always("tid", &thread::tid), always("name", &thread::name),
                    always("main", &thread::main), always("migrations", &thread::migrations),
                    always("stays", &thread::stays), if_set<&thread::seen>("seen", form::intervals),
                    if_set<&thread::number>("number", form::number),
                    if_set<&thread::nested>("nested"),
                    if_set<&thread::instructions>("instructions"),
                    if_set<&thread::began_s>("began_s"), if_set<&thread::ended_s>("ended_s"));
}

constexpr auto fields_of(const first_touch&) {
  return std::tuple(always("pages", &first_touch::pages), always("how", &first_touch::how),
                    always("from", &first_touch::from),
                    if_set<&first_touch::by>("by", form::thread),
                    always("where", &first_touch::where));
}

constexpr auto fields_of(const contested_line&) {
  return std::tuple(always("offset", &contested_line::offset),
                    always("transfers", &contested_line::transfers),
                    always("writers", &contested_line::writers),
                    always("same_bytes", &contested_line::same_bytes),
                    if_set<&contested_line::rewrites>("rewrites"),
                    if_set<&contested_line::written_at>("written_at"));
}

constexpr auto fields_of(const using_code&) {
  return std::tuple(always("amount", &using_code::amount), always("where", &using_code::where));
}

constexpr auto fields_of(const object&) {
  return std::tuple(
      always("id", &object::id), always("kind", &object::kind), if_set<&object::name>("name"),
      always("made_at", &object::made_at), if_set<&object::made_by>("made_by", form::thread),
      always("start", &object::start, form::address), always("bytes", &object::bytes),
      always("blocks", &object::blocks), renamed("allocated_s", "born_s", &object::allocated_s),
      renamed("freed_s", "died_s", &object::freed_s), always("live_at_end", &object::live_at_end),
      always("pages", &object::pages, form::pages), always("resident", &object::resident),
      renamed("unseen_touches", "unwitnessed", &object::unseen_touches),
      always("page_bytes", &object::page_bytes), always("where", &object::where),
      always("touches", &object::touches), always("touched", &object::touched),
      always("uses", &object::uses), always("write_share", &object::write_share),
      always("used_at", &object::used_at), always("contested", &object::contested),
      if_set<&object::initialised>("initialised"),
      if_set<&object::initialised>("initialised_write_share", &object::initialised_write_share));
}

constexpr auto fields_of(const library&) {
  return std::tuple(always("name", &library::name), always("build_id", &library::build_id));
}

constexpr auto fields_of(const program&) {
  return std::tuple(
      always("pid", &program::pid), always("parent", &program::parent),
      if_set<&program::rank>("rank"), if_set<&program::processors>("processors", form::processors),
      always("name", &program::name), if_set<&program::file>("file"),
      if_set<&program::build_id>("build_id"), if_set<&program::libraries>("libraries"),
      always("end", &program::end), if_set<&program::ended_s>("began_s", &program::began_s),
      if_set<&program::ended_s>("ended_s"), always("openmp", &program::openmp),
      always("tbb", &program::tbb), if_set<&program::tasks>("tasks"),
      always("use_from", &program::use_from), always("use_unit_bytes", &program::use_unit_bytes),
      if_set<&program::interval_s>("interval_s"), always("threads", &program::threads),
      if_set<&program::uses_in_time>("uses_in_time", form::intervals),
      always("objects", &program::objects));
}

constexpr auto fields_of(const evidence&) {
  return std::tuple(always("faults", &evidence::faults), always("chains", &evidence::chains),
                    always("kernel", &evidence::kernel), always("hinting", &evidence::hinting),
                    always("counts", &evidence::counts), always("agent", &evidence::agent),
                    always("fault_samples", &evidence::fault_samples),
                    always("hinting_samples", &evidence::hinting_samples),
                    always("lost_samples", &evidence::lost_samples),
                    always("thinned_samples", &evidence::thinned_samples),
                    always("pages_moved", &evidence::pages_moved),
                    renamed("pages_bound", "pages_held", &evidence::pages_bound, form::newer),
                    always("missing", &evidence::missing));
}

constexpr auto fields_of(const overhead&) {
  return std::tuple(always("wall_s", &overhead::wall_s),
                    always("observer_s", &overhead::observer_s));
}

constexpr auto fields_of(const node_memory::low&) {
  return std::tuple(always("free_bytes", &node_memory::low::free_bytes),
                    always("cache_bytes", &node_memory::low::cache_bytes));
}

constexpr auto fields_of(const node_memory&) {
  return std::tuple(
      always("node", &node_memory::node), always("total_bytes", &node_memory::total_bytes),
      always("free_bytes", &node_memory::free_bytes),
      always("cache_bytes", &node_memory::cache_bytes), if_set<&node_memory::fullest>("fullest"));
}

} // namespace nodewise::profile
