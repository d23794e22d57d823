// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Recognises the few x86-64 instructions that matter to the counter by their bytes: encodings as in
// Intel's Software Developer's Manual, volume 2.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSTRUCTION_BYTES_MAX = 16 };

// A store that bypasses the caches: MOVNTI, MOVNTPS/PD, MOVNTDQ, MOVNTQ and their VEX forms.
bool is_streaming_store(const unsigned char* bytes, size_t count);

// A gather (AVX2) whose indices are in register 4.
bool gathers_by_register_4(const unsigned char* bytes, size_t count);

// An instruction that invalidates translations: MOV to CR3 or CR4, INVLPG, INVPCID.
bool forgets_translations(const unsigned char* bytes, size_t count);

// MOV disp32(%rsi),%rsp: Linux' __switch_to_asm, which loads the stack of the task in RSI. True,
// with the offset of that field in the task's structure.
bool switches_task(const unsigned char* bytes, size_t count, uint32_t* offset);
