// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/statics.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <tuple>

#include <dlfcn.h>

#include "agent/alloc/elf_symbols.hpp"
#include "agent/alloc/module_memory.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/asked.hpp"
#include "agent/interposed.hpp"
#include "agent/loader_list.hpp"
#include "agent/modules.hpp"
#include "agent/own_descriptors.hpp"
#include "agent/page.hpp"

namespace nodewise::agent {

namespace {

/// A module with large zero-initialised memory. The struct lives in its member `memory`.
struct known_module {
  known_module* next;
  module_memory memory;
  ElfW(Addr) base;
  const ElfW(Phdr) * headers;
  const char* path;
  char** start; ///< of the objects in it
  std::size_t count;
  bool loaded; ///< still loaded at this walk
};

/// An array that may be placed: the whole pages inside a symbol.
struct candidate {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uint64_t bytes; ///< of the symbol
  bool is_public;
  const char* name;
  candidate* before; ///< in the order of finding
};

// Changed under the loader's lock only, which dl_iterate_phdr holds.
constinit known_module* modules = nullptr;
constinit unsigned long long adds = 0;
constinit std::atomic<unsigned long long> removals{0};

constinit std::atomic<std::uint64_t> stripped{0};
constinit std::atomic<bool> at_work{false};
/// The last module that was loaded when the program began. It is never unloaded, and modules that
/// are loaded later follow it. nullptr: not begun, or given up.
constinit std::atomic<link_map*> last_of_start{nullptr};
constinit std::atomic<bool> begun{false};

constinit next_function<int(void*)> next_dlclose{"dlclose"};

/// The smallest array to look at. A rule may name an array of any size.
std::uint64_t least_static_bytes() noexcept {
  const bool by_name =
      names_small_parts(asked) ||
      std::any_of(asked.rules, asked.rules + asked.rule_count,
                  [](const rule& each) { return each.symbol != nullptr && each.least_bytes == 0; });
  return by_name ? page_bytes() : least_bytes(asked);
}

/// The arrays of one file, in the memory of the module.
struct found_arrays {
  candidate* last = nullptr;
  std::size_t count = 0;
  bool complete = false; ///< nothing was stripped off
  candidate** sorted = nullptr;
};

/// Finds the arrays of a module in a file. False if this is not the module's file.
bool find_arrays(const char* path, const dl_phdr_info& module, const zero_memory& zero,
                 module_memory& memory, found_arrays& into) noexcept {
  symbol_file file(path);
  if (!file.was_loaded_as(module.dlpi_phdr, module.dlpi_phnum)) {
    return false;
  }
  into.complete = file.has_symtab();
  const std::uintptr_t page = page_bytes();
  const std::uint64_t least = least_static_bytes();
  data_symbol symbol{};
  while (file.next(least, symbol)) {
    const std::uintptr_t start = module.dlpi_addr + symbol.address;
    const std::uintptr_t begin = (start + page - 1) & ~(page - 1);
    const std::uintptr_t end = (start + symbol.bytes) & ~(page - 1);
    if (begin >= end || !zero.holds(start, symbol.bytes)) {
      continue;
    }
    auto* const made = static_cast<candidate*>(memory.take(sizeof(candidate)));
    const char* const name = made == nullptr ? nullptr : memory.copy(symbol.name);
    if (name != nullptr) {
      *made = {begin, end, symbol.bytes, symbol.is_public, name, into.last};
      into.last = made;
      ++into.count;
    }
  }
  return true;
}

enum class known_as { array, several_arrays };

/// Places one array and enters it among the objects. A range that may be several arrays is placed
/// only if a rule names it.
void place_array(const candidate& array, known_module& in, known_as what) noexcept {
  object made = unplaced(NODEWISE_AGENT_STATIC, array.end - array.begin, nullptr);
  made.start = std::bit_cast<char*>(array.begin);
  made.bytes = array.bytes;
  made.name = array.name;
  if (!choose(asked, made) ||
      (what == known_as::several_arrays && made.rule < 0 && !asked.observe)) {
    return;
  }
  made.bytes = made.mapped_bytes;   // the pages at its edges may also hold another array
  place(made, present_pages::move); // constructors may have written to it
  count_made(made);
  if (!objects.insert(made)) {
    reset(made);
    return;
  }
  in.start[in.count++] = made.start;
}

/// Orders by address. Of several names for one array the best comes first.
bool comes_before(const candidate* a, const candidate* b) noexcept {
  const auto rank = [](const candidate& of) {
    const std::string_view name(of.name);
    return std::tuple(of.begin, ~of.end, !of.is_public, name.size(), name);
  };
  return rank(*a) < rank(*b);
}

constexpr std::size_t most_unnamed = 8;

/// If several symbols name the same memory, the largest counts. Returns the bytes that have a name.
std::uint64_t place_arrays(found_arrays& found, known_module& in) noexcept {
  auto** const all =
      static_cast<candidate**>(in.memory.take((found.count + 1) * sizeof(candidate*)));
  in.start = static_cast<char**>(in.memory.take((found.count + most_unnamed) * sizeof(char*)));
  if (all == nullptr || in.start == nullptr) {
    return 0;
  }
  found.sorted = all;
  candidate** end = all;
  for (candidate* each = found.last; each != nullptr; each = each->before) {
    *end++ = each;
  }
  std::sort(all, end, comes_before);
  std::uint64_t named = 0;
  std::uintptr_t placed_to = 0;
  for (const candidate* const each : std::span(all, end)) {
    if (each->begin >= placed_to) {
      place_array(*each, in, known_as::array);
      placed_to = each->end;
      named += each->bytes;
    }
  }
  return named;
}

/// Places the memory between arrays that have a symbol, in a file with most symbols stripped off.
void place_unnamed(const found_arrays& found, const zero_memory& zero, const char* module,
                   known_module& in) noexcept {
  constexpr std::uintptr_t least = std::uintptr_t{64} << 10;
  const std::uintptr_t page = page_bytes();
  std::size_t made = 0;
  for (std::size_t i = 0; i < zero.count; ++i) {
    std::uintptr_t at = (zero.ranges[i].begin + page - 1) & ~(page - 1);
    const std::uintptr_t last = zero.ranges[i].end & ~(page - 1);
    const auto gap_to = [&](std::uintptr_t end) {
      if (end > at && end - at >= least && made < most_unnamed) {
        char what[NODEWISE_AGENT_NAME_BYTES];
        std::snprintf(what, sizeof what,
                      made == 0 ? "[static data of %s]" : "[static data of %s+0x%zx]", module,
                      at - in.base);
        const char* const name = in.memory.copy(what);
        if (name != nullptr) {
          place_array({at, end, end - at, false, name, nullptr}, in, known_as::several_arrays);
          ++made;
        }
      }
    };
    for (std::size_t k = 0; k < found.count; ++k) {
      const candidate& each = *found.sorted[k];
      if (each.begin < last && each.end > at) {
        gap_to(each.begin);
        at = each.end;
      }
    }
    gap_to(last);
  }
}

bool is_own_module(const zero_memory& zero) noexcept {
  return zero.holds(reinterpret_cast<std::uintptr_t>(&modules), 1);
}

void read_module(const dl_phdr_info& module, const zero_memory& zero, known_module& into) noexcept {
  const bool program = *into.path == '\0';
  found_arrays found;
  auto read = [&] {
    // If a program is started as an argument of the loader, /proc/self/exe is the loader.
    if (!find_arrays(program ? "/proc/self/exe" : into.path, module, zero, into.memory, found) &&
        program) {
      (void)find_arrays(program_invocation_name, module, zero, into.memory, found);
    }
  };
  with_own_descriptors(read);
  const std::uint64_t named = place_arrays(found, into);
  if (!found.complete && found.sorted != nullptr) {
    place_unnamed(found, zero, last_part(program ? program_invocation_name : into.path), into);
  }
  if (!found.complete && zero.bytes() - named >= asked.threshold_bytes) {
    ++stripped;
  }
}

void add_module(const dl_phdr_info& module, const zero_memory& zero) noexcept {
  module_memory memory;
  auto* const made = static_cast<known_module*>(memory.take(sizeof(known_module)));
  const char* const path = memory.copy(module.dlpi_name);
  if (made == nullptr || path == nullptr) {
    memory.give_back();
    return;
  }
  *made = {modules, memory, module.dlpi_addr, module.dlpi_phdr, path, nullptr, 0, true};
  read_module(module, zero, *made);
  modules = made;
}

/// One of the modules of the loader's list.
int look_at(dl_phdr_info* module, std::size_t /*bytes*/, void* /*nothing*/) {
  for (known_module* each = modules; each != nullptr; each = each->next) {
    if (each->base == module->dlpi_addr && each->headers == module->dlpi_phdr &&
        std::strcmp(each->path, module->dlpi_name) == 0) {
      each->loaded = true;
      return 0;
    }
  }
  const zero_memory zero(*module);
  const char* const name = last_part(module->dlpi_name);
  if (zero.bytes() >= least_static_bytes() && !is_own_module(zero) && !is_runtime(name) &&
      !is_language_library(name)) {
    add_module(*module, zero);
  }
  return 0;
}

/// Removes the objects of an unloaded module: other memory may have the addresses by now.
void drop(known_module& gone) noexcept {
  for (std::size_t i = 0; i < gone.count; ++i) {
    object what;
    if (!objects.take(gone.start[i], what)) {
      continue;
    }
    if (what.kind != NODEWISE_AGENT_STATIC) {
      (void)objects.insert(what);
      continue;
    }
    give_back_extents(what);
    what.flags |= NODEWISE_AGENT_PARTLY_GONE;
    report_freed(what);
  }
  module_memory memory = gone.memory;
  memory.give_back();
}

void drop_what_is_gone() noexcept {
  for (known_module** link = &modules; *link != nullptr;) {
    known_module* const each = *link;
    if (each->loaded) {
      link = &each->next;
      continue;
    }
    *link = each->next;
    drop(*each);
  }
}

/// Called only for the first module: during the call the loader's lock is held, and its list does
/// not change.
int look_at_all(dl_phdr_info* first, std::size_t /*bytes*/, void* /*nothing*/) {
  if (first->dlpi_adds == adds && first->dlpi_subs == removals) {
    return 1;
  }
  at_work = true;
  adds = first->dlpi_adds;
  removals = first->dlpi_subs;
  for (known_module* each = modules; each != nullptr; each = each->next) {
    each->loaded = false;
  }
  ::dl_iterate_phdr(look_at, nullptr);
  drop_what_is_gone();
  at_work = false;
  return 1;
}

/// Keeps the last module loaded for good, in case a constructor had loaded it.
void watch_loader() noexcept {
  link_map* last = _r_debug.r_map;
  while (last != nullptr && last->l_next != nullptr) {
    last = last->l_next;
  }
  if (last != nullptr && ::dlopen(last->l_name, RTLD_LAZY | RTLD_NOLOAD) != nullptr) {
    last_of_start = last;
    return;
  }
  last_of_start = _r_debug.r_map; // has successors, so the loader is queried each time
}

bool may_be_new() noexcept {
  const link_map* const last = last_of_start.load(std::memory_order_relaxed);
  return last != nullptr && __atomic_load_n(&last->l_next, __ATOMIC_RELAXED) != nullptr;
}

} // namespace

void place_statics() noexcept {
  if (may_be_new()) {
    ::dl_iterate_phdr(look_at_all, nullptr);
  } else if (!begun.load(std::memory_order_relaxed) && asked.threshold_bytes != 0 &&
             !begun.exchange(true)) {
    const int kept = errno;
    (void)next_dlclose.find();
    watch_loader();
    ::dl_iterate_phdr(look_at_all, nullptr);
    errno = kept;
  }
}

std::uint64_t stripped_modules() noexcept {
  return stripped;
}

unsigned long long unloaded_modules() noexcept {
  return removals.load(std::memory_order_relaxed);
}

void forget_statics() noexcept {
  forget_searches();
  // At the fork another thread had the loader's lock. That thread does not exist here and never
  // releases it.
  if (at_work) {
    last_of_start = nullptr;
  }
}

} // namespace nodewise::agent

using namespace nodewise::agent;

/// The objects of an unloaded module must be removed before other memory gets its addresses.
NODEWISE_INTERPOSED int dlclose(void* handle) noexcept {
  int answer = 0;
  {
    const unloading_modules guard;
    answer = next_dlclose.get()(handle);
  }
  if (last_of_start.load(std::memory_order_relaxed) != nullptr) {
    ::dl_iterate_phdr(look_at_all, nullptr);
  }
  return answer;
}
