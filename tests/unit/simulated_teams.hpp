// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Teams of a machine that is not there: the calling thread is each worker in turn.
#pragma once

#include <span>
#include <string>

#include <nodewise/node_teams.hpp>

namespace nodewise::test {

class simulated_runtime {
 public:
  simulated_runtime(const topology& where, const layout_options& how)
      : threads_(where, team_layout(where, how)) {}

  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }
  [[nodiscard]] static std::span<const std::string> notes() noexcept { return {}; }

  template <class F>
  void run(F&& f) {
    for (const worker& me : threads_.workers()) {
      f(me);
    }
  }

 private:
  thread_map threads_;
};

using simulated_teams = basic_node_teams<simulated_runtime>;

/// Teams of all cores of a machine, in the notation of `topology::synthetic`: "4x2" is four nodes
/// of two cores.
inline simulated_teams teams_of(const std::string& machine) {
  return simulated_teams(topology::synthetic(machine));
}

} // namespace nodewise::test
