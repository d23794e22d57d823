/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Large blocks that are freed and allocated again. Each case ends with 7 if all is well.
 */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "blocks.h"

enum { page = 4096, mib = 1 << 20 };

static const size_t sizes[] = {large, large + 5 * page, 2 * large - 1, 4 * large};
enum { size_count = sizeof sizes / sizeof *sizes, rounds = 50 };

static unsigned char* make(size_t bytes, unsigned seed) {
  unsigned char* const made = seen(malloc(bytes));
  CHECK(made != NULL);
  fill(made, bytes, seed);
  return made;
}

/* All sizes at once, filled, looked at and freed. */
static void one_round(unsigned seed) {
  unsigned char* block[size_count];
  for (unsigned i = 0; i < size_count; ++i) {
    block[i] = make(sizes[i], seed + i);
  }
  for (unsigned i = 0; i < size_count; ++i) {
    CHECK(holds(block[i], sizes[i], seed + i));
    free(block[i]);
  }
}

/* The kernel ends a thread that makes any system call from here on but read, write and exit. */
static void without_system_calls(void) {
  one_round(1);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
  for (unsigned i = 0; i < rounds; ++i) {
    one_round(i);
    void* const zero = seen(calloc(2 * large, 1)); /* 2 * large - 1 bytes were kept */
    CHECK(zero != NULL && memcmp(zero, (char*)zero + 1, 2 * large - 1) == 0);
    free(zero);
    CHECK(malloc_usable_size(NULL) == 0);
    unsigned char* const other = make(sizes[0], 1);
    CHECK(malloc_usable_size(other) >= sizes[0]);
    free(other);
  }
  syscall(SYS_exit, 7);
}

static void zeroed_by_calloc(void) {
  for (unsigned i = 0; i < rounds; ++i) {
    one_round(i + 1);
    for (size_t each = 0; each < size_count; ++each) {
      unsigned char* const zero = seen(calloc(sizes[each], 1));
      CHECK(zero != NULL && zero[0] == 0 && memcmp(zero, zero + 1, sizes[each] - 1) == 0);
      memset(zero, 1, malloc_usable_size(zero));
      free(zero);
    }
  }
}

static void aligned_as_asked(void) {
  for (size_t alignment = 16; alignment <= 4 * mib; alignment *= 2) {
    for (unsigned i = 0; i < 4; ++i) {
      void* made = NULL;
      CHECK(posix_memalign(&made, alignment, large) == 0 && (uintptr_t)made % alignment == 0);
      fill(made, large, i);
      free(make(large, i + 1));
      CHECK(holds(made, large, i));
      free(made);
    }
  }
}

static void resized(void) {
  size_t bytes = large;
  unsigned char* block = make(bytes, 3);
  for (unsigned i = 1; i < rounds; ++i) {
    free(make(large * (1 + i % 4), i)); /* so that there is one to be had */
    const size_t wanted = large / 4 * (1 + i * 7 % 16);
    block = seen(realloc(block, wanted));
    CHECK(block != NULL && holds(block, bytes < wanted ? bytes : wanted, 3));
    fill(block, wanted, 3);
    bytes = wanted;
  }
  free(block);
}

/* Bytes of memory, of address space with `column` 0. */
static size_t resident(int column) {
  unsigned long long pages[2] = {0, 0};
  FILE* const file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%llu %llu", &pages[0], &pages[1]) == 2);
  fclose(file);
  return (size_t)pages[column] * page;
}

static void bounded(void) {
  enum { blocks = 60, slack = 4 * mib };
  const size_t most = 64 * mib;
  const size_t before = resident(1);
  unsigned char* block[blocks];
  for (unsigned i = 0; i < blocks; ++i) {
    block[i] = make(4 * mib, i);
  }
  for (unsigned i = 0; i < blocks; ++i) {
    free(block[i]);
  }
  CHECK(resident(1) <= before + most + slack);
  free(make(33 * mib, 1)); /* too large to be kept */
  CHECK(resident(1) <= before + most + slack);
}

static void given_back_for_others(void) {
  enum { blocks = 14 };
  unsigned char* block[blocks];
  for (unsigned i = 0; i < blocks; ++i) {
    block[i] = make(4 * mib, i);
  }
  for (unsigned i = 0; i < blocks; ++i) {
    free(block[i]);
  }
  /* Behind the C library, so that nobody sees the limit come. */
  const struct rlimit limit = {resident(0) + 8 * mib, RLIM_INFINITY};
  CHECK(syscall(SYS_prlimit64, 0, RLIMIT_AS, &limit, NULL) == 0);
  unsigned char* const made = make(24 * mib, 1);
  CHECK(holds(made, 24 * mib, 1));
  free(made);
  for (unsigned i = 0; i < blocks; ++i) {
    free(make(4 * mib, i));
  }
  void* const mapped =
      mmap(NULL, 12 * mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED && munmap(mapped, 12 * mib) == 0);
}

static void in_a_child(void) {
  unsigned char* const mine = make(large, 5);
  free(make(large, 6));
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(holds(mine, large, 5));
    free(mine);
    one_round(9);
    _exit(7);
  }
  one_round(8);
  CHECK(holds(mine, large, 5));
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  free(mine);
}

static void freed_twice(void) {
  CHECK(freopen("/dev/null", "w", stderr) != NULL);
  const struct rlimit none = {0, 0};
  CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    unsigned char* const made = make(large, 1);
    free(made);
    free(seen(made));
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

static pthread_barrier_t all_here;
static unsigned char* _Atomic handed[4];

/* Each thread frees what another one has made. */
static void* hand_round(void* number) {
  const unsigned mine = (unsigned)(uintptr_t)number;
  for (unsigned i = 0; i < rounds * 4; ++i) {
    const size_t bytes = sizes[i % size_count];
    handed[mine] = make(bytes, i + mine);
    pthread_barrier_wait(&all_here);
    const unsigned other = (mine + 1) % 4;
    unsigned char* const got = handed[other];
    CHECK(holds(got, bytes, i + other));
    free(got);
    free(make(sizes[(i + mine) % size_count], i));
    pthread_barrier_wait(&all_here);
  }
  return NULL;
}

static void among_threads(void) {
  pthread_t thread[4];
  CHECK(pthread_barrier_init(&all_here, NULL, 4) == 0);
  for (uintptr_t i = 0; i < 4; ++i) {
    CHECK(pthread_create(&thread[i], NULL, hand_round, (void*)i) == 0);
  }
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
}

/* The kernel's word on where the pages of blocks are that were others before. */
static void placed(void) {
  enum { together = 3, nodes = 4 };
  const char* const names[together] = {"first", "second", "third"};
  for (unsigned i = 0; i < rounds; ++i) {
    unsigned char* block[together];
    for (unsigned each = 0; each < together; ++each) {
      block[each] = make(8 * mib, each);
    }
    for (unsigned each = 0; each < together; ++each) {
      if (i + 1 == rounds) {
        print_blocks(names[each], block[each], 8 * mib, nodes);
      }
      free(block[each]);
    }
  }
}

/* Waits with one block of 3 MiB that is in the memory of another, for who looks at it. */
static void shown(void) {
  free(make(3 * mib, 1));
  unsigned char* const made = make(3 * mib, 2);
  puts("ready");
  fflush(stdout);
  (void)getchar();
  free(made);
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"without_system_calls", without_system_calls},
               {"zeroed_by_calloc", zeroed_by_calloc},
               {"aligned_as_asked", aligned_as_asked},
               {"resized", resized},
               {"bounded", bounded},
               {"given_back_for_others", given_back_for_others},
               {"in_a_child", in_a_child},
               {"freed_twice", freed_twice},
               {"among_threads", among_threads},
               {"placed", placed},
               {"shown", shown}};
  for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(arguments[1], cases[i].name) == 0) {
      cases[i].run();
      return 7;
    }
  }
  return 2;
}
