// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/phase.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::tune {

namespace {

constexpr std::size_t name_most = 63;
constexpr std::string_view phase_head = "nodewise mark times 1 ";

/// One region of one process.
struct phase_record {
  bool is_open = false;
  double seconds = 0;
  std::string name;
};

[[noreturn]] void refuse_phase(std::string_view name, const std::string& answered,
                               const std::string& hint) {
  throw error(error_kind::input, fmt::format("the time of region {}", printable(in_quotes(name))),
              answered, hint);
}

/// As the library writes a name.
std::string name_in_file(std::string_view name) {
  std::string known(name.substr(0, name_most));
  std::ranges::replace_if(
      known,
      [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < ' ' || byte == 0x7f;
      },
      '?');
  return known;
}

/// Removes the next line from `rest`, with the NUL bytes before it. nullopt at the end.
std::optional<std::string_view> take_phase_line(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of('\0'), rest.size()));
  if (rest.empty()) {
    return std::nullopt;
  }
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return line;
}

/// "4711    - 000000000003 000000001.500000000 sweep"; nullopt for anything else.
std::optional<phase_record> read_phase_record(std::string_view line) {
  constexpr std::size_t process = 8;
  constexpr std::size_t seconds_at = process + 15;
  constexpr std::size_t seconds_width = 19;
  constexpr std::size_t name_at = seconds_at + seconds_width + 1;
  if (line.size() < name_at || (line[process] != '+' && line[process] != '-')) {
    return std::nullopt;
  }
  const auto seconds = parse_real(line.substr(seconds_at, seconds_width));
  if (!seconds || *seconds < 0) {
    return std::nullopt;
  }
  return phase_record{line[process] == '+', *seconds, std::string(line.substr(name_at))};
}

std::vector<phase_record> read_phases(std::string_view contents, std::string_view name) {
  const auto first = take_phase_line(contents);
  if (!first) {
    refuse_phase(name, "the program took no times",
                 "run a dynamically linked program; the library of marks cannot be loaded into a "
                 "statically linked one");
  }
  const std::string not_ours = "the file of times has a line that is not a time of a region";
  const std::string hint = "check that no other program writes the file";
  if (!first->starts_with(phase_head)) {
    refuse_phase(name, not_ours, hint);
  }
  if (!first->substr(phase_head.size()).starts_with("complete")) {
    refuse_phase(name,
                 "there were more regions, or marks in signal handlers, than times are kept of",
                 "mark fewer regions, outside signal handlers: at most 256 in a process");
  }
  std::vector<phase_record> phases;
  while (const auto line = take_phase_line(contents)) {
    auto phase = read_phase_record(*line);
    if (!phase) {
      refuse_phase(name, not_ours, hint);
    }
    phases.push_back(std::move(*phase));
  }
  return phases;
}

std::string names_of(const std::vector<phase_record>& phases) {
  std::vector<std::string> names;
  for (const phase_record& each : phases) {
    names.push_back(printable(in_quotes(each.name)));
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return joined(names, ", ");
}

} // namespace

double phase_seconds(std::string_view contents, std::string_view name) {
  const std::vector<phase_record> phases = read_phases(contents, name);
  const std::string known = name_in_file(name);
  std::optional<double> longest;
  for (const phase_record& each : phases) {
    if (each.name != known) {
      continue;
    }
    if (each.is_open) {
      refuse_phase(name, "a process ended inside the region by _exit, exec or a signal",
                   "let the program reach NODEWISE_MARKER_STOP, or end by exit");
    }
    longest = std::max(longest.value_or(0), each.seconds);
  }
  if (!longest) {
    refuse_phase(name,
                 phases.empty() ? "the program opened no region"
                                : fmt::format("the program opened only {}", names_of(phases)),
                 "mark the region by NODEWISE_MARKER_START and NODEWISE_MARKER_STOP of "
                 "nodewise/marker.h");
  }
  if (*longest <= 0) {
    refuse_phase(name, "the region took no time", "mark a region in which the program works");
  }
  return *longest;
}

} // namespace nodewise::tune
