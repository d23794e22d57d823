// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which thread of a plan each thread is, and whether anything keeps it on its node.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "advise/analysis_input.hpp"
#include "bind/team_sizes.hpp"

namespace nodewise::advise {

namespace {

void add_uses(const profile::program& of, const profile::object& what, std::vector<double>& sums) {
  for (const profile::use_run& run : what.uses) {
    for_each_use(of, run, [&](std::size_t thread, double amount) { sums[thread] += amount; });
  }
}

/// By thread: its total use, in the program's unit.
std::vector<double> uses_of(const profile::program& of) {
  std::vector<double> sums(of.threads.size(), 0);
  for (const profile::object& each : of.objects) {
    add_uses(of, each, sums);
  }
  return sums;
}

using place = std::tuple<std::string, std::uint64_t>; ///< module, offset

/// Where the program's own code allocates it.
place place_of(const profile::object& what) {
  const profile::frame* const own = profile::own_frame(what.made_at);
  return own == nullptr ? place{} : place{own->module, own->offset};
}

/// By thread: its use, in the program's unit, of memory that other threads than `main` use, too.
/// What only the main thread uses, such as a temporary during initialisation, is no part of their
/// work.
std::vector<double> shared_uses(const profile::program& of, std::size_t main) {
  constexpr double some = 0.1;
  std::map<place, std::vector<double>> by_place;
  for (const profile::object& each : of.objects) {
    add_uses(of, each, by_place.try_emplace(place_of(each), of.threads.size(), 0.0).first->second);
  }
  std::vector<double> all(of.threads.size(), 0);
  for (const auto& [where, sums] : by_place) {
    if (sum_of(sums) - sums[main] > some * sum_of(sums)) {
      std::ranges::transform(all, sums, all.begin(), std::plus<>());
    }
  }
  return all;
}

/// Compares the mean use of a role, however often its thread was started anew. If no use was
/// observed, the main thread is assumed to wait for the others.
bool main_works_in(const profile::program& of, std::size_t main) {
  constexpr double some = 0.1;
  if (of.has_runtime() || of.threads.size() < 2) {
    return true;
  }
  const std::vector<double> uses = shared_uses(of, main);
  double others = 0;
  std::set<std::size_t> roles;
  for (std::size_t t = 0; t < uses.size(); ++t) {
    if (t != main && uses[t] > 0) {
      others += uses[t];
      roles.insert(of.threads[t].number.value_or(of.threads.size() + t));
    }
  }
  return uses[main] > 0 && uses[main] * static_cast<double>(roles.size()) >= some * others;
}

} // namespace

void analysis_input::number_workers(std::size_t program, std::size_t first_worker) {
  const profile::program& from = profile_.programs[program];
  const bool are_known = std::ranges::any_of(
      from.threads, [](const profile::thread& each) { return each.number.has_value(); });
  std::size_t main = 0;
  for (std::size_t w = first_worker; w < workers_.size(); ++w) {
    main = workers_[w].ordinal == 0 ? workers_[w].thread : main;
  }
  const bool works = main_works_in(from, main);
  main_works_[program] = works ? 1 : 0;
  if (from.has_runtime()) {
    number_team(program, first_worker);
    return;
  }
  for (std::size_t w = first_worker; w < workers_.size(); ++w) {
    worker& each = workers_[w];
    const std::size_t behind = works ? 1 : 0;
    if (each.ordinal == 0) {
      each.number = works ? 0 : nowhere;
    } else if (const auto own = from.threads[each.thread].number) {
      each.number = *own + behind;
    } else if (!are_known) { // otherwise the program did not start it
      each.number = each.ordinal - 1 + behind;
    }
  }
}

/// The sizes of nested parallel regions, outermost first, if all inner teams are alike and the
/// program's other threads are an outer team of that size; else empty.
positions nested_teams(const profile::program& of) {
  positions teams;
  std::size_t outer = 0;
  for (const profile::thread& each : of.threads) {
    if (!each.nested) {
      outer += each.number ? 0U : 1U;
    } else if (teams.empty()) {
      teams = each.nested->teams;
    } else if (teams != each.nested->teams) {
      return {};
    }
  }
  return !teams.empty() && teams.front() == outer ? teams : positions{};
}

/// Numbers a runtime's threads in order of creation, after their leader: the main thread, or a
/// thread that the program started to lead them. If each starts an inner team, a thread of the
/// outer team has the first number of its inner team.
void analysis_input::number_team(std::size_t program, std::size_t first_worker) {
  const profile::program& from = profile_.programs[program];
  const std::vector<double> uses = uses_of(from);
  std::vector<worker*> order;
  for (std::size_t w = first_worker; w < workers_.size(); ++w) {
    order.push_back(&workers_[w]);
  }
  std::ranges::sort(order, {}, &worker::ordinal);
  double all = 0;
  double members = 0;
  teams_[program] = nested_teams(from);
  const std::size_t inner = // threads of one inner team, with its outer thread
      teams_[program].empty() ? 1
                              : bind::threads_of_teams(teams_[program]) / teams_[program].front();
  std::size_t next = inner;
  for (worker* const each : order) {
    const profile::thread& thread = from.threads[each->thread];
    const bool own = thread.number.has_value();
    if (thread.nested && !teams_[program].empty()) {
      each->number = thread.nested->number;
    } else {
      const bool member = each->ordinal != 0 && !own;
      each->number = each->ordinal == 0 ? 0 : member ? next : nowhere;
      next += member ? inner : 0;
    }
    all += own || each->ordinal == 0 ? 0 : uses[each->thread];
    members += own || each->ordinal == 0 ? 0 : 1;
  }
  constexpr double takes_part = 0.5; // of a team member's mean use
  for (worker* const each : order) {
    const bool leads =
        each->number == nowhere && members > 0 && uses[each->thread] >= takes_part * all / members;
    each->number = leads ? 0 : each->number;
  }
  if (members > 0) {
    return;
  }
  for (worker* const each : order) { // the runtime started none: all are the program's own
    each->number = each->ordinal;
  }
}

/// Marks threads that worked, and places those that are known only by their touches.
void analysis_input::mark_active(std::size_t program, std::size_t first_worker) {
  const auto known = [&](std::size_t thread) { return first_worker + thread < workers_.size(); };
  std::map<std::size_t, std::map<std::size_t, std::uint64_t>> touched; // worker, node: pages
  for (const profile::object& each : profile_.programs[program].objects) {
    for (const profile::touched_run& run : each.touched) {
      if (run.by && known(*run.by)) {
        worker& toucher = workers_[first_worker + *run.by];
        toucher.active = true;
        const std::size_t node = position_or_nowhere(costs_, run.from);
        if (node != nowhere) {
          touched[first_worker + *run.by][node] += run.count;
        }
      }
    }
    for (const profile::use_run& run : each.uses) {
      for (const profile::use& use : run.by) {
        if (known(use.by)) {
          workers_[first_worker + use.by].active = true;
        }
      }
    }
  }
  for (const auto& [at, nodes] : touched) {
    const auto most =
        std::ranges::max_element(nodes, {}, [](const auto& each) { return each.second; });
    if (workers_[at].home == nowhere && has_cores(most->first)) {
      workers_[at].home = most->first;
      workers_[at].parts = {{most->first, 1}};
    }
  }
}

void analysis_input::mark_roaming(std::size_t program, std::size_t first_worker) {
  // The main thread may have touched pages before a runtime bound it.
  constexpr double elsewhere = 0.2;
  std::map<std::size_t, std::pair<double, double>> touched; // by worker: pages, from elsewhere
  for (const profile::object& each : profile_.programs[program].objects) {
    for (const profile::touched_run& run : each.touched) {
      const std::size_t w = run.by ? first_worker + *run.by : workers_.size();
      const std::size_t from = position_or_nowhere(costs_, run.from);
      if (w < workers_.size() && workers_[w].ordinal != 0 && from != nowhere) {
        touched[w].first += static_cast<double>(run.count);
        touched[w].second += from != workers_[w].home ? static_cast<double>(run.count) : 0;
      }
    }
  }
  std::map<std::size_t, std::size_t> homes; // by number
  for (std::size_t w = first_worker; w < workers_.size(); ++w) {
    worker& each = workers_[w];
    if (!each.active || each.home == nowhere || each.number == nowhere) {
      continue;
    }
    const auto [mate, alone] = homes.try_emplace(each.number, each.home);
    const auto pages = touched.find(w);
    each.roams =
        each.moved() || (!alone && mate->second != each.home) ||
        (pages != touched.end() && pages->second.second >= elsewhere * pages->second.first);
  }
}

std::vector<std::size_t> nodes_of_threads(const analysis_input& of, std::size_t program,
                                          const std::vector<std::size_t>& homes) {
  std::vector<std::size_t> nodes;
  std::vector<double> bytes;
  std::size_t known = 0;
  for (std::size_t w = 0; w < of.workers().size(); ++w) {
    const worker& each = of.workers()[w];
    if (each.program != program || each.number == nowhere) {
      continue;
    }
    if (each.number >= nodes.size()) {
      nodes.resize(each.number + 1, nowhere);
      bytes.resize(each.number + 1, -1);
    }
    if (each.bytes > bytes[each.number]) {
      nodes[each.number] = homes.empty() ? each.home : homes[w];
      bytes[each.number] = each.bytes;
    }
    if (each.active || each.home != nowhere) {
      known = std::max(known, each.number + 1);
    }
  }
  nodes.resize(known);
  return nodes;
}

} // namespace nodewise::advise
