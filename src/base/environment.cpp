// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <cstdlib>
#include <string_view>

#include "base/numbers.hpp"

namespace nodewise {

namespace {

/// Takes a number off the front.
std::optional<int> take_count(std::string_view& text) {
  const std::string_view before = text;
  const auto number = take_number<int>(text);
  if (number && *number >= 0) {
    return number;
  }
  text = before;
  return std::nullopt;
}

std::optional<int> whole_number(const char* value) {
  const auto number = parse_number<int>(value == nullptr ? "" : value);
  return number && *number >= 0 ? number : std::nullopt;
}

bool take(std::string_view& text, std::string_view expected) {
  const bool there = text.starts_with(expected);
  text.remove_prefix(there ? expected.size() : 0);
  return there;
}

/// "4(x2),3": 4 tasks on each of the first two hosts, 3 on the third.
std::optional<int> tasks_of_host(std::string_view list, int host) {
  do {
    const auto tasks = take_count(list);
    int hosts = 1;
    if (tasks && take(list, "(x")) {
      hosts = take_count(list).value_or(0);
      if (!take(list, ")")) {
        return std::nullopt;
      }
    }
    if (!tasks || host < hosts) {
      return tasks;
    }
    host -= hosts;
  } while (take(list, ","));
  return std::nullopt;
}

std::optional<int> slurm_count(environment get) {
  // The step's count is preferred: the job's tasks may be split between steps.
  const int host = whole_number(get("SLURM_NODEID")).value_or(0);
  for (const char* const name :
       {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"}) {
    const char* const list = get(name);
    if (const auto tasks = tasks_of_host(list == nullptr ? "" : list, host)) {
      return tasks;
    }
  }
  return std::nullopt;
}

} // namespace

const char* process_environment(const char* name) {
  return ::secure_getenv(name);
}

std::optional<local_rank> find_local_rank(environment get) {
  for (const rank_variables& each : local_rank_variables) {
    const auto number = whole_number(get(each.number));
    if (!number) {
      continue;
    }
    auto count = each.count != nullptr ? whole_number(get(each.count)) : std::nullopt;
    if (each.number == std::string_view("SLURM_LOCALID")) {
      count = slurm_count(get);
    }
    if (count && *count <= *number) {
      count.reset(); // of another step or job
    }
    return local_rank{*number, count, each.number};
  }
  return std::nullopt;
}

} // namespace nodewise
