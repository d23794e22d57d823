// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads the agent's records as values, one by one.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "bind/team_sizes.hpp"
#include "launch/agent_report.hpp"

namespace nodewise::launch {

namespace {

/// A record whose length and checksum are right; its contents are not checked yet.
struct whole_record {
  nodewise_agent_header header;
  std::string_view bytes;
};
/// Copies the first bytes, since records are not aligned and may be too short.
template <class Record>
std::optional<Record> copy(std::string_view bytes) {
  Record record;
  if (bytes.size() < sizeof record) {
    return std::nullopt;
  }
  bytes.copy(reinterpret_cast<char*>(&record), sizeof record);
  return record;
}

/// The part of a record after its fixed part.
class tail {
 public:
  explicit tail(std::string_view bytes) : left_(bytes) {}

  /// nullopt if there are fewer than `count`.
  template <class Item>
  std::optional<std::vector<Item>> take(std::uint64_t count) {
    if (count > left_.size() / sizeof(Item)) {
      return std::nullopt;
    }
    std::vector<Item> items(count);
    const std::size_t bytes = count * sizeof(Item);
    left_.copy(reinterpret_cast<char*>(items.data()), bytes);
    left_.remove_prefix(bytes);
    return items;
  }

 private:
  std::string_view left_;
};

template <std::size_t Bytes>
std::string name_in(const char (&name)[Bytes]) {
  return {name, ::strnlen(name, Bytes)};
}

/// The kinds have the same numbers in the records.
object_report::kind kind_of(std::uint32_t number) {
  static_assert(static_cast<int>(object_report::kind::file) == NODEWISE_AGENT_FILE);
  return number <= NODEWISE_AGENT_FILE ? static_cast<object_report::kind>(number)
                                       : object_report::kind::heap;
}

/// Of the record of an object or of its allocation.
template <class Record>
void read_facts(const Record& fixed, object_facts& into) {
  into.sequence = fixed.sequence;
  into.what = kind_of(fixed.object_kind);
  into.name = name_in(fixed.name);
  into.start = fixed.start;
  into.bytes = fixed.bytes;
  into.caller_module = name_in(fixed.caller_module);
  into.caller_offset = fixed.caller_offset;
  into.stack = fixed.stack;
}

void read_flags(object_report& into, std::uint32_t flags) {
  const auto has = [&](nodewise_agent_flag flag) { return (flags & std::uint32_t{flag}) != 0; };
  into.placed = has(NODEWISE_AGENT_PLACED);
  into.map_limited = has(NODEWISE_AGENT_MAP_LIMIT);
  into.reduced = has(NODEWISE_AGENT_REDUCED);
  into.live_at_end = has(NODEWISE_AGENT_LIVE_AT_END);
  into.resized = has(NODEWISE_AGENT_RESIZED);
  into.coarser = has(NODEWISE_AGENT_COARSER);
  into.interleaved = has(NODEWISE_AGENT_INTERLEAVED);
  into.base_pages = has(NODEWISE_AGENT_BASE_PAGES);
  into.partly_gone = has(NODEWISE_AGENT_PARTLY_GONE);
  into.many_threads = has(NODEWISE_AGENT_MANY_THREADS);
  into.no_threads = has(NODEWISE_AGENT_NO_THREADS);
  into.unasked = has(NODEWISE_AGENT_UNASKED);
  into.not_asked = has(NODEWISE_AGENT_NOT_ASKED);
  into.where_cut = has(NODEWISE_AGENT_RUNS_CUT);
}

object_report::cell cell_of(std::int16_t number) {
  using content = object_report::cell::content;
  if (number >= 0) {
    return {content::node, node_id{number}};
  }
  if (number == NODEWISE_AGENT_CELL_MIXED) {
    return {content::mixed, unknown_node};
  }
  return {number == NODEWISE_AGENT_CELL_EMPTY ? content::empty : content::unknown, unknown_node};
}

node_id node_of(std::int32_t number) {
  return number >= 0 ? node_id{number} : unknown_node;
}

/// Checks that runs are ascending and within the object's pages.
bool read_runs(object_report& into, const std::vector<nodewise_agent_run>& runs) {
  std::uint64_t end = 0;
  for (const nodewise_agent_run& run : runs) {
    if (run.first < end || run.first > into.pages || run.count > into.pages - run.first) {
      return false;
    }
    end = run.first + run.count;
    into.where.push_back({run.first, run.count, node_of(run.node)});
  }
  return true;
}

/// The contents of the record's fixed part.
object_report fixed_part_of(const nodewise_agent_object& fixed) {
  object_report object;
  read_facts(fixed, object);
  object.granule_bytes = fixed.granule_bytes;
  object.pages = fixed.pages;
  object.resident = fixed.resident;
  object.on_owner = fixed.on_owner;
  object.unknown = fixed.unknown;
  object.refused_errno = static_cast<int>(fixed.refused_errno);
  object.extents = fixed.extents;
  object.blocks = fixed.blocks;
  if (fixed.rule >= 0) {
    object.rule = static_cast<std::size_t>(fixed.rule);
  }
  if (fixed.maker > 0) {
    object.maker_tid = fixed.maker;
  }
  object.allocated_ns = fixed.allocated_ns;
  object.freed_ns = fixed.freed_ns;
  read_flags(object, fixed.flags);
  std::transform(fixed.strip, fixed.strip + fixed.cells, std::back_inserter(object.strip), cell_of);
  return object;
}

/// The record at the front of the bytes; nullopt if there is none.
std::optional<whole_record> next_record(std::string_view bytes) {
  const auto header = copy<nodewise_agent_header>(bytes);
  if (!header || header->magic != NODEWISE_AGENT_MAGIC ||
      header->version != NODEWISE_AGENT_RECORDS || header->bytes < sizeof *header ||
      header->bytes > bytes.size()) {
    return std::nullopt;
  }
  bytes = bytes.substr(0, header->bytes);
  if (header->checksum != nodewise_agent_checksum(bytes.data(), bytes.size())) {
    return std::nullopt;
  }
  return whole_record{*header, bytes};
}

// Each of these returns nullopt if the record is too short for what it announces, or if its counts
// contradict each other.

std::optional<process_report> start_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_start>(record.bytes);
  if (!fixed) {
    return std::nullopt;
  }
  process_report started;
  started.pid = record.header.pid;
  started.parent = fixed->parent;
  started.time_ns = fixed->time_ns;
  started.program = name_in(fixed->program);
  started.page_bytes = fixed->page_bytes;
  started.allocator = name_in(fixed->allocator);
  started.foreign_malloc = fixed->foreign_malloc != 0;
  return started;
}

std::optional<object_report> object_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_object>(record.bytes);
  if (!fixed || fixed->cells > NODEWISE_AGENT_CELLS || fixed->unknown > fixed->resident ||
      fixed->on_owner > fixed->resident - fixed->unknown) {
    return std::nullopt;
  }
  tail rest(record.bytes.substr(sizeof *fixed));
  const auto shares = rest.take<nodewise_agent_share>(fixed->shares);
  const auto runs = shares ? rest.take<nodewise_agent_run>(fixed->runs) : std::nullopt;
  if (!runs) {
    return std::nullopt;
  }
  object_report object = fixed_part_of(*fixed);
  for (const nodewise_agent_share& share : *shares) {
    object.shares.push_back({node_id{share.node}, share.pages});
  }
  return read_runs(object, *runs) ? std::optional(std::move(object)) : std::nullopt;
}

std::optional<thread_report> thread_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_thread>(record.bytes);
  if (!fixed) {
    return std::nullopt;
  }
  thread_report thread;
  thread.tid = fixed->tid;
  if (fixed->ordinal >= 0) {
    thread.ordinal = fixed->ordinal;
  }
  thread.name = name_in(fixed->name);
  thread.cpus = name_in(fixed->cpus);
  thread.start = name_in(fixed->start);
  thread.team_sizes = {std::begin(fixed->team_sizes), std::ranges::find(fixed->team_sizes, 0U)};
  constexpr std::size_t most_threads = std::size_t{1} << 20; // limit of a profile
  if (bind::threads_of_teams(thread.team_sizes) > most_threads) {
    thread.team_sizes.clear();
  }
  thread.inner_number = fixed->inner_number;
  if (fixed->last_cpu >= 0) {
    thread.last_cpu = cpu_id{fixed->last_cpu};
  }
  if (fixed->busy_ms >= 0) {
    thread.busy_ms = static_cast<std::uint64_t>(fixed->busy_ms);
  }
  thread.main = (fixed->flags & NODEWISE_AGENT_MAIN) != 0;
  thread.pinned = (fixed->flags & NODEWISE_AGENT_PINNED) != 0;
  thread.own_affinity = (fixed->flags & NODEWISE_AGENT_OWN_AFFINITY) != 0;
  return thread;
}

std::optional<process_totals> totals_of(const whole_record& record) {
  const auto end = copy<nodewise_agent_end>(record.bytes);
  auto rules = end ? tail(record.bytes.substr(sizeof *end)).take<nodewise_agent_matched>(end->rules)
                   : std::nullopt;
  return rules ? std::optional(process_totals{*end, *std::move(rules)}) : std::nullopt;
}

std::optional<allocation_report> allocation_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_allocation>(record.bytes);
  if (!fixed) {
    return std::nullopt;
  }
  allocation_report allocation;
  read_facts(*fixed, allocation);
  allocation.time_ns = fixed->time_ns;
  allocation.tid = fixed->tid;
  return allocation;
}

std::optional<stack_report> stack_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_stack>(record.bytes);
  if (!fixed || fixed->bytes > record.bytes.size() - sizeof *fixed) {
    return std::nullopt;
  }
  stack_report stack{.number = fixed->number,
                     .tid = record.header.tid,
                     .time_ns = fixed->time_ns,
                     .machine = fixed->machine,
                     .caller = fixed->caller,
                     .ip = fixed->ip,
                     .sp = fixed->sp,
                     .end = fixed->end,
                     .registers = {},
                     .bytes = std::string(record.bytes.substr(sizeof *fixed, fixed->bytes))};
  for (std::size_t i = 0; i < stack.registers.size(); ++i) {
    if ((fixed->known >> i & 1) != 0) {
      stack.registers[i] = fixed->registers[i];
    }
  }
  return stack;
}

std::optional<write_report> write_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_writes>(record.bytes);
  if (!fixed || fixed->last < fixed->first) {
    return std::nullopt;
  }
  const auto sequence =
      fixed->sequence != NODEWISE_AGENT_NO_SEQUENCE ? std::optional(fixed->sequence) : std::nullopt;
  return write_report{.sequence = sequence,
                      .start = fixed->start,
                      .first = fixed->first,
                      .last = fixed->last,
                      .bytes = fixed->bytes,
                      .calls = fixed->calls,
                      .first_ns = fixed->first_ns,
                      .last_ns = fixed->last_ns,
                      .caller_module = name_in(fixed->caller_module),
                      .caller_offset = fixed->caller_offset,
                      .tid = fixed->tid,
                      .stack = fixed->stack};
}

/// A process that became another program, or a reused pid, gets a new entry.
process_report& process(run_report& report, int pid) {
  const auto found =
      std::find_if(report.processes.rbegin(), report.processes.rend(),
                   [&](const process_report& each) { return each.pid == pid && !each.totals; });
  if (found != report.processes.rend()) {
    return *found;
  }
  process_report& unknown = report.processes.emplace_back();
  unknown.pid = pid;
  return unknown;
}

/// False if the record is invalid for its kind.
bool take(run_report& report, const whole_record& record) {
  const int pid = record.header.pid;
  const auto add = [&](auto member, auto value) {
    if (value) {
      (process(report, pid).*member).push_back(*std::move(value));
    }
    return value.has_value();
  };
  switch (record.header.kind) {
  case NODEWISE_AGENT_START:
    if (auto started = start_of(record)) {
      report.processes.push_back(*std::move(started));
      return true;
    }
    return false;
  case NODEWISE_AGENT_MADE:
    process(report, pid).made_objects = true;
    return true;
  case NODEWISE_AGENT_HELPER:
    process(report, pid).helpers.push_back(record.header.tid);
    return true;
  case NODEWISE_AGENT_OBJECT:
    return add(&process_report::objects, object_of(record));
  case NODEWISE_AGENT_THREAD:
    return add(&process_report::threads, thread_of(record));
  case NODEWISE_AGENT_ALLOCATED:
    return add(&process_report::allocations, allocation_of(record));
  case NODEWISE_AGENT_STACK:
    return add(&process_report::stacks, stack_of(record));
  case NODEWISE_AGENT_WROTE:
    return add(&process_report::writes, write_of(record));
  case NODEWISE_AGENT_NUMA_PINNED:
    process(report, pid).numa_pinner = copy<nodewise_agent_numa_pinned>(record.bytes);
    return process(report, pid).numa_pinner.has_value();
  case NODEWISE_AGENT_END:
    if (auto totals = totals_of(record)) {
      process(report, pid).totals = *std::move(totals);
      return true;
    }
    return false;
  default:
    return false;
  }
}

} // namespace

run_report read_agent_report(std::string_view bytes) {
  run_report report;
  while (!bytes.empty()) {
    const auto record = next_record(bytes);
    const bool is_valid = record && take(report, *record);
    report.damaged_bytes += is_valid ? 0 : 1;
    bytes.remove_prefix(is_valid ? record->bytes.size() : 1);
  }
  for (process_report& each : report.processes) {
    std::ranges::sort(each.objects, {}, &object_report::sequence);
  }
  return report;
}

run_report read_agent_file(std::string_view file) {
  nodewise_agent_head head{};
  if (file.size() < sizeof head) {
    return {};
  }
  file.copy(reinterpret_cast<char*>(&head), sizeof head);
  const std::size_t used = std::min<std::uint64_t>(head.used, file.size());
  run_report report = read_agent_report(
      used > sizeof head ? file.substr(sizeof head, used - sizeof head) : std::string_view{});
  report.lost = head.lost;
  return report;
}

} // namespace nodewise::launch
