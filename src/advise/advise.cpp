// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/advise.hpp"

#include <cmath>
#include <iterator>
#include <map>
#include <ranges>
#include <tuple>

#include "advise/patterns.hpp"
#include "advise/propose.hpp"

namespace nodewise::advise {

namespace {

/// Groups sites whose objects the same code touched first; sites without a known toucher stay
/// together.
std::vector<positions> by_toucher(const analysis_input& of, const positions& sites) {
  std::map<std::pair<std::string, std::string>, positions> groups;
  for (const std::size_t s : sites) {
    const profile::frame* const own = first_toucher(of.first_object(s));
    groups[own == nullptr ? std::pair<std::string, std::string>()
                          : std::pair(own->module, own->function)]
        .push_back(s);
  }
  return {std::views::values(groups).begin(), std::views::values(groups).end()};
}

named_objects named(const analysis& of, std::size_t at) {
  const site& which = of.sites[at];
  named_objects made;
  made.program = which.program;
  made.name = which.name;
  for (const std::size_t i : which.items) {
    made.ids.push_back(of.items[i].what->id);
    made.bytes += of.items[i].what->bytes;
  }
  std::ranges::sort(made.ids);
  if (!of.assumed && of.bytes > 0) {
    made.share = which.bytes / of.bytes;
    made.remote = which.bytes > 0 ? remote_bytes(of, which.items) / which.bytes : 0;
  }
  return made;
}

/// The code with most of the amounts, and its share of all.
std::vector<code_share> greatest_shares(std::vector<profile::using_code> all) {
  constexpr std::size_t most = 5;
  const double sum = sum_over(all, &profile::using_code::amount);
  profile::keep_most_used(all, most);
  std::vector<code_share> made;
  for (const profile::using_code& each : all) {
    made.push_back({each.where, sum > 0 ? each.amount / sum : 0});
  }
  return made;
}

void add_code(const analysis_input& of, const positions& sites, finding& into) {
  std::vector<profile::using_code> touched;
  std::vector<profile::using_code> used;
  for (const std::size_t i : of.items_of(sites)) {
    const profile::object& what = *of.items[i].what;
    for (const profile::first_touch& each : what.touches) {
      if (const profile::frame* const own = profile::own_frame(each.where)) {
        touched.push_back({*own, static_cast<double>(each.pages)});
      }
    }
    used.insert(used.end(), what.used_at.begin(), what.used_at.end());
  }
  into.first_touched = greatest_shares(std::move(touched));
  into.used = greatest_shares(std::move(used));
}

/// Finds what is wrong with programs that ran together.
class search {
 public:
  search(const analysis& of, advice& into)
      : of_(of), into_(into), free_(of.sites.size(), 1), now_{flow_under(of, {}, of.swept)} {}

  void run() {
    for (const detector& each : detectors()) {
      std::string missing = missing_evidence(of_, each.needs);
      const positions sites = missing.empty() ? each.sites(of_, free_for(each)) : positions();
      if (missing.empty() && sites.empty() && each.unjudged != nullptr) {
        missing = each.unjudged(of_);
      }
      const unexamined none{each.what, missing};
      if (!missing.empty() && std::ranges::find(into_.not_asked, none) == into_.not_asked.end()) {
        into_.not_asked.push_back(none);
      } else if (!sites.empty()) {
        look(each, sites);
      }
      for (const std::size_t s : sites) {
        free_[s] = each.concerns == scope::program ? free_[s] : 0;
      }
    }
  }

 private:
  /// A plan cannot change sites that the program places itself.
  [[nodiscard]] std::vector<char> free_for(const detector& by) const {
    std::vector<char> free = free_;
    for (std::size_t s = 0; s < free.size(); ++s) {
      free[s] = by.can_place() && of_.sites[s].places_itself ? 0 : free[s];
    }
    return free;
  }

  /// Makes one finding for each place in the code that touched; those not worth it alone are tried
  /// once more together.
  void look(const detector& by, const positions& sites) {
    if (!by.can_place()) {
      report(by, sites);
      return;
    }
    positions rest;
    for (const positions& group : by_toucher(of_, sites)) {
      finding made = finding_of(by, group);
      if (is_worth_it(made.worth)) {
        into_.findings.push_back(std::move(made));
      } else {
        rest.insert(rest.end(), group.begin(), group.end());
      }
    }
    if (!rest.empty()) {
      std::ranges::sort(rest);
      report(by, rest);
    }
  }

  void report(const detector& by, const positions& sites) {
    finding made = finding_of(by, sites);
    if (is_worth_it(made.worth)) {
      into_.findings.push_back(std::move(made));
      return;
    }
    dismissal none{by.what, std::move(made.objects), made.worth, ""};
    const double share = of_.bytes > 0 ? bytes_moved(of_, sites) / of_.bytes : 0;
    const bool is_spread = std::ranges::none_of(
        of_.items_of(sites), [&](std::size_t i) { return of_.shapes[i].on_one_node(); });
    constexpr double little = 0.05;
    if (none.worth.binds_before == own_work) {
      none.reason = "threads are limited by their own work, not by memory";
    } else if (share < little) {
      none.reason = fmt::format("it makes up only {} of the program's traffic", percent(share));
    } else if (is_spread &&
               (by.what == pattern::dynamic_schedule || by.what == pattern::far_tasks)) {
      none.reason = "its pages are already spread, and placement can do no more: only work that "
                    "stays with its data would be local";
    } else {
      none.reason = fmt::format("the predicted gain, {}, is within the variation between runs",
                                percent(std::max(0.0, made.worth.ratio - 1)));
    }
    into_.not_worth.push_back(std::move(none));
  }

  finding finding_of(const detector& by, const positions& sites) {
    suspicion found = by.describe(of_, sites);
    finding made;
    made.what = by.what;
    made.title = std::move(found.title);
    made.evidence = std::move(found.evidence);
    made.remarks = std::move(found.remarks);
    for (const std::size_t s : sites) {
      made.objects.push_back(named(of_, s));
    }
    const double samples = samples_of(of_, sites);
    if (by.can_place()) {
      const decision placed = decide(of_, sites, {});
      for (const std::size_t program : of_.programs) {
        std::vector<plans::entry> some = entries_for(of_, program, placed.objects);
        std::ranges::move(some, std::back_inserter(made.entries));
      }
      if (!found.after) {
        found.after = placed.after;
      }
    }
    const auto worth = by.can_place() ? worth_of_placing : worth_of;
    made.worth = found.worth ? *found.worth : worth(of_, now_, *found.after, samples);
    if (!found.worth && by.can_place() && made.entries.empty() &&
        made.worth.how == gain::kind::predicted) {
      made.worth.how = gain::kind::at_most;
      made.worth.note = "if all data were local; no such placement was found";
    }
    add_code(of_, sites, made);
    made.cures = by.cures(subject_of(of_, sites, made), by.with);
    if (!made.entries.empty()) {
      made.cures.push_back(
          {"command",
           "place it from outside, without changing the program (--write-plan plan.json "
           "writes the plan)",
           "nodewise run --plan plan.json --verify -- PROGRAM\n"});
    }
    return made;
  }

  const analysis& of_;
  advice& into_;
  std::vector<char> free_; ///< by site: not reported yet
  const course now_;
};

/// One proposal for each binary: ranks of the same program share a plan if they agree.
std::vector<proposal> proposals_for(const analysis& of) {
  std::vector<proposal> all;
  for (const std::size_t program : of.programs) {
    proposal made = propose(of, program);
    const auto same = std::ranges::find_if(all, [&](const proposal& each) {
      return each.plan.program == made.plan.program && each.plan.build_id == made.plan.build_id;
    });
    if (same == all.end()) {
      all.push_back(std::move(made));
    } else if (same->disagreement.empty()) {
      join(of, made, *same);
    }
  }
  return all;
}

/// Adds what concerns all advice: assumed figures of the machine, and traffic that the prediction
/// leaves out. Each sentence once.
void add_remarks(const analysis_input& of, std::vector<std::string>& into) {
  const auto add = [&](const std::string& text) {
    if (std::ranges::find(into, text) == into.end()) {
      into.push_back(text);
    }
  };
  for (const std::string& each : of.costs.remarks) {
    add(each);
  }
  if (!of.costs.absolute) {
    add("the machine's bandwidths are unknown: gains are ratios for memories that are all alike");
  }
  if (std::ranges::any_of(of.workers,
                          [&](const worker& each) { return of.thread(each).instructions > 0; })) {
    add(of.costs.absolute
            ? "a core is assumed to execute at most 4 billion instructions per second, and to "
              "access memory at the same time: the longer of the two times counts. A program that "
              "computes more slowly gains less"
            : "without bandwidths it is unknown how much waiting the counted instructions hide: "
              "none is assumed");
  }
  double lost = 0;
  double all = 0;
  for (const matrix& piece : flow_under(of, {}, {})) {
    for (std::size_t w = 0; w < of.workers.size(); ++w) {
      const double bytes = piece.moved_by(w, piece.columns);
      all += bytes;
      lost += of.workers[w].home == nowhere ? bytes : piece.at(w, of.nodes());
    }
  }
  constexpr double some = 0.01;
  if (lost > some * all) {
    add(fmt::format("the prediction leaves out {} of the traffic: the node of its thread or of its "
                    "page is unknown",
                    percent(lost / all)));
  }
}

/// The share of the program's traffic that the finding is about.
double traffic_of(const finding& what) {
  return sum_over(what.objects, &named_objects::share);
}

/// Lines to type name the command that was profiled.
void name_program(const std::vector<std::string>& command, std::vector<cure>& in) {
  constexpr std::string_view placeholder = "PROGRAM";
  const std::string line = joined(command, " ", shell_word);
  for (cure& each : in) {
    if (each.with != "command" || each.code.find("mpirun") != std::string::npos) {
      continue;
    }
    for (std::size_t at = each.code.find(placeholder); at != std::string::npos;
         at = each.code.find(placeholder, at + line.size())) {
      each.code.replace(at, placeholder.size(), line);
    }
  }
}

} // namespace

advice advise(const profile::profile& of, const topology& on) {
  std::vector<analysis_input> jobs;
  double largest = 0;
  for (positions& programs : jobs_of(of)) {
    largest = std::max(largest, jobs.emplace_back(of, on, std::move(programs)).bytes);
  }
  advice made;
  std::size_t left_out = 0;
  for (analysis_input& job : jobs) {
    constexpr double trifle = 0.01; // as for a launcher or a shell: no gain would be visible
    if (job.bytes < trifle * largest) {
      left_out += job.programs.size();
      continue;
    }
    const analysis what(std::move(job));
    search(what, made).run();
    for (proposal& plan : proposals_for(what)) {
      const bool does_something =
          !plan.plan.objects.empty() || plan.rebinds || plan.worth.how != gain::kind::unavailable;
      if (!plan.refused.empty()) {
        made.refused.push_back(std::move(plan));
      } else if (does_something && is_worth_it(plan.worth)) {
        made.plans.push_back(std::move(plan));
      }
    }
    add_remarks(what, made.remarks);
  }
  if (left_out > 0) {
    made.remarks.push_back(
        fmt::format("{} with less than 1 % of the traffic of the largest program: no advice",
                    counted(left_out, "program")));
  }
  for (finding& each : made.findings) {
    if (!of.command.empty()) {
      name_program(of.command, each.cures);
    }
  }
  std::ranges::sort(made.findings, {}, [](const finding& each) {
    const bool known = each.worth.how != gain::kind::unavailable;
    const double gain_as_printed = known ? std::round(each.worth.ratio * 100) : 100;
    return std::tuple(each.what != pattern::nameless, -gain_as_printed, -traffic_of(each),
                      each.what, each.title); // nameless memory is missing in all other findings
  });
  return made;
}

proposal make_plan(const profile::profile& of, const topology& on, std::size_t program) {
  return propose(analysis({of, on, job_of(of, program)}), program);
}

} // namespace nodewise::advise
