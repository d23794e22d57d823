/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What programs do to end, to move memory and to start others, a case for each. Each ends with 7.
 *
 *   undisturbed CASE
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { page = 4096, done = 7 };

static unsigned char* map(size_t bytes, int protection) {
  void* const made = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(made != MAP_FAILED);
  return seen(made);
}

/* An alternate stack as small as the kernel allows, with a page before it that nobody may touch. */
static void use_small_signal_stack(size_t room) {
  const size_t least = getauxval(AT_MINSIGSTKSZ);
  const size_t bytes = (least == 0 ? (size_t)MINSIGSTKSZ : least) + room;
  const size_t mapped = (bytes + page - 1) / page * page;
  unsigned char* const start = map(page + mapped, PROT_READ | PROT_WRITE);
  CHECK(mprotect(start, page, PROT_NONE) == 0);
  const stack_t stack = {.ss_sp = start + page, .ss_size = bytes};
  CHECK(sigaltstack(&stack, NULL) == 0);
}

static void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  CHECK(sigaction(signal, &action, NULL) == 0);
}

static void leave(int signal) {
  (void)signal;
  _exit(done);
}

static unsigned char* kept[8];

static void keep_blocks(void) {
  for (int i = 0; i < 8; ++i) {
    kept[i] = seen(malloc(large + (size_t)i * page));
    CHECK(kept[i] != NULL);
    fill(kept[i], large, (unsigned)i);
  }
}

static void exit_on_small_stack(void) {
  keep_blocks();
  use_small_signal_stack(1024);
  handle(SIGUSR1, leave);
  raise(SIGUSR1);
}

/* A stack that has run into its end: the usual reason for an alternate one. */
static void exit_after_overflow(void) {
  keep_blocks();
  use_small_signal_stack(1024);
  handle(SIGSEGV, leave);
  unsigned char* const guard = map(page, PROT_NONE);
  *(volatile unsigned char*)guard = 1;
}

static pthread_barrier_t together;

static void* leave_together(void* unused) {
  pthread_barrier_wait(&together);
  _exit(done);
  return unused;
}

static void exit_of_several_threads(void) {
  enum { threads = 4 };
  keep_blocks();
  CHECK(pthread_barrier_init(&together, NULL, threads + 1) == 0);
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, leave_together, NULL) == 0);
  }
  leave_together(NULL);
}

/* Signals in whose handlers it leaves arrive while it is leaving. */
static void exit_under_signals(void) {
  const struct itimerval often = {.it_interval = {.tv_usec = 100}, .it_value = {.tv_usec = 100}};
  keep_blocks();
  use_small_signal_stack(1024);
  handle(SIGALRM, leave);
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  exit(done);
}

static void exit_of_a_child_of_vfork(void) {
  keep_blocks();
  const pid_t child = vfork();
  if (child == 0) {
    _exit(done);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == done);
  exit(done);
}

static int ends_of_pipe[2];

/* What the kernel may do with the page, as system calls find it: no signal is needed. */
static int can_read(const unsigned char* at) {
  char byte = 0;
  const int can = write(ends_of_pipe[1], at, 1) == 1;
  CHECK(can ? read(ends_of_pipe[0], &byte, 1) == 1 : errno == EFAULT);
  return can;
}
static int can_write(unsigned char* at) {
  CHECK(write(ends_of_pipe[1], at, 1) == 1 || write(ends_of_pipe[1], "x", 1) == 1);
  char byte = 0;
  const int can = read(ends_of_pipe[0], at, 1) == 1;
  CHECK(can || (errno == EFAULT && read(ends_of_pipe[0], &byte, 1) == 1));
  return can;
}

static void check_rights(unsigned char* start, size_t bytes, int protection) {
  CHECK(pipe(ends_of_pipe) == 0);
  for (size_t at = 0; at < bytes; at += 15 * page) {
    CHECK(can_read(start + at) == ((protection & PROT_READ) != 0));
    CHECK(can_write(start + at) == ((protection & PROT_WRITE) != 0));
  }
  CHECK(close(ends_of_pipe[0]) == 0 && close(ends_of_pipe[1]) == 0);
}

static void* remap(void* old, size_t old_bytes, size_t bytes, int flags, void* address) {
  return mremap(old, old_bytes, bytes, flags, address);
}
static void* remap_by_number(void* old, size_t old_bytes, size_t bytes, int flags, void* address) {
  return (void*)syscall(SYS_mremap, old, old_bytes, bytes, flags, address);
}

enum { mapped = large };

/* Grows, cuts and moves it, with these rights, and looks at its rights and bytes after each. */
static void remap_all(unsigned char* start, int protection,
                      void* (*by)(void*, size_t, size_t, int, void*)) {
  const size_t bytes[] = {mapped + 8 * page, mapped + 64 * page, mapped / 2, mapped};
  CHECK(mprotect(start, mapped, protection) == 0);
  size_t now = mapped;
  size_t kept_bytes = mapped;
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; ++i) {
    start = by(start, now, bytes[i], MREMAP_MAYMOVE, NULL);
    CHECK(start != MAP_FAILED);
    now = bytes[i];
    check_rights(start, now, protection);
    kept_bytes = kept_bytes < now ? kept_bytes : now;
  }
  unsigned char* const there = map(now + page, PROT_READ | PROT_WRITE);
  CHECK(by(start, now, now + page, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
  check_rights(there, now + page, protection);
  CHECK(mprotect(there, now + page, PROT_READ | PROT_WRITE) == 0);
  CHECK(holds(there, kept_bytes, 1));
  for (size_t at = kept_bytes; at < now + page; at += page) {
    CHECK(there[at] == 0);
  }
  CHECK(munmap(there, now + page) == 0);
}

static void remap_with_all_rights(void) {
  static const int rights[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
  for (size_t i = 0; i < 6; ++i) {
    unsigned char* const start = map(mapped, PROT_READ | PROT_WRITE);
    memset(start, 0, mapped);
    fill(start, mapped, 1);
    remap_all(start, rights[i % 3], i < 3 ? remap : remap_by_number);
  }
}

/* As the agent's policies do where there are several nodes. */
static void split_by_policies(unsigned char* start) {
  const unsigned long nodes = 1;
  for (size_t at = 0; at < mapped; at += mapped / 8) {
    CHECK(syscall(SYS_mbind, start + at, (size_t)mapped / 16, 1 /* MPOL_PREFERRED */, &nodes, 65UL,
                  0) == 0);
  }
}

static void remap_in_parent_and_child(void (*prepare)(unsigned char*)) {
  enum { count = 6 };
  static const int rights[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
  unsigned char* start[count];
  for (int i = 0; i < count; ++i) {
    start[i] = map(mapped, PROT_READ | PROT_WRITE);
    memset(start[i], 0, mapped);
    fill(start[i], mapped, 1);
    if (prepare != NULL) {
      prepare(start[i]);
    }
  }
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < count; ++i) {
      remap_all(start[i], rights[i % 3], i < 3 ? remap : remap_by_number);
    }
    _exit(done);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == done);
  for (int i = 0; i < count; ++i) { /* the parent's memory is as it was */
    CHECK(holds(start[i], mapped, 1));
    remap_all(start[i], rights[i % 3], i < 3 ? remap : remap_by_number);
  }
}

static void remap_in_a_child(void) {
  remap_in_parent_and_child(NULL);
}

/* The kernel grows no memory of several policies. The agent, whose they may be, does. */
static void remap_of_several_policies(void) {
  remap_in_parent_and_child(split_by_policies);
}

/* Of several rights it is several mappings without the agent, too. */
static void remap_of_several(void) {
  unsigned char* const start = map(mapped, PROT_READ | PROT_WRITE);
  fill(start, mapped, 1);
  CHECK(mprotect(start + page, page, PROT_READ) == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK((i == 0 ? remap : remap_by_number)(start, mapped, 2 * mapped, MREMAP_MAYMOVE, NULL) ==
              MAP_FAILED &&
          errno == EFAULT);
    CHECK(holds(start, mapped, 1));
  }
}

/* All of six arguments arrive, and the kernel's errors. */
static void system_calls_by_number(void) {
  unsigned char* const start = (unsigned char*)syscall(
      SYS_mmap, NULL, (size_t)mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
  CHECK(start != MAP_FAILED && syscall(SYS_getpid) == getpid());
  errno = 0;
  CHECK(syscall(SYS_close, -1) == -1 && errno == EBADF);
  CHECK(syscall(SYS_munmap, start, (size_t)mapped) == 0);
}

static const struct {
  const char* name;
  void (*check)(void);
} cases[] = {
    {"exit_on_small_stack", exit_on_small_stack},
    {"exit_after_overflow", exit_after_overflow},
    {"exit_of_several_threads", exit_of_several_threads},
    {"exit_under_signals", exit_under_signals},
    {"exit_of_a_child_of_vfork", exit_of_a_child_of_vfork},
    {"remap_with_all_rights", remap_with_all_rights},
    {"remap_in_a_child", remap_in_a_child},
    {"remap_of_several_policies", remap_of_several_policies},
    {"remap_of_several", remap_of_several},
    {"system_calls_by_number", system_calls_by_number},
};

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].check();
      return done;
    }
  }
  fputs("undisturbed: no such case\n", stderr);
  return 2;
}
