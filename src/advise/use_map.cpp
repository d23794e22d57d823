// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/candidates.hpp"

#include <limits>
#include <set>

namespace nodewise::advise {

namespace {

constexpr double has_part = 0.1;
constexpr double clearly = 1.5; // times the next node's use
// Most blocks that shared pages are dealt out in: more would not spread the traffic better.
constexpr std::size_t most_blocks = 64;
// Share of the pages that the main thread may miss and still count as passing over all of them.
constexpr double nearly_none = 0.1;
// Share of the mean page's use. A page with less was in caches: its claims are raised to this, by
// at most `most_raised`, so that a stray line does not count as much.
constexpr double little = 0.5;
constexpr double most_raised = 16;
// The least advantage that another owner than the neighbours' must bring, in mean pages.
constexpr double changing = 0.5;
// If this share of neighbouring pages changes owner, a page says nothing of the next one: rows of
// up to seven pages with random owners on four nodes.
constexpr double by_chance = 0.1;
constexpr std::size_t least_neighbours = 16;
// Share of the top node's use that favours sharing, for pages that all nodes use alike.
constexpr double rather_shared = 0.1;
// With more stretches the grid is finer than any map.
constexpr std::size_t most_stretches = std::size_t{1} << 16;
constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Divides the parts by their greatest common divisor.
std::vector<placements::owner_run> reduced(std::vector<placements::owner_run> runs) {
  std::uint64_t common = 0;
  for (const placements::owner_run& run : runs) {
    common = std::gcd(common, run.parts);
  }
  for (placements::owner_run& run : runs) {
    run.parts /= std::max<std::uint64_t>(common, 1);
  }
  return runs;
}

void append(std::vector<placements::owner_run>& runs, std::uint64_t parts, std::size_t thread) {
  if (!runs.empty() && runs.back().owner == thread) {
    runs.back().parts += parts;
  } else if (parts > 0) {
    runs.push_back({parts, thread});
  }
}

} // namespace

std::vector<placements::owner_run> parts_for(const positions& threads) {
  std::vector<placements::owner_run> runs;
  for (const std::size_t thread : threads) {
    runs.push_back({1, thread});
  }
  return runs;
}

use_map::use_map(const analysis_input& of, const item& what, const positions& homes)
    : pages_(filled_pages(of, what)), by_node_(of.nodes(), 0),
      thread_of_node_(of.nodes(), nowhere) {
  read(of, what, homes);
  const positions nodes = nodes_of_threads(of, what.program, homes);
  weigh_claims(nodes.empty() ? nowhere : nodes.front());
}

void use_map::read(const analysis_input& of, const item& what, const positions& homes) {
  std::vector<double> by_worker(of.workers.size(), 0);
  const auto home = [&](std::size_t w) { return homes.empty() ? of.workers[w].home : homes[w]; };
  for (const profile::use_run& run : what.uses) {
    stretch one;
    one.first = std::max<std::size_t>(run.first, stretches_.empty() ? 0 : stretches_.back().last);
    one.last = std::min<std::size_t>(run.first + run.count, pages_);
    one.use.assign(of.nodes(), 0);
    for_each_use(of, what, run, [&](std::size_t w, double amount) {
      if (home(w) != nowhere && of.workers[w].number != nowhere) {
        by_worker[w] += amount;
        one.use[home(w)] += amount;
        one.main += of.workers[w].ordinal == 0 ? amount : 0;
      }
    });
    if (one.first >= one.last || !(std::ranges::max(one.use) > 0)) {
      continue;
    }
    for (std::size_t n = 0; n < by_node_.size(); ++n) {
      by_node_[n] += one.use[n];
    }
    stretches_.push_back(std::move(one));
  }
  const double all = sum_of(by_worker);
  const auto some = std::ranges::count_if(by_worker, [](double each) { return each > 0; });
  std::vector<double> greatest(of.nodes(), 0);
  std::set<std::size_t> users;
  for (std::size_t w = 0; w < by_worker.size(); ++w) {
    if (by_worker[w] > 0 && by_worker[w] >= has_part * all / static_cast<double>(some)) {
      users.insert(of.workers[w].number);
    }
    if (by_worker[w] > 0 && by_worker[w] > greatest[home(w)]) {
      greatest[home(w)] = by_worker[w];
      thread_of_node_[home(w)] = of.workers[w].number;
    }
  }
  users_.assign(users.begin(), users.end());
}

void use_map::weigh_claims(std::size_t home_of_main) {
  const double pages = sum_over(stretches_, &stretch::pages);
  positions order = positions_to(stretches_.size());
  const auto by_main = [&](std::size_t k) { return stretches_[k].main / stretches_[k].pages(); };
  std::ranges::sort(order, {}, by_main);
  double pass = 0; // lines per page that the main thread uses nearly everywhere
  double before = 0;
  for (const std::size_t k : order) {
    before += stretches_[k].pages();
    if (before > nearly_none * pages) {
      pass = by_main(k);
      break;
    }
  }
  const double mean = pages > 0 ? sum_of(by_node_) / pages : 0;
  double claims = 0;
  for (stretch& each : stretches_) {
    each.claims = each.use;
    if (home_of_main != nowhere && sum_of(each.use) > each.main) {
      each.claims[home_of_main] -= std::min(pass * each.pages(), each.main);
    }
    const double sum = sum_of(each.claims);
    const double least = little * mean * each.pages();
    each.is_weak = sum < least;
    const double times = sum > 0 && each.is_weak ? std::min(least / sum, most_raised) : 1;
    for (double& claim : each.claims) {
      claim *= times;
    }
    claims += sum * times;
  }
  claims_a_page_ = pages > 0 ? claims / pages : 0;
}

std::optional<std::size_t> use_map::greatest_user() const {
  const std::size_t node = greatest_at(by_node_);
  return by_node_[node] > 0 ? std::optional(thread_of_node_[node]) : std::nullopt;
}

void use_map::stretch::add(const stretch& other, double part) {
  main += other.main * part;
  for (std::size_t n = 0; n < use.size(); ++n) {
    use[n] += other.use[n] * part;
    claims[n] += other.claims[n] * part;
  }
}

/// Cuts and joins the stretches into `cells` cells of equal length.
std::vector<use_map::stretch> use_map::on_grid(std::size_t cells) const {
  std::vector<stretch> grid(cells);
  for (std::size_t k = 0; k < cells; ++k) {
    grid[k].first = pages_ * k / cells;
    grid[k].last = pages_ * (k + 1) / cells;
    grid[k].use.assign(by_node_.size(), 0);
    grid[k].claims.assign(by_node_.size(), 0);
  }
  for (const stretch& each : stretches_) {
    for (std::size_t k = each.first * cells / pages_; k < cells && grid[k].first < each.last; ++k) {
      const std::size_t first = std::max(each.first, grid[k].first);
      const std::size_t last = std::min(each.last, grid[k].last);
      if (last > first) {
        grid[k].add(each, static_cast<double>(last - first) / each.pages());
      }
    }
  }
  std::erase_if(grid, [](const stretch& each) {
    return each.first == each.last || !(std::ranges::max(each.use) > 0);
  });
  return grid;
}

/// The cost of a change of owner between neighbours. Zero if an index deals pages out: then each
/// page, even one with little use, belongs to the thread that used it.
double use_map::cost_of_change() const {
  std::size_t pairs = 0;
  std::size_t differ = 0;
  std::size_t before = nowhere; // the owner of the page before
  std::size_t end = 0;
  for (const stretch& each : stretches_) {
    const positions nodes = sharing(each);
    const bool is_clear = !each.is_weak && nodes.size() == 1;
    if (is_clear) {
      const bool follows = before != nowhere && end == each.first;
      pairs += each.last - each.first - (follows ? 0U : 1U);
      differ += follows && before != nodes.front() ? 1U : 0U;
    }
    before = is_clear ? nodes.front() : nowhere;
    end = each.last;
  }
  const bool by_index = pairs >= least_neighbours &&
                        static_cast<double>(differ) >= by_chance * static_cast<double>(pairs);
  return by_index ? 0 : changing * claims_a_page_;
}

/// Finds the owners that leave the fewest claims far, with a cost for each change of owner, by
/// dynamic programming. The state after the nodes means that no node owns the pages alone.
void use_map::find_owners(std::vector<stretch>& of) const {
  const std::size_t nodes = by_node_.size();
  const double change = cost_of_change();
  std::vector<double> cost(nodes + 1, 0);
  positions from(of.size() * (nodes + 1));
  const auto far = [&](const stretch& each, std::size_t state) {
    const double all = sum_of(each.claims);
    if (state < nodes) {
      return thread_of_node_[state] == nowhere ? unlimited : all - each.claims[state];
    }
    const double top = std::ranges::max(each.claims);
    return sharing(each).size() > 1 ? all - top * (1 + rather_shared) : all;
  };
  for (std::size_t k = 0; k < of.size(); ++k) {
    const auto least = std::ranges::min_element(cost);
    const auto cheapest = static_cast<std::size_t>(least - cost.begin());
    const double changed = *least + change;
    for (std::size_t state = 0; state <= nodes; ++state) {
      const bool stays = cost[state] <= changed;
      from[k * (nodes + 1) + state] = stays ? state : cheapest;
      cost[state] = (stays ? cost[state] : changed) + far(of[k], state);
    }
  }
  auto state = static_cast<std::size_t>(std::ranges::min_element(cost) - cost.begin());
  for (std::size_t k = of.size(); k-- > 0;) {
    of[k].owner = state < nodes ? state : nowhere;
    state = from[k * (nodes + 1) + state];
  }
}

/// Joins neighbours that one node owns, or that the same nodes share; on a grid of at most `most`
/// cells if there are more.
std::vector<use_map::stretch> use_map::owned(std::size_t most) const {
  const auto joined = [&](std::vector<stretch> all) {
    find_owners(all);
    std::vector<stretch> made;
    for (stretch& each : all) {
      if (!made.empty() && made.back().owner == each.owner &&
          (each.owner != nowhere || sharing(made.back()) == sharing(each))) {
        made.back().last = each.last;
        made.back().add(each, 1);
      } else {
        made.push_back(std::move(each));
      }
    }
    return made;
  };
  std::vector<stretch> made =
      joined(stretches_.size() <= most_stretches ? stretches_ : on_grid(most_stretches));
  return made.size() <= most ? made : joined(on_grid(most));
}

/// Nodes whose claim on a stretch is about as large as the largest one.
positions use_map::sharing(const stretch& of) const {
  const double least = std::ranges::max(of.claims) / clearly;
  return positions_below(of.claims.size(), [&](std::size_t n) {
    return of.claims[n] > least && thread_of_node_[n] != nowhere;
  });
}

use_map::run_list use_map::parts(std::size_t most_runs) const {
  run_list made;
  const double exact = // use by the node with most use of each page
      sum_over(stretches_, [](const stretch& each) { return std::ranges::max(each.use); });
  const std::vector<stretch> all = owned(std::max<std::size_t>(most_runs, 1));
  double kept = 0;
  std::size_t turn = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    // Unused pages follow those before them.
    const std::size_t first = k == 0 ? 0 : all[k].first;
    const std::size_t last = k + 1 < all.size() ? all[k + 1].first : pages_;
    if (all[k].owner != nowhere) {
      append(made.runs, last - first, thread_of_node_[all[k].owner]);
      kept += all[k].use[all[k].owner];
      continue;
    }
    // No placement of shared pages is better than another.
    kept += std::ranges::max(all[k].use);
    const positions nodes = sharing(all[k]);
    const std::size_t budget =
        std::max<std::size_t>(1, std::min(most_blocks, most_runs / all.size()));
    const std::size_t block = std::max<std::size_t>(1, (last - first + budget - 1) / budget);
    for (std::size_t page = first; page < last && !nodes.empty(); page += block) {
      append(made.runs, std::min(block, last - page),
             thread_of_node_[nodes[turn++ % nodes.size()]]);
    }
  }
  made.runs = reduced(std::move(made.runs));
  made.lost = exact > 0 ? std::max(0.0, exact - kept) / sum_of(by_node_) : 0;
  return made;
}

std::vector<placements::owner_run> use_map::page_by_page() const {
  constexpr double alike = 0.98;    // of the most use
  constexpr double most_ahead = 32; // pages: as long as a node keeps what others use alike
  std::vector<placements::owner_run> runs;
  std::vector<double> pages_of_node(by_node_.size(), 0);
  std::size_t owner = nowhere;
  for (std::size_t k = 0; k < stretches_.size(); ++k) {
    const std::size_t first = k == 0 ? 0 : stretches_[k].first;
    const std::size_t last = k + 1 < stretches_.size() ? stretches_[k + 1].first : pages_;
    const std::vector<double>& use = stretches_[k].use;
    const double enough = alike * std::ranges::max(use);
    const positions users = positions_where(use, [&](double each) { return each >= enough; });
    const std::size_t emptiest =
        *std::ranges::min_element(users, {}, [&](std::size_t n) { return pages_of_node[n]; });
    if (!std::ranges::binary_search(users, owner) ||
        pages_of_node[owner] > pages_of_node[emptiest] + most_ahead) {
      owner = emptiest;
    }
    pages_of_node[owner] += static_cast<double>(last - first);
    append(runs, last - first, thread_of_node_[owner]);
  }
  return runs;
}

double use_map::misplaced(const analysis_input& of, const model::page_map& map) const {
  double all = 0;
  double near = 0;
  std::vector<double> shares(of.nodes() + 1);
  for (const stretch& each : stretches_) {
    std::ranges::fill(shares, 0);
    map.add_pages(static_cast<double>(each.first), static_cast<double>(each.last), 1 / each.pages(),
                  shares);
    for (std::size_t n = 0; n < each.claims.size(); ++n) {
      near += each.claims[n] * shares[of.memory_of(n)];
    }
    all += sum_of(each.claims);
  }
  return all > 0 ? std::max(0.0, 1 - near / all) : 0;
}

} // namespace nodewise::advise
