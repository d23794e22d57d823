// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The modelled caches: one or more levels of each core, at most one that the cores of a node share,
// and a directory of the caches that hold a line.
//
// Write-allocate, write-back, evicts the least recently used line. Inclusive: a line evicted from
// an outer level is also evicted from the inner ones, so the directory is always exact. Protocol: a
// core that alone holds a line may write it at once (E, M of MESI); a write to a line that others
// hold invalidates their copies; a line that another core has modified comes from that core, not
// from memory.
#pragma once

#include <string.h>

#include "machine.h"

// An entry: the line's number, and these flags. An empty entry is 0; line 0 belongs to the
// firmware. 32 bits, so that a set of 16 ways is one line of the host's cache: accesses to these
// tables dominate the model's run time. This limits the guest's memory.
typedef uint32_t entry_t;
enum { ENTRY_DIRTY = 1, ENTRY_OWNED = 2, ENTRY_BITS = 2 };
#define GUEST_BYTES_MAX ((UINT64_C(1) << (32 - ENTRY_BITS)) * LINE_BYTES)

struct cache_level {
  entry_t* entries; // sets of `ways` entries, the one used last first
  uint32_t ways;
  uint32_t sets;
  uint32_t mask; // sets - 1 if that is all ones, else 0
};

struct core {
  struct cache_level level[CACHE_LEVELS_MAX]; // its own levels, from the first on
  unsigned number;
  unsigned node;
  volatile char busy; // guards the first level; see core_lock()
};

extern struct core* cores;

static inline entry_t* set_of(const struct cache_level* level, uint64_t line) {
  const uint32_t set = level->mask ? (uint32_t)line & level->mask : (uint32_t)line % level->sets;
  return level->entries + (size_t)set * level->ways;
}

// The lanes of four entries that hold this line, as a mask.
typedef entry_t four_entries __attribute__((vector_size(16), aligned(4)));
static inline unsigned lanes_with(const entry_t* entries, entry_t line) {
  const four_entries wanted = {line, line, line, line};
  four_entries read;
  memcpy(&read, entries, sizeof read);
  const four_entries equal = (four_entries)(read >> ENTRY_BITS == wanted);
#if defined(__SSE2__)
  typedef float four_floats __attribute__((vector_size(16)));
  return (unsigned)__builtin_ia32_movmskps((four_floats)equal);
#else
  return (equal[0] & 1U) | (equal[1] & 2U) | (equal[2] & 4U) | (equal[3] & 8U);
#endif
}

// The way of the line in its set, or `ways`.
static inline uint32_t way_of(const struct cache_level* level, const entry_t* set, uint64_t line) {
  uint32_t way = 0;
  for (; way + 4 <= level->ways; way += 4) {
    const unsigned lanes = lanes_with(set + way, (entry_t)line);
    if (lanes)
      return way + (uint32_t)__builtin_ctz(lanes);
  }
  while (way < level->ways && set[way] >> ENTRY_BITS != (entry_t)line)
    way++;
  return way;
}

// Makes the entry at `way` the most recently used one, and adds `flags`.
static inline void use_entry(entry_t* set, uint32_t way, entry_t flags) {
  const entry_t entry = set[way] | flags;
  for (; way > 0; way--)
    set[way] = set[way - 1];
  set[0] = entry;
}

// Guards the first level: only its hits are looked up without the shared lock.
static inline void core_lock(struct core* core) {
  if (parallel)
    while (__atomic_test_and_set(&core->busy, __ATOMIC_ACQUIRE)) {
    }
}
static inline void core_unlock(struct core* core) {
  if (parallel)
    __atomic_clear(&core->busy, __ATOMIC_RELEASE);
}

// The front of a set was just written entry by entry: a read of four entries at once would stall.
// It has room for the streams of a typical loop.
enum { FRONT_WAYS = 3 };
static inline uint32_t front_of(const struct cache_level* level) {
  return level->ways < FRONT_WAYS ? level->ways : FRONT_WAYS;
}

// The way of the line in the front of its set, or front_of().
static inline uint32_t front_way_of(const struct cache_level* level, const entry_t* set,
                                    uint64_t line) {
  uint32_t way = 0;
  while (way < front_of(level) && set[way] >> ENTRY_BITS != (entry_t)line)
    way++;
  return way;
}

// A hit of the entry at `way`. False for a store to a line that others may also hold.
static inline bool hit_entry(entry_t* set, uint32_t way, bool store) {
  if (store && !(set[way] & ENTRY_OWNED))
    return false;
  use_entry(set, way, store ? ENTRY_DIRTY : 0);
  return true;
}

// Handles a hit of the first level completely; false: call caches_access(). Call it under the
// core's lock.
static inline bool first_level_hit(const struct cache_level* level, uint64_t line, bool store) {
  entry_t* set = set_of(level, line);
  uint32_t way = front_way_of(level, set, line);
  if (way == front_of(level))
    way = way_of(level, set, line);
  return way < level->ways && hit_entry(set, way, store);
}

enum line_source {
  SOURCE_CACHE,     // a cache of the core or of its node
  SOURCE_MEMORY,    // a fill
  SOURCE_NEAR_CORE, // modified by another core of the node
  SOURCE_FAR_CORE,  // modified by a core of another node
};

struct cache_answer {
  enum line_source source;
  unsigned invalidations; // copies of other cores that a store invalidated
};

// `written_back` is called for every modified line that goes back to memory.
void caches_prepare(void (*written_back)(uint64_t line));
// Handles what first_level_hit() could not.
struct cache_answer caches_access(struct core* core, uint64_t line, bool store);
// For a streaming store: the line leaves all caches.
void caches_drop(uint64_t line);
// Sets whether every store to the line goes to caches_access(), even from a core that owns it.
// Loads still end in the first level.
void caches_watch(uint64_t line, bool watch);
bool caches_watches(uint64_t line);
// At the end: calls `each` for every line that is still modified, with the core that holds it, or
// the first core of the node whose shared cache holds it. Removes the cores' modified lines.
void caches_each_dirty(void (*each)(unsigned core, uint64_t line));
