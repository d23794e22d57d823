// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/memory_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include <nodewise/error.hpp>

#include "base/size_text.hpp"

namespace nodewise::launch {

namespace {

/// What may follow a word after a colon.
enum class tail { nothing, nodes, perhaps_nodes, weights, granule };

struct word {
  std::string_view name;
  memory_mode mode;
  tail follows;
};
constexpr std::array words = {
    word{"local", memory_mode::local, tail::nothing},
    word{"bind", memory_mode::bind, tail::nodes},
    word{"prefer", memory_mode::prefer, tail::nodes},
    word{"interleave", memory_mode::interleave, tail::perhaps_nodes},
    word{"weighted", memory_mode::weighted, tail::weights},
    word{"blocked", memory_mode::blocked, tail::nothing},
    word{"cyclic", memory_mode::cyclic, tail::granule},
};

const word* find_word(std::string_view name) {
  for (const word& each : words) {
    if (each.name == name) {
      return &each;
    }
  }
  return nullptr;
}

/// A text that is read from the front.
class reader {
 public:
  reader(std::string_view text, const std::string& option) : text_(text), option_(option) {}

  [[noreturn]] void refuse(const std::string& answered, const std::string& hint) const {
    throw error(error_kind::usage, option_ + " " + std::string(text_), answered, hint);
  }

  [[nodiscard]] std::size_t size(std::string_view text) const {
    const auto bytes = parse_size(text);
    if (!bytes || *bytes > std::numeric_limits<std::ptrdiff_t>::max()) {
      refuse("'" + std::string(text) + "' is no size", "write bytes, or K, M, G: 64K, 8MiB");
    }
    return *bytes;
  }

  [[nodiscard]] memory_choice placement(std::string_view part) const {
    const std::size_t colon = part.find(':');
    const bool more = colon != std::string_view::npos;
    const std::string_view rest = more ? part.substr(colon + 1) : std::string_view{};
    const word* const found = find_word(part.substr(0, colon));
    if (found == nullptr) {
      refuse("there is no placement '" + std::string(part.substr(0, colon)) + "'", list_of_words);
    }
    memory_choice made;
    made.mode = found->mode;
    const bool needs_more = found->follows == tail::nodes || found->follows == tail::weights ||
                            found->follows == tail::granule;
    if (needs_more ? rest.empty() : more && (found->follows == tail::nothing || rest.empty())) {
      refuse("'" + std::string(found->name) + "' " +
                 (needs_more ? "needs something behind a colon" : "takes nothing behind a colon"),
             list_of_words);
    }
    if (found->follows == tail::weights) {
      read_weights(rest, made);
    } else if (found->follows == tail::granule) {
      read_granule(rest, made);
    } else if (more) {
      made.nodes = {std::string(rest), option_, std::string(text_)};
    }
    return made;
  }

 private:
  static constexpr const char* list_of_words =
      "write local, bind:NODES, prefer:NODES, interleave[:NODES], weighted:NODE=WEIGHT,..., "
      "weighted:auto[:NODES], blocked or cyclic:SIZE[:NODES]";

  void read_granule(std::string_view rest, memory_choice& into) const {
    const std::string_view first = rest.substr(0, rest.find(':'));
    into.granule_bytes = size(first);
    if (into.granule_bytes == 0) {
      refuse("a granule of 0 bytes", "write for example cyclic:64K");
    }
    read_nodes_behind(rest.substr(first.size()), "cyclic:64K:0-1", into);
  }

  /// ":0-1", or nothing.
  void read_nodes_behind(std::string_view rest, const std::string& example,
                         memory_choice& into) const {
    if (rest == ":") {
      refuse("no node behind the last colon", "write for example " + example);
    }
    if (!rest.empty()) {
      into.nodes = {std::string(rest.substr(1)), option_, std::string(text_)};
    }
  }

  /// "0=3,1-2=1": a part without '=' belongs to the next one, "0,1=2" is "0=2,1=2"; or "auto:0-1".
  void read_weights(std::string_view rest, memory_choice& into) const {
    constexpr std::string_view by_measurement = "auto";
    if (rest.substr(0, rest.find(':')) == by_measurement) {
      into.measured = true;
      read_nodes_behind(rest.substr(by_measurement.size()), "weighted:auto:0-1", into);
      return;
    }
    std::string nodes;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
      const std::size_t equals = part.find('=');
      nodes += (nodes.empty() ? "" : ",") + std::string(part.substr(0, equals));
      if (equals == std::string_view::npos) {
        continue;
      }
      std::uint32_t value = 0;
      const std::string_view digits = part.substr(equals + 1);
      const auto [stop, code] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      constexpr std::uint32_t most = 255; // the limit of the kernel's weights
      if (code != std::errc{} || stop != digits.data() + digits.size() || value > most) {
        refuse("'" + std::string(digits) + "' is no weight",
               "give each node a number from 0 to 255");
      }
      into.weights.push_back({{std::move(nodes), option_, std::string(text_)}, value});
      nodes.clear();
    }
    if (!nodes.empty() || into.weights.empty()) {
      refuse("a node without a weight", "write for example weighted:0=3,1=1");
    }
  }

  std::string_view text_;
  const std::string& option_;
};

/// The start of a rule's placement: after the first colon before a placement's word. (A site has
/// colons, too.)
std::size_t start_of_placement(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::string_view rest = text.substr(colon + 1);
    if (find_word(rest.substr(0, rest.find(':'))) != nullptr) {
      return colon + 1;
    }
  }
  return std::string_view::npos;
}

void at_least(std::size_t bytes, memory_rule& into) {
  into.least_bytes = std::max(into.least_bytes, bytes);
}
void at_most(std::size_t bytes, memory_rule& into) {
  into.most_bytes = std::min(into.most_bytes.value_or(SIZE_MAX), bytes);
}

/// "size>=8M" and the like. Sizes are whole bytes, so > is >= of one more. If there are several,
/// all must hold.
bool read_size(const reader& from, std::string_view condition, memory_rule& into) {
  if (!condition.starts_with("size")) {
    return false;
  }
  condition.remove_prefix(4);
  const std::size_t length = condition.find_first_not_of("<>=");
  const std::string_view relation = condition.substr(0, length);
  const std::size_t bytes =
      from.size(length == std::string_view::npos ? std::string_view{} : condition.substr(length));
  if (relation == ">=" || relation == "=") {
    at_least(bytes, into);
  } else if (relation == ">") {
    at_least(bytes + 1, into);
  }
  if (relation == "<=" || relation == "=") {
    at_most(bytes, into);
  } else if (relation == "<") {
    if (bytes == 0) {
      from.refuse("nothing is smaller than 0 bytes", "leave size<0 out");
    }
    at_most(bytes - 1, into);
  }
  if (into.most_bytes && into.least_bytes > *into.most_bytes) {
    from.refuse("no size meets all of its conditions", "give each array a rule of its own");
  }
  return relation == ">=" || relation == ">" || relation == "<=" || relation == "<" ||
         relation == "=";
}

void read_condition(const reader& from, std::string_view condition, memory_rule& into) {
  if (condition.starts_with("site=") && condition.size() > 5) {
    into.sites.emplace_back(condition.substr(5));
  } else if (condition.starts_with("symbol=") && condition.size() > 7) {
    if (into.symbol) {
      from.refuse("two symbols, and an array has one", "give each symbol a rule of its own");
    }
    into.symbol = std::string(condition.substr(7));
  } else if (!read_size(from, condition, into)) {
    from.refuse("'" + std::string(condition) + "' is no condition",
                "write site=FILE:LINE, site=FUNCTION, symbol=NAME, size>=SIZE or size<SIZE");
  }
}

} // namespace

memory_choice parse_placement(std::string_view text, const std::string& option) {
  return reader(text, option).placement(text);
}

memory_rule parse_rule(std::string_view text, const std::string& option) {
  const reader from(text, option);
  const std::size_t start = start_of_placement(text);
  if (start == std::string_view::npos || start < 2) {
    from.refuse(
        start == std::string_view::npos ? "it ends without a placement"
                                        : "it begins without a condition",
        "write conditions, a colon and a placement: 'site=solver.c:41,size>=8M:cyclic:64K'");
  }
  memory_rule made;
  made.text = std::string(text);
  for (std::string_view rest = text.substr(0, start - 1); !rest.empty();) {
    const std::string_view condition = rest.substr(0, rest.find(','));
    rest.remove_prefix(condition.size() == rest.size() ? condition.size() : condition.size() + 1);
    read_condition(from, condition, made);
  }
  made.where = from.placement(text.substr(start));
  return made;
}

} // namespace nodewise::launch
