// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// What the processors execute: blocks of instructions, and accesses to memory.
#pragma once

#include "plugin_api.h"

// A block of user code begins; `instructions` is its number of instructions.
void on_block(unsigned vcpu, void* instructions);
void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* code);
void on_streaming_store(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* code);
// Its accesses are counted where QEMU makes them.
void on_misread_gather(unsigned vcpu, void* nothing);
