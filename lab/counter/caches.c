// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "caches.h"

#include "directory.h"

struct core* cores;
static unsigned private_levels;
static struct cache_level* shared; // one for each node, or NULL: the cores' caches are the last
static uint64_t cores_of_node[NODES_MAX];
static uint64_t* watched; // a bit for each line

static struct cache_level make_level(const struct cache_shape* shape) {
  struct cache_level level = {.ways = shape->ways};
  level.sets = (uint32_t)(shape->bytes / LINE_BYTES / shape->ways);
  level.mask = has_several(level.sets) ? 0 : level.sets - 1;
  level.entries = allocate((size_t)level.sets * level.ways * sizeof *level.entries);
  return level;
}

static void (*written_back)(uint64_t line);

void caches_prepare(void (*on_write_back)(uint64_t line)) {
  written_back = on_write_back;
  if (machine_memory_bytes() > GUEST_BYTES_MAX)
    give_up("%lu bytes of memory; the model knows at most %lu", machine_memory_bytes(),
            GUEST_BYTES_MAX);
  cores = allocate(machine.cores * sizeof *cores);
  for (unsigned i = 0; i < machine.caches; i++) {
    const struct cache_shape* shape = &machine.cache[i];
    if (shape->shared) {
      shared = allocate(machine.nodes * sizeof *shared);
      for (unsigned node = 0; node < machine.nodes; node++)
        shared[node] = make_level(shape);
      continue;
    }
    for (unsigned core = 0; core < machine.cores; core++)
      cores[core].level[private_levels] = make_level(shape);
    private_levels++;
  }
  for (unsigned core = 0; core < machine.cores; core++) {
    cores[core].number = core;
    cores[core].node = machine.node_of_core[core];
    cores_of_node[cores[core].node] |= bit(core);
  }
  directory_prepare(shared != NULL);
  watched = reserve(machine_memory_bytes() / LINE_BYTES / 8 + sizeof *watched);
}

static entry_t* find(const struct cache_level* level, uint64_t line) {
  entry_t* set = set_of(level, line);
  uint32_t way = way_of(level, set, line);
  return way < level->ways ? set + way : NULL;
}

// Makes the line the most recently used one of its set, and adds `flags`. False if it is missing.
static bool use_level(const struct cache_level* level, uint64_t line, entry_t flags) {
  entry_t* set = set_of(level, line);
  const uint32_t way = way_of(level, set, line);
  if (way == level->ways)
    return false;
  use_entry(set, way, flags);
  return true;
}

// Removes the line from one level. True if it was modified there.
static bool purge_level(const struct cache_level* level, uint64_t line) {
  entry_t* set = set_of(level, line);
  uint32_t way = way_of(level, set, line);
  if (way == level->ways)
    return false;
  const bool dirty = set[way] & ENTRY_DIRTY;
  for (; way + 1 < level->ways; way++)
    set[way] = set[way + 1];
  set[way] = 0;
  return dirty;
}

// Inserts the line at the front of its set and returns the evicted entry, or 0.
static entry_t insert_level(const struct cache_level* level, entry_t entry) {
  entry_t* set = set_of(level, entry >> ENTRY_BITS);
  use_entry(set, level->ways - 1, 0); // the victim comes to the front
  const entry_t victim = set[0];
  set[0] = entry;
  return victim;
}

// Removes the line from a core's levels below `level`. True if it was modified there.
static bool purge_inner(struct core* core, unsigned level, uint64_t line) {
  core_lock(core);
  bool dirty = purge_level(&core->level[0], line);
  core_unlock(core);
  for (unsigned i = 1; i < level; i++)
    dirty |= purge_level(&core->level[i], line);
  return dirty;
}

static bool purge_core(struct core* core, uint64_t line) {
  directory_set_core(core->number, line, false);
  return purge_inner(core, private_levels, line);
}

// Changes the line's flags in all levels of the core. True if it was modified there.
static bool change_flags(struct core* core, uint64_t line, entry_t removed, entry_t added) {
  entry_t before = 0;
  core_lock(core);
  for (unsigned i = 0; i < private_levels; i++) {
    entry_t* entry = find(&core->level[i], line);
    if (entry) {
      before |= *entry;
      *entry = (*entry & ~removed) | added;
    }
  }
  core_unlock(core);
  return before & ENTRY_DIRTY;
}

static uint64_t purge_cores(uint64_t which, uint64_t line) {
  uint64_t dirty = 0;
  for (; which; which &= which - 1)
    if (purge_core(&cores[lowest_bit(which)], line))
      dirty |= bit(lowest_bit(which));
  return dirty;
}

// A core's last own level evicted a modified line: it goes to its node's cache, or to memory.
static void give_outwards(unsigned node, uint64_t line) {
  entry_t* entry = shared ? find(&shared[node], line) : NULL;
  if (entry)
    *entry |= ENTRY_DIRTY;
  else
    written_back(line);
}

static void evict_private(struct core* core, unsigned level, entry_t victim) {
  uint64_t line = victim >> ENTRY_BITS;
  if (level + 1 < private_levels) {
    entry_t* outer = find(&core->level[level + 1], line); // inclusive: it is there
    if (outer)
      *outer |= victim & ENTRY_DIRTY;
    return;
  }
  bool dirty = victim & ENTRY_DIRTY;
  if (level > 0)
    dirty |= purge_inner(core, level, line);
  directory_set_core(core->number, line, false);
  if (dirty)
    give_outwards(core->node, line);
}

static void evict_shared(unsigned node, entry_t victim) {
  uint64_t line = victim >> ENTRY_BITS;
  bool dirty = victim & ENTRY_DIRTY;
  dirty |= purge_cores(holders_of(line).cores & cores_of_node[node], line) != 0;
  directory_set_node(node, line, false);
  if (dirty)
    written_back(line);
}

// Inserts into the levels from `outermost` inwards, so that a victim's outer copies still exist.
static void insert_private(struct core* core, unsigned outermost, uint64_t line, entry_t flags) {
  directory_set_core(core->number, line, true);
  for (unsigned i = outermost + 1; i-- > 0;) {
    const entry_t entry = (entry_t)line << ENTRY_BITS | (i == 0 ? flags : flags & ENTRY_OWNED);
    core_lock(core);
    const entry_t victim = insert_level(&core->level[i], entry);
    core_unlock(core);
    if (victim)
      evict_private(core, i, victim);
  }
}

// Marks the line as used in the core's innermost own level, from the second on, that holds it.
// Returns that level, or private_levels.
static unsigned use_outer_level(const struct core* core, uint64_t line) {
  unsigned level = 1;
  while (level < private_levels && !use_level(&core->level[level], line, 0))
    level++;
  return level;
}

// Invalidates all other copies. Returns whether one of them was modified, and how far away.
static enum line_source take_from_others(const struct core* core, uint64_t line,
                                         struct cache_answer* answer) {
  const unsigned node = core->node;
  const struct holders who = holders_of(line);
  const uint64_t others = who.cores & ~bit(core->number);
  const uint64_t dirty = purge_cores(others, line);
  enum line_source source = SOURCE_MEMORY;
  answer->invalidations += (unsigned)__builtin_popcountll(others);
  if (dirty)
    source = dirty & cores_of_node[node] ? SOURCE_NEAR_CORE : SOURCE_FAR_CORE;
  for (uint64_t rest = who.nodes & ~bit(node); rest; rest &= rest - 1)
    if (purge_level(&shared[lowest_bit(rest)], line))
      source = SOURCE_FAR_CORE;
  set_holders(line, (struct holders){who.cores & bit(core->number), who.nodes & bit(node)});
  return source;
}

// Other cores keep their copies, which are unmodified from now on.
static enum line_source share_with_others(const struct core* core, uint64_t line) {
  enum line_source source = SOURCE_MEMORY;
  const struct holders who = holders_of(line);
  for (uint64_t rest = who.cores & ~bit(core->number); rest; rest &= rest - 1) {
    struct core* other = &cores[lowest_bit(rest)];
    if (!change_flags(other, line, ENTRY_DIRTY | ENTRY_OWNED, 0))
      continue;
    source = other->node == core->node ? SOURCE_NEAR_CORE : SOURCE_FAR_CORE;
    give_outwards(other->node, line);
  }
  for (uint64_t rest = who.nodes & ~bit(core->node); rest; rest &= rest - 1) {
    entry_t* entry = find(&shared[lowest_bit(rest)], line);
    if (entry && *entry & ENTRY_DIRTY) {
      *entry &= ~(entry_t)ENTRY_DIRTY;
      written_back(line);
      source = SOURCE_FAR_CORE;
    }
  }
  return source;
}

void caches_watch(uint64_t line, bool watch) {
  const uint64_t mask = bit(line % 64);
  watched[line / 64] = (watched[line / 64] & ~mask) | (watch ? mask : 0);
  for (uint64_t who = watch ? holders_of(line).cores : 0; who; who &= who - 1)
    (void)change_flags(&cores[lowest_bit(who)], line, ENTRY_OWNED, 0);
}

bool caches_watches(uint64_t line) {
  return watched[line / 64] >> (line % 64) & 1;
}

// Fetches the line from the node's own cache; inserts it there if it is missing.
static enum line_source fetch(unsigned node, uint64_t line, enum line_source elsewhere) {
  if (!shared)
    return elsewhere;
  if (use_level(&shared[node], line, 0))
    return elsewhere == SOURCE_MEMORY ? SOURCE_CACHE : elsewhere;
  const entry_t victim = insert_level(&shared[node], (entry_t)line << ENTRY_BITS);
  directory_set_node(node, line, true);
  if (victim)
    evict_shared(node, victim);
  return elsewhere;
}

struct cache_answer caches_access(struct core* core, uint64_t line, bool store) {
  struct cache_answer answer = {SOURCE_CACHE, 0};
  core_lock(core);
  const bool in_first = find(&core->level[0], line) != NULL;
  core_unlock(core);
  const unsigned level = in_first ? 0 : use_outer_level(core, line);
  const bool here = level < private_levels;
  const bool alone = directory_has_alone(core->number, line);
  const bool owns = (store || alone) && !caches_watches(line);
  enum line_source elsewhere = SOURCE_MEMORY;
  if (store && !alone)
    elsewhere = take_from_others(core, line, &answer);
  else if (!here && !alone)
    elsewhere = share_with_others(core, line);
  if (!here)
    answer.source = fetch(core->node, line, elsewhere);
  else if (store && owns)
    (void)change_flags(core, line, 0, ENTRY_OWNED);
  const entry_t dirty = store ? ENTRY_DIRTY : 0;
  if (level > 0) {
    insert_private(core, level - 1, line, (owns ? ENTRY_OWNED : 0) | dirty);
  } else {
    core_lock(core);
    (void)use_level(&core->level[0], line, dirty);
    core_unlock(core);
  }
  return answer;
}

void caches_drop(uint64_t line) {
  const struct holders who = holders_of(line);
  for (unsigned node = 0; node < machine.nodes; node++) {
    bool dirty = purge_cores(who.cores & cores_of_node[node], line) != 0;
    if (who.nodes & bit(node))
      dirty |= purge_level(&shared[node], line);
    if (dirty)
      written_back(line);
  }
  set_holders(line, (struct holders){0, 0});
}

static size_t entries_of(const struct cache_level* level) {
  return (size_t)level->sets * level->ways;
}

// Calls `each` once for a line, even if several levels hold it.
static void each_dirty_of_core(struct core* core, void (*each)(unsigned, uint64_t)) {
  for (unsigned i = 0; i < private_levels; i++) {
    const struct cache_level* level = &core->level[i];
    for (size_t at = 0; at < entries_of(level); at++)
      while (level->entries[at] & ENTRY_DIRTY) { // a removal moves the next entry up
        const uint64_t line = level->entries[at] >> ENTRY_BITS;
        (void)purge_core(core, line);
        entry_t* outer = shared ? find(&shared[core->node], line) : NULL;
        if (outer)
          *outer &= ~(entry_t)ENTRY_DIRTY;
        each(core->number, line);
      }
  }
}

void caches_each_dirty(void (*each)(unsigned core, uint64_t line)) {
  for (unsigned core = 0; core < machine.cores; core++)
    each_dirty_of_core(&cores[core], each);
  for (unsigned node = 0; shared && node < machine.nodes; node++)
    for (size_t at = 0; at < entries_of(&shared[node]); at++)
      if (shared[node].entries[at] & ENTRY_DIRTY)
        each(lowest_bit(cores_of_node[node]), shared[node].entries[at] >> ENTRY_BITS);
}
