// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/loader_list.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <link.h>
#include <sched.h>
#include <sys/auxv.h>

#include "agent/page.hpp"

namespace nodewise::agent {

namespace {

using program_headers = std::span<const ElfW(Phdr)>;

// Each is increased before the other is read, so a search and an unloading never run together.
constinit std::atomic<int> searches{0};
constinit std::atomic<int> unloads{0};

/// The loader's list begins with the executable, whose ELF header need not be in memory.
program_headers headers_of(const link_map& module) noexcept {
  if (&module == _r_debug.r_map) {
    return {reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR)), ::getauxval(AT_PHNUM)};
  }
  const auto* const base = reinterpret_cast<const char*>(module.l_addr);
  if (base == nullptr || std::memcmp(base, ELFMAG, SELFMAG) != 0) {
    return {};
  }
  const auto& file = *reinterpret_cast<const ElfW(Ehdr)*>(base);
  return {reinterpret_cast<const ElfW(Phdr)*>(base + file.e_phoff), file.e_phnum};
}

listed_module mappings_of(const link_map& module) noexcept {
  std::uintptr_t first = UINTPTR_MAX;
  std::uintptr_t last = 0;
  for (const ElfW(Phdr) & part : headers_of(module)) {
    if (part.p_type == PT_LOAD) {
      first = std::min<std::uintptr_t>(first, module.l_addr + part.p_vaddr);
      last = std::max<std::uintptr_t>(last, module.l_addr + part.p_vaddr + part.p_memsz);
    }
  }
  if (last == 0) {
    return {};
  }
  first -= first % page_bytes();
  return {reinterpret_cast<const char*>(first), reinterpret_cast<const char*>(last), module.l_name};
}

} // namespace

listed_module find_in_loader_list(const void* address) noexcept {
  const auto* const wanted = static_cast<const char*>(address);
  listed_module found;
  searches.fetch_add(1);
  const link_map* each = unloads.load() == 0 ? _r_debug.r_map : nullptr;
  while (each != nullptr && found.start == nullptr) {
    const listed_module one = mappings_of(*each);
    if (wanted >= one.start && wanted < one.end) {
      found = one;
    }
    each = __atomic_load_n(&each->l_next, __ATOMIC_ACQUIRE);
  }
  searches.fetch_sub(1);
  return found;
}

unloading_modules::unloading_modules() noexcept {
  unloads.fetch_add(1);
  while (searches.load() != 0) { // ends, because a search waits for nothing
    ::sched_yield();
  }
}

unloading_modules::~unloading_modules() noexcept {
  unloads.fetch_sub(1);
}

void forget_searches() noexcept {
  searches = 0;
}

} // namespace nodewise::agent
