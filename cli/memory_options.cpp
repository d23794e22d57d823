// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>

#include "cli/run_options.hpp"

namespace nodewise::cli {

namespace {

using launch::memory_mode;
using launch::run_options;

/// numactl's options, each with its mode.
struct memory_flag {
  const flag* which;
  memory_mode mode;
};
constexpr std::array memory_flags = {
    memory_flag{&flags::membind, memory_mode::bind},
    memory_flag{&flags::interleave, memory_mode::interleave},
    memory_flag{&flags::weighted_interleave, memory_mode::interleave_by_weight},
    memory_flag{&flags::preferred, memory_mode::prefer_one},
    memory_flag{&flags::preferred_many, memory_mode::prefer_many},
    memory_flag{&flags::localalloc, memory_mode::local},
};

} // namespace

void read_memory_options(launch::run_options& options, const invocation& given) {
  const flag* first = nullptr;
  const auto only_one = [&](const flag& which) {
    if (first != nullptr) {
      throw error(error_kind::usage, option_name(*first) + " and " + option_name(which),
                  "only one placement of memory can hold", "leave one of both out");
    }
    first = &which;
  };
  for (const memory_flag& each : memory_flags) {
    if (given.has(*each.which)) {
      only_one(*each.which);
      options.memory.mode = each.mode;
      if (const auto nodes = given.text(*each.which); nodes && each.mode != memory_mode::local) {
        options.memory.nodes = {std::string(*nodes), option_name(*each.which)};
      }
    }
  }
  if (const auto text = given.text(flags::memory)) {
    only_one(flags::memory);
    options.memory = launch::parse_placement(*text, option_name(flags::memory));
  }
  for (const std::string_view rule : given.texts(flags::rule)) {
    options.rules.push_back(launch::parse_rule(rule, option_name(flags::rule)));
  }
  options.balancing = given.has(flags::balancing);
}

} // namespace nodewise::cli
