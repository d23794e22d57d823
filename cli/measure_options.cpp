// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measure_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/split.hpp"
#include "cli/measure_doubts.hpp"
#include "cli/measure_flags.hpp"
#include "measure/memory_needs.hpp"
#include "measure/session.hpp"
#include "spec/likwid_workgroup.hpp"

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

[[noreturn]] void refuse_experiment(std::string_view word) {
  std::vector<std::string_view> names;
  for (const experiment each : measure::full_set()) {
    names.push_back(to_string(each));
  }
  const std::string near = nearest(word, names);
  std::string all;
  for (const std::string_view each : names) {
    all += (all.empty() ? "" : ", ") + std::string(each);
  }
  throw error(error_kind::usage, option_name(flags::only) + " " + std::string(word),
              "there is no such experiment",
              near.empty() ? "there are " + all : "did you mean " + near + "?");
}

std::vector<experiment> chosen_experiments(const invocation& given) {
  std::vector<experiment> chosen;
  for (const std::string_view word : words_of(given, flags::only)) {
    const auto found = measure::parse_experiment(word);
    if (!found) {
      refuse_experiment(word);
    }
    if (!std::ranges::count(chosen, *found)) {
      chosen.push_back(*found);
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

/// likwid-bench has a kernel for each instruction set; nodewise does not offer that choice.
[[noreturn]] void refuse_kernel(std::string_view word) {
  const std::string asked = option_name(flags::measured_kernel) + " " + std::string(word);
  for (std::size_t end = word.rfind('_'); end != std::string_view::npos && end != 0;
       end = word.rfind('_', end - 1)) {
    constexpr std::array<std::string_view, 6> sets = {"sse", "avx", "avx512", "neon", "sve", "fma"};
    if (measure::find_kernel(word.substr(0, end)) != nullptr &&
        std::ranges::count(sets, word.substr(word.rfind('_') + 1)) != 0) {
      throw error(error_kind::usage, asked, "the instruction set is chosen, not asked for",
                  "write " + std::string(word.substr(0, end)));
    }
  }
  std::vector<std::string_view> names;
  std::ranges::transform(measure::kernels(), std::back_inserter(names), &measure::kernel::name);
  const std::string near = nearest(word, names);
  throw error(error_kind::usage, asked, "there is no such kernel",
              near.empty() ? "see nodewise measure --help" : "did you mean " + near + "?");
}

/// Throws if an experiment requested by name would be left out.
void require_points(const std::vector<experiment>& asked, const std::vector<point>& points) {
  for (const experiment each : asked) {
    if (!std::ranges::count(points, each, &point::of)) {
      throw error(error_kind::usage, option_name(flags::only) + " " + std::string(to_string(each)),
                  each == experiment::migration
                      ? "it needs two nodes with memory"
                      : (each == experiment::loaded_latency
                             ? "it needs a node with two cores that this process may use"
                             : "it needs two cores that this process may use"),
                  "leave it out here; nodewise topo draws what there is");
    }
  }
}

std::vector<std::string_view> chosen_kernels(const invocation& given) {
  std::vector<std::string_view> chosen;
  // Each kernel once, whichever of its names is used: a label identifies one figure.
  const auto add = [&](std::string_view name) {
    if (!std::ranges::count(chosen, name)) {
      chosen.push_back(name);
    }
  };
  for (const std::string_view word : words_of(given, flags::measured_kernel)) {
    if (word == "all") {
      for (const measure::kernel& each : measure::kernels()) {
        add(each.name);
      }
      continue;
    }
    const measure::kernel* const found = measure::find_kernel(word);
    if (found == nullptr) {
      refuse_kernel(word);
    }
    add(found->name);
  }
  return chosen;
}

page_size pages_of(const invocation& given) {
  const std::string_view text = given.text(flags::buffer_pages).value_or("auto");
  if (text == "base") {
    return page_size::base;
  }
  if (text == "huge") {
    return page_size::transparent_huge;
  }
  if (text == "2M") {
    return page_size::huge_2m;
  }
  return text == "1G" ? page_size::huge_1g : page_size::automatic;
}

std::optional<std::chrono::nanoseconds> asked_time(const invocation& given) {
  const auto text = given.text(flags::point_time);
  if (!text) {
    return std::nullopt;
  }
  constexpr double most = 1e5;
  double seconds = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (failed != std::errc{} || end != text->data() + text->size() || !(seconds > 0) ||
      seconds > most) {
    throw error(error_kind::usage, option_name(flags::point_time) + " " + std::string(*text),
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
  return {option_name(flags::workgroup) + ": processors " + twice.to_string() +
          " have several threads, which take turns: give other domains or fewer threads, or allow "
          "this process more processors"};
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
        throw error(error_kind::usage, option_name(flags::workgroup) + " " + std::string(text),
                    "there is no array " + std::to_string(asked.arrays.size() - 1) + ": " +
                        std::string(name) + " has " + std::to_string(does.arrays),
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

[[noreturn]] void refuse_both(const std::string& one, const std::string& other, const char* answer,
                              const std::string& hint = "leave one of both out") {
  throw error(error_kind::usage, one + " with " + other, answer, hint);
}

void require_one_question(const invocation& given) {
  for (const flag* other : {&flags::only, &flags::full}) {
    if (given.has(flags::workgroup) && given.has(*other)) {
      refuse_both(option_name(flags::workgroup), option_name(*other),
                  "they ask for different sets");
    }
  }
  if (given.has(flags::full) && given.has(flags::only)) {
    refuse_both(option_name(flags::full), option_name(flags::only), "they ask for different sets");
  }
  if (given.has(flags::measured_kernel) && given.has(flags::only) &&
      !std::ranges::count(chosen_experiments(given), experiment::kernels)) {
    refuse_both(option_name(flags::measured_kernel), option_name(flags::only),
                "only the experiment kernels runs them",
                "add kernels to " + option_name(flags::only));
  }
  if (given.bytes(flags::buffer_size) == std::uint64_t{0}) {
    throw error(error_kind::usage, option_name(flags::buffer_size) + " 0",
                "there is nothing to sweep over",
                "leave it out for " + std::string(flags::buffer_size.standard));
  }
  if (given.has(flags::workgroup) && given.has(flags::buffer_size)) {
    refuse_both(option_name(flags::workgroup), option_name(flags::buffer_size),
                "a workgroup says its own size",
                "leave " + option_name(flags::buffer_size) + " out");
  }
}

/// Weights need measured bandwidths: refuses options without them before measuring anything.
void require_bandwidths(const invocation& given) {
  const std::string weights = option_name(flags::weights);
  constexpr const char* answer = "weights are made of the bandwidths between nodes";
  if (given.has(flags::only)) {
    if (!std::ranges::count(chosen_experiments(given), experiment::bandwidth)) {
      refuse_both(weights, option_name(flags::only), answer,
                  "add bandwidth to " + option_name(flags::only));
    }
    return;
  }
  for (const flag* other : {&flags::workgroup, &flags::measured_kernel}) {
    if (given.has(*other) && !given.has(flags::full)) {
      refuse_both(weights, option_name(*other), answer, "leave " + option_name(*other) + " out");
    }
  }
}

/// Refuses options that say how to measure if nothing is measured.
void require_nothing_to_measure(const invocation& given) {
  for (const flag* asks : {&flags::full, &flags::only, &flags::measured_kernel, &flags::workgroup,
                           &flags::point_time, &flags::buffer_size, &flags::buffer_pages}) {
    if (given.has(*asks)) {
      refuse_both(option_name(*asks), given.operands.back(),
                  "a file that is named is shown, and nothing is measured");
    }
  }
}

/// A comparison is text and has no JSON form.
void require_readers(const invocation& given) {
  for (const flag* silent : {&flags::json, &flags::quiet}) {
    if (given.has(*silent)) {
      refuse_both(option_name(flags::compare), option_name(*silent),
                  "nobody would see what changed",
                  "leave " + option_name(*silent) + " out; -o FILE writes the measurement");
    }
  }
}

/// The lines for a shell need standard output for themselves.
void require_sense_of_weights(const invocation& given, bool measures) {
  const std::string weights = option_name(flags::weights);
  if (given.has(flags::compare)) {
    refuse_both(weights, option_name(flags::compare), "they are two questions");
  }
  if (given.text(flags::weights) != "apply") {
    if (given.has(flags::json) && !given.has(flags::output)) {
      refuse_both(weights, option_name(flags::json), "both are for standard output",
                  "write the JSON to a file: -o FILE instead of " + option_name(flags::json));
    }
    if (given.has(flags::quiet)) {
      refuse_both(weights, option_name(flags::quiet), "nothing would be printed, and nothing set",
                  "leave one of both out, or write " + weights + "=apply");
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
                std::to_string(files) + " files are named",
                compares ? "name the one to compare with, or two" : "name one that it has written");
  }
  if (files == (compares ? 2U : 1U)) {
    require_nothing_to_measure(given);
  }
  if (compares) {
    require_readers(given);
  }
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
  if (given.has(flags::workgroup)) {
    made.set = "workgroups";
    if (what.kernels.empty()) {
      what.kernels = {"copy", "scale", "add", "triad"};
    }
    made.points = workgroup_points(given, on, what);
    made.warnings = shared_processors(made.points.front());
  } else {
    made.set = given.has(flags::full) ? "full" : given.has(flags::only) ? "chosen" : "quick";
    what.experiments = given.has(flags::full)   ? measure::full_set()
                       : given.has(flags::only) ? chosen_experiments(given)
                       : what.kernels.empty()   ? measure::quick_set()
                                                : std::vector{experiment::kernels};
    if (!what.kernels.empty() && made.set == "quick") {
      made.set = "chosen";
    }
    made.points = measure::plan_points(on, what);
    if (given.has(flags::only)) {
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
