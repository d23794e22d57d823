// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nodewise tune: runs a program under several settings and names the best.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/lab/runner.hpp"
#include "cli/machine/source.hpp"
#include "cli/start/flags.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/tune/flags.hpp"
#include "cli/verbs/tune/forecasts.hpp"
#include "cli/verbs/tune/observed.hpp"
#include "cli/verbs/tune/options.hpp"
#include "cli/verbs/tune/runs.hpp"
#include "cli/verbs/tune/setting_plan.hpp"
#include "cli/verbs/tune/view.hpp"
#include "launch/numa_balancing.hpp"
#include "report/progress.hpp"
#include "sys/signals.hpp"

namespace nodewise::cli::verbs {

namespace {

using clock = std::chrono::steady_clock;

tune::log_contents read_of_option(const std::string& file) {
  try {
    return tune::read_log(file);
  } catch (const error& e) {
    throw error(e.kind(), fmt::format("{}: {}", option_name(flags::resume), e.asked()),
                e.answered(), e.hint());
  }
}

std::string log_name(const invocation& given) {
  const auto name = given.text(flags::resume);
  return std::string(name ? *name : given.text(flags::tune_log).value_or(""));
}

/// The file of the runs, if there is one.
class kept_log {
 public:
  kept_log(const invocation& given, const tune_request& asked) {
    if (const auto file = given.text(flags::resume)) {
      tune::log_contents before = read_of_option(std::string(*file));
      tune::log_header now = asked.race;
      if (!given.has(flags::seed)) {
        now.options.seed = before.header.options.seed;
      }
      tune::check_same(now, before.header);
      writer_ = tune::log_writer::resume(std::string(*file), before);
      seed_ = now.options.seed;
      events_ = std::move(before.events);
      remark_ = std::move(before.remark);
    } else if (const auto name = given.text(flags::tune_log)) {
      if (std::filesystem::is_regular_file(*name) && std::filesystem::file_size(*name) != 0) {
        throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::tune_log), *name),
                    "the file exists", "go on with it by --resume, or name another file");
      }
      writer_ = tune::log_writer::create(std::string(*name), asked.race);
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> seed() const noexcept { return seed_; }
  [[nodiscard]] const std::vector<tune::log_event>& events() const noexcept { return events_; }
  [[nodiscard]] const std::string& remark() const noexcept { return remark_; }
  void write(const tune::log_event& event, const report::style& how) {
    if (const auto failed = writer_ ? writer_->write(event) : std::nullopt) {
      write_error(report::warning_text(*failed, how));
    }
  }

 private:
  std::optional<tune::log_writer> writer_;
  std::optional<std::uint64_t> seed_;
  std::vector<tune::log_event> events_;
  std::string remark_;
};

class tuning {
 public:
  tuning(const invocation& given, tune_request asked, topology here)
      : given_(given), asked_(std::move(asked)), log_(given, asked_),
        how_(style_of(STDERR_FILENO, given)) {
    asked_.race.options.seed = log_.seed().value_or(asked_.race.options.seed);
    race_.emplace(asked_.race.options);
    result_ = std::make_unique<tuned>(tuned{std::move(here),
                                            asked_.race.command,
                                            asked_.race.candidates,
                                            asked_.race.figure,
                                            asked_.within,
                                            {},
                                            {},
                                            std::string(given.text(flags::on).value_or("")),
                                            log_name(given)});
  }

  tuned run() {
    tune::replay(log_.events(), *race_);
    for (const tune::log_event& event : log_.events()) {
      if (const auto* const run = std::get_if<tune::logged_run>(&event)) {
        result_->runs.push_back(*run);
      } else if (const auto* const ahead = std::get_if<tune::logged_forecast>(&event)) {
        keep(*ahead);
      }
    }
    if (!log_.remark().empty()) {
      write_error(report::warning_text(log_.remark(), how_));
    }
    const sys::ending_signals signals;
    std::signal(SIGXFSZ, SIG_IGN); // a log that has reached a limit of file sizes is a failed write
    program_runs runs(asked_, result_->on.machine());
    if (!result_->runs.empty()) {
      runs.expect_output(result_->runs.front().output);
    }
    const run_rules& rules = asked_.rules;
    conditions_watch conditions(rules.prepare.empty() && rules.check.empty() &&
                                rules.cleanup.empty());
    const bool looks = result_->lab.empty(); // each virtual machine starts with the same
    const auto begin = clock::now();
    if (asked_.traffic && result_->forecasts.empty()) {
      look_ahead(*asked_.traffic);
    }
    while (const auto next = race_->next()) {
      if (looks) {
        conditions.before_run(result_->on.machine());
      }
      show_progress(*next, begin);
      const finished_run done = runs.run(next->candidate);
      if (done.end.how == sys::timed_end::cause::interrupted || sys::ending_signals::came()) {
        result_->interrupted = true;
        race_->stop();
        break;
      }
      take(*next, done);
      if (next->in != tune::phase::warm_up) {
        if (looks) {
          conditions.after_run(done.end);
        }
      } else if (const auto counted = runs.counted()) {
        look_ahead(*counted);
      }
    }
    result_->seconds = std::chrono::duration<double>(clock::now() - begin).count();
    hide_progress();
    result_->standing = race_->standing();
    result_->also = asked_.also;
    result_->remarks = asked_.remarks;
    result_->remarks.insert(result_->remarks.end(), runs.remarks().begin(), runs.remarks().end());
    add_observations(*result_, conditions);
    return std::move(*result_);
  }

 private:
  void keep(const tune::logged_forecast& ahead) {
    result_->forecasts.resize(result_->settings.size());
    result_->forecasts[ahead.candidate] = ahead.predicted;
  }

  /// Predicts the settings from the traffic of the program as it is, and drops hopeless ones.
  void look_ahead(const traffic_file& counted) {
    const auto all = forecasts_of(asked_, counted, result_->on);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]) {
        keep({i, *all[i]});
        log_.write(tune::logged_forecast{i, *all[i]}, how_);
      }
    }
    for (const tune::dropped_candidate& each : tune::weigh_forecasts(all).dropped) {
      const std::string why = text_of(each, result_->settings);
      race_->disqualify(each.candidate, why);
      log_.write(tune::logged_disqualification{each.candidate, why}, how_);
    }
  }

  void take(const tune::run_request& what, const finished_run& done) {
    if (!done.failure.empty()) {
      if (done.ends_tune || what.candidate == tune::todays) {
        hide_progress();
        throw error(error_kind::input, joined(asked_.race.command, " ", shell_word),
                    done.ends_tune ? done.failure : "as it is, " + done.failure,
                    done.ends_tune ? "correct this command" : done.hint);
      }
      race_->disqualify(what.candidate, done.failure);
      log_.write(tune::logged_disqualification{what.candidate, done.failure}, how_);
      return;
    }
    const tune::logged_run made{what,
                                done.figure,
                                done.end.wall_seconds,
                                done.end.user_seconds,
                                done.end.system_seconds,
                                done.others,
                                done.output};
    race_->record(done.figure);
    result_->runs.push_back(made);
    log_.write(made, how_);
  }

  /// Between runs only: while a program runs, this process sleeps.
  void show_progress(const tune::run_request& next, clock::time_point begin) {
    if (!how_.terminal || given_.has(flags::quiet) ||
        clock::now() - begin < report::progress::quiet_time) {
      return;
    }
    double seconds = 0;
    for (const tune::logged_run& each : result_->runs) {
      seconds += each.wall_s;
    }
    const double each =
        seconds / static_cast<double>(std::max<std::size_t>(1, result_->runs.size()));
    const std::chrono::duration<double> left(each * static_cast<double>(race_->most_runs_left()));
    const std::string best =
        race_->leader()
            ? fmt::format("; ahead: {}", tune::text(result_->settings[*race_->leader()]))
            : "";
    std::string line = fmt::format(
        "{} {}, {} runs, at most {} left{}",
        next.in == tune::phase::confirmation ? "confirmation, block" : "block", next.block + 1,
        race_->runs(),
        report::format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(left)), best);
    line.resize(std::min(line.size(), how_.width - 1));
    write_error("\r\033[K" + line);
    drawn_ = true;
  }
  void hide_progress() {
    if (drawn_) {
      write_error("\r\033[K");
      drawn_ = false;
    }
  }

  const invocation& given_;
  tune_request asked_;
  kept_log log_;
  report::style how_;
  std::optional<tune::race> race_;
  std::unique_ptr<tuned> result_;
  bool drawn_ = false;
};

std::string settings_text(const tune_request& asked) {
  return joined(asked.race.candidates, "\n", tune::text) + "\n";
}

/// Writes the plan of --write-plan; returns how to use it, or why there is none.
std::string write_plan(const tuned& what, const invocation& given) {
  const auto file = given.text(flags::write_plan);
  if (!file) {
    return "";
  }
  const setting_as_plan best =
      plan_of(what.settings[chosen(what)], program_in(what.program), what.on);
  if (!best.has_plan()) {
    return fmt::format("No plan is written to {}: {} has nothing that a plan can hold.\n",
                       printable(*file), tune::text(what.settings[chosen(what)]));
  }
  write_to_file(flags::write_plan, *file, plan_json(best.plan, what.on));
  tune::setting with{{option_name(flags::plan), std::string(*file)}, 0};
  with.options.insert(with.options.end(), best.beside.begin(), best.beside.end());
  return fmt::format(
      "The plan in {} {}:\n  {}\n", printable(*file),
      best.plan.objects.empty() ? "binds threads in the same way"
                                : "does the same for arrays of 1 MiB and more",
      joined(tune::command_of(with, {"nodewise", "run"}, what.program), " ", shell_word));
}

int exit_code_for(const tuned& what, bool strict) {
  if (what.interrupted) {
    return exit_code::signal_base + SIGINT;
  }
  return strict && what.standing.result == tune::verdict::not_separated ? exit_code::check_failed
                                                                        : exit_code::ok;
}

} // namespace

int tune(const invocation& given) {
  check_output(given);
  if (const auto file = given.text(flags::write_plan)) {
    check_file(flags::write_plan, *file);
  }
  topology here = given.has(flags::on) ? machine_of_on(given, paths::of_this_process())
                                       : this_machine_with_costs().what;
  tune_request asked = read_tune_options(given, here);
  if (given.has(flags::dry_run)) {
    write_out(settings_text(asked));
    return exit_code::ok;
  }
  if (const auto restored = launch::restore_numa_balancing(sys::real_kernel())) {
    warn({*restored}, given);
  }
  const tuned found = tuning(given, std::move(asked), std::move(here)).run();
  write_form(given, tune_forms, found);
  const std::string plan = write_plan(found, given);
  if (given.has(flags::quiet) && given.selected_form() == nullptr) {
    write_out(found.interrupted ? "" : line_of(found, chosen(found)) + "\n");
  } else {
    show_text(given, [&](const report::style& how) { return tune_text(found, how) + plan; });
  }
  return exit_code_for(found, given.has(flags::strict));
}

} // namespace nodewise::cli::verbs
