// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A table with a copy on each node, for data that is read often and changed rarely.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::replicated<double> table(teams.threads(), 1000);
//     table.update([](std::span<double> copy) { std::iota(copy.begin(), copy.end(), 0.0); });
//     std::atomic<int> right = 0;
//     teams.on_each_worker([&](const nodewise::worker& me) {
//       right += table.local(me)[7] == 7.0; // reads the copy of its node
//     });
//     std::printf("%d workers found it in %zu copies\n", right.load(), table.copies());
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <nodewise/array.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0 {

/// A table with a copy on each node that has workers, for data that is read often and changed
/// rarely. Readers use the copy of their node. No thread may read during an update. Movable.
template <class T>
class replicated {
 public:
  /// Makes copies of `size` elements of zero bytes. Throws `error`: (usage) for a size of 0 or too
  /// large, (system) if there is no memory for all copies.
  replicated(const thread_map& threads, std::size_t size) {
    copies_.reserve(threads.teams().size());
    for (const node_team& team : threads.teams()) {
      copies_.emplace_back(size, bound(team.node));
    }
  }

  /// Returns the number of elements in a copy.
  [[nodiscard]] std::size_t size() const noexcept { return copies_.front().size(); }
  /// Returns the number of copies: one for each team.
  [[nodiscard]] std::size_t copies() const noexcept { return copies_.size(); }
  /// Returns the copy of a worker's node.
  [[nodiscard]] std::span<const T> local(const worker& me) const noexcept { return copy(me.team); }
  /// Returns the copy of the team at position `team` in `thread_map::teams`.
  [[nodiscard]] std::span<const T> copy(std::size_t team) const noexcept {
    return {copies_[team].data(), size()};
  }

  /// Calls `change(span)` with one copy, and copies it to the others. The calling thread does all
  /// of this; policies put each copy's pages on its node, whichever thread writes.
  template <class F>
  void update(F&& change) {
    change(std::span<T>(copies_.front().data(), size()));
    for (std::size_t team = 1; team < copies_.size(); ++team) {
      copy_part(team, 0, size());
    }
  }
  /// The same, but the workers of each node write its copy, except the one passed to `change`.
  template <class Teams, class F>
  void update(Teams& teams, F&& change) {
    change(std::span<T>(copies_.front().data(), size()));
    teams.on_each_worker([this, &teams](const worker& me) {
      if (me.team != 0) {
        const auto part = arithmetic::blocked(me.in_team, size(),
                                              teams.threads().teams()[me.team].workers.size());
        copy_part(me.team, part.first, part.last);
      }
    });
  }

  /// Lets all workers write: each calls `change(first, span)` with elements `part_of(worker)`, an
  /// `index_range`, of its node's copy. Then the workers of each node copy what was written on
  /// other nodes, so that no single memory serves all. Parts must not overlap.
  template <class Teams, class PartOf, class F>
  void update_parts(Teams& teams, PartOf&& part_of, F&& change) {
    teams.on_each_worker([&](const worker& me) {
      const index_range mine = part_of(me);
      change(mine.first, std::span<T>(copies_[me.team].data() + mine.first, mine.size()));
    });
    teams.on_each_worker([&](const worker& me) {
      const std::size_t together = teams.threads().teams()[me.team].workers.size();
      for (const worker& other : teams.threads().workers()) {
        if (other.team != me.team) {
          const index_range written = part_of(other);
          const auto part = arithmetic::blocked(me.in_team, written.size(), together);
          copy_part(me.team, written.first + part.first, written.first + part.last, other.team);
        }
      }
    });
  }

  /// Returns where the pages of one copy are, compared with its node.
  [[nodiscard]] nodewise::residency residency(std::size_t team) const {
    return copies_[team].residency();
  }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency
  where(std::size_t team) const {
    return residency(team);
  }
  /// Returns a picture of each copy, one per line; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    std::string lines;
    for (const auto& each : copies_) {
      lines += (lines.empty() ? "" : "\n") + each.strip(columns);
    }
    return lines;
  }

 private:
  void copy_part(std::size_t team, std::size_t first, std::size_t last, std::size_t from = 0) {
    std::copy(copies_[from].begin() + first, copies_[from].begin() + last,
              copies_[team].begin() + first);
  }

  std::vector<array<T, bound>> copies_;
};

} // namespace nodewise::inline v0
