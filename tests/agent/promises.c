/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the C library and the kernel promise around malloc and mmap, a case for each promise.
 *
 *   promises CASE [PLUGIN]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { page = 4096, small = 300 };

static unsigned char* map(size_t bytes) {
  void* const made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(made != MAP_FAILED);
  return seen(made);
}

static void wait_for(pid_t child) {
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Some that are alive at the same time and keep their bytes until each is freed. */
static void use_blocks(size_t bytes, unsigned count) {
  unsigned char** const block = calloc(count, sizeof *block);
  CHECK(block != NULL);
  for (unsigned i = 0; i < count; ++i) {
    block[i] = seen(malloc(bytes + i * small));
    CHECK(block[i] != NULL);
    fill(block[i], bytes + i * small, i);
  }
  for (unsigned i = 0; i < count; i += 2) {
    free(block[i]);
  }
  for (unsigned i = 1; i < count; i += 2) {
    block[i] = realloc(block[i], 2 * bytes);
    CHECK(block[i] != NULL && holds(block[i], bytes, i));
    free(block[i]);
  }
  free(block);
}

/* In a program or behind a library whose own malloc only passes on. */
static void blocks(const char* unused) {
  (void)unused;
  use_blocks(small, 500);
  use_blocks(large, 10);
  void* aligned = NULL;
  CHECK(posix_memalign(&aligned, page, large) == 0);
  free(seen(aligned));
}

static volatile int step;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void* is_cancelled(void* unused) {
  CHECK(pthread_mutex_lock(&held) == 0 && pthread_cancel(pthread_self()) == 0);
  step = 1;
  use_blocks(small, 100);
  step = 2;
  use_blocks(large, 4);
  step = 3;
  unsigned char* const mapped = map(large);
  mapped[0] = 1;
  step = 4;
  CHECK(munmap(mapped, large) == 0);
  step = 5;
  CHECK(pthread_mutex_unlock(&held) == 0);
  pthread_testcancel();
  return unused;
}

static void no_cancellation_point(const char* unused) {
  (void)unused;
  pthread_t thread;
  void* result = NULL;
  CHECK(pthread_create(&thread, NULL, is_cancelled, NULL) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(step == 5 && pthread_mutex_trylock(&held) == 0);
}

/* With a library loaded whose handlers of fork() allocate. */
static void fork_handlers(const char* unused) {
  (void)unused;
  use_blocks(large, 2);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      use_blocks(small, 100);
      use_blocks(large, 2);
      _exit(0);
    }
    wait_for(child);
  }
}

/* To grow memory nobody needs the right to write into it. */
static void growth_of_read_only(const char* unused) {
  (void)unused;
  unsigned char* const mapped = map(large);
  fill(mapped, large, 1);
  CHECK(mprotect(mapped, large, PROT_READ) == 0);
  unsigned char* const moved = mremap(mapped, large, large + page, MREMAP_MAYMOVE);
  CHECK(moved != MAP_FAILED && holds(moved, large, 1));
  CHECK(munmap(moved, large + page) == 0);
}

/* Of a block only its first page, which an allocator's notes are in front of. */
static void growth_of_read_only_block(const char* unused) {
  (void)unused;
  unsigned char* const block = seen(aligned_alloc(page, large));
  CHECK(block != NULL);
  fill(block, large, 1);
  CHECK(mprotect(block, page, PROT_READ) == 0);
  unsigned char* const grown = realloc(block, large + 2 * page);
  CHECK(grown != NULL && holds(grown, large, 1));
  free(grown);
}

/* Nobody has touched a page of a new mapping, so its owner may fill in each of them. */
static void userfault(const char* unused) {
  (void)unused;
  const int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  if (faults < 0) {
    CHECK(errno == EPERM || errno == ENOSYS);
    puts("userfaultfd is not permitted");
    exit(0);
  }
  struct uffdio_api api = {.api = UFFD_API};
  CHECK(ioctl(faults, UFFDIO_API, &api) == 0);
  unsigned char* const mapped = map(large);
  struct uffdio_register all = {.range = {(uintptr_t)mapped, large},
                                .mode = UFFDIO_REGISTER_MODE_MISSING};
  CHECK(ioctl(faults, UFFDIO_REGISTER, &all) == 0);
  static unsigned char source[page] __attribute__((aligned(page)));
  for (size_t at = 0; at < large; at += page) {
    fill(source, page, (unsigned)at);
    struct uffdio_copy one = {
        .dst = (uintptr_t)(mapped + at), .src = (uintptr_t)source, .len = page};
    CHECK(ioctl(faults, UFFDIO_COPY, &one) == 0 && one.copy == page);
    CHECK(holds(mapped + at, page, (unsigned)at));
  }
  CHECK(close(faults) == 0 && munmap(mapped, large) == 0);
}

/* The child has not got the block, and others may come to be where it was. */
static void dontfork(const char* unused) {
  (void)unused;
  unsigned char* const low = seen(malloc(8 * large)); /* not next to what is freed later */
  unsigned char* const kept = seen(malloc(4 * large));
  CHECK(low != NULL && kept != NULL);
  fill(kept, 4 * large, 1);
  unsigned char* const first = kept + (page - (uintptr_t)kept % page) % page;
  CHECK(madvise(first, 4 * large, MADV_DONTFORK) == 0);
  const pid_t child = fork();
  if (child == 0) {
    enum { count = 6 };
    unsigned char* block[count];
    for (unsigned i = 0; i < count; ++i) { /* the kernel fills a hole from its upper end */
      block[i] = seen(malloc(i == 0 ? 3 * large : large));
      CHECK(block[i] != NULL);
      fill(block[i], i == 0 ? 3 * large : large, i);
    }
    for (unsigned i = count; i-- > 0;) {
      CHECK(holds(block[i], i == 0 ? 3 * large : large, i));
      free(block[i]);
    }
    use_blocks(large, 8);
    _exit(0);
  }
  wait_for(child);
  CHECK(holds(kept, 4 * large, 1));
  free(kept);
  free(low);
}

/* Behind everybody's back the kernel gets memory again, and gives the address to somebody else. */
static void unmapped_by_the_kernel(const char* unused) {
  (void)unused;
  unsigned char* const mapped = map(large);
  fill(mapped, large, 1);
  CHECK(syscall(SYS_munmap, mapped, (size_t)large) == 0);
  for (int i = 0; i < 4; ++i) {
    unsigned char* const block = seen(malloc(large));
    CHECK(block != NULL);
    fill(block, large, 2);
    unsigned char* const grown = realloc(block, 2 * large);
    CHECK(grown != NULL && holds(grown, large, 2));
    free(grown);
    unsigned char* const again = map(large);
    CHECK(again[0] == 0);
    fill(again, large, 3);
    CHECK(munmap(again, large) == 0);
  }
}

/* Its constructor waits for a thread, while the loader's lock is held. */
static void plugin(const char* name) {
  CHECK(dlopen(name, RTLD_NOW) != NULL);
  CHECK(dlerror() == NULL);
}

static void* return_it(void* argument) {
  return argument;
}

/* Says why the last dlopen failed, whatever else was called since. */
static void reason_of_dlopen(const char* unused) {
  (void)unused;
  CHECK(dlopen("/nonexistent/library.so", RTLD_NOW) == NULL);
  CHECK(munmap(map(page), page) == 0 && munmap(map(large), large) == 0);
  use_blocks(small, 10);
  use_blocks(large, 2);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, return_it, NULL) == 0 && pthread_join(thread, NULL) == 0);
  cpu_set_t cpus;
  CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  CHECK(sched_setaffinity(0, sizeof cpus, &cpus) == 0);
  CHECK(pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) == 0);
  struct rlimit cores;
  CHECK(getrlimit(RLIMIT_CORE, &cores) == 0 && setrlimit(RLIMIT_CORE, &cores) == 0);
  CHECK(prlimit(0, RLIMIT_CORE, &cores, NULL) == 0);
  const char* const reason = dlerror();
  CHECK(reason != NULL && strstr(reason, "/nonexistent/library.so") != NULL);
}

static volatile sig_atomic_t handled;

static void map_in_handler(int unused) {
  (void)unused;
  CHECK(munmap(map(large), large) == 0);
  ++handled;
}

/* System calls are safe in a handler, whatever it interrupted. */
static void handler_maps(const char* unused) {
  (void)unused;
  const struct sigaction action = {.sa_handler = map_in_handler, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 200}, {0, 200}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  while (handled < 2000) {
    CHECK(munmap(map(large), large) == 0);
    free(seen(malloc(large)));
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void find(void* function, const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  CHECK(found != NULL);
  memcpy(function, &found, sizeof found);
}

/* jemalloc's functions know every block that malloc gives, where jemalloc serves it. */
static void jemalloc(const char* unused) {
  (void)unused;
  size_t (*sallocx)(const void*, int);
  size_t (*xallocx)(void*, size_t, size_t, int);
  void* (*rallocx)(void*, size_t, int);
  void (*sdallocx)(void*, size_t, int);
  void (*dallocx)(void*, int);
  find(&sallocx, "sallocx");
  find(&xallocx, "xallocx");
  find(&rallocx, "rallocx");
  find(&sdallocx, "sdallocx");
  find(&dallocx, "dallocx");
  const size_t sizes[] = {8, small, large};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t bytes = sizes[i];
    unsigned char* const block = seen(malloc(bytes));
    CHECK(block != NULL);
    fill(block, bytes, 1);
    CHECK(sallocx(block, 0) >= bytes && xallocx(block, bytes, 0, 0) >= bytes);
    sdallocx(block, bytes, 0);
    unsigned char* const other = seen(malloc(bytes));
    CHECK(other != NULL);
    fill(other, bytes, 2);
    unsigned char* const grown = rallocx(other, 3 * bytes, 0);
    CHECK(grown != NULL && holds(grown, bytes, 2) && sallocx(grown, 0) >= 3 * bytes);
    dallocx(grown, 0);
  }
}

static const struct {
  const char* name;
  void (*check)(const char* plugin);
} cases[] = {
    {"blocks", blocks},
    {"no_cancellation_point", no_cancellation_point},
    {"fork_handlers", fork_handlers},
    {"growth_of_read_only", growth_of_read_only},
    {"growth_of_read_only_block", growth_of_read_only_block},
    {"userfault", userfault},
    {"dontfork", dontfork},
    {"unmapped_by_the_kernel", unmapped_by_the_kernel},
    {"plugin", plugin},
    {"reason_of_dlopen", reason_of_dlopen},
    {"handler_maps", handler_maps},
    {"jemalloc", jemalloc},
};

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].check(argc > 2 ? argv[2] : NULL);
      puts("ok");
      return 0;
    }
  }
  fprintf(stderr, "promises: no case %s\n", argv[1]);
  return 2;
}
