// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/advise.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <nodewise/error.hpp>

#include "advise/cures.hpp"
#include "advise/entries.hpp"
#include "advise/jobs.hpp"
#include "advise/joint_plan.hpp"
#include "advise/patterns.hpp"
#include "advise/planner.hpp"
#include "advise/propose.hpp"
#include "advise/remarks.hpp"
#include "advise/words.hpp"

namespace nodewise::advise {

namespace {

/// Groups sites whose objects the same code touched first; sites without a known toucher stay
/// together.
std::vector<std::vector<std::size_t>> by_toucher(const analysis_input& of,
                                                 const std::vector<std::size_t>& sites) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> groups;
  for (const std::size_t s : sites) {
    const profile::object& what = *of.items()[of.sites()[s].items.front()].what;
    const profile::frame* const own =
        what.touches.empty() ? nullptr : profile::own_frame(what.touches.front().where);
    groups[own == nullptr ? std::pair<std::string, std::string>()
                          : std::pair(own->module, own->function)]
        .push_back(s);
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [code, group] : groups) {
    all.push_back(std::move(group));
  }
  return all;
}

named_objects named(const analysis& of, std::size_t at) {
  const site& which = of.input.sites()[at];
  named_objects made;
  made.program = which.program;
  made.name = which.name;
  for (const std::size_t i : which.items) {
    const item& one = of.input.items()[i];
    made.ids.push_back(one.what->id);
    made.bytes += one.what->bytes;
  }
  std::ranges::sort(made.ids);
  if (!of.input.assumed() && of.input.bytes() > 0) {
    made.share = which.bytes / of.input.bytes();
    made.remote = which.bytes > 0 ? remote_bytes(of, which.items) / which.bytes : 0;
  }
  return made;
}

/// Adds up shares by the program's own line.
class code_sum {
 public:
  void add(const profile::frame& where, double amount) {
    const std::string label = profile::label_of(where);
    const auto same = std::ranges::find_if(
        all_, [&](const code_share& each) { return profile::label_of(each.where) == label; });
    if (same != all_.end()) {
      same->share += amount;
    } else {
      all_.push_back({where, amount});
    }
    sum_ += amount;
  }
  [[nodiscard]] std::vector<code_share> greatest() {
    constexpr std::size_t most = 5;
    std::ranges::sort(all_, {}, [](const code_share& each) {
      return std::tuple(-each.share, profile::label_of(each.where), each.where.offset);
    });
    all_.resize(std::min(all_.size(), most));
    for (code_share& each : all_) {
      each.share = sum_ > 0 ? each.share / sum_ : 0;
    }
    return std::move(all_);
  }

 private:
  std::vector<code_share> all_;
  double sum_ = 0;
};

void add_code(const analysis_input& of, const std::vector<std::size_t>& sites, finding& into) {
  code_sum touched;
  code_sum used;
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.sites()[s].items) {
      const profile::object& what = *of.items()[i].what;
      for (const profile::first_touch& each : what.touches) {
        if (const profile::frame* const own = profile::own_frame(each.where)) {
          touched.add(*own, static_cast<double>(each.pages));
        }
      }
      for (const profile::using_code& each : what.used_at) {
        used.add(each.where, each.amount);
      }
    }
  }
  into.first_touched = touched.greatest();
  into.used = used.greatest();
}

/// Finds what is wrong with programs that ran together.
class search {
 public:
  search(const analysis& of, advice& into)
      : of_(of), into_(into), free_(of.input.sites().size(), 1),
        now_{flow_under(of.input, {}, of.swept)} {}

  void run() {
    for (const detector& each : detectors()) {
      const std::string missing = missing_evidence(of_.input, each.needs);
      if (!missing.empty()) {
        not_asked(each.what, missing);
        continue;
      }
      const std::vector<std::size_t> sites = each.sites(of_, free_for(each));
      if (sites.empty()) {
        const std::string figure = each.unjudged == nullptr ? "" : each.unjudged(of_);
        if (!figure.empty()) {
          not_asked(each.what, figure);
        }
        continue;
      }
      look(each, sites);
      if (each.explains_objects) {
        for (const std::size_t s : sites) {
          free_[s] = 0;
        }
      }
    }
  }

 private:
  /// Patterns with a placement remedy, except `own_placement`, skip sites that the program places
  /// itself: nothing from outside can change these.
  [[nodiscard]] std::vector<char> free_for(const detector& by) const {
    std::vector<char> free = free_;
    for (std::size_t s = 0; s < free.size(); ++s) {
      const bool other = by.placement_cures && by.what != pattern::own_placement;
      free[s] = other && of_.input.sites()[s].places_itself ? 0 : free[s];
    }
    return free;
  }
  void not_asked(pattern what, const std::string& missing) {
    const auto same = [&](const unexamined& other) {
      return other.what == what && other.missing == missing;
    };
    if (std::ranges::none_of(into_.not_asked, same)) {
      into_.not_asked.push_back({what, missing});
    }
  }

  /// Makes one finding for each place in the code that touched; those not worth it alone are tried
  /// once more together.
  void look(const detector& by, const std::vector<std::size_t>& sites) {
    if (!by.explains_objects || !by.placement_cures) {
      tell_of(by, sites);
      return;
    }
    std::vector<std::size_t> rest;
    for (const std::vector<std::size_t>& group : by_toucher(of_.input, sites)) {
      finding made = finding_of(by, group);
      if (is_worth_it(made.worth)) {
        into_.findings.push_back(std::move(made));
      } else {
        rest.insert(rest.end(), group.begin(), group.end());
      }
    }
    if (!rest.empty()) {
      std::ranges::sort(rest);
      tell_of(by, rest);
    }
  }

  void tell_of(const detector& by, const std::vector<std::size_t>& sites) {
    finding made = finding_of(by, sites);
    if (is_worth_it(made.worth)) {
      into_.findings.push_back(std::move(made));
      return;
    }
    dismissal none{by.what, std::move(made.objects), made.worth, ""};
    double bytes = 0;
    for (const std::size_t s : sites) {
      bytes += of_.input.sites()[s].bytes;
    }
    const double share = of_.input.bytes() > 0 ? bytes / of_.input.bytes() : 0;
    constexpr double little = 0.05;
    if (none.worth.binds_before == "the program's own work") {
      none.reason = "threads wait for their own work, not for memory";
    } else if (share < little) {
      none.reason = "it makes " + percent(share) + " of the program's traffic";
    } else if (by.what == pattern::dynamic_schedule && are_spread(sites)) {
      none.reason = "its pages are spread already, which is all that placement can do; only work "
                    "that stays with its data would be nearer";
    } else {
      none.reason = "by the model the program would be " +
                    percent(std::max(0.0, made.worth.ratio - 1)) +
                    " faster: less than runs differ by";
    }
    into_.not_worth.push_back(std::move(none));
  }

  [[nodiscard]] bool are_spread(const std::vector<std::size_t>& sites) const {
    return std::ranges::all_of(sites, [&](std::size_t s) {
      return std::ranges::none_of(of_.input.sites()[s].items,
                                  [&](std::size_t i) { return of_.shapes[i].on_one_node(); });
    });
  }

  finding finding_of(const detector& by, const std::vector<std::size_t>& sites) {
    suspicion told = by.describe(of_, sites);
    finding made;
    made.what = by.what;
    made.title = std::move(told.title);
    made.evidence = std::move(told.evidence);
    made.remarks = std::move(told.remarks);
    for (const std::size_t s : sites) {
      made.objects.push_back(named(of_, s));
    }
    const double samples = samples_of(of_.input, sites);
    if (by.placement_cures) {
      const decision placed = decide(of_, sites, {});
      for (const std::size_t program : of_.input.programs()) {
        std::vector<plans::entry> some = entries_for(of_, program, placed.objects);
        std::ranges::move(some, std::back_inserter(made.entries));
      }
      if (!told.after) {
        told.after = placed.after;
      }
    }
    const auto worth = by.placement_cures ? worth_of_placing : worth_of;
    made.worth = told.worth ? *told.worth : worth(of_.input, now_, *told.after, samples);
    if (!told.worth && told.after && by.placement_cures && made.entries.empty() &&
        made.worth.how == gain::kind::predicted) {
      made.worth.how = gain::kind::at_most;
      made.worth.note = "no placement was found; this is if all data were near";
    }
    add_code(of_.input, sites, made);
    made.cures = cures_for(of_, by.what, sites, !made.entries.empty());
    return made;
  }

  const analysis& of_;
  advice& into_;
  std::vector<char> free_; ///< by site: not reported yet
  const course now_;
};

/// One proposal for each binary: ranks of the same program share a plan if they agree.
std::vector<proposal> proposals_for(const analysis& of, const std::vector<std::size_t>& job) {
  std::vector<proposal> all;
  for (const std::size_t program : job) {
    proposal made = propose(of, program);
    const auto same = std::ranges::find_if(all, [&](const proposal& each) {
      return each.plan.program == made.plan.program && each.plan.build_id == made.plan.build_id;
    });
    if (same == all.end()) {
      all.push_back(std::move(made));
    } else if (same->disagreement.empty()) {
      join(of.input, made, *same);
    }
  }
  return all;
}

} // namespace

advice advise(const profile::profile& of, const topology& on) {
  std::deque<analysis_input> jobs; // an analysis_input cannot be moved
  double largest = 0;
  for (std::vector<std::size_t>& programs : jobs_of(of)) {
    largest = std::max(largest, jobs.emplace_back(of, on, std::move(programs)).bytes());
  }
  advice made;
  std::size_t left_out = 0;
  for (const analysis_input& what : jobs) {
    constexpr double trifle = 0.01; // as for a launcher or a shell: no gain would be visible
    if (what.bytes() < trifle * largest) {
      left_out += what.programs().size();
      continue;
    }
    const analysis seen(what);
    search(seen, made).run();
    for (proposal& plan : proposals_for(seen, what.programs())) {
      const bool does_something =
          !plan.plan.objects.empty() || plan.rebinds || plan.worth.how != gain::kind::unavailable;
      if (!plan.refused.empty()) {
        made.refused.push_back(std::move(plan));
      } else if (does_something && is_worth_it(plan.worth)) {
        made.plans.push_back(std::move(plan));
      }
    }
    add_remarks(what, made);
  }
  if (left_out > 0) {
    made.remarks.push_back(count_of(left_out, "program") +
                           " moved less than 1 % of what the largest did, and got no advice");
  }
  std::ranges::sort(made.findings, {}, [](const finding& each) {
    const bool known = each.worth.how != gain::kind::unavailable;
    return std::tuple(each.what != pattern::nameless, known ? -each.worth.ratio : -1.0, each.what,
                      each.title); // nameless memory is missing in all other findings
  });
  return made;
}

proposal make_plan(const profile::profile& of, const topology& on, std::size_t program) {
  const analysis_input what(of, on, job_of(of, program));
  return propose(analysis(what), program);
}

} // namespace nodewise::advise
