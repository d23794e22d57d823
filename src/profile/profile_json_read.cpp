// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <limits>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "profile/profile_json.hpp"
#include "profile/runs_text.hpp"

namespace nodewise::profile {

namespace {

constexpr std::size_t most_threads = 1U << 20;
constexpr int most_int = std::numeric_limits<int>::max();

template <class Read>
auto list(const json_field& of, const char* name, Read read) {
  std::vector<decltype(read(of))> all;
  for (const json_field& each : of.at(name).elements()) {
    all.push_back(read(each));
  }
  return all;
}

std::uint64_t count(const json_field& of, const char* name) {
  return of.at(name).whole_number();
}

std::string text_if(const json_field& of, const char* name) {
  const auto field = of.find(name);
  return field ? field->text() : std::string{};
}

double amount(const json_field& of, const char* name) {
  const json_field field = of.at(name);
  const double value = field.number();
  if (value < 0) {
    field.refuse("a number below 0", "write 0 or more");
  }
  return value;
}

std::uint64_t address(const json_field& of, const char* name) {
  const json_field field = of.at(name);
  const std::string text = field.text();
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const bool is_hexadecimal = text.starts_with("0x") && text.size() > 2;
  const auto read = std::from_chars(text.data() + (is_hexadecimal ? 2 : 0), end, value, 16);
  if (!is_hexadecimal || read.ec != std::errc{} || read.ptr != end) {
    field.refuse("'" + text + "' where an address is meant", "write for example \"0x1f3\"");
  }
  return value;
}

node_id node(const json_field& of, const char* name) {
  const json_field field = of.at(name);
  if (field.is_text() && field.text() == "unknown") {
    return unknown_node;
  }
  return node_id{field.small_number(0, most_int)};
}

template <class Enum, std::size_t Count>
Enum word(const json_field& of, const char* name,
          const std::array<std::string_view, Count>& names) {
  return static_cast<Enum>(of.at(name).one_of(names));
}

/// A thread of the program, if the field names one.
std::optional<thread_index> thread_if(const json_field& of, const char* name, const program& in) {
  const auto field = of.find(name);
  if (!field) {
    return std::nullopt;
  }
  if (in.threads.empty()) {
    field->refuse("a thread of a program without threads", "name it under \"threads\"");
  }
  return field->whole_number(0, in.threads.size() - 1);
}

frame read_frame(const json_field& from) {
  from.allow_only({"module", "offset", "function", "file", "line", "inlined"});
  frame made;
  made.module = text_if(from, "module");
  made.offset = address(from, "offset");
  made.function = text_if(from, "function");
  made.file = text_if(from, "file");
  if (const auto line = from.find("line")) {
    made.line = line->small_number(1, most_int);
  }
  if (const auto inlined = from.find("inlined")) {
    made.inlined = inlined->truth();
  }
  return made;
}

/// A list of processors, kept as written.
std::string read_processors(const json_field& from) {
  std::string text = from.text();
  try {
    (void)cpu_set::parse(text);
  } catch (const error& e) {
    from.refuse(e.answered(), e.hint());
  }
  return text;
}

thread::inner read_nested(const json_field& from) {
  from.allow_only({"teams", "number"});
  thread::inner made;
  made.teams = list(from, "teams", [](const json_field& each) -> std::size_t {
    return each.whole_number(1, most_threads);
  });
  std::size_t threads = made.teams.size() > 1 ? 1 : most_threads + 1;
  for (const std::size_t size : made.teams) {
    threads = threads > most_threads ? threads : threads * size;
  }
  if (threads > most_threads) {
    from.at("teams").refuse("no sizes of nested teams", "write two sizes or more");
  }
  made.number = from.at("number").whole_number(0, threads - 1);
  return made;
}

thread read_thread(const json_field& from) {
  from.allow_only({"tid", "name", "main", "number", "nested", "migrations", "stays", "instructions",
                   "began_s", "ended_s"});
  thread made;
  made.tid = from.at("tid").small_number(0, most_int);
  made.name = from.at("name").text();
  made.main = from.at("main").truth();
  if (const auto number = from.find("number")) {
    made.number = number->whole_number(0, most_threads);
  }
  if (const auto nested = from.find("nested")) {
    made.nested = read_nested(*nested);
  }
  made.migrations = count(from, "migrations");
  made.stays = list(from, "stays", [](const json_field& each) {
    each.allow_only({"node", "samples"});
    return thread::stay{node(each, "node"), count(each, "samples")};
  });
  if (from.find("instructions")) {
    made.instructions = count(from, "instructions");
  }
  made.began_s = from.find("began_s") ? amount(from, "began_s") : 0;
  if (from.find("ended_s")) {
    made.ended_s = amount(from, "ended_s");
  }
  return made;
}

first_touch read_touch(const json_field& from, const program& in) {
  from.allow_only({"pages", "how", "from", "by", "where"});
  first_touch made;
  made.where = list(from, "where", read_frame);
  made.how = word<touch_kind>(from, "how", touch_kind_names);
  made.by = thread_if(from, "by", in);
  made.from = node(from, "from");
  made.pages = count(from, "pages");
  return made;
}

contested_line read_line(const json_field& from) {
  from.allow_only({"offset", "transfers", "writers", "same_bytes", "rewrites", "written_at"});
  contested_line made;
  made.offset = count(from, "offset");
  made.transfers = count(from, "transfers");
  made.writers = count(from, "writers");
  made.same_bytes = from.at("same_bytes").truth();
  if (from.find("rewrites")) {
    made.rewrites = count(from, "rewrites");
  }
  if (const auto where = from.find("written_at")) {
    made.written_at = read_frame(*where);
  }
  return made;
}

using_code read_using(const json_field& from) {
  from.allow_only({"amount", "where"});
  return {read_frame(from.at("where")), amount(from, "amount")};
}

template <class Runs>
Runs runs(const json_field& field, const run_bounds& in) {
  Runs made;
  if (!read(field.text(), in, made)) {
    field.refuse("runs of pages that do not fit",
                 "share/doc/nodewise/formats.md, profile: they ascend, end with "
                 "the object, and name its program's threads");
  }
  return made;
}

std::vector<use_run> use_runs(const json_field& from, const char* name, const run_bounds& in) {
  std::uint64_t end = 0;
  return list(from, name, [&](const json_field& each) {
    use_run run = runs<use_run>(each, in);
    if (run.first < end) {
      each.refuse("pages that were named before", "write runs in ascending order");
    }
    end = run.first + run.count;
    return run;
  });
}

void read_pages(const json_field& from, const program& in, object& into) {
  into.pages = count(from, "pages");
  into.resident = count(from, "resident");
  into.unseen_touches = count(from, "unwitnessed");
  into.page_bytes = count(from, "page_bytes");
  const run_bounds bounds{into.pages, in.threads.size()};
  into.where = runs<std::vector<resident_run>>(from.at("where"), bounds);
  into.touched = runs<std::vector<touched_run>>(from.at("touched"), bounds);
  into.uses = use_runs(from, "uses", bounds);
  if (from.find("initialised")) {
    into.initialised = use_runs(from, "initialised", bounds);
    into.initialised_write_share = amount(from, "initialised_write_share");
  }
}

object read_object(const json_field& from, const program& in) {
  from.allow_only({"id",       "kind",        "name",        "made_at",
                   "made_by",  "start",       "bytes",       "blocks",
                   "born_s",   "died_s",      "live_at_end", "pages",
                   "resident", "unwitnessed", "page_bytes",  "where",
                   "touches",  "touched",     "uses",        "write_share",
                   "used_at",  "contested",   "initialised", "initialised_write_share"});
  object made;
  made.id = count(from, "id");
  made.kind = word<object_kind>(from, "kind", object_kind_names);
  made.name = text_if(from, "name");
  made.made_at = list(from, "made_at", read_frame);
  made.made_by = thread_if(from, "made_by", in);
  made.start = address(from, "start");
  made.bytes = count(from, "bytes");
  made.blocks = count(from, "blocks");
  made.born_s = amount(from, "born_s");
  made.died_s = amount(from, "died_s");
  made.live_at_end = from.at("live_at_end").truth();
  read_pages(from, in, made);
  made.touches =
      list(from, "touches", [&](const json_field& each) { return read_touch(each, in); });
  made.write_share = amount(from, "write_share");
  made.used_at = list(from, "used_at", read_using);
  made.contested = list(from, "contested", read_line);
  return made;
}

program read_program(const json_field& from) {
  from.allow_only({"pid", "parent", "rank", "processors", "name", "file", "build_id", "libraries",
                   "end", "began_s", "ended_s", "openmp", "tbb", "use_from", "use_unit_bytes",
                   "threads", "objects"});
  program made;
  made.pid = from.at("pid").small_number(0, most_int);
  made.parent = from.at("parent").small_number(0, most_int);
  if (const auto rank = from.find("rank")) {
    made.rank = rank->small_number(0, most_int);
  }
  if (const auto processors = from.find("processors")) {
    made.processors = read_processors(*processors);
  }
  made.name = from.at("name").text();
  made.file = text_if(from, "file");
  made.build_id = text_if(from, "build_id");
  if (from.find("libraries")) {
    made.libraries = list(from, "libraries", [](const json_field& each) {
      each.allow_only({"name", "build_id"});
      return library{each.at("name").text(), each.at("build_id").text()};
    });
  }
  made.end = word<program_end>(from, "end", program_end_names);
  made.began_s = from.find("began_s") ? amount(from, "began_s") : 0;
  made.ended_s = from.find("ended_s") ? amount(from, "ended_s") : 0;
  made.openmp = from.at("openmp").truth();
  made.tbb = from.at("tbb").truth();
  made.use_from = word<use_source>(from, "use_from", use_source_names);
  made.use_unit_bytes = amount(from, "use_unit_bytes");
  made.threads = list(from, "threads", read_thread);
  if (made.threads.size() > most_threads) {
    from.at("threads").refuse("more than a million threads", "leave some out");
  }
  made.objects =
      list(from, "objects", [&](const json_field& each) { return read_object(each, made); });
  return made;
}

evidence read_evidence(const json_field& from) {
  from.allow_only({"faults", "chains", "kernel", "hinting", "counts", "agent", "fault_samples",
                   "hinting_samples", "lost_samples", "thinned_samples", "pages_moved",
                   "pages_held", "missing"});
  evidence made;
  made.faults = from.at("faults").truth();
  made.chains = from.at("chains").truth();
  made.kernel = from.at("kernel").truth();
  made.hinting = from.at("hinting").truth();
  made.counts = from.at("counts").truth();
  made.agent = from.at("agent").truth();
  made.fault_samples = count(from, "fault_samples");
  made.hinting_samples = count(from, "hinting_samples");
  made.lost_samples = count(from, "lost_samples");
  made.thinned_samples = count(from, "thinned_samples");
  made.pages_moved = count(from, "pages_moved");
  made.pages_held = from.find("pages_held") ? count(from, "pages_held") : 0;
  made.missing = list(from, "missing", [](const json_field& each) { return each.text(); });
  return made;
}

node_memory read_memory(const json_field& from) {
  from.allow_only({"node", "total_bytes", "free_bytes", "cache_bytes", "fullest"});
  node_memory made{node(from, "node"), count(from, "total_bytes"), count(from, "free_bytes"),
                   count(from, "cache_bytes"), std::nullopt};
  if (const auto low = from.find("fullest")) {
    low->allow_only({"free_bytes", "cache_bytes"});
    made.fullest = {count(*low, "free_bytes"), count(*low, "cache_bytes")};
  }
  return made;
}

} // namespace

profile profile_from_json(const json_field& document) {
  check_schema(document, schema);
  document.allow_only({"schema", "nodewise", "machine", "settings", "command", "page_bytes",
                       "evidence", "overhead", "memory", "programs"});
  profile made;
  made.command = list(document, "command", [](const json_field& each) { return each.text(); });
  made.page_bytes = document.at("page_bytes").whole_number(1, std::uint64_t{1} << 30);
  made.seen = read_evidence(document.at("evidence"));
  const json_field cost = document.at("overhead");
  cost.allow_only({"wall_s", "observer_s"});
  made.cost = {amount(cost, "wall_s"), amount(cost, "observer_s")};
  made.memory = list(document, "memory", read_memory);
  made.programs = list(document, "programs", read_program);
  return made;
}

} // namespace nodewise::profile
