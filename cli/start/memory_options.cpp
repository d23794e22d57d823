// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "cli/start/flags.hpp"
#include "cli/start/run_options.hpp"

namespace nodewise::cli {

namespace {

using launch::policy_variant;
using placements::kind;

/// numactl's options, each with its placement.
struct memory_flag {
  const flag* which;
  kind how;
  policy_variant variant = policy_variant::usual;
};
constexpr std::array memory_flags = {
    memory_flag{&flags::membind, kind::bind},
    memory_flag{&flags::interleave, kind::interleave},
    memory_flag{&flags::weighted_interleave, kind::interleave, policy_variant::by_kernel_weights},
    memory_flag{&flags::preferred, kind::prefer, policy_variant::one_node},
    memory_flag{&flags::preferred_many, kind::prefer, policy_variant::many_nodes},
    memory_flag{&flags::localalloc, kind::local},
};

} // namespace

void read_memory_options(launch::run_options& options, const invocation& given) {
  const flag* first = nullptr;
  const auto only_one = [&](const flag& which) {
    if (first != nullptr) {
      throw error(error_kind::usage,
                  fmt::format("{} and {}", option_name(*first), option_name(which)),
                  "memory has one placement", "leave one of them out");
    }
    first = &which;
  };
  for (const memory_flag& each : memory_flags) {
    if (given.has(*each.which)) {
      only_one(*each.which);
      const std::string nodes(given.text(*each.which).value_or(""));
      options.memory =
          launch::numactl_choice(each.how, nodes, option_name(*each.which), each.variant);
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
