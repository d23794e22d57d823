// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A table that all read and few change: a copy on each node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <nodewise/array.hpp>
#include <nodewise/distribution.hpp>
#include <nodewise/strip.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0 {

/// A table that all read and few change: a copy on each node that has workers. Readers take the
/// copy of their node; nobody may read while it is updated. Movable.
template <class T>
class replicated {
 public:
  /// Elements are zero bytes. Throws `error` if there is no memory for all copies.
  replicated(const thread_map& threads, std::size_t size) {
    copies_.reserve(threads.teams().size());
    for (const node_team& team : threads.teams()) {
      copies_.emplace_back(size, bound(team.node));
    }
  }

  /// Elements of a copy.
  [[nodiscard]] std::size_t size() const noexcept { return copies_.front().size(); }
  /// How many copies there are: one for each team.
  [[nodiscard]] std::size_t copies() const noexcept { return copies_.size(); }
  /// The copy of a worker's node.
  [[nodiscard]] std::span<const T> local(const worker& me) const noexcept { return copy(me.team); }
  /// By the team's position in the thread_map.
  [[nodiscard]] std::span<const T> copy(std::size_t team) const noexcept {
    return {copies_[team].data(), size()};
  }

  /// Calls `change(span)` with one copy, and copies it to the others. The calling thread does it
  /// all: policies put each copy's pages on its node, whoever writes.
  template <class F>
  void update(F&& change) {
    change(std::span<T>(copies_.front().data(), size()));
    for (std::size_t team = 1; team < copies_.size(); ++team) {
      copy_part(team, 0, size());
    }
  }
  /// The same, each copy written by the workers of its node.
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

  /// Where the pages of one copy are: asked against actual.
  [[nodiscard]] nodewise::residency residency(std::size_t team) const {
    return copies_[team].residency();
  }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency
  where(std::size_t team) const {
    return residency(team);
  }
  /// A picture of each copy, one a line.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    std::string lines;
    for (const auto& each : copies_) {
      lines += (lines.empty() ? "" : "\n") + each.strip(columns);
    }
    return lines;
  }

 private:
  void copy_part(std::size_t team, std::size_t first, std::size_t last) {
    std::copy(copies_.front().begin() + first, copies_.front().begin() + last,
              copies_[team].begin() + first);
  }

  std::vector<array<T, bound>> copies_;
};

} // namespace nodewise::inline v0
