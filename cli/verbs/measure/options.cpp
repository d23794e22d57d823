// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/measure/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli {

namespace {

using measure::experiment;
using measure::point;

/// The quick set must end within half a minute, including the start and the last point.
constexpr std::chrono::nanoseconds quick_time = std::chrono::seconds(26);
constexpr std::chrono::nanoseconds full_time_per_point = std::chrono::seconds(3);

std::vector<std::string_view> words_of(const invocation& given, const flag& list) {
  std::vector<std::string_view> words;
  for (const std::string_view text : given.texts(list)) {
    const auto parts = split(text, ',');
    words.insert(words.end(), parts.begin(), parts.end());
  }
  return words;
}

/// "--only bandwith", for errors.
std::string typed_text(const flag& which, std::string_view value) {
  return fmt::format("{} {}", option_name(which), value);
}

/// Adds a value that the list lacks.
template <class T>
void add_once(std::vector<T>& to, const T& value) {
  if (!std::ranges::count(to, value)) {
    to.push_back(value);
  }
}

std::vector<experiment> chosen_experiments(const invocation& given) {
  std::vector<std::string_view> names;
  std::ranges::transform(measure::full_set(), std::back_inserter(names), measure::to_string);
  std::vector<experiment> chosen;
  for (const std::string_view word : words_of(given, flags::only)) {
    const auto found = measure::parse_experiment(word);
    if (!found) {
      const std::string near = nearest(word, names);
      throw error(error_kind::usage, typed_text(flags::only, word), "there is no such experiment",
                  near.empty() ? "use one of " + joined(names, ", ")
                               : fmt::format("did you mean {}?", near));
    }
    add_once(chosen, *found);
  }
  std::ranges::sort(chosen);
  return chosen;
}

/// likwid-bench has a kernel for each instruction set; nodewise does not offer that choice.
[[noreturn]] void refuse_kernel(std::string_view word) {
  const std::string asked = typed_text(flags::measured_kernel, word);
  for (std::size_t end = word.rfind('_'); end != std::string_view::npos && end != 0;
       end = word.rfind('_', end - 1)) {
    constexpr std::array<std::string_view, 6> sets = {"sse", "avx", "avx512", "neon", "sve", "fma"};
    if (measure::find_kernel(word.substr(0, end)) != nullptr &&
        std::ranges::count(sets, word.substr(word.rfind('_') + 1)) != 0) {
      throw error(error_kind::usage, asked, "nodewise chooses the instruction set itself",
                  fmt::format("write {}", word.substr(0, end)));
    }
  }
  std::vector<std::string_view> names;
  std::ranges::transform(measure::kernels(), std::back_inserter(names), &measure::kernel::name);
  const std::string near = nearest(word, names);
  throw error(error_kind::usage, asked, "there is no such kernel",
              near.empty() ? "see nodewise measure --help" : fmt::format("did you mean {}?", near));
}

/// Throws if an experiment requested by name would be left out.
void require_points(const std::vector<experiment>& asked, const std::vector<point>& points) {
  for (const experiment each : asked) {
    if (!std::ranges::count(points, each, &point::of)) {
      throw error(error_kind::usage, typed_text(flags::only, to_string(each)),
                  fmt::format("it needs {}", about(each).needs),
                  "leave it out; `nodewise topo` shows this machine");
    }
  }
}

std::vector<std::string_view> chosen_kernels(const invocation& given) {
  // Each kernel once, whichever of its names is used: a label identifies one figure.
  std::vector<std::string_view> chosen;
  for (const std::string_view word : words_of(given, flags::measured_kernel)) {
    if (word == "all") {
      for (const measure::kernel& each : measure::kernels()) {
        add_once(chosen, each.name);
      }
    } else if (const measure::kernel* const found = measure::find_kernel(word)) {
      add_once(chosen, found->name);
    } else {
      refuse_kernel(word);
    }
  }
  return chosen;
}

page_size pages_of(const invocation& given) {
  constexpr std::array<std::pair<std::string_view, page_size>, 4> sizes = {
      {{"base", page_size::base},
       {"huge", page_size::transparent_huge},
       {"2M", page_size::huge_2m},
       {"1G", page_size::huge_1g}}};
  const auto asked = given.text(flags::buffer_pages);
  for (const auto& [word, pages] : sizes) {
    if (asked == word) {
      return pages;
    }
  }
  return page_size::automatic;
}

std::optional<std::chrono::nanoseconds> asked_time(const invocation& given) {
  const auto text = given.text(flags::point_time);
  if (!text) {
    return std::nullopt;
  }
  constexpr double most = 1e5;
  const double seconds = parse_real(*text).value_or(0);
  if (!(seconds > 0) || seconds > most) {
    throw error(error_kind::usage, typed_text(flags::point_time, *text),
                "it takes seconds, such as 0.5 or 10", "give a number up to 100000");
  }
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

/// Groups the threads of a workgroup by node. Each group's share of the arrays is in its node's
/// memory, or wherever the text places the arrays.
std::vector<measure::stream_group> groups_of(const spec::workgroup& asked,
                                             const measure::kernel& does, const topology& on) {
  std::vector<measure::stream_group> groups;
  for (const cpu_id cpu : asked.cpus) {
    const node_id node = on.node_of(cpu);
    auto same = std::ranges::find_if(
        groups, [&](const measure::stream_group& each) { return each.memory.front() == node; });
    if (same == groups.end()) {
      groups.push_back({&does, {}, {node}, {}, 0, asked.arrays});
      same = groups.end() - 1;
    }
    same->cpus.push_back(cpu);
  }
  for (measure::stream_group& each : groups) {
    each.bytes = asked.bytes * each.cpus.size() / asked.cpus.size();
  }
  return groups;
}

/// Threads that share a processor take turns on it, so the figure does not show memory performance.
std::vector<std::string> shared_processors(const point& of) {
  cpu_set taken;
  cpu_set twice;
  for (const measure::stream_group& group : std::get<measure::stream_work>(of.work).groups) {
    for (const cpu_id cpu : group.cpus) {
      (taken.contains(cpu) ? twice : taken).insert(cpu);
    }
  }
  if (twice.empty()) {
    return {};
  }
  return {fmt::format("{}: processors {} have several threads, which take turns: use other domains "
                      "or fewer threads, or allow this process more processors",
                      option_name(flags::workgroup), twice.to_string())};
}

/// One point for each kernel; all workgroups run at the same time.
std::vector<point> workgroup_points(const invocation& given, const topology& on,
                                    const measure::scope& what) {
  std::vector<point> points;
  const auto texts = given.texts(flags::workgroup);
  for (const std::string_view name : what.kernels) {
    const measure::kernel& does = *measure::find_kernel(name);
    measure::stream_work work;
    for (const std::string_view text : texts) {
      const auto asked =
          for_option(flags::workgroup, [&] { return spec::parse_workgroup(text, on); });
      if (asked.arrays.size() > does.arrays) {
        throw error(error_kind::usage, typed_text(flags::workgroup, text),
                    fmt::format("there is no array {}: {} has {}", asked.arrays.size() - 1, name,
                                does.arrays),
                    "count arrays from 0; nodewise measure --help shows the loops");
      }
      const auto groups = groups_of(asked, does, on);
      work.groups.insert(work.groups.end(), groups.begin(), groups.end());
    }
    points.push_back({experiment::kernels, std::string(does.name), unknown_node, unknown_node,
                      what.pages, std::move(work)});
  }
  return points;
}

constexpr const char* leave_one = "leave one of them out";

[[noreturn]] void refuse_both(const flag& one, std::string_view other, const char* answer,
                              const std::string& hint = leave_one) {
  throw error(error_kind::usage, typed_text(one, fmt::format("with {}", other)), answer, hint);
}

/// Two options that exclude each other.
struct exclusion {
  const flag* one;
  const flag* other;
  const char* answer;
  std::string hint = leave_one;
};
constexpr const char* different_sets = "they select different sets";
constexpr const char* not_shown = "the comparison would not be shown"; // it is only text

void require_no_exclusion(const invocation& given) {
  const flag* const selected = given.selected_form();
  const flag& form = selected != nullptr ? *selected : flags::json;
  const exclusion exclusions[] = {
      {&flags::workgroup, &flags::only, different_sets},
      {&flags::workgroup, &flags::full, different_sets},
      {&flags::full, &flags::only, different_sets},
      {&flags::workgroup, &flags::buffer_size, "a workgroup has its own size", "leave --size out"},
      {&flags::compare, &form, not_shown,
       fmt::format("leave {} out; -o FILE writes the measurement", option_name(form))},
      {&flags::compare, &flags::quiet, not_shown},
      {&flags::weights, &flags::compare, "they exclude each other"},
  };
  for (const exclusion& each : exclusions) {
    if (given.has(*each.one) && given.has(*each.other)) {
      refuse_both(*each.one, option_name(*each.other), each.answer, each.hint);
    }
  }
}

void require_one_question(const invocation& given) {
  if (given.has(flags::measured_kernel) && given.has(flags::only) &&
      !std::ranges::count(chosen_experiments(given), experiment::kernels)) {
    refuse_both(flags::measured_kernel, option_name(flags::only),
                "only the experiment kernels runs them",
                "add kernels to " + option_name(flags::only));
  }
  if (given.bytes(flags::buffer_size) == std::uint64_t{0}) {
    throw error(error_kind::usage, option_name(flags::buffer_size) + " 0",
                "buffers cannot be empty",
                fmt::format("leave it out for {}", flags::buffer_size.standard));
  }
}

/// Weights need measured bandwidths: refuses options without them before measuring anything.
void require_bandwidths(const invocation& given) {
  constexpr const char* answer = "weights need the bandwidths between nodes";
  if (given.has(flags::only)) {
    if (!std::ranges::count(chosen_experiments(given), experiment::bandwidth)) {
      refuse_both(flags::weights, option_name(flags::only), answer,
                  "add bandwidth to " + option_name(flags::only));
    }
    return;
  }
  for (const flag* other : {&flags::workgroup, &flags::measured_kernel}) {
    if (given.has(*other) && !given.has(flags::full)) {
      refuse_both(flags::weights, option_name(*other), answer,
                  "leave " + option_name(*other) + " out");
    }
  }
}

/// Refuses options that say how to measure if nothing is measured.
void require_nothing_to_measure(const invocation& given) {
  for (const flag* asks : {&flags::full, &flags::only, &flags::measured_kernel, &flags::workgroup,
                           &flags::point_time, &flags::buffer_size, &flags::buffer_pages}) {
    if (given.has(*asks)) {
      refuse_both(*asks, given.operands.back(), "a given file is shown, and nothing is measured");
    }
  }
}

/// The lines for a shell need standard output for themselves.
void require_sense_of_weights(const invocation& given, bool measures) {
  if (given.text(flags::weights) != "apply") {
    if (const flag* const form = given.selected_form(); form && !given.has(flags::output)) {
      refuse_both(flags::weights, option_name(*form), "both write to standard output",
                  "write the JSON to a file: -o FILE instead of " + option_name(*form));
    }
    if (given.has(flags::quiet)) {
      refuse_both(flags::weights, option_name(flags::quiet),
                  "nothing would be printed, and nothing set",
                  fmt::format("{}, or write {}=apply", leave_one, option_name(flags::weights)));
    }
  }
  if (measures) {
    require_bandwidths(given);
  }
}

} // namespace

void require_sense(const invocation& given) {
  const std::size_t files = given.operands.size();
  const bool compares = given.has(flags::compare);
  if (compares ? files == 0 || files > 2 : files > 1) {
    throw error(error_kind::usage, compares ? option_name(flags::compare) : "nodewise measure",
                fmt::format("{} files are given", files),
                compares ? "give the file to compare with, or two files"
                         : "give one file that it has written");
  }
  if (files == (compares ? 2U : 1U)) {
    require_nothing_to_measure(given);
  }
  require_no_exclusion(given);
  if (given.has(flags::weights)) {
    require_sense_of_weights(given, files == 0);
  }
}

measure_plan plan_of(const invocation& given, const topology& on, sys::kernel& kernel) {
  require_one_question(given);
  measure::scope what{.experiments = {},
                      .bytes = given.bytes(flags::buffer_size).value_or(0),
                      .pages = pages_of(given),
                      .kernels = chosen_kernels(given)};
  what.memory = memory_here(on, kernel);
  measure_plan made;
  const auto time = asked_time(given);
  const bool is_full = given.has(flags::full);
  const bool is_chosen = given.has(flags::only);
  if (given.has(flags::workgroup)) {
    made.set = "workgroups";
    if (what.kernels.empty()) {
      what.kernels = {"copy", "scale", "add", "triad"};
    }
    made.points = workgroup_points(given, on, what);
    made.warnings = shared_processors(made.points.front());
  } else {
    const bool is_quick = !is_full && !is_chosen && what.kernels.empty();
    made.set = is_full ? "full" : is_quick ? "quick" : "chosen";
    what.experiments = is_full     ? measure::full_set()
                       : is_quick  ? measure::quick_set()
                       : is_chosen ? chosen_experiments(given)
                                   : std::vector{experiment::kernels};
    made.points = measure::plan_points(on, what);
    if (is_chosen) {
      require_points(what.experiments, made.points);
      made.warnings = left_out(made.points);
    }
  }
  measure::require_memory(on, made.points, what.memory);
  made.doubts = doubts(on, what, made.points, kernel);
  made.warnings.insert(made.warnings.end(), made.doubts.begin(), made.doubts.end());
  made.time_per_point = time                  ? *time
                        : made.set == "quick" ? measure::share_of(quick_time, made.points.size())
                                              : full_time_per_point;
  return made;
}

} // namespace nodewise::cli
