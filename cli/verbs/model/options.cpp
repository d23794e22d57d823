// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/model/options.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/model/flags.hpp"
#include "launch/memory_words.hpp"
#include "placement/placement.hpp"

namespace nodewise::cli {

namespace {

[[noreturn]] void refuse(const flag& which, std::string_view typed, const std::string& answered,
                         const std::string& hint) {
  throw error(error_kind::usage, fmt::format("{} {}", option_name(which), typed), answered, hint);
}

/// The names, after a proposal of the nearest one: "did you mean copy? write load, store".
template <class Rows, class Name>
std::string names_hint(std::string_view typed, const Rows& rows, Name name, std::string_view verb) {
  std::vector<std::string_view> names;
  std::ranges::transform(rows, std::back_inserter(names), name);
  const std::string near = nearest(typed, names);
  return fmt::format("{}{} {}", near.empty() ? "" : fmt::format("did you mean {}? ", near), verb,
                     joined(names, ", "));
}

/// "1000", "2^29", "1e9"; nullopt if it is not a whole number.
std::optional<double> whole(std::string_view text) {
  const std::size_t power = text.find('^');
  if (power != std::string_view::npos) {
    const auto base = parse_number<unsigned>(text.substr(0, power));
    const auto exponent = parse_number<unsigned>(text.substr(power + 1));
    return base && exponent ? std::optional(std::pow(*base, *exponent)) : std::nullopt;
  }
  const auto value = parse_real(text);
  return value && *value == std::floor(*value) ? value : std::nullopt;
}

// 512 GiB of doubles: the model follows pages one by one unless they are placed in turn.
constexpr std::size_t most_elements = std::size_t{1} << 36;

/// A number of elements or of iterations.
std::size_t read_whole(std::string_view digits, const flag& which, std::string_view typed,
                       const char* answered, const char* hint) {
  const auto value = whole(digits);
  if (!value || !(*value >= 1) || *value > static_cast<double>(most_elements)) {
    refuse(which, typed, answered, hint);
  }
  return static_cast<std::size_t>(*value);
}

void read_kernel(loop_description& loop, std::string_view typed) {
  loop.kernel = typed;
  if (const model::kernel* const known = model::find_kernel(typed)) {
    loop.formula = known->formula;
    loop.arrays = known->arrays;
    return;
  }
  for (const std::string_view letters : split(typed, ',')) {
    if (letters != "r" && letters != "w" && letters != "rw" && letters != "n") {
      refuse(flags::kernel, typed, "there is no such kernel",
             names_hint(typed, model::kernels(), &model::kernel::name, "write") +
                 ", or r, w, rw, n for each array: w,r,r");
    }
    loop.arrays.push_back(
        {.read = letters.starts_with('r'), .written = letters != "r", .streaming = letters == "n"});
  }
}

/// By `schedule_kind`.
constexpr std::array<std::string_view, 5> schedules = {"static", "dynamic", "guided", "tasks",
                                                       "even"};

std::size_t read_chunk(const flag& which, std::string_view typed, std::string_view digits) {
  return read_whole(digits, which, typed, "a chunk is a whole number of iterations, 1 or more",
                    which.name == flags::sweep.name ? "write for example --sweep chunk=16,64,512"
                                                    : "write for example --schedule dynamic,64");
}

/// numactl applies -N and -C in order, so the last one counts.
void read_processors(loop_description& loop, const invocation& given) {
  for (const invocation::option& each : given.options) {
    if (each.what == &flags::cpunodebind) {
      loop.cpu_nodes = each.value;
      loop.cpus.reset();
    } else if (each.what == &flags::physcpubind) {
      loop.cpus = each.value;
      loop.cpu_nodes.reset();
    }
  }
}

constexpr long long most_threads = 1 << 13; // as in `run`

void read_threads(loop_description& loop, const invocation& given) {
  read_processors(loop, given);
  loop.threads =
      static_cast<std::size_t>(given.number(flags::threads, 1, most_threads).value_or(0));
  if (given.text(flags::bind) == "none") {
    refuse(flags::bind, "none", "threads that may run anywhere have no near memory",
           "give --bind close or --bind spread");
  }
  loop.bind =
      parse_bind_policy(given.text(flags::bind).value_or("spread")).value_or(bind_policy::spread);
  if (const auto smt = given.text(flags::smt)) {
    loop.smt = *smt == "on" ? smt_use::on : smt_use::off;
  }
}

/// "0=1G,2-3=512M": a part without '=' belongs to the next one.
void read_free(loop_description& loop, std::string_view typed) {
  std::string nodes;
  for (const std::string_view part : split(typed, ',')) {
    const std::size_t equals = part.find('=');
    nodes += fmt::format("{}{}", nodes.empty() ? "" : ",", part.substr(0, equals));
    if (equals == std::string_view::npos) {
      continue;
    }
    const auto bytes = parse_size(part.substr(equals + 1));
    if (!bytes) {
      refuse(flags::free_memory, typed, fmt::format("'{}' is not a size", part.substr(equals + 1)),
             "write for example --free 0=1GiB,1=512MiB");
    }
    loop.free.emplace_back(std::move(nodes), *bytes);
    nodes.clear();
  }
  if (!nodes.empty()) {
    refuse(flags::free_memory, typed, fmt::format("node {} has no size", nodes),
           "write for example --free 0=1GiB");
  }
}

void read_memory(loop_description& loop, const invocation& given) {
  loop.memory = given.text(flags::memory).value_or("local");
  loop.stagger = given.has(flags::stagger);
  if (const auto bytes = given.bytes(flags::model_page_size)) {
    constexpr std::uint64_t most = std::uint64_t{16} << 30; // AArch64 with 64 KiB pages
    if (*bytes < loop.element_bytes || *bytes < 64 || *bytes > most) {
      refuse(flags::model_page_size, given.text(flags::model_page_size).value_or(""),
             "a page has at least a cache line and an element, and at most 16 GiB",
             "write for example --page-size 4KiB or 2MiB");
    }
    loop.page_bytes = static_cast<std::size_t>(*bytes);
  }
  if (const auto free = given.text(flags::free_memory)) {
    read_free(loop, *free);
  }
}

/// "1,2,4"; of placements, as in "serial,bind:0,1,local", a part that does not begin with a
/// placement belongs to the previous one.
std::vector<std::string> split_values(std::string_view text, bool are_placements) {
  std::vector<std::string> all;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view word = part.substr(0, part.find(':'));
    if (all.empty() || !are_placements || word == "serial" || placements::is_word(word)) {
      all.emplace_back(part);
    } else {
      all.back() += fmt::format(",{}", part);
    }
  }
  return all;
}

loop_description with_value(loop_description loop, std::string_view what, std::string_view value,
                            std::string_view typed) {
  if (what == "threads") {
    const auto threads = parse_number<long long>(value);
    if (!threads || *threads < 1 || *threads > most_threads) {
      refuse(flags::sweep, typed, "threads are a whole number from 1 to 8192",
             "write for example --sweep threads=1,2,4");
    }
    loop.threads = static_cast<std::size_t>(*threads);
  } else if (what == "chunk") {
    loop.how.chunk = read_chunk(flags::sweep, typed, value);
  } else {
    loop.memory = value;
  }
  return loop;
}

// --set: the user's figures, which override the machine's file.

constexpr const char* example_of_set =
    "write for example --set bandwidth=20 or --set latency:0:1=120, without a unit";

/// A value of --set, split into its parts.
struct setting {
  std::string_view typed;
  std::string_view name;
  std::string_view from; ///< empty: every node
  std::string_view to;   ///< empty: as `from`
  double value = 0;

  [[noreturn]] void refuse(const std::string& answered, const std::string& hint) const {
    cli::refuse(flags::set, typed, answered, hint);
  }
};

setting parse_setting(std::string_view typed) {
  setting made{typed, {}, {}, {}, 0};
  const std::size_t equals = typed.find('=');
  if (equals == std::string_view::npos) {
    made.refuse("there is no value", example_of_set);
  }
  std::string_view left = typed.substr(0, equals);
  const auto next = [&left] {
    const std::string_view part = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    return part;
  };
  made.name = next();
  made.from = next();
  made.to = next();
  made.value = parse_real(typed.substr(equals + 1)).value_or(0);
  if (!left.empty() || !std::isfinite(made.value) || made.value <= 0) {
    made.refuse(left.empty() ? "the value is not a number above 0" : "it has too many colons",
                example_of_set);
  }
  return made;
}

const model::known_parameter& parameter_of(const setting& asked) {
  const auto* const known =
      std::ranges::find(model::known_parameters, asked.name, &model::known_parameter::name);
  if (known == model::known_parameters.end()) {
    asked.refuse(fmt::format("there is no figure '{}'", asked.name),
                 names_hint(asked.name, model::known_parameters, &model::known_parameter::name,
                            "use one of"));
  }
  if (known->unit == "ratio" && asked.value > 1) {
    asked.refuse("it is a share, above 0 and at most 1", "write for example 0.91");
  }
  return *known;
}

node_id node_of(const setting& asked, std::string_view text, const machine& of) {
  const node_id node{parse_number<int>(text).value_or(-1)};
  if (of.find_node(node) == nullptr) {
    asked.refuse(fmt::format("the machine has no node '{}'", text),
                 "its nodes are " + of.node_ids().to_string());
  }
  return node;
}

void put(machine& into, const setting& asked, const model::known_parameter& known, node_id from,
         node_id to) {
  std::erase_if(into.parameters, [&](const parameter& each) {
    return each.name == known.name && each.from == from && each.to == to;
  });
  into.parameters.push_back(
      {std::string(known.name), from, to, asked.value, std::string(known.unit), "given by --set"});
}

} // namespace

model::schedule read_schedule(std::string_view typed) {
  const std::size_t comma = typed.find(',');
  const auto* const word = std::ranges::find(schedules, typed.substr(0, comma));
  if (word == schedules.end()) {
    refuse(flags::schedule, typed, "there is no such schedule",
           "write static, dynamic, guided or tasks (with a chunk after a comma), or even");
  }
  model::schedule how{static_cast<model::schedule_kind>(word - schedules.begin()), 0};
  if (comma != std::string_view::npos) {
    if (how.kind == model::schedule_kind::even) {
      refuse(flags::schedule, typed, "blocks of equal work have no chunks", "write even");
    }
    how.chunk = read_chunk(flags::schedule, typed, typed.substr(comma + 1));
  }
  return how;
}

std::string loop_description::schedule_text() const {
  const std::string_view word = schedules[static_cast<std::size_t>(how.kind)];
  return how.chunk > 0 ? fmt::format("{},{}", word, how.chunk) : std::string(word);
}

loop_description read_loop(const invocation& given) {
  loop_description loop;
  read_kernel(loop, given.text(flags::kernel).value_or(""));
  const std::string_view elements = given.text(flags::elements).value_or("2^26");
  loop.elements =
      read_whole(elements, flags::elements, elements, "it takes a whole number from 1 to 2^36",
                 "write for example --elements 2^26 or 1e8");
  loop.element_bytes =
      static_cast<std::size_t>(given.number(flags::element_bytes, 1, 4096).value_or(8));
  loop.how = read_schedule(given.text(flags::schedule).value_or("static"));
  loop.form =
      given.text(flags::loop_shape) == "triangular" ? model::shape::triangular : model::shape::flat;
  loop.random_access = given.has(flags::random_access);
  if (const auto typed = given.text(flags::chunk_start)) {
    const auto nanoseconds = parse_real(*typed);
    constexpr double most = 1e9; // a second
    if (!nanoseconds || !(*nanoseconds >= 0 && *nanoseconds <= most)) {
      refuse(flags::chunk_start, *typed, "it takes nanoseconds, 0 to 1000000000",
             "write for example --chunk-start 100");
    }
    loop.given_chunk_start_s = *nanoseconds * 1e-9;
  }
  read_threads(loop, given);
  read_memory(loop, given);
  return loop;
}

std::optional<loop_sweep> read_sweep(const loop_description& of, const invocation& given) {
  const auto typed = given.text(flags::sweep);
  if (!typed) {
    return std::nullopt;
  }
  const std::size_t equals = typed->find('=');
  loop_sweep sweep{std::string(typed->substr(0, equals)), {}};
  if (equals == std::string_view::npos ||
      (sweep.what != "threads" && sweep.what != "chunk" && sweep.what != "memory")) {
    refuse(flags::sweep, *typed, "it takes threads, chunk or memory, then = and values",
           "write for example --sweep threads=1,2,4");
  }
  for (const flag* const swept : {&flags::threads, &flags::memory}) {
    if (sweep.what == swept->name && given.has(*swept)) {
      refuse(flags::sweep, *typed, option_name(*swept) + " has one value already",
             "leave one of them out");
    }
  }
  if (sweep.what == "chunk" && of.how.kind == model::schedule_kind::even) {
    refuse(flags::sweep, *typed, "--schedule even has no chunks", "give --schedule static");
  }
  constexpr std::size_t most_points = 64;
  const std::string_view values = typed->substr(equals + 1);
  std::vector<std::string> each = split_values(values, sweep.what == "memory");
  if (each.size() > most_points) {
    refuse(flags::sweep, *typed, fmt::format("it has {} values", each.size()), "give at most 64");
  }
  for (std::string& value : each) {
    loop_description loop = with_value(of, sweep.what, value, *typed);
    sweep.points.push_back({std::move(value), std::move(loop)});
  }
  return sweep;
}

void set_parameters(machine& of, const invocation& given) {
  for (const std::string_view typed : given.texts(flags::set)) {
    const setting asked = parse_setting(typed);
    const model::known_parameter& known = parameter_of(asked);
    if (known.name == "link_bandwidth" && asked.to.empty()) {
      asked.refuse("a link is between two nodes", "write for example link_bandwidth:0:1=11.8");
    }
    if (!asked.from.empty()) {
      const node_id from = node_of(asked, asked.from, of);
      put(of, asked, known, from, asked.to.empty() ? from : node_of(asked, asked.to, of));
      continue;
    }
    for (const memory_node& node : of.nodes) {
      put(of, asked, known, node.id, node.id);
    }
  }
}

} // namespace nodewise::cli
