// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads have different amounts of work: the last one determines the time.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

constexpr double unlike = 1.25; // times the mean
constexpr double works = 0.1;   // of the greatest

struct balance {
  std::vector<std::size_t> workers; ///< that work
  std::vector<double> bytes;        ///< by all workers
  double mean = 0;
  std::size_t greatest = 0;
};

balance balance_of(const analysis_input& of) {
  balance made;
  const flow_of_time flow = flow_under(of, {}, {});
  const matrix& all = flow.front();
  for (std::size_t w = 0; w < of.workers().size(); ++w) {
    double bytes = 0;
    for (std::size_t n = 0; n < all.columns; ++n) {
      bytes += all.read[w * all.columns + n] + all.written[w * all.columns + n];
    }
    made.bytes.push_back(bytes);
  }
  if (made.bytes.empty()) {
    return made;
  }
  made.greatest =
      static_cast<std::size_t>(std::ranges::max_element(made.bytes) - made.bytes.begin());
  double sum = 0;
  for (std::size_t w = 0; w < made.bytes.size(); ++w) {
    if (made.bytes[w] > 0 && made.bytes[w] >= works * made.bytes[made.greatest]) {
      made.workers.push_back(w);
      sum += made.bytes[w];
    }
  }
  made.mean = made.workers.empty() ? 0 : sum / static_cast<double>(made.workers.size());
  return made;
}

/// Whether threads replaced others: the bytes that each moved are then not its share of the work.
bool take_turns(const analysis_input& of, const std::vector<std::size_t>& workers) {
  const auto thread = [&](std::size_t w) -> const profile::thread& {
    const worker& each = of.workers()[w];
    return of.program(each.program).threads[each.thread];
  };
  return std::ranges::any_of(workers, [&](std::size_t earlier) {
    const std::optional<double> end = thread(earlier).ended_s;
    return end && std::ranges::any_of(workers, [&](std::size_t later) {
             return of.workers()[later].program == of.workers()[earlier].program &&
                    thread(later).began_s > *end;
           });
  });
}

/// Whether the others are alike without this thread: it did something alone.
bool is_alone(const balance& of, std::size_t without) {
  double most = 0;
  double sum = 0;
  for (const std::size_t w : of.workers) {
    most = w == without ? most : std::max(most, of.bytes[w]);
    sum += w == without ? 0 : of.bytes[w];
  }
  return of.workers.size() > 2 && most < unlike * sum / static_cast<double>(of.workers.size() - 1);
}

/// Whether the threads compute equally and only fetch differently, for example because one
/// initialised or found more in its caches.
bool computes_alike(const analysis_input& of, const balance& found) {
  double most = 0;
  double sum = 0;
  for (const std::size_t w : found.workers) {
    const worker& each = of.workers()[w];
    const auto instructions =
        static_cast<double>(of.program(each.program).threads[each.thread].instructions);
    if (instructions == 0) {
      return false; // unknown
    }
    most = std::max(most, instructions);
    sum += instructions;
  }
  return most * static_cast<double>(found.workers.size()) < unlike * sum;
}

std::vector<std::size_t> unbalanced_work_sites(const analysis& of, const std::vector<char>&) {
  const balance found = balance_of(of.input);
  constexpr double enough = 1000; // samples
  double samples = 0;
  for (const item& each : of.input.items()) {
    samples += each.units;
  }
  if (of.input.assumed() || found.workers.size() < 2 || (of.input.sampled() && samples < enough) ||
      found.bytes[found.greatest] < unlike * found.mean || computes_alike(of.input, found) ||
      take_turns(of.input, found.workers) ||
      (of.input.workers()[found.greatest].ordinal == 0 && is_alone(found, found.greatest))) {
    return {};
  }
  return sites_where(of, std::vector<char>(of.input.sites().size(), 1),
                     [](const item& what, const shape&) { return what.units > 0; });
}

/// The traffic if every working thread moves the mean amount, from the same memories as now.
course balanced(const analysis& of, const balance& now) {
  course made{flow_under(of.input, {}, of.swept)};
  for (matrix& piece : made.traffic) {
    for (const std::size_t w : now.workers) {
      for (std::size_t n = 0; n < piece.columns; ++n) {
        piece.read[w * piece.columns + n] *= now.mean / now.bytes[w];
        piece.written[w * piece.columns + n] *= now.mean / now.bytes[w];
      }
    }
  }
  return made;
}

suspicion describe_unbalanced_work(const analysis& of, const std::vector<std::size_t>& sites) {
  const balance now = balance_of(of.input);
  const double most = now.bytes[now.greatest];
  double least = most;
  for (const std::size_t w : now.workers) {
    least = std::min(least, now.bytes[w]);
  }
  suspicion made{
      .title = "work is unbalanced: thread " +
               std::to_string(of.input.workers()[now.greatest].ordinal) + " moves " +
               number(most / now.mean) + " times the mean",
      .evidence = {"of " + count_of(now.workers.size(), "thread") + " the busiest moves " +
                       number(most / least) + " times what the idlest moves",
                   percent(mean_over(of, sites, [](const shape& s) { return s.remote; })) +
                       " of the traffic is remote"},
      .remarks = usual_doubts(of, sites),
      .after = balanced(of, now)};
  made.remarks.emplace_back("amounts are of memory traffic; work in caches is not in them");
  return made;
}

} // namespace

const detector unbalanced_work{.what = pattern::unbalanced_work,
                               .needs = needs_uses,
                               .explains_objects = false,
                               .placement_cures = false,
                               .sites = unbalanced_work_sites,
                               .describe = describe_unbalanced_work};

} // namespace nodewise::advise
