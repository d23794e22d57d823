// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads have different amounts of work: the last one determines the time.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

constexpr double unlike = 1.25; // times the mean
constexpr double working = 0.1; // of the greatest

struct balance {
  positions workers;         ///< that work
  std::vector<double> bytes; ///< by all workers
  double mean = 0;
  std::size_t greatest = 0;
};

balance balance_of(const analysis_input& of) {
  balance made;
  const flow_of_time flow = flow_under(of, {}, {});
  for (std::size_t w = 0; w < of.workers.size(); ++w) {
    made.bytes.push_back(flow.front().moved_by(w, of.nodes() + 1));
  }
  if (made.bytes.empty()) {
    return made;
  }
  made.greatest = greatest_at(made.bytes);
  const double least = working * made.bytes[made.greatest];
  made.workers =
      positions_where(made.bytes, [&](double bytes) { return bytes > 0 && bytes >= least; });
  const double sum = sum_over(made.workers, [&](std::size_t w) { return made.bytes[w]; });
  made.mean = made.workers.empty() ? 0 : sum / static_cast<double>(made.workers.size());
  return made;
}

/// Whether threads replaced others: the bytes that each moved are then not its share of the work.
bool take_turns(const analysis_input& of, const positions& workers) {
  const auto thread = [&](std::size_t w) -> const profile::thread& {
    return of.thread(of.workers[w]);
  };
  return std::ranges::any_of(workers, [&](std::size_t earlier) {
    const std::optional<double> end = thread(earlier).ended_s;
    return end && std::ranges::any_of(workers, [&](std::size_t later) {
             return of.workers[later].program == of.workers[earlier].program &&
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
    const auto instructions = static_cast<double>(of.thread(of.workers[w]).instructions);
    if (instructions == 0) {
      return false; // unknown
    }
    most = std::max(most, instructions);
    sum += instructions;
  }
  return most * static_cast<double>(found.workers.size()) < unlike * sum;
}

positions unbalanced_work_sites(const analysis& of, const std::vector<char>&) {
  const balance found = balance_of(of);
  constexpr double enough = 1000; // samples
  const double samples = sum_over(of.items, &item::units);
  if (of.assumed || found.workers.size() < 2 || (of.sampled && samples < enough) ||
      found.bytes[found.greatest] < unlike * found.mean || computes_alike(of, found) ||
      take_turns(of, found.workers) ||
      (of.workers[found.greatest].ordinal == 0 && is_alone(found, found.greatest))) {
    return {};
  }
  return sites_in_use(of);
}

/// The traffic if every working thread moves the mean amount, from the same memories as now.
course balanced(const analysis& of, const balance& now) {
  course made{flow_under(of, {}, of.swept)};
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

suspicion describe_unbalanced_work(const analysis& of, const positions& sites) {
  const balance now = balance_of(of);
  const double most = now.bytes[now.greatest];
  double least = most;
  for (const std::size_t w : now.workers) {
    least = std::min(least, now.bytes[w]);
  }
  suspicion made{
      .title = fmt::format("work is unbalanced: thread {} moves {} times the mean",
                           of.workers[now.greatest].ordinal, number(most / now.mean)),
      .evidence = {fmt::format("of {} the busiest moves {} times what the idlest moves",
                               counted(now.workers.size(), "thread"), number(most / least)),
                   fmt::format("{} of the traffic is remote",
                               percent(mean_over(of, sites, &shape::remote)))},
      .remarks = usual_doubts(of, sites),
      .after = balanced(of, now)};
  made.remarks.emplace_back("only memory traffic is compared, not work in caches");
  return made;
}

std::vector<cure> unbalanced_work_cures(const subject& of, const remedy& with) {
  return loops(of, with.what, "static, rows", "work(i); // rows: of at least a page");
}

} // namespace

const detector
    unbalanced_work(pattern::unbalanced_work, needs_uses, unbalanced_work_sites,
                    describe_unbalanced_work, unbalanced_work_cures,
                    {"deal out rows in turn, in chunks of whole pages, and touch them first with "
                     "the same schedule"},
                    scope::program);

} // namespace nodewise::advise
