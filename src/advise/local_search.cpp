// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/local_search.hpp"

#include <fmt/core.h>

namespace nodewise::advise {

namespace {

// Near traffic is preferred even if the model says that far traffic costs nothing.
constexpr double least_price_of_remote = 0.05;
// If no link's bandwidth is known, far traffic is free in the model. On machines with two sockets
// and published figures a link has about half of the near memory's bandwidth.
constexpr double unknown_price_of_remote = 1;
constexpr int most_rounds = 3;
// What a simpler placement may cost.
constexpr double simple_time = 0.01;
constexpr double simple_remote = 0.002;
constexpr double left_time = 0.005;
// Pages that caches held in this run have little traffic; in the next run these are other pages.
constexpr double simple_misplaced = 0.05;

/// The remote share that a simpler placement may cost: none to speak of as long as little is
/// remote, otherwise a small part of it.
double simple_cost(double remote) {
  constexpr double little = 0.004;
  constexpr double small_part = 0.05;
  return std::min(simple_remote, std::max(small_part * remote, little - remote));
}

/// The cost of making all traffic far, as a share of the time.
double price_of_remote(const model::machine_costs& on) {
  return on.links.empty() ? unknown_price_of_remote : least_price_of_remote;
}

} // namespace

double most_seconds(const model::machine_costs& on, double now) {
  return on.absolute ? now : now * (1 + simple_time);
}

bool is_worth_being_far(const model::machine_costs& on, const speed& then, const speed& now) {
  const double price = price_of_remote(on);
  return then.seconds * (1 + price * then.remote) * least_gain <=
         now.seconds * (1 + price * now.remote);
}

local_search::local_search(const analysis& of, const positions& sites, const positions& homes,
                           caution how)
    : of_(of), homes_(homes), price_of_remote_(price_of_remote(of.costs)),
      peers_(peers_in(of, homes)), fixed_(empty_flow(of, of.swept)), room_(of) {
  if (how == caution::near) {
    price_of_remote_ = unknown_price_of_remote;
    most_remote_ = predict(of_, {flow_under(of, {}, of.swept), {}}).remote;
  }
  make_units(sites);
  std::vector<char> in_unit(of.items.size(), 0);
  for (unit& each : units_) {
    for (const std::size_t i : each.items) {
      in_unit[i] = 1;
    }
    for (const candidate& choice : each.choices) {
      each.flows.push_back(empty_flow(of, of.swept));
      add(each.items, choice, each.flows.back());
    }
  }
  add(positions_where(in_unit, [](char each) { return each == 0; }), {}, fixed_);
}

void local_search::run(double most_s) {
  const positions as_now(units_.size(), 0);
  positions best = as_now;
  double best_cost = cost(now());
  std::vector<positions> tried;
  for (const auto& begin : {as_now, nearest(), all(placements::kind::blocked),
                            all(placements::kind::map), all(placements::kind::interleave)}) {
    if (std::ranges::find(tried, begin) != tried.end()) {
      continue;
    }
    tried.push_back(begin);
    set(begin);
    improve();
    const score end = now();
    constexpr double really = 1 - 1e-9;
    if (end.seconds <= most_s && end.remote <= most_remote_ + simple_remote &&
        cost(end) < best_cost * really) {
      best_cost = cost(end);
      best = chosen();
    }
  }
  set(best);
  simplify(most_s);
  keep_near();
  complete_sites();
  fit();
}

std::vector<assignment> local_search::result() const {
  std::vector<assignment> made;
  for (const unit& each : units_) {
    if (each.chosen != 0) {
      made.push_back({each.site, each.items, each.choices[each.chosen]});
    }
  }
  return made;
}

flow_of_time local_search::flow() const {
  flow_of_time sum = fixed_;
  for (const unit& each : units_) {
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k].add(each.flows[each.chosen][k]);
    }
  }
  return sum;
}

void local_search::add(const positions& items, const candidate& how, flow_of_time& into) const {
  for (const std::size_t i : items) {
    add_in_time(of_, i, map_under(of_, of_.items[i], how, homes_), of_.swept, into);
  }
}

double local_search::cost(const score& of) const noexcept {
  return of.seconds * (1 + price_of_remote_ * (of.remote + of.misplaced));
}

local_search::score local_search::now() const {
  flow_of_time sum = flow();
  average(peers_, sum);
  const prediction there = predict(of_, {std::move(sum), homes_});
  const double misplaced = sum_over(
      units_, [](const unit& each) { return each.choices[each.chosen].misplaced * each.bytes; });
  return {there, of_.bytes > 0 ? misplaced / of_.bytes : 0};
}

positions local_search::chosen() const {
  positions made;
  std::ranges::transform(units_, std::back_inserter(made), &unit::chosen);
  return made;
}

void local_search::set(const positions& to) {
  for (std::size_t u = 0; u < units_.size(); ++u) {
    units_[u].chosen = to[u];
  }
}

/// Gives every unit this layout if it has such a candidate; of several maps, the most exact one.
positions local_search::all(placements::kind how) const {
  positions made;
  for (const unit& each : units_) {
    std::size_t found = 0;
    for (std::size_t c = 0; c < each.choices.size(); ++c) {
      const bool first = found == 0 || how == placements::kind::map;
      found = each.choices[c].where.how == how && first ? c : found;
    }
    made.push_back(found);
  }
  return made;
}

/// Gives every unit the candidate that makes most of its own traffic near.
positions local_search::nearest() const {
  positions made;
  for (const unit& each : units_) {
    std::size_t best = 0;
    double least = 2;
    for (std::size_t c = 0; c < each.choices.size(); ++c) {
      const double remote = predict(of_, {each.flows[c], homes_}).remote;
      constexpr double really = 1e-9;
      if (remote < least - really) {
        least = remote;
        best = c;
      }
    }
    made.push_back(best);
  }
  return made;
}

/// Improves one unit after the other until none gains.
void local_search::improve() {
  constexpr double really = 1 - 1e-6;
  score best = now();
  bool changed = true;
  for (int round = 0; changed && round < most_rounds; ++round) {
    changed = false;
    for (unit& each : units_) {
      for (std::size_t c = 0; c < each.choices.size(); ++c) {
        const std::size_t keep = std::exchange(each.chosen, c);
        const score there = c == keep ? best : now();
        if (cost(there) < cost(best) * really) {
          best = there;
          changed = true;
        } else {
          each.chosen = keep;
        }
      }
    }
  }
}

/// Gives each unit the simplest candidate that costs almost nothing compared with the best result.
void local_search::simplify(double most_s) {
  const score best = now();
  const double most_remote = best.remote + simple_cost(best.remote);
  for (unit& each : units_) {
    const std::size_t was = each.chosen;
    for (std::size_t c = 0; c < was; ++c) {
      each.chosen = c;
      const score there = now();
      const double part = c == 0 ? left_time : simple_time;
      if (there.seconds <= std::min(most_s, best.seconds * (1 + part)) &&
          there.remote <= most_remote &&
          (c == 0 || each.choices[c].misplaced <= each.choices[was].misplaced + simple_misplaced)) {
        break;
      }
      each.chosen = was;
    }
  }
}

/// Leaves objects alone that would become farther, unless that is clearly faster.
void local_search::keep_near() {
  for (unit& each : units_) {
    const std::size_t was = each.chosen;
    const score with = now();
    each.chosen = 0;
    const score without = now();
    const bool farther = with.remote > without.remote + simple_remote;
    if (!farther || is_worth_being_far(of_.costs, with, without)) {
      each.chosen = was;
    }
  }
}

/// Where objects of a site are placed, places the others of the site, too. They may be near only
/// because the thread that touched them first ran on their node, and it may run elsewhere next
/// time.
void local_search::complete_sites() {
  const auto has_placed = [&](std::size_t site) {
    return std::ranges::any_of(
        units_, [&](const unit& each) { return each.site == site && each.chosen != 0; });
  };
  for (unit& each : units_) {
    if (each.chosen != 0 || !has_placed(each.site)) {
      continue;
    }
    const score left = now();
    std::size_t best = 0;
    double least = 0;
    for (std::size_t c = 1; c < each.choices.size(); ++c) {
      each.chosen = c;
      const score there = now();
      constexpr double no_farther = 1e-3;
      if (there.remote <= left.remote + no_farther && (best == 0 || cost(there) < least)) {
        best = c;
        least = cost(there);
      }
    }
    each.chosen = best;
  }
}

/// By memory, the bytes that do not fit at the worst time.
std::vector<double> local_search::overflow() const {
  return room_.missing(candidates_by_item(of_, result()), homes_);
}

/// Moves objects that the memories have no room for.
void local_search::fit() {
  for (std::size_t tries = 0; tries <= units_.size(); ++tries) {
    const std::vector<double> missing = overflow();
    const std::size_t worst = greatest_at(missing);
    if (!(missing[worst] > 0) || !relieve(worst)) {
      return;
    }
  }
}

/// Moves one placed object to where the missing room is least; false if no move reduces it.
bool local_search::relieve(std::size_t node) {
  const auto sum = [&] { return sum_of(overflow()); };
  const double missing = sum();
  unit* least_of = nullptr;
  std::size_t to = 0;
  std::pair<double, double> least{missing, 0};
  for (unit& each : units_) {
    const std::size_t was = each.chosen;
    for (std::size_t c = 0; was != 0 && c < each.choices.size(); ++c) {
      each.chosen = c;
      const std::pair<double, double> there{sum(), cost(now())};
      if (there.first < missing && (least_of == nullptr || there < least)) {
        least = there;
        least_of = &each;
        to = c;
      }
    }
    each.chosen = was;
  }
  if (least_of == nullptr) {
    return false;
  }
  least_of->chosen = to;
  remarks_.push_back(fmt::format("node {} has room for {}, {} less than the best placement needs: "
                                 "{} is {}",
                                 of_.number_of(node), bytes_text(room_.free_on(node)),
                                 bytes_text(missing), of_.sites[least_of->site].name,
                                 to == 0 ? "left as it is" : "placed otherwise"));
  return true;
}

} // namespace nodewise::advise
