// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "bind/team_sizes.hpp"
#include "plan/place_names.hpp"
#include "plan/plan_json.hpp"
#include "plan/plan_words.hpp"
#include "topology/json_field.hpp"

namespace nodewise::plans {

namespace {

constexpr std::array<std::string_view, 4> kinds = {"heap", "map", "static", "group"};

/// Calls `read(text)` on a field; error messages name the field.
template <class Read>
auto read_words(const json_field& field, Read read) {
  const std::string text = field.text();
  try {
    return read(std::string_view(text));
  } catch (const error& e) {
    field.refuse(e.answered(), e.hint());
  }
}

std::string some_text(const json_field& field) {
  std::string text = field.text();
  if (text.empty()) {
    field.refuse("the text is empty", "leave the field out");
  }
  return text;
}

/// "solver.c:41" or a function: what `--rule site=` accepts, but no offset, which is valid only for
/// one binary.
std::string read_site(const json_field& field) {
  std::string site = some_text(field);
  if (site.find("+0x") != std::string::npos) {
    field.refuse(fmt::format("{} is an offset", in_quotes(site)), "put it into \"stack\"");
  }
  return site;
}

/// An offset is valid only for one binary, and its module is named by the file's last part.
std::string read_build_id(const json_field& field) {
  const std::string id = field.text();
  constexpr std::size_t longest = 128;
  if (id.size() % 2 != 0 || id.size() > longest ||
      id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    field.refuse(fmt::format("{} is not a build id", in_quotes(id)),
                 "write what `file PROGRAM` prints, or leave it out");
  }
  return id;
}

std::string read_file_name(const json_field& field) {
  std::string name = field.text();
  if (name.find('/') != std::string::npos) {
    field.refuse("it is a path", "write only the last part of the file's name");
  }
  return name;
}

/// Sets `into` to `read(field)` if the object has the field.
template <class Value, class Read>
void take(const json_field& object, std::string_view key, Value& into, Read read) {
  if (const auto field = object.find(key)) {
    into = read(*field);
  }
}

std::string read_text(const json_field& field) {
  return field.text();
}

std::size_t read_thread_count(const json_field& field) {
  return field.whole_number(1, placements::most_threads);
}

/// The position of the text in `names` as a value of an enumeration.
template <class Value>
auto among(const auto& names) {
  return [&names](const json_field& field) { return static_cast<Value>(field.one_of(names)); };
}

template <class Value, class Read>
void take_list(const json_field& object, std::string_view key, std::vector<Value>& into,
               Read read) {
  if (const auto list = object.find(key)) {
    for (const json_field& each : list->elements()) {
      into.push_back(read(each));
    }
  }
}

class plan_reader {
 public:
  explicit plan_reader(const json_field& document) : document_(document) {}

  plan_file read() {
    document_.allow_only({"schema", "nodewise", "machine", "settings", "program", "libraries",
                          "threads", "objects"});
    if (const auto program = document_.find("program")) {
      read_program(*program);
    }
    take_list(document_, "libraries", all_.libraries, read_library);
    if (const auto threads = document_.find("threads")) {
      read_threads(*threads);
    }
    for (const json_field& each : document_.at("objects").elements()) {
      all_.objects.push_back(read_entry(each));
    }
    return std::move(all_);
  }

 private:
  void read_program(const json_field& field) {
    field.allow_only({"name", "build_id"});
    take(field, "name", all_.program, read_file_name);
    take(field, "build_id", all_.build_id, read_build_id);
  }

  static library read_library(const json_field& field) {
    field.allow_only({"name", "build_id"});
    library made{read_file_name(field.at("name")), read_build_id(field.at("build_id"))};
    if (made.build_id.empty()) {
      field.refuse("the library has no build id", "leave it out");
    }
    return made;
  }

  void read_threads(const json_field& field) {
    field.allow_only({"count", "teams", "nodes", "bind", "places", "main"});
    take(field, "count", all_.threads, read_thread_count);
    take_list(field, "teams", all_.teams, read_thread_count);
    if (const auto teams = field.find("teams")) {
      check_teams(*teams);
    }
    take(field, "nodes", all_.nodes, [](const json_field& nodes) {
      return nodes.whole_number(1, static_cast<std::uint64_t>(max_id) + 1);
    });
    take(field, "bind", all_.bind, among<bind_policy>(bind_names));
    take(field, "places", all_.places, among<place_kind>(place_names));
    take(field, "main", all_.main_works, among<bool>(main_names));
  }

  void check_teams(const json_field& field) const {
    if (all_.teams.size() < 2 || bind::threads_of_teams(all_.teams) != all_.threads) {
      field.refuse(fmt::format("they do not have {} threads together", all_.threads),
                   "write the sizes of nested parallel regions, outermost first, so that their "
                   "product is threads.count; or leave them out");
    }
  }

  entry read_entry(const json_field& field) const {
    field.allow_only(
        {"name", "kind", "symbol", "site", "callers", "stack", "bytes", "nth", "placement", "why"});
    entry made;
    take(field, "name", made.name, some_text);
    made.which = read_condition(field);
    made.where = read_placement(field.at("placement"));
    take(field, "why", made.why, read_text);
    return made;
  }

  static condition read_condition(const json_field& field) {
    condition made;
    take(field, "kind", made.kind,
         [](const json_field& kind) { return kinds[kind.one_of(kinds)]; });
    take(field, "symbol", made.symbol, some_text);
    take(field, "site", made.source, read_site);
    take_list(field, "callers", made.callers, read_site);
    read_stack(field, made);
    if (const auto bytes = field.find("bytes")) {
      const byte_range sizes = read_words(*bytes, read_byte_range);
      made.least_bytes = sizes.least;
      made.most_bytes = sizes.most;
    }
    if (const auto nth = field.find("nth")) {
      const ordinals which = read_words(*nth, read_ordinals);
      made.first = which.first;
      made.last = which.last;
    }
    refuse_contradictions(field, made);
    return made;
  }

  static void read_stack(const json_field& field, condition& into) {
    take_list(field, "stack", into.stack,
              [](const json_field& each) { return read_words(each, read_code_place); });
    constexpr std::size_t deepest = 64;
    const auto stack = field.find("stack");
    if (stack && (into.stack.empty() || into.stack.size() > deepest)) {
      stack->refuse(fmt::format("it has {} places", into.stack.size()), "name 1 to 64 places");
    }
  }

  /// No line allocates a static array, and allocated memory has no symbol.
  static void refuse_contradictions(const json_field& field, const condition& which) {
    const bool asked_for = !which.source.empty() || !which.stack.empty() || !which.callers.empty();
    if (asked_for && (which.symbol || which.kind == "static")) {
      field.refuse("a static array is not allocated at a place in the code",
                   "leave out \"symbol\", or \"site\", \"callers\" and \"stack\"");
    }
    if (which.symbol && !which.kind.empty() && which.kind != "static") {
      field.refuse(fmt::format("it has a symbol, and its kind is '{}'", which.kind),
                   "write \"kind\": \"static\"");
    }
    if (!which.callers.empty() && which.source.empty()) {
      field.refuse("it has callers, but no site", "write \"site\", too");
    }
  }

  [[nodiscard]] placements::placement read_placement(const json_field& field) const {
    placements::placement made;
    if (field.is_text()) {
      made = read_words(field, [](std::string_view text) {
        return placements::read(text, placements::grammar::plan_file,
                                [](std::string_view list) { return node_set::parse(list); });
      });
    } else {
      field.allow_only({"map"});
      made = {placements::kind::map, read_words(field.at("map"), placements::read_map), 0};
    }
    if (made.how == placements::kind::thread || made.how == placements::kind::map) {
      for (const placements::owner_run& run : made.owners) {
        check_thread(field.is_text() ? field : field.at("map"), run.owner);
      }
    }
    return made;
  }

  void check_thread(const json_field& field, std::size_t thread) const {
    if (all_.threads != 0 && thread >= all_.threads) {
      field.refuse(
          fmt::format("thread {} of {}", thread, all_.threads),
          fmt::format("number threads from 0 to {}, or raise threads.count", all_.threads - 1));
    }
  }

  const json_field& document_;
  plan_file all_;
};

} // namespace

plan_file plan_from_json(const json_field& document) {
  check_schema(document, schema);
  return plan_reader(document).read();
}

plan_file read_plan(const std::filesystem::path& file) {
  const nlohmann::ordered_json document = read_json_file(file);
  return plan_from_json({document, fmt::format("the plan {}", file.string())});
}

} // namespace nodewise::plans
