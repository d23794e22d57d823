// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The lab's traffic counter: a plug-in of QEMU's emulator that follows every access of the observed
// programs through modelled caches to memory.
//
//   -plugin counter.so,machine=FILE,result=FILE
//
// User-mode instructions get a call-back when QEMU translates them; so does each of their blocks,
// with its number of instructions. Kernel code gets call-backs in two places only: the switch to
// another task, and instructions that invalidate translations. Marks come from user programs. The
// counter never reads registers or memory of the guest, so the oldest plug-in interface is enough.
#include <string.h>

#include "accesses.h"
#include "books.h"
#include "instructions.h"
#include "marks.h"
#include "pages.h"
#include "processors.h"
#include "result.h"

struct instruction {
  struct qemu_plugin_insn* handle;
  uint64_t address;
  size_t count;
  unsigned char bytes[INSTRUCTION_BYTES_MAX];
};

static struct instruction read_instruction(const struct qemu_plugin_tb* block, size_t index) {
  struct instruction read = {.handle = qemu_plugin_tb_get_insn(block, index)};
  const size_t size = qemu_plugin_insn_size(read.handle);
  const size_t most = size < sizeof read.bytes ? size : sizeof read.bytes;
  read.address = qemu_plugin_insn_vaddr(read.handle);
  read.count = copy_instruction(read.handle, read.bytes, most);
  return read;
}

static void on_switch(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* offset) {
  (void)info;
  switch_task(&processors[vcpu], address - (uintptr_t)offset);
}

static void on_forgetting(unsigned vcpu, void* nothing) {
  (void)nothing;
  forget_translations(&processors[vcpu]);
}

static void prepare_user(const struct instruction* what) {
  const int mark = mark_in(what->bytes, what->count);
  if (mark >= 0) {
    qemu_plugin_register_vcpu_insn_exec_cb(what->handle, on_mark, QEMU_PLUGIN_CB_NO_REGS,
                                           (void*)(intptr_t)mark);
    return;
  }
  lock_shared();
  struct code* code = code_at(what->address);
  unlock_shared();
  // QEMU 7.2 to 9.0 take the first element for all
  // (https://gitlab.com/qemu-project/qemu/-/issues/2474).
  if (qemu_plugin_version < 3 && gathers_by_register_4(what->bytes, what->count))
    qemu_plugin_register_vcpu_insn_exec_cb(what->handle, on_misread_gather, QEMU_PLUGIN_CB_NO_REGS,
                                           NULL);
  const bool streams = is_streaming_store(what->bytes, what->count);
  qemu_plugin_register_vcpu_mem_cb(what->handle, streams ? on_streaming_store : on_access,
                                   QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, code);
}

static void prepare_kernel(const struct instruction* what) {
  uint32_t offset = 0;
  if (switches_task(what->bytes, what->count, &offset))
    qemu_plugin_register_vcpu_mem_cb(what->handle, on_switch, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, (void*)(uintptr_t)offset);
  else if (forgets_translations(what->bytes, what->count))
    qemu_plugin_register_vcpu_insn_exec_cb(what->handle, on_forgetting, QEMU_PLUGIN_CB_NO_REGS,
                                           NULL);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  size_t of_user = 0;
  for (size_t i = 0; i < count; i++) {
    const struct instruction what = read_instruction(block, i);
    const bool of_kernel = what.address >> 47; // the upper half of the address space
    if (of_kernel)
      prepare_kernel(&what);
    else
      prepare_user(&what);
    of_user += !of_kernel;
  }
  if (of_user > 0)
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         (void*)(uintptr_t)of_user);
}

static const char* value_of(const char* key, int count, char** arguments) {
  const size_t length = strlen(key);
  for (int i = 0; i < count; i++)
    if (strncmp(arguments[i], key, length) == 0 && arguments[i][length] == '=')
      return arguments[i] + length + 1;
  give_up("the argument %s is missing", key);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int count,
                                           char** arguments) {
  if (!info->system_emulation || strcmp(info->target_name, "x86_64") != 0)
    give_up("this is not qemu-system-x86_64 but %s", info->target_name);
  if (info->system.max_vcpus > VCPUS_MAX)
    give_up("%d processors, at most %d", info->system.max_vcpus, VCPUS_MAX);
  machine_read(value_of("machine", count, arguments));
  result_open(value_of("result", count, arguments));
  caches_prepare(book_write_back);
  pages_prepare();
  processors_prepare();
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
