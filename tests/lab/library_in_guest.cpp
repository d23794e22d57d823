// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the library's loops and containers do on a machine with several nodes, said line by line:
// "runtime what value". The test beside this holds it against what must be.
//
// usage: library_in_guest
#include <algorithm>
#include <cstdio>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>
#include <nodewise/tbb.hpp>

namespace {

constexpr std::size_t n = 4 << 20; // 16 MiB

void say(const char* runtime, const char* what, double value) {
  std::printf("%s %s %.4f\n", runtime, what, value);
}

/// Some work that takes as long for each element, in the emulator too: long enough that all workers
/// have had many of the host's time slices before one has done its share.
void work(std::span<float> part) {
  for (int sweep = 0; sweep < 24; ++sweep) {
    for (float& each : part) {
      each = each * 0.5F + 1.0F;
    }
  }
}

/// Where workers, their values and an array are.
template <class Teams>
void on_own_processors(const char* runtime, Teams& teams, nodewise::array<float>& a) {
  const auto& who = teams.who();
  nodewise::per_thread<std::size_t> right(who, std::size_t{0});
  nodewise::per_thread<std::size_t> parts(who, std::size_t{0});
  const auto machine = nodewise::topology::from_sysfs();
  teams.on_each_worker([&](const nodewise::worker& me) {
    ++parts[me];
    right[me] += machine.node_of(nodewise::current_cpu()) == me.node ? 1U : 0U;
  });
  const auto add = [](std::size_t x, std::size_t y) { return x + y; };
  say(runtime, "workers-on-their-node",
      static_cast<double>(right.reduce(std::size_t{0}, add)) /
          static_cast<double>(parts.reduce(std::size_t{0}, add)));
  say(runtime, "values-on-their-node", right.where().locality().value_or(-1));
  say(runtime, "array-on-its-owners", a.where().locality().value_or(-1));
}

template <class Teams>
void loops(const char* runtime) {
  using nodewise::schedule;
  Teams teams;
  nodewise::array<float> a(n, teams.blocked(), {.pages = nodewise::page_size::base});
  teams.fill(a, 1.0F);
  on_own_processors(runtime, teams, a);
  const auto share = [&](schedule how) {
    return teams.for_each_owned(a, work, how).locality().value_or(-1);
  };
  say(runtime, "owned", share(schedule::owned()));
  say(runtime, "never", share(schedule::local_first(0, nodewise::steal::never)));
  say(runtime, "local-first", share(schedule::local_first()));
  say(runtime, "any", share(schedule::any(4)));
  nodewise::replicated<float> copies(teams.who(), n / 16);
  copies.update(teams, [](std::span<float> all) { work(all); });
  double least = 1;
  for (std::size_t team = 0; team < copies.copies(); ++team) {
    least = std::min(least, copies.where(team).locality().value_or(-1));
  }
  say(runtime, "copies-on-their-node", least);
}

/// Pages of a node's resource, after they were used by somebody else and given back.
void resources() {
  const auto machine = nodewise::topology::from_sysfs();
  for (const nodewise::domain& each : machine.domains()) {
    for (int round = 0; round < 2; ++round) {
      std::pmr::vector<std::byte> used(4 << 20, std::byte{1}, &nodewise::resource_on(each.node));
      const auto where =
          nodewise::query_residency(used, nodewise::bound(each.node).extents(used.size() >> 12));
      say("resource", "on-its-node", where.locality().value_or(-1));
    }
  }
}

/// The node of each page of an array that these teams have filled, one letter each.
template <class Teams>
std::string pages_of(Teams& teams) {
  nodewise::array<float> a(n, teams.blocked(),
                           {.pages = nodewise::page_size::base, .staggered = false});
  teams.fill(a, 1.0F);
  return a.strip(a.where().pages);
}

void same_pages() {
  nodewise::openmp_teams openmp;
  nodewise::tbb_teams tbb;
  say("runtimes", "same-pages", pages_of(openmp) == pages_of(tbb) ? 1 : 0);
}

/// More memory than a node has.
void room() {
  const auto machine = nodewise::topology::from_sysfs().machine();
  const nodewise::node_id last = machine.nodes.back().id;
  const std::size_t bytes = machine.nodes.back().memory_bytes;
  const auto preferring = nodewise::array_options{.pages = nodewise::page_size::base};
  nodewise::array<char, nodewise::bound> spilled(bytes, nodewise::bound(last), preferring);
  say("room", "noted", spilled.placed().notes.empty() ? 0 : 1);
  nodewise::populate(std::as_writable_bytes(std::span(spilled.data(), spilled.size())));
  const nodewise::residency where = spilled.where();
  say("room", "resident", where.resident == where.pages ? 1 : 0);
  say("room", "on-its-node", where.locality().value_or(-1));
  try {
    const nodewise::array<char, nodewise::bound> refused(bytes, nodewise::bound(last),
                                                         {.how = nodewise::strictness::must});
    say("room", "refused", 0);
  } catch (const nodewise::error& e) {
    say("room", "refused", e.errno_value());
  }
}

} // namespace

int main() {
  const auto before = nodewise::thread_affinity();
  loops<nodewise::openmp_teams>("openmp");
  loops<nodewise::tbb_teams>("tbb");
  same_pages();
  resources();
  room();
  say("program", "processors-as-before", nodewise::thread_affinity() == before ? 1 : 0);
}
