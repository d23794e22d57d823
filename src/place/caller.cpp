// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/caller.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unwind.h>

namespace nodewise::engine {

namespace {

/// Where the loader put the module that contains an address; nullptr if none does.
const void* start_of_module(const void* address) noexcept {
  Dl_info module{};
  return ::dladdr(address, &module) != 0 ? module.dli_fbase : nullptr;
}

struct frame_search {
  const void* own_module;
  const void* found = nullptr;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* into) {
  auto& search = *static_cast<frame_search*>(into);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  if (address == nullptr || start_of_module(address) == search.own_module) {
    return _URC_NO_REASON;
  }
  search.found = address;
  return _URC_END_OF_STACK; // any other value than the first ends the walk
}

} // namespace

const void* caller_of_library(const void* otherwise) noexcept {
  frame_search search{start_of_module(reinterpret_cast<const void*>(&caller_of_library))};
  const auto* const program = reinterpret_cast<const void*>(::getauxval(AT_PHDR));
  if (search.own_module == nullptr || search.own_module == start_of_module(program)) {
    return otherwise;
  }
  _Unwind_Backtrace(look_at_frame, &search);
  return search.found != nullptr ? search.found : otherwise;
}

} // namespace nodewise::engine
