// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The program's own mmap, munmap and mremap: private anonymous writable mappings are placed like
// large objects of malloc, read-only mappings of files by moving their pages. Memory of the
// Nodewise library in the program ends with munmap(), too. The library places it, and the agent
// reports it in observe mode.
#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/alloc/file_pages.hpp"
#include "agent/alloc/file_paths.hpp"
#include "agent/alloc/large.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/alloc/pieces.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/alloc/syscall.hpp"
#include "agent/asked.hpp"
#include "agent/modules.hpp"
#include "agent/page.hpp"

using namespace nodewise::agent;

namespace {

void* no_mmap(void*, std::size_t, int, int, int, off_t) noexcept {
  errno = ENOSYS;
  return MAP_FAILED;
}

constinit next_function<void*(void*, std::size_t, int, int, int, off_t)> next_mmap{"mmap", no_mmap};
constinit next_function<int(void*, std::size_t)> next_munmap{"munmap"};
constinit next_function<void*(void*, std::size_t, std::size_t, int, ...)> next_mremap{"mremap",
                                                                                      nullptr};

[[gnu::tls_model("initial-exec")]] constinit thread_local bool in_next_mremap = false;

/// The next mremap() may be another library's, which calls the agent's syscall() (gperftools'
/// tcmalloc). Then, and if there is none, this calls the kernel directly, so that the agent's own
/// objects can grow as well.
void* call_next_mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                       void* address) noexcept {
  auto* const theirs = in_next_mremap ? nullptr : next_mremap.find();
  if (theirs == nullptr) {
    return reinterpret_cast<void*>(
        nodewise_ask_kernel(SYS_mremap, old, old_bytes, bytes, flags, address));
  }
  in_next_mremap = true;
  void* const moved = theirs(old, old_bytes, bytes, flags, address);
  in_next_mremap = false;
  return moved;
}

/// The agent does not place memory that is reserved for later (no access rights, MAP_NORESERVE),
/// grows by itself, is shared, or has page sizes of its own.
bool is_plain_memory(int protection, int flags) noexcept {
  constexpr int wanted = MAP_PRIVATE | MAP_ANONYMOUS;
  constexpr int strange = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_NORESERVE | MAP_GROWSDOWN |
                          MAP_STACK | MAP_HUGETLB | MAP_SHARED;
  return (protection & PROT_WRITE) != 0 && (flags & wanted) == wanted && (flags & strange) == 0;
}

/// An allocator's mapping holds many objects: its pages have no owner by address.
bool is_allocator(const void* caller) noexcept {
  constexpr const char* libraries[] = {"libc",        "ld-linux",     "ld-linux-x86",
                                       "libjemalloc", "libtcmalloc",  "libtcmalloc_minimal",
                                       "libmimalloc", "libtbbmalloc", "librpmalloc",
                                       "libsnmalloc", "libhoard"};
  const module_of module(caller);
  return std::any_of(std::begin(libraries), std::end(libraries),
                     [&module](const char* name) { return module.is(name); });
}

/// Bytes from..to of a file's mapping, which keep their owners.
object part_of(const object& whole, std::size_t from, std::size_t to) noexcept {
  object part = whole;
  part.flags |= NODEWISE_AGENT_PARTLY_GONE;
  part.start += from;
  part.cut_bytes += from;
  part.mapped_bytes = to - from;
  part.bytes = std::min(whole.bytes, to) - std::min(whole.bytes, from);
  return part;
}

/// Loaders of models unmap what they do not need, as a file's header. The rest of the file is still
/// one object, or two. False if nothing of it is left.
bool keep_rest(const object& file, const char* first, const char* last) noexcept {
  const char* const end = file.start + file.mapped_bytes;
  bool kept = false;
  const auto keep = [&](const char* from, const char* to) {
    object part = part_of(file, static_cast<std::size_t>(from - file.start),
                          static_cast<std::size_t>(to - file.start));
    if (part.bytes == 0) {
      return; // beyond the file's end
    }
    if (kept) {
      count_made(part);
    } else {
      tell_moved(part);
    }
    kept = objects.insert(part) || kept;
  };
  if (file.start < first) {
    keep(file.start, first);
  }
  if (last < end) {
    keep(last, end);
  }
  return kept;
}

/// The program reuses a placed mapping, or a part of it, for something else. `moves`: it moves a
/// part, which must be one mapping again before the kernel can move it.
void forget(const void* start, std::size_t bytes, bool moves = false) noexcept {
  const char* const first = static_cast<const char*>(start);
  if (reinterpret_cast<std::uintptr_t>(start) % page_bytes() != 0) {
    return; // the kernel will refuse it
  }
  const char* const last = first + round_up(bytes, page_bytes());
  object what;
  while (objects.take_overlapping(first, last, what)) {
    if (what.kind == NODEWISE_AGENT_FILE && keep_rest(what, first, last)) {
      continue;
    }
    const bool whole = first <= what.start && first + bytes >= what.start + what.bytes;
    if (moves || !whole) {
      what.flags |= NODEWISE_AGENT_PARTLY_GONE;
    }
    report_freed(what);
    reset(what); // the rest must not keep policies that are not counted
  }
}

void enter(void* start, std::size_t bytes, int flags, const void* caller) noexcept {
  forget(start, bytes); // an earlier mapping that ended without munmap()
  object made = unplaced(NODEWISE_AGENT_MAP, bytes, caller);
  made.start = static_cast<char*>(start);
  made.above = rules_above(asked, caller);
  if (!choose(asked, made)) {
    return;
  }
  const bool filled = (flags & (MAP_POPULATE | MAP_LOCKED)) != 0;
  place(made, filled ? present_pages::move : present_pages::stay);
  count_made(made);
  if (!objects.insert(made)) {
    reset(made);
  }
}

/// Read-only mappings of files are placed by moving what is cached. Code is the loader's.
bool is_plain_file(int protection, int flags) noexcept {
  constexpr int strange = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_HUGETLB;
  return protection == PROT_READ && (flags & strange) == 0;
}

void enter_file(void* start, std::size_t bytes, int file, off_t offset,
                const void* caller) noexcept {
  const mapped_file found(file, offset, asked.threshold_bytes);
  if (found.bytes_behind < asked.threshold_bytes) {
    return;
  }
  forget(start, bytes);
  object made = unplaced(NODEWISE_AGENT_FILE, std::min(bytes, found.bytes_behind), caller);
  made.start = static_cast<char*>(start);
  made.mapped_bytes = round_up(bytes, page_bytes());
  made.name = found.name;
  made.above = rules_above(asked, caller);
  if (!choose(asked, made)) {
    return;
  }
  made.hides_pages = found.hides_pages;
  place_file(made);
  count_made(made);
  (void)objects.insert(made);
}

void* map_placed(void* hint, std::size_t bytes, int protection, int flags, int file, off_t offset,
                 const void* caller) noexcept {
  const auto map = [&] { return next_mmap.get()(hint, bytes, protection, flags, file, offset); };
  if (gate_bytes == SIZE_MAX) {
    return map();
  }
  if ((flags & MAP_FIXED) != 0 && bytes <= PTRDIFF_MAX) {
    forget(hint, bytes);
  }
  void* start = map();
  if (start == MAP_FAILED && errno == ENOMEM &&
      kept_memory.give_back_all(kept_blocks::shortage::memory)) {
    start = map();
  }
  if (start == MAP_FAILED || bytes < gate_bytes) {
    return start;
  }
  const int kept = errno;
  if (is_plain_memory(protection, flags) && !is_allocator(caller)) {
    enter(start, bytes, flags, caller);
  } else if (file >= 0 && is_plain_file(protection, flags) && watches_files(asked)) {
    enter_file(start, bytes, file, offset, caller);
  }
  errno = kept;
  return start;
}

/// The kernel moves and grows only a single mapping. Our policies may have split one mapping of the
/// program into several, if the program has cut the object since. In a forked child they stay split
/// even without policies, as each has its own record of the pages that it shares with the parent.
void* remap_joined(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                   void* address) noexcept {
  void* const moved = call_next_mremap(old, old_bytes, bytes, flags, address);
  if (moved != MAP_FAILED || errno != EFAULT ||
      !forget_policies(old, round_up(old_bytes, page_bytes()))) {
    return moved;
  }
  void* const joined = call_next_mremap(old, old_bytes, bytes, flags, address);
  return joined != MAP_FAILED || errno != EFAULT
             ? joined
             : remap_pieces(call_next_mremap, old, old_bytes, bytes, flags, address);
}

/// Grows, shrinks or moves one of our objects as a whole.
void* remap_placed(object& what, std::size_t bytes, int flags, void* address) noexcept {
  reset(what);
  void* const moved = remap_joined(what.start, what.mapped_bytes, bytes, flags, address);
  const int kept = errno;
  if (moved != MAP_FAILED) {
    what.start = static_cast<char*>(moved);
    what.bytes = bytes;
    what.mapped_bytes = round_up(bytes, page_bytes());
  }
  place_resized(what);
  tell_moved(what);
  (void)objects.insert(what);
  errno = kept;
  return moved;
}

} // namespace

void* nodewise_remap(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                     void* address) noexcept {
  if (in_next_mremap || gate_bytes == SIZE_MAX || old_bytes > PTRDIFF_MAX || bytes > PTRDIFF_MAX) {
    return call_next_mremap(old, old_bytes, bytes, flags, address);
  }
  if ((flags & MREMAP_FIXED) != 0) {
    forget(address, bytes);
  }
  object what;
  const std::size_t length = round_up(old_bytes, page_bytes());
  if (objects.find(old, what) && what.kind == NODEWISE_AGENT_MAP && what.mapped_bytes == length &&
      (flags & MREMAP_DONTUNMAP) == 0 && objects.take(old, what)) {
    return remap_placed(what, bytes, flags, address);
  }
  forget(old, length, true);
  return remap_joined(old, old_bytes, bytes, flags, address);
}

void nodewise::agent::find_next_mappers() noexcept {
  look_up(next_mmap, next_munmap, next_mremap);
}

NODEWISE_INTERPOSED void* mmap(void* hint, std::size_t bytes, int protection, int flags, int file,
                               off_t offset) noexcept {
  return map_placed(hint, bytes, protection, flags, file, offset, NODEWISE_CALLER);
}

NODEWISE_INTERPOSED void* mmap64(void* hint, std::size_t bytes, int protection, int flags, int file,
                                 off64_t offset) noexcept {
  return map_placed(hint, bytes, protection, flags, file, offset, NODEWISE_CALLER);
}

NODEWISE_INTERPOSED int munmap(void* start, std::size_t bytes) noexcept {
  if (gate_bytes != SIZE_MAX && bytes <= PTRDIFF_MAX) {
    forget(start, bytes);
  }
  return next_munmap.get()(start, bytes);
}

NODEWISE_INTERPOSED void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                                 ...) noexcept {
  std::va_list rest;
  va_start(rest, flags);
  void* const address = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  return nodewise_remap(old, old_bytes, bytes, flags, address);
}

/// Called by the library with fresh memory, before it is placed. `caller`: the return address into
/// the code that called the library.
NODEWISE_INTERPOSED void nodewise_agent_region_of(void* start, std::size_t bytes,
                                                  const void* caller) noexcept {
  if (gate_bytes == SIZE_MAX || !asked.observe || bytes < asked.threshold_bytes) {
    return;
  }
  const int kept = errno;
  object made = unplaced(NODEWISE_AGENT_REGION, bytes, caller);
  made.start = static_cast<char*>(start);
  made.flags = NODEWISE_AGENT_UNASKED;
  count_made(made);
  (void)objects.insert(made);
  errno = kept;
}

/// The same for libraries of older versions, which do not look for their caller.
NODEWISE_INTERPOSED void nodewise_agent_region(void* start, std::size_t bytes) noexcept {
  nodewise_agent_region_of(start, bytes, NODEWISE_CALLER);
}
