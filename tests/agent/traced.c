/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * traced CASE: a program whose objects are known. It prints "ok" and, where the test asks for them,
 * its mappings.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

// GCC makes copies of functions for constant arguments; Clang does not, and knows no word for it.
#ifdef __clang__
#define NO_INLINE __attribute__((noinline))
#else
#define NO_INLINE __attribute__((noinline, noclone))
#endif
#define NO_TAIL_CALL __asm__ volatile("" : : : "memory")

enum { page = 4096 };

static volatile char field[3 * large];

static NO_INLINE unsigned char* wrapper(size_t bytes) {
  unsigned char* const block = malloc(bytes);
  CHECK(block != NULL);
  block[0] = 1;
  return block;
}
static NO_INLINE unsigned char* make_matrix(size_t bytes) {
  unsigned char* const block = wrapper(bytes);
  NO_TAIL_CALL;
  return block;
}
static NO_INLINE unsigned char* make_vector(size_t bytes) {
  unsigned char* const block = wrapper(bytes);
  block[1] = 2;
  return block;
}

/* Uses the stack, so that what is above differs each time without being another place. */
static NO_INLINE unsigned char* make_after(unsigned seed, size_t bytes) {
  volatile unsigned char deep[600];
  for (size_t i = 0; i < sizeof deep; ++i) {
    deep[i] = (unsigned char)(seed * i);
  }
  unsigned char* const block = wrapper(bytes);
  CHECK(deep[1] == (unsigned char)seed);
  return block;
}

static void* in_thread(void* unused) {
  (void)unused;
  unsigned char* const block = make_matrix(2 * large);
  NO_TAIL_CALL;
  return block;
}

static void print_mappings(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  char line[1024];
  while (fgets(line, sizeof line, maps) != NULL) {
    fputs(line, stdout);
  }
  fclose(maps);
}

/* The same line asked from several places, from another thread, and often from one place. */
static void places(void) {
  unsigned char* const matrix = make_matrix(large);
  unsigned char* const vector = make_vector(large);
  for (unsigned i = 0; i < 100; ++i) {
    free(make_after(i, large));
  }
  pthread_t thread;
  void* from_thread = NULL;
  CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
  CHECK(pthread_join(thread, &from_thread) == 0);
  free(from_thread);
  void* const mapped =
      mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  free(matrix);
  free(vector);
  field[0] = 1;
  print_mappings();
}

/* Every second page of 8 MiB, which is fewer runs than a record has, and of 64 MiB, which is more.
 */
static void holes(void) {
  for (size_t bytes = 8 * (size_t)large; bytes <= 64 * (size_t)large; bytes *= 8) {
    unsigned char* const block = malloc(bytes);
    CHECK(block != NULL && madvise(block, bytes, MADV_NOHUGEPAGE) == 0);
    for (size_t at = 0; at < bytes; at += 2 * page) {
      block[at] = 1;
    }
    free(block);
  }
}

static void moves(void) {
  unsigned char* block = make_matrix(large);
  void* const behind = make_vector(large);
  block = realloc(block, 64 * (size_t)large);
  CHECK(block != NULL);
  printf("%p\n", (void*)block);
  free(block);
  free(behind);
}

static void rows(void) {
  enum { count = 1000 };
  unsigned char* row[count];
  for (size_t i = 0; i < count; ++i) {
    row[i] = malloc(2048);
    CHECK(row[i] != NULL);
    row[i][0] = 1;
  }
  pthread_t thread;
  void* from_thread = NULL;
  CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
  CHECK(pthread_join(thread, &from_thread) == 0);
  for (size_t i = 0; i < count; ++i) {
    free(row[i]);
  }
}

static void killed(void) {
  (void)seen(make_matrix(large));
  free(make_vector(large));
  CHECK(raise(SIGKILL) == 0);
}

static void replaced(void) {
  (void)seen(make_matrix(large));
  execl("/bin/true", "true", (char*)NULL);
  abort();
}

static void child(void) {
  unsigned char* const inherited = make_matrix(large);
  const pid_t made = fork();
  CHECK(made >= 0);
  if (made == 0) {
    free(make_matrix(2 * large));
    free(inherited);
    exit(0);
  }
  int status = 0;
  CHECK(waitpid(made, &status, 0) == made && status == 0);
  printf("%d\n", (int)made);
  free(inherited);
}

/* More than there are records for. */
static void many(void) {
  for (int i = 0; i < 20000; ++i) {
    free(seen(malloc(large)));
  }
}

/* One of each kind, all of their pages in memory. */
static void kinds(void) {
  enum { array = 16 * large };
  memset(make_matrix(array), 1, array);
  for (size_t i = 0; i < sizeof field; i += page) {
    field[i] = 1;
  }
  unsigned char* const mapped =
      mmap(NULL, array / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  memset(mapped, 1, array / 2);
  rows();
}

static void filled(void) {
  enum { array = 64 * large };
  memset(make_matrix(array), 1, array);
}

/* Memory that malloc gives out again keeps its pages: who watches sees what happens without him. */
static void recycled(void) {
  unsigned char* const first = malloc(16 * (size_t)large);
  CHECK(first != NULL);
  first[0] = 1;
  free(first); /* from now on malloc keeps blocks of this size */
  unsigned char* const second = malloc(8 * (size_t)large);
  CHECK(second != NULL);
  memset(second, 1, 8 * (size_t)large);
  free(second);
  unsigned char* const third = calloc(8, large);
  CHECK(third != NULL && third[0] == 0 && third[8 * (size_t)large - 1] == 0);
  puts((third > second ? (size_t)(third - second) : (size_t)(second - third)) < 2 * page ? "again"
                                                                                         : "anew");
  free(third);
}

static unsigned char* filled_block(void* block, size_t bytes) {
  CHECK(block != NULL);
  memset(block, 7, bytes);
  return block;
}
static void check_filled(const unsigned char* block, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    CHECK(block[i] == 7);
  }
}

/* Blocks of 16 KiB or more that no group takes; each call is a site of its own. */
static void alone(void) {
  enum { kib = 1024 };
  unsigned char* const single = filled_block(malloc(20 * kib), 20 * kib);
  void* aligned = NULL;
  CHECK(posix_memalign(&aligned, 256, 24 * kib) == 0 && (size_t)aligned % 256 == 0);
  filled_block(aligned, 24 * kib);
  unsigned char* grown = filled_block(malloc(1000), 1000);
  grown = realloc(grown, 18 * kib); /* is large enough now */
  check_filled(grown, 1000);
  filled_block(grown, 18 * kib);
  grown = realloc(grown, 40 * kib);
  check_filled(grown, 18 * kib);
  grown = realloc(grown, 100); /* and is not any more */
  check_filled(grown, 100);
  for (int i = 0; i < 2000; ++i) { /* a buffer that is asked for again and again */
    free(filled_block(malloc(30 * kib), 30 * kib));
  }
  check_filled(single, 20 * kib);
  check_filled(aligned, 24 * kib);
  free(grown);
  free(aligned);
  free(single);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"places", places},     {"holes", holes},       {"moves", moves},   {"rows", rows},
    {"killed", killed},     {"replaced", replaced}, {"child", child},   {"many", many},
    {"recycled", recycled}, {"kinds", kinds},       {"filled", filled}, {"alone", alone},
};

int main(int argc, char** argv) {
  CHECK(argc == 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].run();
      return 0;
    }
  }
  return 2;
}
