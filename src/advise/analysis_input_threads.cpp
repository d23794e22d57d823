// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which thread of a plan each thread is, whether anything keeps it on its node, and what the main
// thread does alone between the loops that all threads share: it builds a matrix, reads a file,
// prints. Counts have threads but no times, so the objects must show it.
#include <map>
#include <set>
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

/// By thread: its use, in the program's unit, of memory that other threads than `main` use, too.
/// What only the main thread uses, such as a temporary during initialisation, is no part of their
/// work.
std::vector<double> shared_uses(const profile::program& of, std::size_t main) {
  constexpr double some = 0.1;
  // By module and offset, where the program's own code allocates it.
  std::map<std::pair<std::string, std::uint64_t>, std::vector<double>> by_place;
  for (const profile::object& each : of.objects) {
    const profile::frame* const own = profile::own_frame(each.made_at);
    auto& sums = own == nullptr ? by_place[{}] : by_place[{own->module, own->offset}];
    sums.resize(of.threads.size(), 0);
    add_uses(of, each, sums);
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

constexpr double nearly_alone = 0.95;
// Times what any other thread uses alone: with less, each thread has an object of its own.
constexpr double much_more = 2;
// Of the others' mean: a main thread that does less in their loops may do its own work at the same
// time.
constexpr double takes_part = 0.5;

/// The worker that makes nearly all use of the item; `nowhere` if several do.
std::size_t only_user(const analysis_input& in, const item& of) {
  std::vector<double> by(in.workers.size(), 0);
  for (const profile::use_run& run : of.uses) {
    for_each_use(in, of, run, [&](std::size_t w, double amount) { by[w] += amount; });
  }
  const double all = sum_of(by);
  const std::size_t most = by.empty() ? nowhere : greatest_at(by);
  return all > 0 && by[most] >= nearly_alone * all ? most : nowhere;
}

} // namespace

void analysis_input::number_workers(std::size_t program, std::span<worker> team) {
  const profile::program& from = profile.programs[program];
  const bool are_known = std::ranges::any_of(
      from.threads, [](const profile::thread& each) { return each.number.has_value(); });
  const auto main = std::ranges::find(team, 0U, &worker::ordinal);
  const bool works = main_works_in(from, main == team.end() ? 0 : main->thread);
  main_works_[program] = works ? 1 : 0;
  if (from.has_runtime()) {
    number_team(program, team);
    return;
  }
  for (worker& each : team) {
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
void analysis_input::number_team(std::size_t program, std::span<worker> team) {
  const profile::program& from = profile.programs[program];
  const std::vector<double> uses = uses_of(from);
  std::vector<worker*> order;
  std::ranges::transform(team, std::back_inserter(order), [](worker& each) { return &each; });
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
  constexpr double as_much_as = 0.5; // of a team member's mean use
  for (worker& each : team) {
    if (members == 0) { // the runtime started none: all are the program's own
      each.number = each.ordinal;
    } else if (each.number == nowhere && uses[each.thread] >= as_much_as * all / members) {
      each.number = 0;
    }
  }
}

/// Marks threads that worked, and places those that are known only by their touches.
void analysis_input::mark_active(std::size_t program, std::span<worker> team) {
  std::map<std::size_t, std::map<std::size_t, std::uint64_t>> touched; // thread, node: pages
  for (const profile::object& each : profile.programs[program].objects) {
    for (const profile::touched_run& run : each.touched) {
      if (run.by && *run.by < team.size()) {
        team[*run.by].active = true;
        if (const std::size_t node = position_of(run.from); node != nowhere) {
          touched[*run.by][node] += run.count;
        }
      }
    }
    for (const profile::use_run& run : each.uses) {
      for (const profile::use& use : run.by) {
        if (use.by < team.size()) {
          team[use.by].active = true;
        }
      }
    }
  }
  for (const auto& [at, nodes] : touched) {
    const auto most =
        std::ranges::max_element(nodes, {}, [](const auto& each) { return each.second; });
    if (team[at].home == nowhere && has_cores(most->first)) {
      team[at].home = most->first;
      team[at].parts = {{most->first, 1}};
    }
  }
}

void analysis_input::mark_roaming(std::size_t program, std::span<worker> team) {
  // The main thread may have touched pages before a runtime bound it.
  constexpr double elsewhere = 0.2;
  std::map<std::size_t, std::pair<double, double>> touched; // by thread: pages, from elsewhere
  for (const profile::object& each : profile.programs[program].objects) {
    for (const profile::touched_run& run : each.touched) {
      const std::size_t by = run.by.value_or(nowhere);
      const std::size_t from = position_of(run.from);
      if (by < team.size() && team[by].ordinal != 0 && from != nowhere) {
        touched[by].first += static_cast<double>(run.count);
        touched[by].second += from != team[by].home ? static_cast<double>(run.count) : 0;
      }
    }
  }
  std::map<std::size_t, std::size_t> homes; // by number
  for (worker& each : team) {
    if (each.active && each.home != nowhere && each.number != nowhere) {
      const auto [mate, alone] = homes.try_emplace(each.number, each.home);
      const auto pages = touched.find(each.thread);
      each.roams =
          each.moved() || (!alone && mate->second != each.home) ||
          (pages != touched.end() && pages->second.second >= elsewhere * pages->second.first);
    }
  }
}

positions nodes_of_threads(const analysis_input& of, std::size_t program, const positions& homes) {
  positions nodes;
  std::vector<double> bytes;
  std::size_t known = 0;
  for (std::size_t w = 0; w < of.workers.size(); ++w) {
    const worker& each = of.workers[w];
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

/// Marks objects that only the main thread uses, if it also takes part in the loops of all threads,
/// or waits for threads that the program itself starts.
/// These objects keep one memory busy while the others idle, whatever happens in the loops: dealing
/// them out would only make them far.
void analysis_input::mark_alone() {
  if (assumed || sampled) {
    return; // a few samples of one thread do not prove that others use none of it
  }
  for (const std::size_t program : programs) {
    std::vector<double> own(workers.size(), 0);
    positions users;
    for (const item& each : items) {
      users.push_back(each.program == program ? only_user(*this, each) : nowhere);
      if (users.back() != nowhere) {
        own[users.back()] += each.bytes();
      }
    }
    std::size_t main = nowhere;
    double greatest = 0; // of what one other thread uses alone
    double shared = 0;   // by the other threads
    double others = 0;
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (workers[w].program == program && workers[w].ordinal == 0) {
        main = w;
      } else if (workers[w].program == program && workers[w].bytes > 0) {
        greatest = std::max(greatest, own[w]);
        shared += workers[w].bytes - own[w];
        ++others;
      }
    }
    if (main == nowhere) {
      continue;
    }
    const bool takes_turns = shared > 0 && own[main] >= much_more * greatest &&
                             workers[main].bytes - own[main] >= takes_part * shared / others;
    if (main_works(program) && !takes_turns) {
      continue;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].alone = items[i].alone || users[i] == main;
      has_alone = has_alone || items[i].alone;
    }
  }
}

} // namespace nodewise::advise
