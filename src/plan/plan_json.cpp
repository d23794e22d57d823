// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "bind/team_sizes.hpp"
#include "plan/plan_json.hpp"

namespace nodewise::plans {

namespace {

constexpr std::array<std::string_view, 5> kinds = {"heap", "map", "static", "group", "file"};
/// In the order of `place_kind`, as --places takes them.
constexpr std::array<std::string_view, 4> place_names = {"threads", "cores", "nodes", "packages"};
/// In the order of `bind_policy`.
constexpr std::array<std::string_view, 3> bind_names = {"none", "close", "spread"};

/// False, true: the values of --main.
constexpr std::array<std::string_view, 2> main_names = {"waits", "works"};

/// Reads a field by `read(text)`; error messages name the field.
template <class Read>
auto words_read_by(Read read) {
  return [read](const json_field& field) {
    const std::string text = field.text();
    try {
      return read(std::string_view(text));
    } catch (const error& e) {
      field.refuse(e.answered(), e.hint());
    }
  };
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

std::string read_file_pattern(const json_field& field) {
  std::string pattern = some_text(field);
  if (pattern.size() > longest_file_pattern) {
    field.refuse(fmt::format("it has {} characters", pattern.size()),
                 fmt::format("write at most {}", longest_file_pattern));
  }
  return pattern;
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
    field.allow_only({"name", "kind", "symbol", "file", "site", "callers", "stack", "bytes", "nth",
                      "placement", "why"});
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
    take(field, "file", made.file, read_file_pattern);
    take(field, "site", made.source, read_site);
    take_list(field, "callers", made.callers, read_site);
    read_stack(field, made);
    take(field, "bytes", static_cast<byte_range&>(made), words_read_by(read_byte_range));
    take(field, "nth", static_cast<ordinals&>(made), words_read_by(read_ordinals));
    refuse_contradictions(field, made);
    return made;
  }

  static void read_stack(const json_field& field, condition& into) {
    take_list(field, "stack", into.stack, words_read_by(read_code_place));
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
    if (which.file && (which.symbol || (!which.kind.empty() && which.kind != "file"))) {
      field.refuse(which.symbol ? "it has a file and a symbol"
                                : fmt::format("it has a file, and its kind is '{}'", which.kind),
                   "write \"kind\": \"file\", and no \"symbol\"");
    }
    if (!which.callers.empty() && which.source.empty()) {
      field.refuse("it has callers, but no site", "write \"site\", too");
    }
  }

  [[nodiscard]] placements::placement read_placement(const json_field& field) const {
    placements::placement made;
    if (field.is_text()) {
      made = words_read_by([](std::string_view text) {
        return placements::read(text, placements::grammar::plan_file, &node_set::parse);
      })(field);
    } else {
      field.allow_only({"map"});
      made = {placements::kind::map, words_read_by(placements::read_map)(field.at("map")), 0};
    }
    if (placements::traits_of(made.how).owners == placements::owned_by::threads) {
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

using json = nlohmann::ordered_json;

void set_text(json& object, const char* key, const std::string& text) {
  if (!text.empty()) {
    object[key] = text;
  }
}

json entry_json(const entry& what) {
  const condition& which = what.which;
  json made = json::object();
  set_text(made, "name", what.name);
  set_text(made, "kind", which.kind);
  set_text(made, "symbol", which.symbol.value_or(""));
  set_text(made, "file", which.file.value_or(""));
  set_text(made, "site", which.source);
  for (const std::string& caller : which.callers) {
    made["callers"].push_back(caller);
  }
  for (const code_place& place : which.stack) {
    made["stack"].push_back(text_of(place));
  }
  set_text(made, "bytes", text_of(static_cast<const byte_range&>(which)));
  set_text(made, "nth", text_of(static_cast<const ordinals&>(which)));
  if (what.where.how == placements::kind::map) {
    made["placement"] = {{"map", placements::map_text(what.where.owners)}};
  } else {
    made["placement"] = placements::text_of(what.where);
  }
  set_text(made, "why", what.why);
  return made;
}

} // namespace

plan_file plan_from_json(const json_field& document) {
  check_schema(document, schema);
  return plan_reader(document).read();
}

plan_file read_plan(const std::filesystem::path& file) {
  const nlohmann::ordered_json document = read_json_file(file);
  return plan_from_json({document, fmt::format("the plan {}", file.string())});
}

void append(json& document, const plan_file& what) {
  json program = json::object();
  set_text(program, "name", what.program);
  set_text(program, "build_id", what.build_id);
  json threads = json::object();
  if (what.threads != 0) {
    threads["count"] = what.threads;
  }
  if (!what.teams.empty()) {
    threads["teams"] = what.teams;
  }
  if (what.nodes != 0) {
    threads["nodes"] = what.nodes;
  }
  threads["bind"] = to_string(what.bind);
  threads["places"] = place_names[static_cast<std::size_t>(what.places)];
  if (what.main_works) {
    threads["main"] = main_names[1];
  }
  document["program"] = std::move(program);
  for (const library& each : what.libraries) {
    document["libraries"].push_back({{"name", each.name}, {"build_id", each.build_id}});
  }
  document["threads"] = std::move(threads);
  document["objects"] = json::array();
  for (const entry& each : what.objects) {
    document["objects"].push_back(entry_json(each));
  }
}

} // namespace nodewise::plans
