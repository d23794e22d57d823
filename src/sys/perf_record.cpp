// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/perf_record.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <linux/perf_event.h>

#include "base/byte_reader.hpp"
#include "sys/perf_registers.hpp"

namespace nodewise::sys {

namespace {

std::string_view take_text(byte_reader& from) noexcept {
  const byte_span rest = from.rest();
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  return text.substr(0, text.find('\0'));
}

/// What sample_id_all appends to records other than samples, for the requested fields: task, time.
std::uint64_t take_appended_time(byte_reader& from) noexcept {
  byte_reader appended(from.last_block(16));
  (void)appended.fixed<std::uint64_t>();
  return appended.fixed<std::uint64_t>();
}

user_registers read_registers(byte_reader& from) noexcept {
  user_registers registers;
  if (from.fixed<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) {
    return registers;
  }
  for (const perf_register& each : perf_registers) {
    registers.by_dwarf[each.dwarf] = from.fixed<std::uint64_t>();
  }
  registers.count = perf_registers.size();
  registers.pc = registers.by_dwarf[dwarf_pc];
  registers.sp = registers.by_dwarf[dwarf_sp];
  return registers;
}

perf_sample read_sample(byte_reader& from, const perf_layout& layout) noexcept {
  perf_sample sample;
  from.into(sample.ip, sample.pid, sample.tid, sample.time_ns, sample.address);
  if (layout.stack) {
    sample.registers = read_registers(from);
    // The kernel copies only what is mapped, but the record has room for all of it.
    const auto room = from.fixed<std::uint64_t>();
    const byte_span copied = from.block(room);
    const std::uint64_t valid = room == 0 ? 0 : from.fixed<std::uint64_t>();
    sample.stack = std::as_bytes(
        copied.first(static_cast<std::size_t>(std::min<std::uint64_t>(valid, copied.size()))));
  }
  if (layout.physical) {
    from.into(sample.physical);
  }
  if (layout.page_size) {
    from.into(sample.page_bytes);
  }
  return sample;
}

perf_mapping read_mapping(byte_reader& from, std::uint16_t misc) noexcept {
  perf_mapping mapping;
  mapping.time_ns = take_appended_time(from);
  from.into(mapping.pid, mapping.tid, mapping.start, mapping.bytes, mapping.file_offset);
  const byte_span file = from.block(24); // device and inode, or a build id after its length
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0 && !file.empty()) {
    mapping.build_id = std::as_bytes(file.subspan(4, std::min<std::size_t>(file[0], 20)));
  }
  const auto protection = from.fixed<std::uint32_t>();
  (void)from.fixed<std::uint32_t>();
  constexpr std::uint32_t may_execute = 4;
  mapping.executable = (protection & may_execute) != 0;
  mapping.path = take_text(from);
  return mapping;
}

perf_task read_task(byte_reader& from, bool ended) noexcept {
  perf_task task;
  from.into(task.pid, task.parent_pid, task.tid, task.parent_tid, task.time_ns);
  task.ended = ended;
  return task;
}

perf_name read_name(byte_reader& from, std::uint16_t misc) noexcept {
  perf_name name;
  name.time_ns = take_appended_time(from);
  from.into(name.pid, name.tid);
  name.by_exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  name.name = take_text(from);
  return name;
}

perf_record read_record(byte_reader& from, std::uint32_t type, std::uint16_t misc,
                        const perf_layout& layout) noexcept {
  switch (type) {
  case PERF_RECORD_SAMPLE:
    return read_sample(from, layout);
  case PERF_RECORD_MMAP2:
    return read_mapping(from, misc);
  case PERF_RECORD_FORK:
  case PERF_RECORD_EXIT:
    return read_task(from, type == PERF_RECORD_EXIT);
  case PERF_RECORD_COMM:
    return read_name(from, misc);
  case PERF_RECORD_LOST: // has the event's identifier before the count
    (void)from.fixed<std::uint64_t>();
    [[fallthrough]];
  case PERF_RECORD_LOST_SAMPLES:
    return perf_lost{from.fixed<std::uint64_t>()};
  default:
    return perf_other{};
  }
}

} // namespace

perf_record decode_record(std::span<const std::byte> bytes, const perf_layout& layout) noexcept {
  byte_reader from({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  const auto type = from.fixed<std::uint32_t>();
  const auto misc = from.fixed<std::uint16_t>();
  const auto size = from.fixed<std::uint16_t>();
  if (from.failed() || size != bytes.size()) {
    return perf_damaged{};
  }
  const perf_record record = read_record(from, type, misc, layout);
  return from.failed() ? perf_damaged{} : record;
}

void ring_walk::join(std::size_t count) noexcept {
  const std::size_t before_end = std::min(count, data_.size() - tail_index());
  std::memcpy(joined_.data(), data_.data() + tail_index(), before_end);
  std::memcpy(joined_.data() + before_end, data_.data(), count - before_end);
}

std::span<const std::byte> ring_walk::next() noexcept {
  const std::uint64_t left = head_ - tail_;
  if (left == 0) {
    return {};
  }
  std::uint16_t size = 0;
  if (left <= data_.size() && left >= header_bytes && std::has_single_bit(data_.size())) {
    join(header_bytes);
    std::memcpy(&size, joined_.data() + 6, sizeof size);
  }
  if (size < header_bytes || size > left) {
    ++damaged_;
    tail_ = head_;
    return {};
  }
  std::span<const std::byte> record = std::span(joined_).first(size);
  if (tail_index() + size <= data_.size()) {
    record = data_.subspan(tail_index(), size);
  } else {
    join(size);
  }
  tail_ += size;
  return record;
}

} // namespace nodewise::sys
