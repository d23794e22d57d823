// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "accesses.h"

#include "books.h"
#include "pages.h"
#include "selftest.h"

static inline bool is_active(const struct processor* processor) {
  return __atomic_load_n(&processor->active, __ATOMIC_RELAXED);
}

static inline uint64_t epoch_of(const struct processor* processor) {
  return __atomic_load_n(&processor->epoch, __ATOMIC_RELAXED);
}

static bool translate(struct processor* processor, struct translation* into,
                      qemu_plugin_meminfo_t info, uint64_t address) {
  // Kernel memory: its stack, if the instruction is interrupted. A tag cannot hold such an address.
  if (address >= USER_BYTES)
    return false;
  const uint64_t number = address >> PAGE_BITS;
  struct qemu_plugin_hwaddr* found = qemu_plugin_get_hwaddr(info, address);
  uint64_t position = UINT64_MAX;
  if (found && !qemu_plugin_hwaddr_is_io(found))
    position = memory_position(selftest_reading, qemu_plugin_hwaddr_phys_addr(found));
  if (position == UINT64_MAX) {
    processor->untranslated++;
    return false;
  }
  const uint64_t frame = position / PAGE_BYTES;
  lock_shared();
  // Read the epoch under the lock: without it, another processor may end the page.
  into->tag = number | epoch_of(processor);
  into->page = page_at(processor->task->program, number);
  page_in[frame] = into->page;
  unlock_shared();
  into->first_line = frame * LINES_A_PAGE;
  return true;
}

static struct translation* translation_of(struct processor* processor, qemu_plugin_meminfo_t info,
                                          uint64_t address) {
  const uint64_t number = address >> PAGE_BITS;
  struct translation* entry = &processor->translations[number % TRANSLATIONS];
  if (__builtin_expect(entry->tag == (number | epoch_of(processor)), 1))
    return entry;
  return translate(processor, entry, info, address) ? entry : NULL;
}

static struct operation ask(qemu_plugin_meminfo_t info) {
  return (struct operation){qemu_plugin_mem_is_store(info), 1U << qemu_plugin_mem_size_shift(info)};
}

// Caches the operation with the instruction, which mostly repeats it; but not if two processors
// could write it at the same time.
static inline struct operation operation_of(struct code* code, qemu_plugin_meminfo_t info) {
  if (parallel)
    return ask(info);
  if (__builtin_expect(code->info != info, 0)) {
    code->info = info;
    code->operation = ask(info);
  }
  return code->operation;
}

static inline uint64_t line_at(const struct translation* where, uint64_t address) {
  return where->first_line + (address >> LINE_BITS) % LINES_A_PAGE;
}

static void __attribute__((noinline)) book_line(struct processor* processor,
                                                const struct translation* where, uint64_t address,
                                                struct operation operation, struct code* code,
                                                bool streams) {
  struct access access = {.cpu = processor->cpu,
                          .operation = operation,
                          .address = address,
                          .line = line_at(where, address),
                          .page = where->page,
                          .task = processor->task,
                          .code = code,
                          .executed = &processor->executed};
  lock_shared();
  if (state == STATE_COUNTING) {
    access.page = page_now(access.page); // another processor may have ended it just now
    acting_cpu = processor->cpu;
    if (streams) {
      caches_drop(access.line);
      book_stream(&access);
    } else {
      book_access(&access, caches_access(processor->core, access.line, operation.store));
    }
  }
  unlock_shared();
}

// True if the line was already waiting.
static bool combine(struct processor* processor, uint64_t line, uint64_t bytes) {
  struct combined_line* waiting = processor->combined;
  while (waiting < processor->combined + COMBINED_LINES && waiting->line != line)
    waiting++;
  const bool was_there = waiting < processor->combined + COMBINED_LINES;
  if (!was_there) {
    waiting = &processor->combined[processor->next_combined++ % COMBINED_LINES];
    *waiting = (struct combined_line){.line = line};
  }
  waiting->bytes |= bytes;
  if (waiting->bytes == UINT64_MAX)
    waiting->line = 0;
  return was_there;
}

// An access whose bytes are all in one line.
static inline void touch(struct processor* processor, qemu_plugin_meminfo_t info, uint64_t address,
                         struct operation operation, struct code* code, bool streams) {
  const struct translation* where = translation_of(processor, info, address);
  if (!where)
    return;
  const uint64_t line = line_at(where, address);
  bool done;
  if (streams) {
    done = combine(processor, line, bytes_in_line(address, operation.bytes));
  } else {
    core_lock(processor->core);
    done = first_level_hit(&processor->core->level[0], line, operation.store);
    core_unlock(processor->core);
  }
  if (!done)
    book_line(processor, where, address, operation, code, streams);
}

// How many bytes of an access are in the first line that it touches.
static inline unsigned bytes_in_first_line(uint64_t address, unsigned bytes) {
  const unsigned in_line = LINE_BYTES - (unsigned)(address % LINE_BYTES);
  return bytes < in_line ? bytes : in_line;
}

static inline void touch_lines(struct processor* processor, qemu_plugin_meminfo_t info,
                               uint64_t address, struct operation whole, struct code* code,
                               bool streams) {
  processor->accesses++;
  const unsigned first = bytes_in_first_line(address, whole.bytes);
  const unsigned rest = whole.bytes - first;
  touch(processor, info, address, (struct operation){whole.store, first}, code, streams);
  if (rest > 0)
    touch(processor, info, address + first, (struct operation){whole.store, rest}, code, streams);
}

static void __attribute__((noinline)) follow(unsigned vcpu, qemu_plugin_meminfo_t info,
                                             uint64_t address, struct code* code) {
  struct processor* processor = &processors[vcpu];
  if (is_active(processor))
    touch_lines(processor, info, address, operation_of(code, info), code, false);
  else
    selftest_sees(processor, info, address);
}

// Most accesses end in the front of a set of the first level. True for these; false changes
// nothing, and the caller follows the access the whole way. Needs no lock: if processors run in
// parallel, no operation is cached with the instruction, and this is never true.
static inline bool ends_in_front(struct processor* processor, qemu_plugin_meminfo_t info,
                                 uint64_t address, const struct code* code) {
  const uint64_t number = address >> PAGE_BITS;
  const struct translation* where = &processor->translations[number % TRANSLATIONS];
  if (code->info != info || where->tag != (number | epoch_of(processor)) || !is_active(processor) ||
      address % LINE_BYTES + code->operation.bytes > LINE_BYTES)
    return false;
  const struct cache_level* level = &processor->core->level[0];
  const uint64_t line = line_at(where, address);
  entry_t* set = set_of(level, line);
  const uint32_t way = front_way_of(level, set, line);
  if (way == front_of(level) || !hit_entry(set, way, code->operation.store))
    return false;
  processor->accesses++;
  return true;
}

// Only this processor and, under the lock, the books of its task access the number.
void on_block(unsigned vcpu, void* instructions) {
  processors[vcpu].executed += (uintptr_t)instructions;
}

// Kept short: saving registers on every access would cost as much as the rest of the function.
void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* code) {
  if (!ends_in_front(&processors[vcpu], info, address, code))
    follow(vcpu, info, address, code);
}

void on_misread_gather(unsigned vcpu, void* nothing) {
  (void)nothing;
  processors[vcpu].misread += is_active(&processors[vcpu]);
}

void on_streaming_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* code) {
  struct processor* processor = &processors[vcpu];
  if (is_active(processor))
    touch_lines(processor, info, address, ask(info), code, true);
}
