// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Merges the thread settings of a plan file and the command line, which takes precedence.
#include <string>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "launch/plan.hpp"

namespace nodewise::launch {

namespace {

void note(run_options& options, const plan_choice& plan, const std::string& typed,
          const std::string& planned) {
  options.notes.push_back(fmt::format("{}: {} has {}", typed, plan.name, planned));
}

void take_binding(run_options& options, const plan_choice& plan) {
  const bind_policy planned = plan.file.bind;
  if (!plan.own_binding) {
    options.bind = planned;
  } else if (planned != bind_policy::none && (options.pin || options.bind != planned)) {
    note(options, plan, options.pin ? "--pin" : fmt::format("--bind {}", to_string(options.bind)),
         fmt::format("--bind {}", to_string(planned)));
  }
}

void take_places(run_options& options, const plan_choice& plan) {
  const bool bound = options.pin || options.bind != bind_policy::none;
  if (!plan.own_places) {
    options.places = bound && !options.pin ? plan.file.places : options.places;
  }
  if (!bound && (plan.own_places || options.smt == smt_use::on)) {
    throw error(
        error_kind::usage, plan.own_places ? "--places" : "--smt on",
        fmt::format("without --bind or --pin no thread is bound, and {} binds none", plan.name),
        "add --bind close or --bind spread");
  }
}

void take_main(run_options& options, const plan_choice& plan) {
  if (!plan.own_main) {
    options.main_works = plan.file.main_works;
  } else if (options.main_works != plan.file.main_works) {
    note(options, plan, options.main_works ? "--main works" : "--main waits",
         plan.file.main_works ? "--main works" : "--main waits");
  }
}

/// Without a binding the number only scales the maps of the plan.
void take_threads(run_options& options, const plan_choice& plan) {
  const std::size_t planned = plan.file.threads;
  if (planned == 0) {
    return;
  }
  if (options.threads) {
    if (*options.threads != planned) {
      note(options, plan, fmt::format("--threads {}", *options.threads),
           fmt::format("{}; what belongs to a thread is scaled", planned));
    }
  } else if (options.bind != bind_policy::none) {
    options.threads = planned;
  }
  options.teams = plan.file.teams;
}

} // namespace

void take_threads_of_plan(run_options& options) {
  if (options.plan) {
    take_binding(options, *options.plan);
    take_places(options, *options.plan);
    take_main(options, *options.plan);
    take_threads(options, *options.plan);
  }
}

} // namespace nodewise::launch
