// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tests/counter/rig.h"

#include "lab/counter/accesses.h"
#include "lab/counter/accounts.h"
#include "lab/counter/books.h"
#include "lab/counter/instructions.h"
#include "lab/counter/marks.h"
#include "lab/counter/pages.h"
#include "lab/counter/processors.h"
#include "lab/counter/result.h"
#include "tests/counter/fake_qemu.h"

void rig_install(const char* machine_path, const char* result_path) {
  machine_read(machine_path);
  result_open(result_path);
  caches_prepare(book_write_back);
  pages_prepare();
  processors_prepare();
}

void rig_switch(unsigned vcpu, uint64_t task) {
  switch_task(&processors[vcpu], task);
}

void rig_forget(unsigned vcpu) {
  forget_translations(&processors[vcpu]);
}

void rig_mark(unsigned vcpu, int code) {
  on_mark(vcpu, (void*)(intptr_t)code);
}

static struct code* translated(uint64_t pc) {
  lock_shared();
  struct code* code = code_at(pc);
  unlock_shared();
  return code;
}

void rig_access(unsigned vcpu, int store, unsigned bytes, uint64_t address, uint64_t pc) {
  on_access(vcpu, fake_info(store, bytes), address, translated(pc));
}

void rig_execute(unsigned vcpu, unsigned instructions) {
  on_block(vcpu, (void*)(uintptr_t)instructions);
}

void rig_stream(unsigned vcpu, unsigned bytes, uint64_t address, uint64_t pc) {
  on_streaming_store(vcpu, fake_info(1, bytes), address, translated(pc));
}

void rig_misread(unsigned vcpu) {
  on_misread_gather(vcpu, NULL);
}

int rig_mark_in(const unsigned char* bytes, size_t count) {
  return mark_in(bytes, count);
}

int rig_streams(const unsigned char* bytes, size_t count) {
  return is_streaming_store(bytes, count);
}

int rig_gathers(const unsigned char* bytes, size_t count) {
  return gathers_by_register_4(bytes, count);
}

int rig_forgets(const unsigned char* bytes, size_t count) {
  return forgets_translations(bytes, count);
}

int64_t rig_switches(const unsigned char* bytes, size_t count) {
  uint32_t offset = 0;
  return switches_task(bytes, count, &offset) ? (int64_t)offset : -1;
}

void rig_machine(const char* machine_path) {
  machine_read(machine_path);
}

uint64_t rig_position(int by_block, uint64_t address) {
  return memory_position(by_block ? READING_BLOCK : READING_PHYSICAL, address);
}

unsigned rig_node_of(uint64_t position) {
  return node_of_line(position / LINE_BYTES);
}
