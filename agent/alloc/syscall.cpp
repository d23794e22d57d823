// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// syscall(): the system calls that programs make without a function of the C library. Only mremap
// fails on memory that the agent has placed.
#include "agent/alloc/syscall.hpp"

#include <cerrno>

#include <sys/syscall.h>

#include "agent/interposed.hpp"

extern "C" {
/// The next syscall(). Until it is known, the kernel itself.
__attribute__((visibility("hidden"))) long (*nodewise_next_syscall)(long, ...) noexcept =
    nodewise_ask_kernel;
__attribute__((visibility("hidden"))) long nodewise_refused(long answer) noexcept;
}

long nodewise_refused(long answer) noexcept {
  errno = static_cast<int>(-answer);
  return -1;
}

namespace {

[[gnu::constructor]] void find_next() noexcept {
  void* const found = nodewise::agent::find_behind("syscall");
  if (found != nullptr) {
    nodewise_next_syscall = reinterpret_cast<long (*)(long, ...) noexcept>(found);
  }
}

} // namespace

// In assembly, because a caller passes only the arguments of its system call. A C++ function with
// all arguments could write to the caller's stack at the place of an argument that was not passed.
#define NODEWISE_TEXT(x) #x
#define NODEWISE_NUMBER(x) NODEWISE_TEXT(x)
#if defined(__x86_64__)
asm(R"(
  .text
  .globl syscall
  .type syscall, @function
  .balign 16
syscall:
  .cfi_startproc
  endbr64
  cmpq $)" NODEWISE_NUMBER(__NR_mremap) R"(, %rdi
  je 1f
  jmpq *nodewise_next_syscall(%rip)
1:
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %rcx
  movq %r9, %r8
  jmp nodewise_remap
  .cfi_endproc
  .size syscall, . - syscall

  .hidden nodewise_ask_kernel
  .globl nodewise_ask_kernel
  .type nodewise_ask_kernel, @function
  .balign 16
nodewise_ask_kernel:
  .cfi_startproc
  endbr64
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  cmpq $-4095, %rax
  jae 1f
  ret
1:
  movq %rax, %rdi
  jmp nodewise_refused
  .cfi_endproc
  .size nodewise_ask_kernel, . - nodewise_ask_kernel
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl syscall
  .type syscall, %function
  .balign 16
syscall:
  .cfi_startproc
  hint #34 // bti c
  cmp x0, #)" NODEWISE_NUMBER(__NR_mremap) R"(
  b.eq 1f
  adrp x16, nodewise_next_syscall
  ldr x16, [x16, #:lo12:nodewise_next_syscall]
  br x16
1:
  mov x0, x1
  mov x1, x2
  mov x2, x3
  mov x3, x4
  mov x4, x5
  b nodewise_remap
  .cfi_endproc
  .size syscall, . - syscall

  .hidden nodewise_ask_kernel
  .globl nodewise_ask_kernel
  .type nodewise_ask_kernel, %function
  .balign 16
nodewise_ask_kernel:
  .cfi_startproc
  hint #34 // bti c
  mov x8, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  mov x3, x4
  mov x4, x5
  mov x5, x6
  svc #0
  cmn x0, #4095
  b.cs 1f
  ret
1:
  b nodewise_refused
  .cfi_endproc
  .size nodewise_ask_kernel, . - nodewise_ask_kernel
)");
#else
#error "the system calls of this processor are not known"
#endif
