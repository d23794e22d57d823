// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/memory_words.hpp"

#include <algorithm>
#include <limits>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::launch {

namespace {

[[noreturn]] void refuse_rule(const std::string& rule, const std::string& answered,
                              const std::string& hint) {
  throw error(error_kind::usage, rule, answered, hint);
}

/// Checks the words; which nodes they name is known only on the machine.
memory_choice choice_of(std::string_view words, typed_list typed) {
  return resolved(typed, [&](const std::string&) {
    const auto any_nodes = [](std::string_view) { return node_set{}; };
    const auto read = placements::read(words, placements::grammar::command_line, any_nodes);
    return memory_choice{read.how, std::string(words), typed};
  });
}

/// The start of a rule's placement: after the first colon before a placement's word. (A site has
/// colons, too.)
std::size_t start_of_placement(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::string_view rest = text.substr(colon + 1);
    if (placements::is_word(rest.substr(0, rest.find(':')))) {
      return colon + 1;
    }
  }
  return std::string_view::npos;
}

/// "size>=8M" and the like. Sizes are whole bytes, so > is >= of one more. If there are several,
/// all must hold.
bool read_size(const std::string& rule, std::string_view condition, memory_rule& into) {
  if (!condition.starts_with("size")) {
    return false;
  }
  condition.remove_prefix(4);
  const std::string_view relation = condition.substr(0, condition.find_first_not_of("<>="));
  condition.remove_prefix(relation.size());
  const auto size = parse_size(condition);
  if (!size || *size > std::numeric_limits<std::ptrdiff_t>::max()) {
    refuse_rule(rule, fmt::format("{} is not a size", in_quotes(condition)),
                "write bytes, or K, M, G: 64K, 8MiB");
  }
  const std::uint64_t bytes = *size;
  const bool is_less = relation == "<" || relation == "<=";
  const bool is_more = relation == ">" || relation == ">=";
  if (relation == "<" && bytes == 0) {
    refuse_rule(rule, "nothing is smaller than 0 bytes", "leave size<0 out");
  }
  if (is_more || relation == "=") {
    into.least_bytes = std::max(into.least_bytes, relation == ">" ? bytes + 1 : bytes);
  }
  if (is_less || relation == "=") {
    const std::uint64_t most = relation == "<" ? bytes - 1 : bytes;
    into.most_bytes = std::min(into.most_bytes.value_or(most), most);
  }
  if (into.most_bytes && into.least_bytes > *into.most_bytes) {
    refuse_rule(rule, "no size meets all of its conditions", "give each array its own rule");
  }
  return is_less || is_more || relation == "=";
}

void read_file(const std::string& rule, std::string_view pattern, memory_rule& into) {
  if (into.file) {
    refuse_rule(rule, "a mapping has one file, and the rule names two",
                "give each pattern its own rule, or use *");
  }
  if (pattern.size() > plans::longest_file_pattern) {
    refuse_rule(rule, fmt::format("the pattern has {} characters", pattern.size()),
                fmt::format("write at most {}", plans::longest_file_pattern));
  }
  into.file = std::string(pattern);
}

void read_condition(const std::string& rule, std::string_view condition, memory_rule& into) {
  if (condition.starts_with("site=") && condition.size() > 5) {
    into.sites.emplace_back(condition.substr(5));
  } else if (condition.starts_with("symbol=") && condition.size() > 7) {
    if (into.symbol) {
      refuse_rule(rule, "an array has one symbol, and the rule names two",
                  "give each symbol its own rule");
    }
    into.symbol = std::string(condition.substr(7));
  } else if (condition.starts_with("file=") && condition.size() > 5) {
    read_file(rule, condition.substr(5), into);
  } else if (!read_size(rule, condition, into)) {
    refuse_rule(rule, fmt::format("{} is not a condition", in_quotes(condition)),
                "write site=FILE:LINE, site=FUNCTION, symbol=NAME, file=PATTERN, size>=SIZE or "
                "size<SIZE");
  }
}

} // namespace

memory_choice parse_placement(std::string_view text, const std::string& option) {
  return choice_of(text, {std::string(text), option});
}

memory_choice numactl_choice(placements::kind how, const std::string& nodes,
                             const std::string& option, policy_variant variant) {
  const std::string word = placements::word_of(how);
  const bool takes_nodes = how != placements::kind::local;
  return {how, takes_nodes ? fmt::format("{}:{}", word, nodes) : word, {nodes, option}, variant};
}

memory_rule parse_rule(std::string_view text, const std::string& option) {
  const std::string rule = fmt::format("{} {}", option, text);
  const std::size_t start = start_of_placement(text);
  if (start == std::string_view::npos || start < 2) {
    refuse_rule(
        rule,
        start == std::string_view::npos ? "it has no placement at its end"
                                        : "it has no condition at its beginning",
        "write conditions, a colon and a placement: 'site=solver.c:41,size>=8M:cyclic:64K'");
  }
  memory_rule made;
  made.text = std::string(text);
  for (std::string_view rest = text.substr(0, start - 1); !rest.empty();) {
    const std::string_view condition = rest.substr(0, rest.find(','));
    rest.remove_prefix(condition.size() == rest.size() ? condition.size() : condition.size() + 1);
    read_condition(rule, condition, made);
  }
  made.where = choice_of(text.substr(start), {made.text, option});
  if (made.file && made.symbol) {
    refuse_rule(rule, "it names a file and a symbol", "give each its own rule");
  }
  if (made.file && made.where.how == placements::kind::local) {
    refuse_rule(rule, "a cached file has been read already, so no thread touches it first",
                "write blocked, interleave, cyclic:SIZE, weighted:... or bind:NODES");
  }
  return made;
}

} // namespace nodewise::launch
