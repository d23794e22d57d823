// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/call_on_stack.hpp"

// In assembly, because compilers do not support changing the stack in a function.
asm(R"(
  .text
  .globl nodewise_call_on_stack
  .hidden nodewise_call_on_stack
  .type nodewise_call_on_stack, %function
  .balign 16
nodewise_call_on_stack:
  .cfi_startproc
)"
#if defined(__x86_64__)
    R"(
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
)"
#elif defined(__aarch64__)
    R"(
  hint #34 // bti c
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  mov sp, x0
  mov x0, x2
  blr x1
  mov sp, x29
  ldp x29, x30, [sp], #16
  .cfi_def_cfa sp, 0
  ret
)"
#else
#error "the stack of this processor is not known"
#endif
    R"(
  .cfi_endproc
  .size nodewise_call_on_stack, . - nodewise_call_on_stack
)");
