// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads a placement from the words of the command line and of plan files.
#include <algorithm>
#include <iterator>
#include <limits>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "placement/placement.hpp"
#include "placement/words.hpp"

namespace nodewise::placements {

namespace {

constexpr std::uint32_t heaviest = 255; // the limit of the kernel's weights

class reader {
 public:
  reader(std::string_view text, grammar of, const node_reader& nodes)
      : text_(text), of_(of), nodes_(nodes) {}

  placement read() const {
    const bool typed = of_ == grammar::command_line;
    const std::string hint =
        typed ? fmt::format("write one of {}", command_words_text.view())
              : fmt::format("write one of {}, or {{ \"map\": ... }}", plan_words_text.view());
    const std::size_t colon = text_.find(':');
    const bool more = colon != std::string_view::npos;
    const std::string_view name = text_.substr(0, colon);
    const std::string_view behind = more ? text_.substr(colon + 1) : std::string_view{};
    const auto column = typed ? &word::in_command : &word::in_plan;
    const auto* const found =
        std::ranges::find_if(all_words, [&](const word& each) { return name == each.name; });
    const rest follows = found == std::end(all_words) ? rest::never : found->*column;
    if (follows == rest::never) {
      refuse(fmt::format("there is no placement {}", in_quotes(name)), hint);
    }
    const bool optional = follows == rest::perhaps_nodes || follows == rest::perhaps_granule;
    if (follows == rest::nothing ? more : behind.empty() && (more || !optional)) {
      refuse(fmt::format("'{}' {} after a colon", found->name,
                         follows == rest::nothing ? "takes nothing" : "needs something"),
             hint);
    }
    placement made{found->how, {}, 0};
    if (more) {
      read_rest(follows, behind, made);
    }
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& answered, const std::string& hint) const {
    throw error(error_kind::usage, std::string(text_), answered, hint);
  }

  void read_rest(rest follows, std::string_view behind, placement& into) const {
    switch (follows) {
    case rest::never:
    case rest::nothing:
      return;
    case rest::nodes:
    case rest::perhaps_nodes:
      into.owners = some_nodes(behind);
      return;
    case rest::weights:
      read_weights(behind, into);
      return;
    case rest::row:
      into.granule_bytes = size_of(behind, "a row", "rows:8000");
      return;
    case rest::granule:
    case rest::perhaps_granule:
      read_granule(behind, into);
      return;
    case rest::thread:
      read_thread(behind, into);
      return;
    }
  }

  [[nodiscard]] std::vector<owner_run> some_nodes(std::string_view list) const {
    std::vector<owner_run> runs = in_turn(nodes_(list));
    if (runs.empty() && of_ == grammar::plan_file) {
      refuse("it names no node", "write for example interleave:0-3");
    }
    return runs;
  }
  /// ":0-1", or nothing.
  [[nodiscard]] std::vector<owner_run> nodes_behind(std::string_view behind,
                                                    const char* example) const {
    if (behind == ":") {
      refuse("there is no node after the last colon", fmt::format("write for example {}", example));
    }
    return behind.empty() ? std::vector<owner_run>{} : some_nodes(behind.substr(1));
  }

  void read_granule(std::string_view behind, placement& into) const {
    const std::string_view size =
        of_ == grammar::command_line ? behind.substr(0, behind.find(':')) : behind;
    into.granule_bytes = size_of(size, "a granule", "cyclic:64K");
    into.owners = nodes_behind(behind.substr(size.size()), "cyclic:64K:0-1");
  }
  [[nodiscard]] std::uint64_t size_of(std::string_view size, const char* what,
                                      const char* example) const {
    const auto bytes = parse_size(size);
    if (!bytes || *bytes > std::numeric_limits<std::ptrdiff_t>::max()) {
      refuse(fmt::format("{} is not a size", in_quotes(size)),
             "write bytes, or K, M, G: 64K, 8MiB");
    }
    if (of_ == grammar::plan_file && *bytes > largest_object) {
      refuse(fmt::format("{} is more than a process can have", in_quotes(size)),
             "write at most 128T");
    }
    if (*bytes == 0) {
      refuse(fmt::format("{} cannot have 0 bytes", what),
             fmt::format("write for example {}", example));
    }
    return *bytes;
  }

  void read_thread(std::string_view behind, placement& into) const {
    const auto thread = parse_number<std::size_t>(behind);
    if (!thread || *thread >= most_threads) {
      refuse(fmt::format("{} is not a thread", in_quotes(behind)),
             fmt::format("number threads from 0 to {}", most_threads - 1));
    }
    into.owners = {{1, *thread}};
  }

  /// "0=3,1-2=1": a part without '=' belongs to the next one, "0,1=2" is "0=2,1=2"; on the command
  /// line also "auto" and "auto:0-1".
  void read_weights(std::string_view behind, placement& into) const {
    constexpr std::string_view by_measurement = "auto";
    if (of_ == grammar::command_line && behind.substr(0, behind.find(':')) == by_measurement) {
      into.owners = nodes_behind(behind.substr(by_measurement.size()), "weighted:auto:0-1");
      for (owner_run& run : into.owners) {
        run.parts = 0;
      }
      return;
    }
    std::string list;
    bool has_weight = false;
    while (!behind.empty()) {
      const std::string_view part = behind.substr(0, behind.find(','));
      behind.remove_prefix(std::min(part.size() + 1, behind.size()));
      const std::size_t equals = part.find('=');
      list += (list.empty() ? "" : ",") + std::string(part.substr(0, equals));
      if (equals != std::string_view::npos) {
        const std::uint32_t weight = weight_of(part.substr(equals + 1));
        has_weight = has_weight || weight != 0;
        add_weight(list, weight, into);
        list.clear();
      }
    }
    if (!list.empty() || !has_weight) {
      refuse(list.empty() ? "all weights are 0" : fmt::format("node {} has no weight", list),
             "write for example weighted:0=3,1=1");
    }
  }
  [[nodiscard]] std::uint32_t weight_of(std::string_view digits) const {
    const auto value = parse_number<std::uint32_t>(digits);
    if (!value || *value > heaviest) {
      refuse(fmt::format("{} is not a weight", in_quotes(digits)),
             fmt::format("give each node a number from 0 to {}", heaviest));
    }
    return *value;
  }
  void add_weight(const std::string& list, std::uint32_t weight, placement& into) const {
    for (const owner_run& run : some_nodes(list)) {
      if (std::ranges::find(into.owners, run.owner, &owner_run::owner) != into.owners.end()) {
        refuse(fmt::format("it names node {} twice", run.owner), "give each node one weight");
      }
      if (weight != 0) {
        into.owners.push_back({weight, run.owner});
      }
    }
  }

  std::string_view text_;
  grammar of_;
  const node_reader& nodes_;
};

} // namespace

placement read(std::string_view text, grammar of, const node_reader& nodes) {
  return reader(text, of, nodes).read();
}

std::vector<std::string> command_words() {
  std::vector<std::string> all;
  for (const word& each : all_words) {
    const rest follows = each.in_command;
    if (follows == rest::nothing || follows == rest::perhaps_nodes) {
      all.emplace_back(each.name);
    }
    if (follows != rest::nothing && follows != rest::never) {
      all.push_back(fmt::format("{}:", each.name));
    }
    if (follows == rest::weights) {
      all.push_back(fmt::format("{}:auto", each.name));
    }
  }
  return all;
}

bool is_word(std::string_view word) noexcept {
  return std::ranges::any_of(all_words, [&](const auto& each) {
    return each.in_command != rest::never && word == each.name;
  });
}

std::vector<owner_run> read_map(std::string_view text) {
  const auto refuse = [&](const std::string& answered, const std::string& hint) {
    throw error(error_kind::usage, std::string(text), answered, hint);
  };
  std::vector<owner_run> parts;
  std::uint64_t sum = 0;
  for (std::string_view behind = text; !behind.empty();) {
    const std::string_view word = behind.substr(0, behind.find_first_of(" ,"));
    behind.remove_prefix(std::min(word.size() + 1, behind.size()));
    if (word.empty()) {
      continue;
    }
    const std::size_t star = word.find('*');
    const auto thread = parse_number<std::size_t>(word.substr(0, star));
    const auto count = star == std::string_view::npos
                           ? std::optional(std::uint64_t{1})
                           : parse_number<std::uint64_t>(word.substr(star + 1));
    if (!thread || !count || *count == 0) {
      refuse(fmt::format("{} is not a part of a map", in_quotes(word)),
             "write THREAD*PARTS, one after the other: \"0*128 1*128\"");
    }
    if (*thread >= most_threads) {
      refuse(fmt::format("a map cannot name thread {}", *thread),
             fmt::format("number threads from 0 to {}", most_threads - 1));
    }
    if (*count > most_parts - sum) {
      refuse("the map has more parts than any object has pages",
             "parts are relative: divide them all by the same number");
    }
    sum += *count;
    parts.push_back({*count, *thread});
  }
  if (parts.empty()) {
    refuse("the map has no parts", "write THREAD*PARTS, such as \"0*128 1*128\"");
  }
  return parts;
}

} // namespace nodewise::placements
