// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/team_layout.hpp>

#include "base/text.hpp"
#include "tune/candidate_memory.hpp"
#include "tune/candidate_ranks.hpp"
#include "tune/machine_row.hpp"

namespace nodewise::tune {

namespace {

enum class thread_count { today, cores, half, node, package, hardware };
enum class node_part { all, node, package, half };

/// A row of the table in the header, for any machine.
struct candidate_row {
  thread_count threads = thread_count::today;
  bind_policy bind = bind_policy::none;
  memory_way where = memory_way::local;
  place_kind places = place_kind::threads;
  smt_use smt = smt_use::as_needed;
  node_part nodes = node_part::all;
  balancing_use balancing = balancing_use::as_it_is;
  std::size_t node = 0; ///< of `node_part::node`: a position in `domains()`
  bool other_pages = false;
};

constexpr bind_policy bind_close = bind_policy::close;
constexpr bind_policy bind_spread = bind_policy::spread;
/// More nodes than this are not tried one by one.
constexpr std::size_t most_nodes_alone = 4;

constexpr candidate_row candidate_table[] = {
    {.threads = thread_count::cores, .bind = bind_close},
    {.bind = bind_close},
    {.bind = bind_spread},
    {.threads = thread_count::cores, .bind = bind_close, .where = memory_way::interleave},
    {.threads = thread_count::cores, .bind = bind_close, .where = memory_way::blocked},
    {.threads = thread_count::cores, .bind = bind_close, .where = memory_way::fast},
    {.balancing = balancing_use::on},
    {.balancing = balancing_use::off},
    {.threads = thread_count::cores, .bind = bind_close, .balancing = balancing_use::on},
    {.threads = thread_count::cores, .bind = bind_close, .balancing = balancing_use::off},
    {.threads = thread_count::cores, .bind = bind_close, .other_pages = true},
    {.where = memory_way::interleave},
    {.other_pages = true},
    {.threads = thread_count::half, .bind = bind_spread},
    {.threads = thread_count::half, .bind = bind_spread, .where = memory_way::interleave},
    {.threads = thread_count::node, .bind = bind_close},
    {.threads = thread_count::package, .bind = bind_close},
    {.threads = thread_count::half, .bind = bind_close},
    {.threads = thread_count::hardware, .bind = bind_close},
    {.smt = smt_use::off},
    {.bind = bind_close, .smt = smt_use::on},
    {.bind = bind_close, .nodes = node_part::node, .node = 0},
    {.bind = bind_close, .nodes = node_part::package},
    {.bind = bind_close, .nodes = node_part::half},
    {.bind = bind_close, .nodes = node_part::node, .node = 1},
    {.bind = bind_close, .nodes = node_part::node, .node = 2},
    {.bind = bind_close, .nodes = node_part::node, .node = 3},
    {.threads = thread_count::hardware, .bind = bind_close, .where = memory_way::blocked},
    {.threads = thread_count::cores, .bind = bind_close, .where = memory_way::cyclic},
    {.threads = thread_count::cores, .bind = bind_close, .where = memory_way::weighted},
    {.threads = thread_count::cores, .bind = bind_close, .places = place_kind::nodes},
};

/// Of an option --threads; `run` refuses to bind more.
constexpr std::size_t most_threads = std::size_t{1} << 13;

/// The value of --huge-pages that changes which pages the program gets; empty if none does.
std::string_view other_huge_pages(sys::huge_page_mode now) {
  return now == sys::huge_page_mode::madvise  ? "on"
         : now == sys::huge_page_mode::always ? "off"
                                              : "";
}

std::size_t cores_with(const topology& on, const cpu_set& cpus) {
  const std::vector<cpu_set> cores = on.places(place_kind::cores);
  return static_cast<std::size_t>(
      std::ranges::count_if(cores, [&](const cpu_set& core) { return !(core & cpus).empty(); }));
}

void add_if_new(std::vector<setting>& list, setting next) {
  if (std::ranges::find(list, next.options, &setting::options) == list.end()) {
    list.push_back(std::move(next));
  }
}

/// Turns rows into settings of one machine.
class candidate_maker {
 public:
  candidate_maker(const topology& on, const candidate_request& of)
      : on_(on), domains_(on.domains()), today_(of.threads <= most_threads ? of.threads : 0),
        balancing_(of.numa_balancing), huge_pages_(other_huge_pages(of.huge_pages)),
        axes_(of.over.begin(), of.over.end()) {
    for (const domain& each : domains_) {
      cpus_ = cpus_ | each.cpus;
    }
    cores_ = cores_with(on_, cpus_);
    if (domains_.empty()) {
      axes_.clear();
    }
    // On one processor, bound threads and others run on the same.
    if (cpus_.size() < 2) {
      axes_.erase(axis::bind);
    }
    if (cores_ < 2) {
      axes_.erase(axis::threads);
    }
    if (cpus_.size() == cores_) {
      axes_.erase(axis::smt);
    }
    // On one node there is nothing to balance.
    if (on_.memory_nodes().size() < 2) {
      axes_.erase(axis::balancing);
    }
  }

  /// Adds the rows' settings to a list that begins with today's.
  void add_to(std::vector<setting>& list) {
    seen_.insert(meaning({}));
    for (const candidate_row& each : candidate_table) {
      if (list.size() >= most_candidates) {
        return;
      }
      if (const auto made = on_this_machine(each); made && seen_.insert(meaning(*made)).second) {
        add_if_new(list, {options_of(*made), cores_of(*made)});
      }
    }
  }

  [[nodiscard]] std::size_t cores() const noexcept { return cores_; }
  /// 0 if the program's number of threads is not known.
  [[nodiscard]] std::size_t cores_today() const { return std::min(today_, cores_); }

 private:
  [[nodiscard]] bool has(axis which) const { return axes_.contains(which); }

  /// nullopt if this machine lacks what the row needs. Options of axes that are not searched are
  /// left out, which makes most rows equal to others.
  [[nodiscard]] std::optional<machine_row> on_this_machine(const candidate_row& of) const {
    machine_row made;
    if (has(axis::nodes) && of.nodes != node_part::all) {
      made.nodes = nodes_of_part(of);
      if (made.nodes.empty()) {
        return std::nullopt;
      }
    }
    if (has(axis::bind)) {
      made.bind = of.bind;
      made.places = domains_.size() > 1 ? of.places : place_kind::threads;
    }
    if (has(axis::memory) && of.where != memory_way::local) {
      made.memory = memory_option(of.where, on_);
      if (made.memory.empty()) {
        return std::nullopt;
      }
    }
    if (has(axis::smt)) {
      made.smt = of.smt;
    }
    if (has(axis::balancing) && of.balancing != balancing_use::as_it_is) {
      if (!changes_balancing(of.balancing)) {
        return std::nullopt;
      }
      made.balancing = of.balancing;
    }
    const bool needs_bind = made.memory == "blocked" || made.smt == smt_use::on;
    if (needs_bind) {
      made.bind = of.bind;
    }
    if (has(axis::pages) && of.other_pages) {
      made.huge_pages = huge_pages_;
    }
    made.threads = threads_of(of, made);
    return made;
  }

  /// Bit 0 is balancing, bit 1 memory tiering, which is off only if both are.
  [[nodiscard]] bool changes_balancing(balancing_use to) const {
    return balancing_ && (to == balancing_use::on ? (*balancing_ & 1) == 0 : *balancing_ != 0);
  }

  [[nodiscard]] std::size_t threads_of(const candidate_row& of, const machine_row& made) const {
    if (!made.nodes.empty()) {
      const std::size_t room = cores_with(on_, cpus_of(made.nodes));
      return has(axis::threads) || today_ > room ? room : 0;
    }
    return has(axis::threads) ? number(of.threads) : 0;
  }

  [[nodiscard]] std::size_t number(thread_count of) const {
    switch (of) {
    case thread_count::today:
      break;
    case thread_count::cores:
      return cores_;
    case thread_count::half:
      return cores_ / 2;
    case thread_count::node:
      return cores_with(on_, domains_.front().cpus);
    case thread_count::package:
      return cores_with(on_, first_package());
    case thread_count::hardware:
      return cpus_.size();
    }
    return 0;
  }

  [[nodiscard]] cpu_set first_package() const {
    for (const cpu_set& each : on_.places(place_kind::packages)) {
      if (each.contains(cpus_.first())) {
        return each & cpus_;
      }
    }
    return cpus_;
  }

  [[nodiscard]] cpu_set cpus_of(const node_set& nodes) const {
    cpu_set cpus;
    for (const domain& each : domains_) {
      cpus = nodes.contains(each.node) ? cpus | each.cpus : cpus;
    }
    return cpus;
  }

  [[nodiscard]] bool is_in(std::size_t number, const candidate_row& of) const {
    switch (of.nodes) {
    case node_part::all:
      break;
    case node_part::node:
      return number == of.node && (number == 0 || domains_.size() <= most_nodes_alone);
    case node_part::package:
      return (domains_[number].cpus & first_package()) == domains_[number].cpus;
    case node_part::half:
      return number < domains_.size() / 2;
    }
    return true;
  }

  /// Empty if it is no part of this machine, or all of it, or a single node where several were
  /// meant.
  [[nodiscard]] node_set nodes_of_part(const candidate_row& of) const {
    node_set nodes;
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (is_in(i, of)) {
        nodes.insert(domains_[i].node);
      }
    }
    const bool is_part = nodes.size() < domains_.size();
    return is_part && (of.nodes == node_part::node || nodes.size() > 1) ? nodes : node_set();
  }

  [[nodiscard]] team_layout layout(const machine_row& of) const {
    const cpu_set allowed = of.nodes.empty() ? cpus_ : cpus_of(of.nodes);
    const topology where(on_.machine(), allowed, on_.allowed_nodes());
    return {where,
            layout_options{of.bind, of.threads != 0 ? of.threads : today_, of.places, of.smt}};
  }

  /// Equal for settings that have the same effect.
  [[nodiscard]] std::string meaning(const machine_row& of) const {
    if (of.bind == bind_policy::none) {
      machine_row made = of;
      // What an OpenMP program starts by itself.
      made.threads = of.threads == (today_ != 0 ? today_ : cpus_.size()) ? 0 : of.threads;
      return joined(options_of(made), " ");
    }
    const team_layout threads = layout(of);
    return fmt::format("{};{};{};{}",
                       joined(threads.threads(), ";",
                              [](const thread_place& each) { return each.place.to_string(); }),
                       of.memory, static_cast<int>(of.balancing), of.huge_pages);
  }

  [[nodiscard]] std::size_t cores_of(const machine_row& of) const {
    if (of.bind != bind_policy::none) {
      const team_layout threads = layout(of);
      return std::min(threads.size(), cores_with(on_, threads.cpus()));
    }
    const std::size_t room = of.nodes.empty() ? cores_ : cores_with(on_, cpus_of(of.nodes));
    const std::size_t threads = of.threads != 0 ? of.threads : today_;
    const bool is_limited = !of.nodes.empty() || of.smt == smt_use::off;
    return threads == 0 ? (is_limited ? room : 0) : std::min(threads, room);
  }

  const topology& on_;
  std::vector<domain> domains_;
  std::size_t today_;
  std::optional<int> balancing_;
  std::string_view huge_pages_; ///< of a row with other pages
  std::set<axis> axes_;
  cpu_set cpus_; ///< of all nodes
  std::size_t cores_ = 0;
  std::set<std::string> seen_;
};

} // namespace

std::vector<axis> read_axes(std::string_view list) {
  const auto refuse_axis = [&](const std::string& answered) {
    throw error(error_kind::usage, fmt::format("the axes {}", printable(in_quotes(list))), answered,
                fmt::format("write some of {}, separated by commas", joined(axis_names, ", ")));
  };
  std::vector<axis> axes;
  for (const std::string_view name : split(list, ',')) {
    const auto found = std::ranges::find(axis_names, name);
    if (found == axis_names.end()) {
      refuse_axis(fmt::format("there is no axis {}", printable(in_quotes(name))));
    }
    const auto next = static_cast<axis>(found - axis_names.begin());
    if (std::ranges::find(axes, next) != axes.end()) {
      refuse_axis(fmt::format("{} is given twice", name));
    }
    axes.push_back(next);
  }
  return axes;
}

std::vector<setting> candidates(const topology& on, const candidate_request& of) {
  candidate_maker maker(on, of);
  std::vector<setting> list{{{}, maker.cores_today()}};
  for (const std::string& each : of.tries) {
    setting next = read_setting(each);
    next.cores = std::min(next.cores, maker.cores());
    add_if_new(list, std::move(next));
  }
  if (of.ranks) {
    for (setting& each : rank_settings(on, of.over)) {
      add_if_new(list, std::move(each));
    }
  } else if (!of.over.empty()) {
    maker.add_to(list);
  }
  return list;
}

std::vector<setting> read_candidates(std::string_view text, const std::string& file_name) {
  const std::string asked = fmt::format("the candidates in {}", printable(file_name));
  std::vector<setting> list{{}};
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    try {
      add_if_new(list, read_setting(line));
    } catch (const error& e) {
      throw error(error_kind::input, fmt::format("{}, line {}", asked, number), e.answered(),
                  e.hint());
    }
  }
  if (list.size() < 2) {
    throw error(error_kind::input, asked, "the file has no setting",
                "write options of `nodewise run`, such as --bind close, one setting on each line");
  }
  return list;
}

} // namespace nodewise::tune
