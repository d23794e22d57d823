// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The modelled caches: one or more levels of each core, at most one that the cores of a node share,
// and a directory that knows which of them hold a line.
//
// Write-allocate, write-back, least recently used first to go. Inclusive: what an outer level gives
// up, the inner ones give up too, so the directory is told everything. Protocol: a line that one
// core alone has may be written at once (E, M of MESI); a write to a line that others have takes it
// from them; a line that another core has modified comes from there and not from memory.
#pragma once

#include <string.h>

#include "machine.h"

// An entry: the line's number, and these. An empty entry is 0; line 0 belongs to the firmware. In
// 32 bits, so that a set of 16 ways is one line of the host's cache: the model's tables are what it
// waits for. That bounds the guest's memory.
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
  struct cache_level level[CACHE_LEVELS_MAX]; // its own, the first level first
  unsigned number;
  unsigned node;
  volatile char busy; // guards the first level; see core_lock()
};

extern struct core* cores;
extern unsigned private_levels;

static inline entry_t* set_of(const struct cache_level* level, uint64_t line) {
  const uint32_t set = level->mask ? (uint32_t)line & level->mask : (uint32_t)line % level->sets;
  return level->entries + (size_t)set * level->ways;
}

// The lanes of four entries that are this line's, as a mask.
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

// Where the line is in its set, or `ways`.
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

// Makes the entry at `way` the one used last, with `flags` added.
static inline void use_entry(entry_t* set, uint32_t way, entry_t flags) {
  const entry_t entry = set[way] | flags;
  for (; way > 0; way--)
    set[way] = set[way - 1];
  set[0] = entry;
}

// Only hits of the first level are looked up without the shared lock, so only it needs this one.
static inline void core_lock(struct core* core) {
  if (parallel)
    while (__atomic_test_and_set(&core->busy, __ATOMIC_ACQUIRE)) {
    }
}
static inline void core_unlock(struct core* core) {
  if (parallel)
    __atomic_clear(&core->busy, __ATOMIC_RELEASE);
}

// The front of a set was just written entry by entry: to read four of them as one would wait. And
// as many streams as a loop often has are there.
enum { FRONT_WAYS = 3 };
static inline uint32_t front_of(const struct cache_level* level) {
  return level->ways < FRONT_WAYS ? level->ways : FRONT_WAYS;
}

// Where the line is in the front of its set, or front_of().
static inline uint32_t front_way_of(const struct cache_level* level, const entry_t* set,
                                    uint64_t line) {
  uint32_t way = 0;
  while (way < front_of(level) && set[way] >> ENTRY_BITS != (entry_t)line)
    way++;
  return way;
}

// Of an entry that is there. False for a store to a line that others may have, too.
static inline bool hit_entry(entry_t* set, uint32_t way, bool store) {
  if (store && !(set[way] & ENTRY_OWNED))
    return false;
  use_entry(set, way, store ? ENTRY_DIRTY : 0);
  return true;
}

// A hit of the first level, and all there is to do for it. The rest is caches_access()'s. To be
// called under the core's lock.
static inline bool first_level_hit(const struct cache_level* level, uint64_t line, bool store) {
  entry_t* set = set_of(level, line);
  uint32_t way = front_way_of(level, set, line);
  if (way == front_of(level))
    way = way_of(level, set, line);
  return way < level->ways && hit_entry(set, way, store);
}

enum line_source {
  SOURCE_CACHE,     // a level of the core's own, or of its node
  SOURCE_MEMORY,    // a fill
  SOURCE_NEAR_CORE, // modified by another core of the node
  SOURCE_FAR_CORE,  // modified by a core of another node
};

struct cache_answer {
  enum line_source source;
  unsigned invalidations; // copies of others that a store took away
};

void caches_prepare(void);
// What first_level_hit() could not answer. Calls written_back() for every line that leaves.
struct cache_answer caches_access(struct core* core, uint64_t line, bool store);
// For a store past the caches: the line leaves all of them.
void caches_drop(uint64_t line);
// Whether each store to the line is to come to caches_access(), also of a core that owns it. Loads
// still end in the first level.
void caches_watch(uint64_t line, bool watch);
bool caches_watches(uint64_t line);
// At the end: calls `each` for every line that is still modified, with the core that has it, or the
// first one of the node whose shared cache does. Leaves the caches without the lines that cores
// had.
void caches_each_dirty(void (*each)(unsigned core, uint64_t line));

// To be defined by whoever counts: a modified line goes back to memory.
void written_back(uint64_t line);
