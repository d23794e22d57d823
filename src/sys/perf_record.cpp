// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/perf_record.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <linux/perf_event.h>

#include "sys/perf_registers.hpp"

namespace nodewise::sys {

namespace {

/// Reads one field after the other; once too little is left, everything is 0.
class field_reader {
 public:
  explicit field_reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  template <class T>
  [[nodiscard]] T take() noexcept {
    T value{};
    const auto from = take_bytes(sizeof value);
    if (!from.empty()) {
      std::memcpy(&value, from.data(), sizeof value);
    }
    return value;
  }
  /// Reads one field into each variable, in this order.
  template <class... T>
  void into(T&... values) noexcept {
    ((values = take<T>()), ...);
  }
  [[nodiscard]] std::span<const std::byte> take_bytes(std::uint64_t count) noexcept {
    if (count > left_.size()) {
      whole_ = false;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  /// Removes fields at the end of a record.
  void cut_end(std::size_t count) noexcept {
    if (count > left_.size()) {
      whole_ = false;
      left_ = {};
    } else {
      left_ = left_.first(left_.size() - count);
    }
  }
  [[nodiscard]] std::string_view take_text() noexcept {
    const std::string_view rest(reinterpret_cast<const char*>(left_.data()), left_.size());
    left_ = {};
    return rest.substr(0, rest.find('\0'));
  }
  /// The record, if there was enough for all fields.
  [[nodiscard]] perf_record checked(const auto& record) const noexcept {
    return whole_ ? perf_record(record) : perf_record(perf_damaged{});
  }
  [[nodiscard]] bool whole() const noexcept { return whole_; }

 private:
  std::span<const std::byte> left_;
  bool whole_ = true;
};

/// What sample_id_all appends to records other than samples, for the requested fields: task, time.
constexpr std::size_t appended_bytes = 16;

std::uint64_t appended_time(std::span<const std::byte> body) noexcept {
  std::uint64_t time = 0;
  if (body.size() >= appended_bytes) {
    std::memcpy(&time, body.data() + body.size() - appended_bytes + 8, sizeof time);
  }
  return time;
}

user_registers read_registers(field_reader& from) noexcept {
  user_registers registers;
  if (from.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) {
    return registers;
  }
  std::array<std::uint64_t, perf_registers.size()> values{};
  for (std::uint64_t& value : values) {
    from.into(value);
  }
  arrange_registers(values, registers);
  return registers;
}

perf_record read_sample(std::span<const std::byte> body, const perf_layout& layout) noexcept {
  field_reader from(body);
  perf_sample sample;
  from.into(sample.ip, sample.pid, sample.tid, sample.time_ns, sample.address);
  if (layout.stack) {
    sample.registers = read_registers(from);
    // The kernel copies only what is mapped, but the record has room for all of it.
    const auto room = from.take<std::uint64_t>();
    const auto copied = from.take_bytes(room);
    const std::uint64_t valid = room == 0 ? 0 : from.take<std::uint64_t>();
    sample.stack =
        copied.first(static_cast<std::size_t>(std::min<std::uint64_t>(valid, copied.size())));
  }
  if (layout.physical) {
    from.into(sample.physical);
  }
  if (layout.page_size) {
    from.into(sample.page_bytes);
  }
  return from.checked(sample);
}

perf_record read_mapping(std::span<const std::byte> body, std::uint16_t misc) noexcept {
  field_reader from(body);
  perf_mapping mapping;
  mapping.time_ns = appended_time(body);
  from.cut_end(appended_bytes);
  from.into(mapping.pid, mapping.tid, mapping.start, mapping.bytes, mapping.file_offset);
  const auto file = from.take_bytes(24); // device and inode, or a build id after its length
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0 && !file.empty()) {
    const auto length = std::min<std::size_t>(std::to_integer<std::size_t>(file[0]), 20);
    mapping.build_id = file.subspan(4, length);
  }
  const auto protection = from.take<std::uint32_t>();
  (void)from.take<std::uint32_t>();
  constexpr std::uint32_t may_execute = 4;
  mapping.executable = (protection & may_execute) != 0;
  mapping.path = from.take_text();
  return from.checked(mapping);
}

perf_record read_task(std::span<const std::byte> body, bool ended) noexcept {
  field_reader from(body);
  perf_task task;
  from.into(task.pid, task.parent_pid, task.tid, task.parent_tid, task.time_ns);
  task.ended = ended;
  return from.checked(task);
}

perf_record read_name(std::span<const std::byte> body, std::uint16_t misc) noexcept {
  field_reader from(body);
  perf_name name;
  name.time_ns = appended_time(body);
  from.cut_end(appended_bytes);
  from.into(name.pid, name.tid);
  name.by_exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  name.name = from.take_text();
  return from.checked(name);
}

/// LOST has the event's identifier before the count, LOST_SAMPLES only the count.
perf_record read_lost(std::span<const std::byte> body, bool with_identifier) noexcept {
  field_reader from(body);
  if (with_identifier) {
    (void)from.take<std::uint64_t>();
  }
  const perf_lost lost{from.take<std::uint64_t>()};
  return from.checked(lost);
}

} // namespace

perf_record decode_record(std::span<const std::byte> bytes, const perf_layout& layout) noexcept {
  field_reader head(bytes);
  const auto type = head.take<std::uint32_t>();
  const auto misc = head.take<std::uint16_t>();
  const auto size = head.take<std::uint16_t>();
  if (!head.whole() || size != bytes.size()) {
    return perf_damaged{};
  }
  const auto body = bytes.subspan(ring_walk::header_bytes);
  switch (type) {
  case PERF_RECORD_SAMPLE:
    return read_sample(body, layout);
  case PERF_RECORD_MMAP2:
    return read_mapping(body, misc);
  case PERF_RECORD_FORK:
    return read_task(body, false);
  case PERF_RECORD_EXIT:
    return read_task(body, true);
  case PERF_RECORD_COMM:
    return read_name(body, misc);
  case PERF_RECORD_LOST:
    return read_lost(body, true);
  case PERF_RECORD_LOST_SAMPLES:
    return read_lost(body, false);
  default:
    return perf_other{};
  }
}

std::span<const std::byte> ring_walk::give_up() noexcept {
  ++damaged_;
  tail_ = head_;
  return {};
}

std::span<const std::byte> ring_walk::next() noexcept {
  const std::uint64_t left = head_ - tail_;
  if (left == 0) {
    return {};
  }
  if (left > data_.size() || left < header_bytes || !std::has_single_bit(data_.size())) {
    return give_up();
  }
  const auto copy = [this](std::size_t count) {
    const auto at = static_cast<std::size_t>(tail_ & (data_.size() - 1));
    const std::size_t before_end = std::min(count, data_.size() - at);
    std::memcpy(joined_.data(), data_.data() + at, before_end);
    std::memcpy(joined_.data() + before_end, data_.data(), count - before_end);
  };
  copy(header_bytes);
  std::uint16_t size = 0;
  std::memcpy(&size, joined_.data() + 6, sizeof size);
  if (size < header_bytes || size > left) {
    return give_up();
  }
  const auto at = static_cast<std::size_t>(tail_ & (data_.size() - 1));
  if (at + size <= data_.size()) {
    tail_ += size;
    return data_.subspan(at, size);
  }
  copy(size);
  tail_ += size;
  return std::span(joined_).first(size);
}

} // namespace nodewise::sys
