// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sort-tree with the library, by oneTBB: each task has the owner of what it writes as its home. A
// node sorts its own block; merges of several nodes' blocks are divided by their results, so all
// writes are local. The parts that are merged last are in an array of their own, whose pages are on
// the nodes that read them then.
//
// Remote share of the use phase: with four nodes and random numbers three quarters of the reads of
// one merge, and what idle workers steal; steal::never allows only the former.
//
// Source: Pro TBB, chapter 20, hierarchical work stealing; Chen, Guo and Guan, LAWS (ICS 2014).
//
// usage: sort-tree-library [MiB] [sweeps] [threads] [never|local-first|any]
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <nodewise/marker.h>
#include <optional>
#include <string_view>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/tbb.hpp>

#include "../shared/library.hpp"
#include "sort_tree.hpp"

namespace {

nodewise::steal steal_at(const command_line& line, int position) {
  const char* text = text_at(&line, position, "local-first");
  const std::string_view name = text;
  if (name == "never") {
    return nodewise::steal::never;
  }
  if (name == "local-first") {
    return nodewise::steal::local_first;
  }
  if (name == "any") {
    return nodewise::steal::any;
  }
  refuse(&line, text, "never, local-first or any");
}

using blocks = nodewise::array<double>;
using cyclic = nodewise::array<double, nodewise::block_cyclic>;

// Each half of the array has a part on each node: the one that becomes part of this node's block
// when the halves are merged.
nodewise::block_cyclic halves_on_all_nodes(const nodewise::thread_map& threads, std::size_t n) {
  std::vector<nodewise::node_id> nodes;
  for (const nodewise::node_team& team : threads.teams()) {
    nodes.push_back(team.node);
  }
  const std::size_t pages = n / page_doubles / (2 * nodes.size());
  return nodewise::block_cyclic(nodes, std::max<std::size_t>(pages, 1));
}

class fork_at_home {
 public:
  fork_at_home(const blocks& data, const blocks& buffer, const cyclic& exchange)
      : data_(data), buffer_(buffer), exchange_(exchange) {}

  template <class Left, class Right>
  void operator()(const double* first, const Left& left, const double* half,
                  const Right& right) const {
    nodewise::task_group both;
    both.spawn(home(first), left);
    both.spawn(home(half), right);
    both.wait();
  }

 private:
  [[nodiscard]] nodewise::node_id home(const double* element) const {
    if (const auto index = index_in(data_, element)) {
      return owner_of(data_, *index);
    }
    if (const auto index = index_in(buffer_, element)) {
      return owner_of(buffer_, *index);
    }
    return owner_of(exchange_, static_cast<std::size_t>(element - exchange_.data()));
  }
  template <class A>
  static std::optional<std::size_t> index_in(const A& array, const double* element) {
    const bool is_in = std::less_equal<>()(array.data(), element) &&
                       std::less<>()(element, array.data() + array.size());
    return is_in ? std::optional(static_cast<std::size_t>(element - array.data())) : std::nullopt;
  }

  const blocks& data_;
  const blocks& buffer_;
  const cyclic& exchange_;
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"sort-tree-library",
                             "[MiB] [sweeps] [threads] [never|local-first|any]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  const nodewise::steal across = steal_at(line, 4);
  end_at(&line, 4);
  say_what_fails();

  nodewise::tbb_teams teams(nodewise::topology::system(),
                            {.threads = static_cast<std::size_t>(threads)});
  blocks data(n, teams.blocked());
  blocks buffer(n, teams.blocked());
  cyclic exchange(n, halves_on_all_nodes(teams.threads(), n));
  teams.fill(data, 0.0);
  teams.fill(buffer, 0.0);
  teams.fill(exchange, 0.0);
  sort_tree tree(data.data(), buffer.data(), exchange.data(), sort_cut_off,
                 fork_at_home(data, buffer, exchange));

  NODEWISE_MARKER_USE();
  double sum = 0;
  nodewise::task_statistics done;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    done += nodewise::run_tasks(teams,
                                [&](nodewise::task_group&) {
                                  tree.fill(0, n, sweep);
                                  tree.sort(0, n);
                                  sum += tree.sum(0, n);
                                },
                                {across});
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
  std::printf("%s\n", to_string(done).c_str());
}
