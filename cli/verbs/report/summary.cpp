// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/profiles/gain.hpp"
#include "cli/verbs/report/profile.hpp"

namespace nodewise::cli {

namespace {

constexpr std::string_view words =
    "Each node of the machine has memory of its own. The kernel puts a page of an array into the "
    "memory of the node whose thread writes it first. Threads on other nodes then fetch it from "
    "there, which takes longer: their traffic is remote. An array without a name is called by the "
    "line that allocates it, such as solver.c:41. A plan is a file with which nodewise run "
    "puts arrays and threads on the same nodes.";

std::string write_plan_line(const std::string& file) {
  return fmt::format("nodewise profile {} --write-plan plan.json", shell_word(file));
}

std::string seconds_words(const advise::outcome& before, const advise::outcome& after) {
  return before.seconds && after.seconds
             ? fmt::format(" The model's time of the observed phase: {:.3g} s now, {:.3g} s with "
                           "the plan.",
                           *before.seconds, *after.seconds)
             : "";
}

void add_plan(const advise::proposal& plan, const profile::profile& of, const std::string& file,
              html::section& into) {
  into.paragraph(
      fmt::format("Two commands apply all fixes that need no change of the program: {}.{} With "
                  "--verify, the second one prints where the kernel put the pages.",
                  gain_with_range(plan.worth), seconds_words(plan.before, plan.after)));
  into.command(write_plan_line(file));
  into.command(fmt::format("nodewise run --plan plan.json --verify -- {}",
                           joined(of.command, " ", shell_word)));
  into.list(plan.remarks);
}

} // namespace

void add_summary(const profile_parts& of, report_page& page, html::section& into) {
  if (!std::exchange(page.is_explained, true)) {
    into.remark(words);
  }
  if (!of.found.plans.empty()) {
    add_plan(of.found.plans.front(), of.what, page.file, into);
  }
}

} // namespace nodewise::cli
