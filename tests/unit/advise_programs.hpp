// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Profiles made by hand, for tests of advice: threads on nodes, and arrays that they touch and use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "advise/advise.hpp"
#include "profile/profile.hpp"

namespace nodewise::test {

inline topology lab_machine(const std::string& name) {
  return topology::from_json(std::string(NODEWISE_TEST_MACHINES) + "/" + name + ".json");
}

/// Which thread has a page, of so many pages.
using dealing = std::function<std::size_t(std::size_t page, std::size_t pages)>;

class program_maker {
 public:
  /// A thread on each of these nodes, the first is the main one. Uses are counted lines.
  explicit program_maker(std::vector<int> nodes) : nodes_(std::move(nodes)) {
    made_.command = {"./solver"};
    made_.seen.faults = made_.seen.chains = made_.seen.agent = made_.seen.counts = true;
    profile::program one;
    one.pid = 100;
    one.name = "solver";
    one.build_id = "abcd";
    one.openmp = true;
    one.use_from = profile::use_source::traffic_count;
    one.use_unit_bytes = 64;
    for (std::size_t t = 0; t < nodes_.size(); ++t) {
      profile::thread each;
      each.tid = 100 + static_cast<int>(t);
      each.main = t == 0;
      each.stays = {{node_id{nodes_[t]}, 100}};
      one.threads.push_back(std::move(each));
    }
    made_.programs.push_back(std::move(one));
  }

  [[nodiscard]] std::size_t threads() const { return nodes_.size(); }
  [[nodiscard]] profile::program& program() { return made_.programs.front(); }
  [[nodiscard]] profile::profile& made() { return made_; }
  [[nodiscard]] profile::object& last() { return program().objects.back(); }

  [[nodiscard]] dealing blocked() const {
    return [n = threads()](std::size_t page, std::size_t pages) { return page * n / pages; };
  }
  /// By pages in turn over the threads.
  [[nodiscard]] dealing in_turn(std::size_t block = 1) const {
    return [n = threads(), block](std::size_t page, std::size_t) { return page / block % n; };
  }
  static dealing all_by(std::size_t thread) {
    return [thread](std::size_t, std::size_t) { return thread; };
  }

  /// An array allocated at a line of its own and touched by these threads, where its pages are
  /// then.
  program_maker& array(std::size_t pages, const dealing& toucher) {
    profile::object one;
    one.id = program().objects.size();
    one.pages = one.resident = pages;
    one.bytes = pages * made_.page_bytes;
    one.page_bytes = made_.page_bytes;
    one.made_by = 0;
    one.live_at_end = true;
    one.start = 0x7f0000000000 + one.id * 0x100000000;
    const int line = 20 + static_cast<int>(one.id);
    one.made_at = {{"solver", 0x1000 + one.id * 0x10, "main", "solver.c", line, false}};
    for (std::size_t page = 0; page < pages; ++page) {
      const std::size_t thread = toucher(page, pages);
      if (one.touched.empty() || one.touched.back().by != thread) {
        one.touched.push_back({page, 0, thread, node_id{nodes_[thread]}});
        one.where.push_back({page, 0, node_id{nodes_[thread]}});
      }
      ++one.touched.back().count;
      ++one.where.back().count;
    }
    program().objects.push_back(std::move(one));
    return touched_at("main", "solver.c", 40 + line, profile::touch_kind::code);
  }
  program_maker& touched_at(const std::string& function, const std::string& file, int line,
                            profile::touch_kind how) {
    last().touches = {{{{"solver", 0x2000, function, file, line, false}},
                       how,
                       last().touched.front().by,
                       last().touched.front().from,
                       last().pages}};
    return *this;
  }
  /// The last array is on one node, whoever touched it.
  program_maker& on_node(int node) {
    last().where = {{0, last().pages, node_id{node}}};
    return *this;
  }
  /// Each page by one thread, so many lines.
  program_maker& used(const dealing& user, double write_share = 0, double lines = 64) {
    last().write_share = write_share;
    for (std::size_t page = 0; page < last().pages; ++page) {
      const std::size_t thread = user(page, last().pages);
      if (last().uses.empty() || last().uses.back().by.front().by != thread) {
        last().uses.push_back({page, 0, {{thread, 0}}});
      }
      ++last().uses.back().count;
      last().uses.back().by.front().amount += lines;
    }
    last().used_at = {{{"solver", 0x3000, "sweep", "solver.c", 90, false}, 1}};
    return *this;
  }
  /// Each page by several threads in equal parts, as in phases that share out the work differently.
  program_maker& used_in_phases(const std::vector<dealing>& users, double lines = 64) {
    for (std::size_t page = 0; page < last().pages; ++page) {
      std::map<std::size_t, double> by;
      for (const dealing& user : users) {
        by[user(page, last().pages)] += lines / static_cast<double>(users.size());
      }
      profile::use_run one{page, 1, {}};
      for (const auto& [thread, amount] : by) {
        one.by.push_back({thread, amount});
      }
      last().uses.push_back(std::move(one));
    }
    return *this;
  }
  /// Every page by all threads in the same shares.
  program_maker& used_by_all(double write_share = 0, double lines = 64) {
    last().write_share = write_share;
    profile::use_run all{0, last().pages, {}};
    for (std::size_t t = 0; t < threads(); ++t) {
      all.by.push_back({t, lines * static_cast<double>(last().pages)});
    }
    last().uses = {all};
    return *this;
  }
  /// Every page by several threads, as chance has it, always the same chance.
  program_maker& used_by_chance(double write_share = 0) {
    last().write_share = write_share;
    std::uint64_t state = 12345;
    for (std::size_t page = 0; page < last().pages; ++page) {
      profile::use_run one{page, 1, {}};
      for (std::size_t t = 0; t < threads(); ++t) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto lines = static_cast<double>((state >> 33U) % 16);
        if (lines > 0) {
          one.by.push_back({t, lines});
        }
      }
      if (!one.by.empty()) {
        last().uses.push_back(std::move(one));
      }
    }
    return *this;
  }

 private:
  profile::profile made_;
  std::vector<int> nodes_;
};

inline const std::vector<int> two_by_four = {0, 0, 0, 0, 1, 1, 1, 1};
inline const std::vector<int> four_by_two = {0, 0, 1, 1, 2, 2, 3, 3};

/// The patterns found, in their order of gain.
inline std::vector<advise::pattern> found(const advise::advice& in) {
  std::vector<advise::pattern> all;
  for (const advise::finding& each : in.findings) {
    all.push_back(each.what);
  }
  return all;
}

/// What is advised on a machine of the lab.
inline advise::advice on(const std::string& machine, program_maker& what) {
  return advise::advise(what.made(), lab_machine(machine));
}
inline advise::advice on_nehalem(program_maker& what) {
  return on("nehalem-2x4", what);
}

/// a[i] += b[i] * c[i], as HLRS has it.
inline profile::profile three_arrays(const std::vector<int>& nodes, bool cured) {
  program_maker make(nodes);
  constexpr std::size_t pages = 1024;
  for (const double write_share : {1.0, 0.0, 0.0}) {
    make.array(pages, cured ? make.blocked() : program_maker::all_by(0))
        .used(make.blocked(), write_share);
  }
  return make.made();
}

} // namespace nodewise::test
