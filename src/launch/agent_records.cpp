// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/agent_records.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "bind/team_sizes.hpp"

namespace nodewise::launch {

namespace {

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
std::string text_of(const char (&name)[Bytes]) {
  return {name, ::strnlen(name, Bytes)};
}

/// The kinds have the same numbers in the records.
object_report::kind kind_of(std::uint32_t number) {
  static_assert(static_cast<int>(object_report::kind::region) == NODEWISE_AGENT_REGION);
  return number <= NODEWISE_AGENT_REGION ? static_cast<object_report::kind>(number)
                                         : object_report::kind::heap;
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
  object.sequence = fixed.sequence;
  object.start = fixed.start;
  object.bytes = fixed.bytes;
  object.granule_bytes = fixed.granule_bytes;
  object.pages = fixed.pages;
  object.resident = fixed.resident;
  object.on_owner = fixed.on_owner;
  object.unknown = fixed.unknown;
  object.caller_module = text_of(fixed.caller_module);
  object.caller_offset = fixed.caller_offset;
  object.refused_errno = static_cast<int>(fixed.refused_errno);
  object.extents = fixed.extents;
  object.what = kind_of(fixed.object_kind);
  object.name = text_of(fixed.name);
  object.blocks = fixed.blocks;
  if (fixed.rule >= 0) {
    object.rule = static_cast<std::size_t>(fixed.rule);
  }
  if (fixed.maker > 0) {
    object.maker_tid = fixed.maker;
  }
  object.allocated_ns = fixed.allocated_ns;
  object.freed_ns = fixed.freed_ns;
  object.stack = fixed.stack;
  read_flags(object, fixed.flags);
  for (std::size_t i = 0; i < fixed.cells; ++i) {
    object.strip.push_back(cell_of(fixed.strip[i]));
  }
  return object;
}

} // namespace

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

std::optional<process_report> start_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_start>(record.bytes);
  if (!fixed) {
    return std::nullopt;
  }
  process_report started;
  started.pid = record.header.pid;
  started.parent = fixed->parent;
  started.time_ns = fixed->time_ns;
  started.program = text_of(fixed->program);
  started.page_bytes = fixed->page_bytes;
  started.allocator = text_of(fixed->allocator);
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
  if (!read_runs(object, *runs)) {
    return std::nullopt;
  }
  return object;
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
  thread.name = text_of(fixed->name);
  thread.cpus = text_of(fixed->cpus);
  thread.start = text_of(fixed->start);
  for (const std::uint32_t size : fixed->team_sizes) {
    if (size == 0) {
      break;
    }
    thread.team_sizes.push_back(size);
  }
  constexpr std::size_t most_threads = std::size_t{1} << 20; // limit of a profile
  if (bind::threads_of_teams(thread.team_sizes) > most_threads) {
    thread.team_sizes.clear();
  }
  thread.inner_number = fixed->inner_number;
  thread.main = (fixed->flags & NODEWISE_AGENT_MAIN) != 0;
  thread.pinned = (fixed->flags & NODEWISE_AGENT_PINNED) != 0;
  thread.own_affinity = (fixed->flags & NODEWISE_AGENT_OWN_AFFINITY) != 0;
  return thread;
}

std::optional<process_totals> totals_of(const whole_record& record) {
  const auto end = copy<nodewise_agent_end>(record.bytes);
  const auto rules =
      end ? tail(record.bytes.substr(sizeof *end)).take<nodewise_agent_matched>(end->rules)
          : std::nullopt;
  if (!rules) {
    return std::nullopt;
  }
  process_totals totals;
  totals.time_ns = end->time_ns;
  totals.objects = end->objects;
  totals.placed = end->placed;
  totals.refused = end->refused;
  totals.map_limited = end->map_limited;
  totals.left_out = end->left_out;
  totals.lost = end->lost;
  totals.no_memory = end->no_memory;
  totals.refused_errno = static_cast<int>(end->refused_errno);
  totals.own_threads = end->own_threads;
  totals.pinned = end->pinned;
  totals.own_affinity = end->own_affinity;
  totals.stripped = end->stripped;
  totals.groups = end->groups;
  totals.pin_errno = static_cast<int>(end->pin_errno);
  totals.allocations_left_out = end->allocations_left_out;
  totals.stacks_left_out = end->stacks_left_out;
  totals.writes_left_out = end->writes_left_out;
  for (const nodewise_agent_matched& rule : *rules) {
    totals.rules.push_back({rule.objects, rule.placed});
  }
  return totals;
}

std::optional<allocation_report> allocation_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_allocation>(record.bytes);
  if (!fixed) {
    return std::nullopt;
  }
  allocation_report allocation;
  allocation.sequence = fixed->sequence;
  allocation.what = kind_of(fixed->object_kind);
  allocation.name = text_of(fixed->name);
  allocation.start = fixed->start;
  allocation.bytes = fixed->bytes;
  allocation.time_ns = fixed->time_ns;
  allocation.tid = fixed->tid;
  allocation.caller_module = text_of(fixed->caller_module);
  allocation.caller_offset = fixed->caller_offset;
  allocation.stack = fixed->stack;
  return allocation;
}

std::optional<stack_report> stack_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_stack>(record.bytes);
  if (!fixed || fixed->bytes > record.bytes.size() - sizeof *fixed) {
    return std::nullopt;
  }
  stack_report stack;
  stack.number = fixed->number;
  stack.tid = record.header.tid;
  stack.time_ns = fixed->time_ns;
  stack.machine = fixed->machine;
  stack.caller = fixed->caller;
  stack.ip = fixed->ip;
  stack.sp = fixed->sp;
  stack.end = fixed->end;
  for (std::size_t i = 0; i < stack.registers.size(); ++i) {
    if ((fixed->known >> i & 1) != 0) {
      stack.registers[i] = fixed->registers[i];
    }
  }
  stack.bytes = record.bytes.substr(sizeof *fixed, fixed->bytes);
  return stack;
}

std::optional<write_report> write_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_writes>(record.bytes);
  if (!fixed || fixed->last < fixed->first) {
    return std::nullopt;
  }
  write_report write;
  if (fixed->sequence != NODEWISE_AGENT_NO_SEQUENCE) {
    write.sequence = fixed->sequence;
  }
  write.start = fixed->start;
  write.first = fixed->first;
  write.last = fixed->last;
  write.bytes = fixed->bytes;
  write.calls = fixed->calls;
  write.first_ns = fixed->first_ns;
  write.last_ns = fixed->last_ns;
  write.caller_module = text_of(fixed->caller_module);
  write.caller_offset = fixed->caller_offset;
  write.tid = fixed->tid;
  write.stack = fixed->stack;
  return write;
}

std::optional<numa_pinner_report> numa_pinner_of(const whole_record& record) {
  const auto fixed = copy<nodewise_agent_numa_pinned>(record.bytes);
  if (!fixed) {
    return std::nullopt;
  }
  return numa_pinner_report{fixed->tid, static_cast<int>(fixed->refused_errno), fixed->pages};
}

} // namespace nodewise::launch
