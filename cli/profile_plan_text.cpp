// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profile_plan_text.hpp"

#include <algorithm>
#include <vector>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "cli/model_view.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using report::align;
using report::tone;

/// A table of runs and predictions, one in each row.
class outcomes_table {
 public:
  void add(std::string name, const advise::outcome& what) {
    rows_.push_back({std::move(name), what});
  }

  [[nodiscard]] std::string text(const report::style& how) const {
    const bool timed = has(&advise::outcome::seconds);
    const bool whole = has(&advise::outcome::whole_remote);
    const bool whole_timed = whole && has(&advise::outcome::whole_seconds);
    std::vector<report::column> columns = {{""}, {"in use: remote", align::right}};
    if (timed) {
      columns.push_back({"model time", align::right});
    }
    if (whole) {
      columns.push_back({"whole run: remote", align::right});
    }
    if (whole_timed) {
      columns.push_back({"model time", align::right});
    }
    report::table shown(std::move(columns), 2);
    for (const row& each : rows_) {
      std::vector<report::cell> cells = {each.name, share_text(each.what.remote)};
      if (timed) {
        cells.emplace_back(time_text(each.what.seconds));
      }
      if (whole) {
        cells.emplace_back(share_text(each.what.whole_remote));
      }
      if (whole_timed) {
        cells.emplace_back(time_text(each.what.whole_seconds));
      }
      shown.add(std::move(cells));
    }
    return shown.to_string(how);
  }

 private:
  struct row {
    std::string name;
    advise::outcome what;
  };

  [[nodiscard]] bool has(std::optional<double> advise::outcome::* figure) const {
    return std::ranges::any_of(rows_,
                               [&](const row& each) { return (each.what.*figure).has_value(); });
  }
  static std::string share_text(const std::optional<double>& share) {
    return share ? report::format_percent(*share) : "unavailable";
  }
  static std::string time_text(const std::optional<double>& seconds) {
    return seconds ? format_seconds(*seconds) : "unavailable";
  }

  std::vector<row> rows_;
};

std::string what_it_does(const advise::proposal& what) {
  std::vector<std::string> parts;
  if (!what.plan.objects.empty()) {
    parts.push_back(counted(what.plan.objects.size(), "array") + " placed");
  }
  if (what.plan.bind != bind_policy::none) {
    parts.push_back("threads bound " + std::string(to_string(what.plan.bind)));
  }
  std::string text;
  for (const std::string& each : parts) {
    text += (text.empty() ? "" : ", ") + each;
  }
  return text.empty() ? "nothing placed, nothing bound" : text;
}

std::string sentence(const std::string& text, const report::style& how) {
  const std::size_t width = how.terminal ? how.width : text.size() + 2;
  return "  " + report::wrap_indented(printable(text), width, 2) + "\n";
}

/// The verdict of the counted runs on the plan.
std::string verdict_text(const proof& proven, const report::style& how) {
  for (const proof::candidate& each : proven.tried) {
    if (!each.result.counted) {
      return sentence("Not counted with " + each.name + ": " + each.result.problem, how);
    }
  }
  std::string text;
  std::string differing;
  for (const proof::candidate& each : proven.tried) {
    if (!each.is_repeatable()) {
      differing += (differing.empty() ? "" : " and ") + each.name;
    }
  }
  if (!differing.empty()) {
    text = sentence("Threads used other parts of the arrays when the program ran again with " +
                        differing + ", so that another run would differ again: it is not chosen.",
                    how);
  }
  if (!proven.best) {
    return proven.tried.empty()
               ? text
               : text + sentence("Nothing that was counted is better than the plain run.", how);
  }
  const proof::candidate& best = proven.tried[*proven.best];
  return best.name == "plan"
             ? text
             : text + sentence("The best that was counted is " + best.name + ": that is the plan.",
                               how);
}

} // namespace

std::string plan_text(const profile::profile& of, const advise::proposal& what,
                      const std::optional<proof>& proven, bool verbose, const report::style& how) {
  const profile::program& program = of.programs[what.program];
  std::string text = report::paint(how, tone::strong, "Plan for " + printable(program.name)) +
                     ": " + what_it_does(what) + "\n";
  outcomes_table rows;
  const bool is_counted = program.use_from == profile::use_source::traffic_count;
  rows.add(is_counted ? "plain run, counted" : "plain run, sampled", what.before);
  if (changes_anything(what)) {
    rows.add("plan, predicted", what.after);
  }
  if (proven) {
    for (const proof::candidate& each : proven->tried) {
      if (each.result.counted) {
        rows.add(each.name + ", counted", *each.result.counted);
      }
    }
  }
  if (what.before.remote && what.after.remote) {
    text += rows.text(how);
  }
  if (proven) {
    text += verdict_text(*proven, how);
  }
  if (what.pays_from) {
    text += sentence("It makes the initialisation slower: it pays if the program does what was "
                     "counted in use at least " +
                         short_number(*what.pays_from) + " times.",
                     how);
  }
  for (const std::string& each : what.remarks) {
    const bool is_condition = !what.disagreement.empty() && each.ends_with(what.disagreement);
    text += verbose || is_condition ? sentence(each, how) : "";
  }
  return text;
}

std::string plan_command_text(const profile::profile& of, std::string_view file,
                              std::string_view options) {
  std::string text = "  nodewise run --plan " + shell_word(file) + " ";
  text += options.empty() ? "" : std::string(options) + " ";
  text += "--";
  for (const std::string& word : of.command) {
    text += " " + shell_word(word);
  }
  return printable(text) + "\n";
}

} // namespace nodewise::cli
