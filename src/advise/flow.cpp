// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/price.hpp"

#include <tuple>

namespace nodewise::advise {

namespace {

// Pieces of a sweep: as many as most machines have nodes, so that blocks fill node after node.
constexpr std::size_t sweep_pieces = 8;

/// Adds to `sums`, by memory, the share of the pages first..last that it has.
void add_shares(const analysis_input& of, const item& what, const model::page_map& map,
                double first, double last, std::vector<double>& sums) {
  const double weight = 1 / (last - first);
  if (what.all_known || &map == &what.now) {
    map.add_pages(first, last, weight, sums);
    return;
  }
  while (first < last) {
    const auto page = static_cast<std::size_t>(first);
    const double end = std::min(last, static_cast<double>(what.now.end_of_block(page)));
    if (what.now.node_of(page) == of.nodes()) {
      sums.back() += (end - first) * weight;
    } else {
      map.add_pages(first, end, weight, sums);
    }
    first = end;
  }
}

bool in_pieces(const std::vector<char>& swept) {
  return std::ranges::any_of(swept, [](char each) { return each != 0; });
}

const model::page_map& map_in(const analysis_input& of, const page_maps& where, std::size_t item) {
  return where.empty() || where[item] == nullptr ? of.items[item].now : *where[item];
}

/// Number of matrices at the end of a flow for what the main thread uses alone.
std::size_t matrices_alone(const analysis_input& of) {
  return of.has_alone ? 1 : 0;
}

/// Runs of uses of the item, and the lines written per line used.
struct moved_runs {
  std::span<const profile::use_run> runs;
  double write_share = 0;
};

/// Adds the uses of the item's part `from`..`to` as if its pages had this map.
void add_runs(const analysis_input& of, const item& what, const moved_runs& moved,
              const model::page_map& map, matrix& into, double from, double to) {
  const auto pages = static_cast<double>(what.what->pages);
  std::vector<double> shares(into.columns);
  for (const profile::use_run& run : moved.runs) {
    const double first = std::max(static_cast<double>(run.first), from * pages);
    const double last = std::min(static_cast<double>(run.first + run.count), to * pages);
    if (!(last > first)) {
      continue;
    }
    std::ranges::fill(shares, 0);
    add_shares(of, what, map, first, last, shares);
    const double part = (last - first) / static_cast<double>(run.count) * what.unit_bytes;
    for_each_use(of, what, run, [&](std::size_t w, double amount) {
      for (std::size_t n = 0; n < into.columns; ++n) {
        const double bytes = amount * part * shares[n];
        into.read[w * into.columns + n] += bytes;
        into.written[w * into.columns + n] += bytes * moved.write_share;
      }
    });
  }
}

} // namespace

double matrix::moved_by(std::size_t worker, std::size_t memories) const {
  double sum = 0;
  for (std::size_t n = 0; n < memories; ++n) {
    sum += at(worker, n);
  }
  return sum;
}

void matrix::add(const matrix& other, double times) {
  for (std::size_t i = 0; i < read.size(); ++i) {
    read[i] += other.read[i] * times;
    written[i] += other.written[i] * times;
  }
}

void add_item(const analysis_input& of, const item& what, const model::page_map& map, matrix& into,
              double from, double to) {
  add_runs(of, what, {what.uses, what.write_share}, map, into, from, to);
}

double remote_share(const analysis_input& of, const matrix& bytes) {
  double all = 0;
  double remote = 0;
  for (std::size_t w = 0; w < of.workers.size(); ++w) {
    for (const worker::part& part : of.workers[w].parts) {
      for (std::size_t n = 0; n < of.nodes(); ++n) {
        const double here = bytes.at(w, n) * part.share;
        all += here;
        remote += of.costs.is_near(part.node, n) ? 0 : here;
      }
    }
  }
  return all > 0 ? remote / all : 0;
}

flow_of_time empty_flow(const analysis_input& of, const std::vector<char>& swept) {
  return flow_of_time((in_pieces(swept) ? sweep_pieces : 1) + matrices_alone(of), matrix(of));
}

void add_in_time(const analysis_input& of, std::size_t at, const model::page_map& map,
                 const std::vector<char>& swept, flow_of_time& into) {
  const item& what = of.items[at];
  const std::size_t pieces = into.size() - matrices_alone(of);
  if (what.alone || pieces == 1) {
    add_item(of, what, map, what.alone ? into.back() : into.front());
    return;
  }
  const auto parts = static_cast<double>(pieces);
  if (swept[at] != 0) {
    for (std::size_t k = 0; k < pieces; ++k) {
      const auto from = static_cast<double>(k);
      add_item(of, what, map, into[k], from / parts, (from + 1) / parts);
    }
    return;
  }
  matrix steady(of);
  add_item(of, what, map, steady);
  for (std::size_t k = 0; k < pieces; ++k) {
    into[k].add(steady, 1 / parts);
  }
}

flow_of_time flow_under(const analysis_input& of, const page_maps& where,
                        const std::vector<char>& swept, const positions& homes) {
  flow_of_time all = empty_flow(of, swept);
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    add_in_time(of, i, map_in(of, where, i), swept, all);
  }
  if (in_pieces(swept)) {
    average(peers_in(of, homes), all);
  }
  return all;
}

flow_of_time initialisation_under(const analysis_input& of, const page_maps& where) {
  flow_of_time all(2, matrix(of));
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    const item& each = of.items[i];
    bool alone = true;
    for (const profile::use_run& run : each.initialised) {
      for_each_use(of, each, run,
                   [&](std::size_t w, double) { alone = alone && of.workers[w].ordinal == 0; });
    }
    add_runs(of, each, {each.initialised, each.initialised_write_share}, map_in(of, where, i),
             alone ? all.back() : all.front(), 0, 1);
  }
  return all;
}

positions peers_in(const analysis_input& of, const positions& homes) {
  constexpr double alike = 1.05;
  const std::vector<worker>& all = of.workers;
  const auto home = [&](std::size_t w) { return homes.empty() ? all[w].home : homes[w]; };
  const auto moves = [&](std::size_t w) { return homes.empty() && all[w].moved(); };
  positions order = positions_to(all.size());
  std::ranges::sort(order, {}, [&](std::size_t w) {
    return std::tuple(all[w].program, home(w), moves(w), all[w].bytes, w);
  });
  positions peers(all.size());
  std::size_t first = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t lead = order[first];
    const std::size_t w = order[k];
    const bool same = all[lead].program == all[w].program && home(lead) == home(w) &&
                      !moves(lead) && !moves(w) && all[w].bytes <= alike * all[lead].bytes;
    first = same ? first : k;
    peers[w] = order[first];
  }
  return peers;
}

void average(const positions& peers, flow_of_time& what) {
  std::vector<double> members(peers.size(), 0);
  for (const std::size_t lead : peers) {
    members[lead] += 1;
  }
  for (matrix& piece : what) {
    for (std::vector<double>* bytes : {&piece.read, &piece.written}) {
      std::vector<double> sums(bytes->size(), 0);
      for (std::size_t at = 0; at < sums.size(); ++at) {
        sums[peers[at / piece.columns] * piece.columns + at % piece.columns] += (*bytes)[at];
      }
      for (std::size_t at = 0; at < sums.size(); ++at) {
        const std::size_t lead = peers[at / piece.columns];
        (*bytes)[at] = sums[lead * piece.columns + at % piece.columns] / members[lead];
      }
    }
  }
}

flow_of_time all_local(const analysis_input& of, const flow_of_time& what) {
  flow_of_time moved = what;
  const positions placed =
      positions_where(of.workers, [](const worker& each) { return each.home != nowhere; });
  for (matrix& piece : moved) {
    for (const std::size_t w : placed) {
      const std::size_t own = of.memory_of(of.workers[w].home);
      for (std::vector<double>* bytes : {&piece.read, &piece.written}) {
        double sum = 0;
        for (std::size_t n = 0; n < of.nodes(); ++n) {
          sum += std::exchange((*bytes)[w * piece.columns + n], 0);
        }
        (*bytes)[w * piece.columns + own] = sum;
      }
    }
  }
  return moved;
}

} // namespace nodewise::advise
