// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/agent_objects.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "agent/protocol.h"

namespace nodewise::observe {

namespace {

constexpr int attempts = 20;
constexpr std::chrono::milliseconds pause_between{1};
constexpr std::uint64_t most_slots = std::uint64_t{1} << 24;
constexpr std::uint32_t most_object_bytes = 4096;

template <class T>
bool read_value(sys::process& of, std::uint64_t address, T& into) {
  return of.read_memory(address, std::as_writable_bytes(std::span(&into, 1))) == 0;
}

bool is_valid(const nodewise_agent_view& view) {
  const auto fits = [&](std::uint32_t at, std::size_t bytes) {
    return at <= view.object_bytes && view.object_bytes - at >= bytes;
  };
  return view.magic == NODEWISE_AGENT_VIEW_MAGIC && view.version == 2 &&
         view.all.count <= most_slots && view.lent.count <= most_slots &&
         view.object_bytes <= most_object_bytes && fits(view.at_start, 8) &&
         fits(view.at_bytes, 8) && fits(view.at_sequence, 8) && fits(view.at_caller, 8) &&
         fits(view.at_kind, 4);
}

template <class T>
T field(std::span<const std::byte> record, std::uint32_t at) {
  T value;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

/// Appends the table's objects. One call reads consecutive used slots, since most slots are empty.
/// False if the process cannot be read.
bool read_table(sys::process& of, const nodewise_agent_view& view,
                const nodewise_agent_view_table& table, std::vector<agent_object>& objects) {
  std::vector<std::uint64_t> keys(table.count);
  if (table.count != 0 &&
      of.read_memory(table.keys, std::as_writable_bytes(std::span(keys))) != 0) {
    return false;
  }
  const auto is_used = [](std::uint64_t key) { return key != 0; };
  for (auto first = std::ranges::find_if(keys, is_used); first != keys.end();) {
    const auto last = std::find(first, keys.end(), 0U);
    const auto slot = static_cast<std::uint64_t>(first - keys.begin());
    std::vector<std::byte> records(static_cast<std::size_t>(last - first) * view.object_bytes);
    if (of.read_memory(table.objects + slot * view.object_bytes, records) != 0) {
      return false;
    }
    for (std::span<const std::byte> record = records; first != last; ++first) {
      const auto start = field<std::uint64_t>(record, view.at_start);
      if (start == *first) {
        objects.push_back({{start, start + field<std::uint64_t>(record, view.at_bytes)},
                           field<std::uint64_t>(record, view.at_sequence),
                           field<std::uint64_t>(record, view.at_caller),
                           field<std::uint32_t>(record, view.at_kind)});
      }
      record = record.subspan(view.object_bytes);
    }
    first = std::find_if(last, keys.end(), is_used);
  }
  return true;
}

} // namespace

std::optional<std::vector<agent_object>> read_agent_objects(sys::process& of, std::uint64_t view) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    nodewise_agent_view before{};
    nodewise_agent_view after{};
    if (!read_value(of, view, before) || !is_valid(before)) {
      return std::nullopt;
    }
    if (before.changes % 2 == 0) {
      std::vector<agent_object> objects;
      const bool complete = read_table(of, before, before.all, objects) &&
                            read_table(of, before, before.lent, objects);
      if (!read_value(of, view, after)) {
        return std::nullopt;
      }
      if (complete && std::memcmp(&before, &after, sizeof before) == 0) {
        std::ranges::sort(objects, {}, [](const agent_object& o) { return o.where.first; });
        return objects;
      }
    }
    std::this_thread::sleep_for(pause_between);
  }
  return std::nullopt;
}

} // namespace nodewise::observe
