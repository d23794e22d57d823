// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/caller.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include <link.h>
#include <sys/auxv.h>
#include <unwind.h>

namespace nodewise::engine {

namespace {

/// Where the loader put a module: its first address, and the one after its last.
struct module_range {
  std::uintptr_t first = UINTPTR_MAX;
  std::uintptr_t last = 0;

  [[nodiscard]] bool contains(std::uintptr_t address) const noexcept {
    return first <= address && address < last;
  }
};

/// Finds the module of this function.
int find_own_module(dl_phdr_info* module, std::size_t /*bytes*/, void* into) {
  module_range range;
  for (const ElfW(Phdr) & each : std::span(module->dlpi_phdr, module->dlpi_phnum)) {
    if (each.p_type == PT_LOAD) {
      range.first = std::min<std::uintptr_t>(range.first, module->dlpi_addr + each.p_vaddr);
      range.last =
          std::max<std::uintptr_t>(range.last, module->dlpi_addr + each.p_vaddr + each.p_memsz);
    }
  }
  const bool is_own = range.contains(reinterpret_cast<std::uintptr_t>(&find_own_module));
  if (is_own) {
    *static_cast<module_range*>(into) = range;
  }
  return is_own ? 1 : 0; // any other value than 0 ends the search
}

struct frame_search {
  module_range own;
  std::uintptr_t found = 0;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* into) {
  auto& search = *static_cast<frame_search*>(into);
  const std::uintptr_t address = _Unwind_GetIP(frame);
  if (address == 0 || search.own.contains(address)) {
    return _URC_NO_REASON;
  }
  search.found = address;
  return _URC_END_OF_STACK; // any other value than the first ends the walk
}

} // namespace

const void* caller_of_library(const void* otherwise) noexcept {
  // Not dladdr, which reads the module's whole table of symbols.
  frame_search search;
  const bool is_known = ::dl_iterate_phdr(find_own_module, &search.own) != 0;
  if (!is_known || search.own.contains(::getauxval(AT_PHDR))) {
    return otherwise;
  }
  _Unwind_Backtrace(look_at_frame, &search);
  return search.found != 0 ? reinterpret_cast<const void*>(search.found) : otherwise;
}

} // namespace nodewise::engine
