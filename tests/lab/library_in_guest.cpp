// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the library's loops and containers do on a machine with several nodes, said line by line:
// "runtime what value". The test beside this holds it against what must be.
//
// usage: library_in_guest [reserved]     reserved: only what reserved huge pages are needed for
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory_resource>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>
#include <nodewise/tbb.hpp>

namespace {

constexpr std::size_t n = 4 << 20; // 16 MiB

void say(const char* runtime, const char* what, double value) {
  std::printf("%s %s %.4f\n", runtime, what, value);
}

/// Some work that takes as long for each element, in the emulator too.
void work(std::span<float> part) {
  for (int sweep = 0; sweep < 24; ++sweep) {
    for (float& each : part) {
      each = each * 0.5F + 1.0F;
    }
  }
}

/// Watches a loop's workers for chunks that they take from another node too early: while their own
/// node has chunks that nobody has taken. How much is done at home depends on who gets processors
/// from the host; this does not.
///
/// A chunk is seen when it is begun. Of its own node's chunks those may be missing then that others
/// have taken and not begun: one a worker, for a worker takes several at once only where more than
/// 64 are left for each worker of the node, and here each has 32. So many are no sign.
class steal_watch {
 public:
  steal_watch(const nodewise::thread_map& threads, std::size_t elements)
      : threads_(threads), of_a_team_(elements / threads.teams().size()),
        begun_(threads.teams().size()), has_come_(threads, 0) {
    const std::size_t fair = elements / threads.workers().size();
    // One more for the page that the array's beginning is shifted by.
    in_hands_ = threads.workers().size() * (fair / 32);
  }

  void begins(const nodewise::worker& me, std::size_t first, std::size_t count) {
    const std::size_t home = std::min((first + count / 2) / of_a_team_, begun_.size() - 1);
    begun_[home] += count;
    const std::size_t own = begun_[me.team];
    if (home != me.team && own + in_hands_ < of_a_team_) {
      ++early_;
    }
  }
  /// Nobody goes on before all workers have a chunk: to be called where each has a thread.
  void gather(const nodewise::worker& me) {
    if (has_come_[me]++ == 0) {
      ++come_;
    }
    while (come_ < threads_.workers().size()) {
      std::this_thread::yield();
    }
  }
  [[nodiscard]] double early() const { return static_cast<double>(early_.load()); }

 private:
  const nodewise::thread_map& threads_;
  std::size_t of_a_team_;
  std::size_t in_hands_ = 0;
  std::vector<std::atomic<std::size_t>> begun_; ///< elements, by the team at whose home they are
  nodewise::per_thread<int> has_come_;
  std::atomic<std::size_t> come_ = 0;
  std::atomic<std::size_t> early_ = 0;
};

/// Where workers, their values and an array are.
template <class Teams>
void on_own_processors(const char* runtime, Teams& teams, nodewise::array<float>& a) {
  const auto& threads = teams.threads();
  nodewise::per_thread<std::size_t> right(threads, std::size_t{0});
  nodewise::per_thread<std::size_t> parts(threads, std::size_t{0});
  const auto machine = nodewise::topology::from_sysfs();
  teams.on_each_worker([&](const nodewise::worker& me) {
    ++parts[me];
    right[me] += machine.node_of(nodewise::current_cpu()) == me.node ? 1U : 0U;
  });
  const auto add = [](std::size_t x, std::size_t y) { return x + y; };
  say(runtime, "workers-on-their-node",
      static_cast<double>(right.reduce(std::size_t{0}, add)) /
          static_cast<double>(parts.reduce(std::size_t{0}, add)));
  say(runtime, "values-on-their-node", right.residency().locality().value_or(-1));
  say(runtime, "array-on-its-owners", a.residency().locality().value_or(-1));
}

/// Chunks that were stolen too early. `gathered`: see `steal_watch::gather`.
template <class Teams>
double early_steals(Teams& teams, nodewise::array<float>& a, nodewise::schedule how,
                    bool gathered) {
  steal_watch watch(teams.threads(), n);
  (void)teams.for_each_owned(
      a,
      [&](const nodewise::worker& me, std::size_t first, std::span<float> part) {
        watch.begins(me, first, part.size());
        if (gathered) {
          watch.gather(me);
        }
        work(part);
      },
      how);
  return watch.early();
}

template <class Teams>
void loops(const char* runtime, bool each_worker_has_a_thread) {
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
  say(runtime, "early-local-first", early_steals(teams, a, schedule::local_first(), false));
  if (each_worker_has_a_thread) {
    say(runtime, "early-any", early_steals(teams, a, schedule::any(4), true));
  }
  nodewise::replicated<float> copies(teams.threads(), n / 16);
  copies.update(teams, [](std::span<float> all) { work(all); });
  double least = 1;
  for (std::size_t team = 0; team < copies.copies(); ++team) {
    least = std::min(least, copies.residency(team).locality().value_or(-1));
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
  return a.strip(a.residency().pages);
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
  const nodewise::residency where = spilled.residency();
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

/// Reserved huge pages that nobody has.
long free_reserved() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    long pages = 0;
    if (std::sscanf(line.c_str(), "HugePages_Free: %ld", &pages) == 1) {
      return pages;
    }
  }
  return -1;
}

/// Every container whose memory may be of reserved huge pages, of sizes that are whole pages and
/// not.
void reserved() {
  using nodewise::page_size;
  const auto machine = nodewise::topology::from_sysfs().machine();
  const nodewise::bound here(machine.nodes.front().id);
  const long before = free_reserved();
  long least = before;
  for (const std::size_t bytes : {100000UL, 2UL << 20, (3UL << 20) + 1, 4UL << 20}) {
    {
      const nodewise::allocator<char, nodewise::bound> by(here, page_size::huge_2m);
      const std::vector<char, nodewise::allocator<char, nodewise::bound>> used(bytes, 'a', by);
      nodewise::placed_resource<nodewise::bound> resource(here, page_size::huge_2m);
      const std::pmr::vector<char> other(bytes, 'a', &resource);
      nodewise::region memory(bytes, here, {nodewise::strictness::must, page_size::huge_2m});
      least = std::min(least, free_reserved());
      say("reserved", "unmapped", nodewise::unmap_region(memory.detach(), bytes));
    }
    say("reserved", "left", static_cast<double>(before - free_reserved()));
  }
  say("reserved", "used", static_cast<double>(before - least));
}

} // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "reserved") {
    reserved();
    return 0;
  }
  const auto before = nodewise::thread_affinity();
  loops<nodewise::openmp_teams>("openmp", true);
  loops<nodewise::tbb_teams>("tbb", false); // one thread may be several workers in turn
  same_pages();
  resources();
  room();
  say("program", "processors-as-before", nodewise::thread_affinity() == before ? 1 : 0);
}
