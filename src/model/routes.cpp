// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/routes.hpp"

#include <limits>
#include <queue>

namespace nodewise::model {

namespace {

constexpr std::size_t unreached = std::numeric_limits<std::size_t>::max();

/// All shortest ways from one node.
struct ways_from {
  std::vector<std::size_t> hops;  ///< to each node
  std::vector<double> ways;       ///< number of shortest ones
  std::vector<std::size_t> order; ///< nodes, nearest first
};

ways_from search(std::size_t start, const std::vector<std::vector<std::size_t>>& leaving,
                 const std::vector<link>& links) {
  ways_from found{std::vector<std::size_t>(leaving.size(), unreached),
                  std::vector<double>(leaving.size(), 0),
                  {}};
  found.hops[start] = 0;
  found.ways[start] = 1;
  std::queue<std::size_t> next({start});
  while (!next.empty()) {
    const std::size_t here = next.front();
    next.pop();
    found.order.push_back(here);
    for (const std::size_t l : leaving[here]) {
      const std::size_t there = links[l].to;
      if (found.hops[there] == unreached) {
        found.hops[there] = found.hops[here] + 1;
        next.push(there);
      }
      if (found.hops[there] == found.hops[here] + 1) {
        found.ways[there] += found.ways[here];
      }
    }
  }
  return found;
}

/// Walks back from the end and gives each link the part of the ways that cross it.
route back_from(std::size_t end, const ways_from& found,
                const std::vector<std::vector<std::size_t>>& arriving,
                const std::vector<link>& links) {
  route way;
  std::vector<double> share(found.hops.size(), 0);
  share[end] = 1;
  for (auto node = found.order.rbegin(); node != found.order.rend(); ++node) {
    if (share[*node] == 0) {
      continue;
    }
    for (const std::size_t l : arriving[*node]) {
      const std::size_t before = links[l].from;
      if (found.hops[before] != unreached && found.hops[before] + 1 == found.hops[*node]) {
        const double part = share[*node] * found.ways[before] / found.ways[*node];
        share[before] += part;
        way.push_back({l, part});
      }
    }
  }
  return way;
}

} // namespace

std::vector<route> shortest_routes(std::size_t nodes, const std::vector<link>& links) {
  std::vector<std::vector<std::size_t>> leaving(nodes);
  std::vector<std::vector<std::size_t>> arriving(nodes);
  for (std::size_t l = 0; l < links.size(); ++l) {
    leaving[links[l].from].push_back(l);
    arriving[links[l].to].push_back(l);
  }
  std::vector<route> all(nodes * nodes);
  for (std::size_t from = 0; from < nodes; ++from) {
    const ways_from found = search(from, leaving, links);
    for (std::size_t to = 0; to < nodes; ++to) {
      if (to != from && found.hops[to] != unreached) {
        all[from * nodes + to] = back_from(to, found, arriving, links);
      }
    }
  }
  return all;
}

} // namespace nodewise::model
