// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Our own declarations of the QEMU plug-in functions that the counter uses: not every distribution
// installs QEMU's header. Names and types are those of QEMU's documentation ("QEMU TCG Plugins").
// The end has the parts that differ between the versions of the interface. One file implements each
// version; the rest of the counter is compiled once.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

typedef struct qemu_info_t {
  const char* target_name;
  struct {
    int min;
    int cur;
  } version;
  bool system_emulation;
  union {
    struct {
      int smp_vcpus;
      int max_vcpus;
    } system;
  };
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
// Only the last one is used: QEMU 7.2 never calls back for loads registered as reads alone.
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned vcpu, void* data);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address,
                                          void* data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb*, qemu_plugin_vcpu_udata_cb_t,
                                          enum qemu_plugin_cb_flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, qemu_plugin_vcpu_udata_cb_t,
                                            enum qemu_plugin_cb_flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn*, qemu_plugin_vcpu_mem_cb_t,
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw,
                                      void* data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr*);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr*);

QEMU_PLUGIN_EXPORT extern int qemu_plugin_version;

// Copies up to `most` bytes of an instruction and returns how many.
size_t copy_instruction(const struct qemu_plugin_insn* from, void* into, size_t most);
