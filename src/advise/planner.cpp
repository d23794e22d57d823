// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/planner.hpp"

#include <utility>

#include "advise/local_search.hpp"

namespace nodewise::advise {

namespace {

decision search(const analysis& of, const positions& sites, const binding& threads, caution how) {
  decision made;
  made.threads = threads;
  made.before = {flow_under(of.input, {}, of.swept), {}};
  local_search best(of, sites, threads.homes, how);
  best.run(most_seconds(of.input.costs(), predict(of.input, made.before).seconds));
  made.objects = best.result();
  made.remarks = best.remarks();
  made.after = {best.flow(), threads.homes};
  if (!of.swept.empty()) {
    average(peers_in(of.input, threads.homes), made.after.traffic);
  }
  return made;
}

/// Not slower even in the worst case of what the model does not know, and clearly faster if
/// farther.
bool is_safe(const analysis_input& of, const decision& made) {
  const prediction now = predict(of, made.before);
  const prediction then = predict(of, made.after);
  constexpr double noise = 0.002;
  const bool farther = then.remote > now.remote + noise;
  if (farther && !is_worth_being_far(of.costs(), then, now)) {
    return false;
  }
  return then.seconds <= most_seconds(of.costs(), now.seconds) &&
         (made.objects.empty() ||
          least_ratio(of, made.before, made.after) >= (farther ? least_gain : no_slower));
}

} // namespace

decision bound_alone(const analysis& of, const binding& threads) {
  decision made = search(of, {}, threads, caution::near);
  const bool moves_threads = !threads.homes.empty();
  if (moves_threads && !is_safe(of.input, made)) {
    made.threads = {bind_policy::none, {}, ""};
    made.after = made.before;
  }
  return made;
}

decision decide_boldly(const analysis& of, const positions& sites, const binding& threads) {
  return search(of, sites, threads, caution::by_time);
}

decision decide(const analysis& of, const positions& sites, const binding& threads) {
  decision made = decide_boldly(of, sites, threads);
  std::optional<gain> gamble;
  if (!is_safe(of.input, made)) {
    gamble = worth_of(of.input, made.before, made.after);
    made = search(of, sites, threads, caution::near);
  }
  if (!is_safe(of.input, made)) {
    made = bound_alone(of, threads);
  }
  made.gamble = std::move(gamble);
  return made;
}

} // namespace nodewise::advise
