// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "placement/resolve.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nodewise/error.hpp>

#include "base/text.hpp"

namespace nodewise::placements {

namespace {

/// The most parts of a map: in an object of 4 GiB an edge moves by at most a page.
constexpr std::uint64_t finest_map = std::uint64_t{1} << 20;

class resolver {
 public:
  resolver(grammar of, const surroundings& here) : of_(of), here_(here) {}

  void resolve(placement& what) const {
    if (is_by_measurement(what)) {
      what.owners = here_.measured(what.owners.empty() ? here_.memories() : nodes_of(what.owners));
    } else if (traits_of(what.how).owners == owned_by::threads) {
      on_nodes_of_threads(what);
    } else if (what.owners.empty()) {
      what.owners = unlisted(what.how);
    }
  }

 private:
  [[nodiscard]] std::vector<owner_run> unlisted(kind how) const {
    const auto* const found = std::ranges::find(all_words, how, &word::how);
    const auto column =
        of_ == grammar::command_line ? &word::owners_in_command : &word::owners_in_plan;
    switch (found == std::end(all_words) ? if_unlisted::none : found->*column) {
    case if_unlisted::none:
      break;
    case if_unlisted::memories:
      return in_turn(here_.memories());
    case if_unlisted::nodes_of_threads:
      return in_turn(here_.nodes_of_threads());
    case if_unlisted::threads:
      return runs_of(here_.threads());
    }
    return {};
  }

  void on_nodes_of_threads(placement& what) const {
    const std::vector<node_id> nodes = here_.threads();
    const std::size_t planned = here_.planned_threads == 0 ? nodes.size() : here_.planned_threads;
    for (const owner_run& run : what.owners) {
      if (run.owner >= planned) {
        throw error(error_kind::input, text_of(what),
                    fmt::format("it names thread {}, and there are {}", run.owner, planned),
                    "write in \"threads\" for how many it was made: \"count\"");
      }
    }
    if (traits_of(what.how).divided == division::none) {
      const std::size_t thread = scaled_thread(what.owners.front().owner, planned, nodes.size());
      what.owners = runs_of({nodes[thread]});
      return;
    }
    what.owners = scaled_parts(what.owners, planned, nodes.size());
    for (owner_run& run : what.owners) {
      run.owner = static_cast<std::size_t>(to_int(nodes[run.owner]));
    }
    what.owners = simplified(std::move(what.owners), finest_map);
  }

  grammar of_;
  const surroundings& here_;
};

} // namespace

placement resolved(placement what, grammar of, const surroundings& here) {
  resolver(of, here).resolve(what);
  return what;
}

} // namespace nodewise::placements
