// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/mapped_objects.hpp"

#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/last_part.hpp"

namespace nodewise::attribution {

namespace {

using observe::area_kind;

bool holds_data(const observe::area& what) {
  constexpr std::uint64_t some_pages = 16;
  const bool by_size = what.kind != area_kind::heap && what.kind != area_kind::stack;
  return what.kind != area_kind::code && what.kind != area_kind::system &&
         what.resident >= (by_size ? some_pages : 1);
}

/// The last part of its first word.
std::string program_of(const std::string& command) {
  return std::string(last_part(std::string_view(command).substr(0, command.find(' '))));
}

profile::object_kind kind_of(area_kind what) {
  using enum profile::object_kind;
  constexpr std::array kinds = {heap, static_array, heap, stack, map,
                                file, file,         file, map,   file}; // by `area_kind`
  return kinds[static_cast<std::size_t>(what)];
}

} // namespace

void add_mapped(life& into, const observe::page_map& memory) {
  if (into.name.empty()) {
    into.name = program_of(memory.command);
  }
  std::uint64_t id = 0;
  for (const observe::area& each : memory.areas) {
    if (!holds_data(each)) {
      continue;
    }
    observed_object& made = into.object_of(id);
    made.area = &each;
    made.allocated_ns = into.from_ns;
    made.start = each.where.first;
    made.bytes = each.where.last - each.where.first;
    into.live[made.start] = into.object_by_id[id];
    ++id;
  }
}

profile::object object_of_area(const observe::area& what, std::size_t page_bytes) {
  profile::object made;
  made.kind = kind_of(what.kind);
  made.name = what.name.empty() ? fmt::format("memory at {:#x}", what.where.first) : what.name;
  made.start = what.where.first;
  made.bytes = what.where.last - what.where.first;
  made.pages = what.pages;
  made.resident = what.resident;
  made.page_bytes = what.page_bytes != 0 ? what.page_bytes : page_bytes;
  std::uint64_t first = 0;
  for (const observe::page_run& run : what.runs) {
    if (run.node != observe::absent_page && run.node != observe::zero_page) {
      made.where.push_back({first, run.pages, run.node});
    }
    first += run.pages;
  }
  return made;
}

} // namespace nodewise::attribution
