// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

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
    field.refuse("an empty text", "leave the field out");
  }
  return text;
}

/// "solver.c:41" or a function: what `--rule site=` accepts, but no offset, which is valid only for
/// one binary.
std::string read_site(const json_field& field) {
  std::string site = some_text(field);
  if (site.find("+0x") != std::string::npos) {
    field.refuse("'" + site.substr(0, 60) + "' is an offset", "put it into \"stack\"");
  }
  return site;
}

/// An offset is valid only for one binary, and its module is named by the file's last part.
std::string read_build_id(const json_field& field) {
  const std::string id = field.text();
  constexpr std::size_t longest = 128;
  if (id.size() % 2 != 0 || id.size() > longest ||
      id.find_first_not_of("0123456789abcdef") != std::string::npos) {
    field.refuse("'" + id.substr(0, 60) + "' is no build id",
                 "write what `file PROGRAM` prints, or leave it out");
  }
  return id;
}

std::string read_file_name(const json_field& field) {
  std::string name = field.text();
  if (name.find('/') != std::string::npos) {
    field.refuse("a path", "write the last part of the file's name alone");
  }
  return name;
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
    if (const auto libraries = document_.find("libraries")) {
      for (const json_field& each : libraries->elements()) {
        all_.libraries.push_back(read_library(each));
      }
    }
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
    if (const auto name = field.find("name")) {
      all_.program = read_file_name(*name);
    }
    if (const auto id = field.find("build_id")) {
      all_.build_id = read_build_id(*id);
    }
  }

  static library read_library(const json_field& field) {
    field.allow_only({"name", "build_id"});
    library made{read_file_name(field.at("name")), read_build_id(field.at("build_id"))};
    if (made.build_id.empty()) {
      field.refuse("a library without a build id", "leave it out");
    }
    return made;
  }

  void read_threads(const json_field& field) {
    field.allow_only({"count", "teams", "nodes", "bind", "places", "main"});
    if (const auto count = field.find("count")) {
      all_.threads = count->whole_number(1, most_threads);
    }
    if (const auto teams = field.find("teams")) {
      read_teams(*teams);
    }
    if (const auto nodes = field.find("nodes")) {
      all_.nodes = nodes->whole_number(1, static_cast<std::uint64_t>(max_id) + 1);
    }
    if (const auto bind = field.find("bind")) {
      all_.bind = static_cast<bind_policy>(bind->one_of(bind_names));
    }
    if (const auto places = field.find("places")) {
      all_.places = static_cast<place_kind>(places->one_of(place_names));
    }
    if (const auto main = field.find("main")) {
      all_.main_works = main->one_of(main_names) != 0;
    }
  }

  void read_teams(const json_field& field) {
    for (const json_field& each : field.elements()) {
      all_.teams.push_back(each.whole_number(1, most_threads));
    }
    if (all_.teams.size() < 2 || bind::threads_of_teams(all_.teams) != all_.threads) {
      field.refuse("they have not " + std::to_string(all_.threads) + " threads together",
                   "write the sizes of nested parallel regions, outermost first, so that their "
                   "product is threads.count; or leave them out");
    }
  }

  entry read_entry(const json_field& field) const {
    field.allow_only(
        {"name", "kind", "symbol", "site", "callers", "stack", "bytes", "nth", "placement", "why"});
    entry made;
    if (const auto name = field.find("name")) {
      made.name = some_text(*name);
    }
    made.which = read_condition(field);
    read_placement_of(field.at("placement"), made);
    if (const auto why = field.find("why")) {
      made.why = why->text();
    }
    return made;
  }

  static condition read_condition(const json_field& field) {
    condition made;
    if (const auto kind = field.find("kind")) {
      made.kind = kinds[kind->one_of(kinds)];
    }
    if (const auto symbol = field.find("symbol")) {
      made.symbol = some_text(*symbol);
    }
    if (const auto site = field.find("site")) {
      made.source = read_site(*site);
    }
    if (const auto callers = field.find("callers")) {
      for (const json_field& each : callers->elements()) {
        made.callers.push_back(read_site(each));
      }
    }
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
    const auto stack = field.find("stack");
    if (!stack) {
      return;
    }
    for (const json_field& each : stack->elements()) {
      into.stack.push_back(read_words(each, read_code_place));
    }
    constexpr std::size_t deepest = 64;
    if (into.stack.empty() || into.stack.size() > deepest) {
      stack->refuse(std::to_string(into.stack.size()) + " places", "name 1 to 64 of them");
    }
  }

  /// No line allocates a static array, and allocated memory has no symbol.
  static void refuse_contradictions(const json_field& field, const condition& which) {
    const bool asked_for = !which.source.empty() || !which.stack.empty() || !which.callers.empty();
    if (asked_for && (which.symbol || which.kind == "static")) {
      field.refuse("a static array has no place where it is asked for",
                   "leave out \"symbol\", or \"site\", \"callers\" and \"stack\"");
    }
    if (which.symbol && !which.kind.empty() && which.kind != "static") {
      field.refuse("a symbol, and of kind '" + which.kind + "'", "write \"kind\": \"static\"");
    }
    if (!which.callers.empty() && which.source.empty()) {
      field.refuse("callers of no site", "write \"site\", too");
    }
  }

  void read_placement_of(const json_field& field, entry& into) const {
    if (field.is_text()) {
      (void)read_words(field, [&](std::string_view text) {
        read_placement(text, into);
        return true;
      });
      check_thread(field, into.thread);
      return;
    }
    field.allow_only({"map"});
    const json_field map = field.at("map");
    into.how = layout::map;
    into.parts = read_words(map, read_parts);
    for (const part_run& run : into.parts) {
      check_thread(map, run.thread);
    }
  }

  void check_thread(const json_field& field, std::size_t thread) const {
    if (all_.threads != 0 && thread >= all_.threads) {
      field.refuse("thread " + std::to_string(thread) + " of " + std::to_string(all_.threads),
                   "threads are numbered from 0 to " + std::to_string(all_.threads - 1) +
                       ", or raise threads.count");
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
  return plan_from_json({document, "the plan " + file.string()});
}

} // namespace nodewise::plans
