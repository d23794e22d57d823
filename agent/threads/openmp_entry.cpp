// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The entry functions of OpenMP's parallel regions: libgomp's, and those of LLVM's libomp and its
// relatives. The threads of a pool already exist when a region starts, so only the entry shows the
// start. The agent needs no OpenMP library: the caller of an entry has one.
#include <cstdlib>

#include <dlfcn.h>

#include "agent/alloc/statics.hpp"
#include "agent/messages.hpp"
#include "agent/modules.hpp"
#include "agent/threads/nested_teams.hpp"
#include "agent/threads/threads.hpp"
#include "sys/raw.hpp"

#if defined(__x86_64__) || defined(__aarch64__)

// clang-format off
#define NODEWISE_OPENMP_ENTRIES(each) \
  each(0, GOMP_parallel) each(1, GOMP_parallel_reductions) each(2, GOMP_parallel_start) \
  each(3, GOMP_parallel_loop_static) each(4, GOMP_parallel_loop_dynamic) \
  each(5, GOMP_parallel_loop_guided) each(6, GOMP_parallel_loop_runtime) \
  each(7, GOMP_parallel_loop_nonmonotonic_dynamic) each(8, GOMP_parallel_loop_nonmonotonic_guided) \
  each(9, GOMP_parallel_loop_nonmonotonic_runtime) \
  each(10, GOMP_parallel_loop_maybe_nonmonotonic_runtime) \
  each(11, GOMP_parallel_loop_static_start) each(12, GOMP_parallel_loop_dynamic_start) \
  each(13, GOMP_parallel_loop_guided_start) each(14, GOMP_parallel_loop_runtime_start) \
  each(15, GOMP_parallel_sections) each(16, GOMP_parallel_sections_start) each(17, GOMP_teams_reg) \
  each(18, __kmpc_fork_call) each(19, __kmpc_fork_call_if) each(20, __kmpc_fork_teams)
// clang-format on

namespace nodewise::agent {

namespace {

#define NODEWISE_NAME(number, name) #name,
constexpr const char* names[] = {NODEWISE_OPENMP_ENTRIES(NODEWISE_NAME)};
#undef NODEWISE_NAME
constexpr std::size_t entries = sizeof names / sizeof names[0];

using target = std::atomic<void*>;

/// The functions that the program would call without the agent, if its library is in the global
/// scope.
constinit target global[entries]{};

/// A module with an OpenMP library of its own, such as a plug-in: other modules cannot see it.
struct calling_module {
  calling_module* next;
  const char* start;
  std::atomic<unsigned long long> unloaded; ///< number of unloaded modules at the last look-up
  target local[entries];
};
constinit std::atomic<calling_module*> callers{nullptr};

calling_module* module_calling(const char* start) noexcept {
  calling_module* const first = callers.load(std::memory_order_acquire);
  for (calling_module* each = first; each != nullptr; each = each->next) {
    if (each->start == start) {
      return each;
    }
  }
  auto* const made = static_cast<calling_module*>(
      sys::raw::map(sizeof(calling_module), PROT_READ | PROT_WRITE, 0));
  if (made != nullptr) {
    made->start = start;
    made->next = first;
    // Two threads may enter the same module: one of the two entries is found from then on.
    while (!callers.compare_exchange_weak(made->next, made)) {
    }
  }
  return made;
}

void* find_for(const void* caller, const char* name) noexcept {
  void* const found = find_seen_from(caller, name);
  if (found == nullptr) { // without the agent, the loader would end the program here
    say("nodewise: symbol lookup error: no OpenMP library is loaded\n");
    ::_exit(127);
  }
  return found;
}

/// The targets of this module; nullptr if there is no memory for them.
target* targets_of(const void* caller) noexcept {
  calling_module* const module = module_calling(module_of(caller).start);
  if (module == nullptr) {
    return nullptr;
  }
  const unsigned long long unloaded = unloaded_modules();
  if (module->unloaded.exchange(unloaded) != unloaded) { // another module may be there now
    for (target& each : module->local) {
      each.store(nullptr, std::memory_order_relaxed);
    }
  }
  return module->local;
}

void* look_up(std::size_t entry, const void* caller) noexcept {
  target* const local = targets_of(caller);
  void* found = local == nullptr ? nullptr : local[entry].load(std::memory_order_relaxed);
  if (found != nullptr) {
    return found;
  }
  found = ::dlsym(RTLD_NEXT, names[entry]);
  target* const remembered = found != nullptr ? global : local;
  found = found != nullptr ? found : find_for(caller, names[entry]);
  learn_openmp_library(found, caller);
  if (remembered != nullptr) {
    remembered[entry].store(found, std::memory_order_relaxed);
  }
  return found;
}

} // namespace

/// Called by the entries below. Returns the function that continues the call.
extern "C" [[gnu::visibility("hidden"), gnu::used]] void*
nodewise_agent_enter_openmp(std::size_t entry, const void* caller) noexcept {
  prepare_for_threads();
  void* const found = global[entry].load(std::memory_order_relaxed);
  return found != nullptr ? found : look_up(entry, caller);
}

} // namespace nodewise::agent

// The entries take any arguments, including variadic ones, and pass them on unchanged.
#define NODEWISE_ENTRY_BEGIN(name)                                                                 \
  ".globl " #name "\n"                                                                             \
  ".type " #name ", %function\n" #name ":\n"                                                       \
  ".cfi_startproc\n"
#define NODEWISE_ENTRY_END(name)                                                                   \
  ".cfi_endproc\n"                                                                                 \
  ".size " #name ", . - " #name "\n"

#ifdef __x86_64__
#define NODEWISE_ENTRY(number, name)                                                               \
  NODEWISE_ENTRY_BEGIN(name)                                                                       \
  "endbr64\n"                                                                                      \
  "movl $" #number ", %r11d\n"                                                                     \
  "jmp nodewise_agent_openmp_entry\n" NODEWISE_ENTRY_END(name)

asm(R"(
.pushsection .text
.type nodewise_agent_openmp_entry, %function
nodewise_agent_openmp_entry:
.cfi_startproc
  subq $184, %rsp
.cfi_adjust_cfa_offset 184
  movq %rdi, 128(%rsp)
  movq %rsi, 136(%rsp)
  movq %rdx, 144(%rsp)
  movq %rcx, 152(%rsp)
  movq %r8, 160(%rsp)
  movq %r9, 168(%rsp)
  movq %rax, 176(%rsp)
  movaps %xmm0, (%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  movl %r11d, %edi
  movq 184(%rsp), %rsi
  call nodewise_agent_enter_openmp
  movq %rax, %r11
  movaps (%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  movq 128(%rsp), %rdi
  movq 136(%rsp), %rsi
  movq 144(%rsp), %rdx
  movq 152(%rsp), %rcx
  movq 160(%rsp), %r8
  movq 168(%rsp), %r9
  movq 176(%rsp), %rax
  addq $184, %rsp
.cfi_adjust_cfa_offset -184
  jmpq *%r11
.cfi_endproc
.size nodewise_agent_openmp_entry, . - nodewise_agent_openmp_entry
)" NODEWISE_OPENMP_ENTRIES(NODEWISE_ENTRY) ".popsection\n");

#else // __aarch64__
#define NODEWISE_ENTRY(number, name)                                                               \
  NODEWISE_ENTRY_BEGIN(name)                                                                       \
  "hint #34\n" /* bti c */                                                                         \
  "mov w16, #" #number "\n"                                                                        \
  "b nodewise_agent_openmp_entry\n" NODEWISE_ENTRY_END(name)

asm(R"(
.pushsection .text
.balign 4
.type nodewise_agent_openmp_entry, %function
nodewise_agent_openmp_entry:
.cfi_startproc
  stp x29, x30, [sp, #-224]!
.cfi_def_cfa_offset 224
.cfi_offset 29, -224
.cfi_offset 30, -216
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov x29, sp
  mov w0, w16
  mov x1, x30
  bl nodewise_agent_enter_openmp
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
.cfi_restore 30
.cfi_restore 29
.cfi_def_cfa_offset 0
  br x16
.cfi_endproc
.size nodewise_agent_openmp_entry, . - nodewise_agent_openmp_entry
)" NODEWISE_OPENMP_ENTRIES(NODEWISE_ENTRY) ".popsection\n");
#endif

#endif
