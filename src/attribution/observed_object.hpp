// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An object while samples are attributed to it page by page, before pages are joined into runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <nodewise/id.hpp>

#include "launch/agent_report.hpp"
#include "observe/area.hpp"
#include "profile/profile.hpp"

namespace nodewise::attribution {

/// The first touch of a page.
struct page_touch {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t by = none;  ///< thread
  std::int16_t node = -1;   ///< of the processor
  std::uint32_t code = 0;   ///< position in `observed_object::codes`
  std::int16_t memory = -1; ///< node of the page, if the sample reports it
};

/// Code that touched or used memory, before it has a name.
struct touching_code {
  std::uint64_t ip = 0;
  profile::touch_kind how = profile::touch_kind::code;
  std::uint32_t by = 0; ///< thread
  std::int16_t node = -1;
  std::uint32_t stack = 0; ///< of the agent's records, if a system call wrote; else 0
  friend auto operator<=>(const touching_code&, const touching_code&) = default;
};

/// An access sampled after the first touch.
struct page_access {
  std::uint32_t page = 0;
  std::uint32_t by = 0; ///< thread
  friend auto operator<=>(const page_access&, const page_access&) = default;
};

struct observed_object {
  std::uint64_t id = 0;
  std::uint64_t allocated_ns = 0;
  std::uint64_t freed_ns = 0;
  std::uint64_t start = 0; ///< the latest address
  std::uint64_t bytes = 0;
  int maker_tid = 0;       ///< 0: unknown
  std::uint32_t stack = 0; ///< of its allocation, by the agent's number; 0: none
  const launch::allocation_report* allocation = nullptr;
  const launch::object_report* report = nullptr; ///< nullptr if its program was killed
  const observe::area* area = nullptr;           ///< for a process without an agent

  std::vector<page_touch> pages; ///< grows with the highest page touched
  std::vector<touching_code> codes;
  std::map<touching_code, std::uint32_t> code_number;
  std::vector<page_access> accesses;
  std::map<std::uint64_t, std::uint64_t> accesses_at; ///< samples by instruction

  void touch(std::uint64_t page, const touching_code& by, std::int16_t memory = -1);
  [[nodiscard]] bool is_touched(std::uint64_t page) const noexcept {
    return page < pages.size() && pages[page].by != page_touch::none;
  }
  [[nodiscard]] std::uint64_t page_count(std::size_t page_bytes) const noexcept;
};

} // namespace nodewise::attribution
