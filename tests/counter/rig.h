/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * The counter's sources are C11 whose headers no C++ compiler takes: what the tests need of them,
 * in a language both understand. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everything that the plug-in's entry does. */
void rig_install(const char* machine_path, const char* result_path);
/* The kernel lets the processor run a task, whose structure is at that address. */
void rig_switch(unsigned vcpu, uint64_t task);
/* The kernel tells the processor to forget translations. */
void rig_forget(unsigned vcpu);
void rig_mark(unsigned vcpu, int code);
void rig_access(unsigned vcpu, int store, unsigned bytes, uint64_t address, uint64_t pc);
/* A block of a program, of so many instructions. */
void rig_execute(unsigned vcpu, unsigned instructions);
void rig_stream(unsigned vcpu, unsigned bytes, uint64_t address, uint64_t pc);
void rig_misread(unsigned vcpu);

/* What QEMU answers: a page's place. Pages that were not named are at their own address. */
void fake_map(uint64_t address, uint64_t physical);
/* That address is a device's. */
void fake_device(uint64_t address);

int rig_mark_in(const unsigned char* bytes, size_t count);
int rig_streams(const unsigned char* bytes, size_t count);
int rig_gathers(const unsigned char* bytes, size_t count);
int rig_forgets(const unsigned char* bytes, size_t count);
/* The offset of the stack pointer in the task's structure, or -1. */
int64_t rig_switches(const unsigned char* bytes, size_t count);

/* UINT64_MAX: none. Needs rig_machine() or rig_install(). */
void rig_machine(const char* machine_path);
uint64_t rig_position(int by_block, uint64_t address);
unsigned rig_node_of(uint64_t position);

#ifdef __cplusplus
}
#endif
