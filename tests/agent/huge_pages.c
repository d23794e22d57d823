/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Prints, as the kernel reports it in /proc/self/smaps, how much of each kind of its memory is in
 * huge pages. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define BYTES ((size_t)32 << 20)

static char in_bss[(size_t)32 << 20];
static char in_data[(size_t)8 << 20] = {1};

/* KiB in huge pages of all mappings that overlap the range, and the flags of the last one that has
 * some. */
static size_t kib_in_huge_pages(const char* start, size_t bytes, const char** flags) {
  FILE* file = fopen("/proc/self/smaps", "r");
  const uintptr_t first = (uintptr_t)start;
  char line[4096];
  int inside = 0;
  size_t all = 0;
  *flags = "-";
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long begin = 0;
    unsigned long end = 0;
    size_t kib = 0;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      inside = end > first && begin < first + bytes;
    } else if (inside && sscanf(line, "AnonHugePages: %zu", &kib) == 1) {
      all += kib;
    } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
      *flags = strstr(line, " hg") != NULL ? "hg" : strstr(line, " nh") != NULL ? "nh" : *flags;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return all;
}

static void show(const char* name, char* start, size_t bytes) {
  const char* flags = NULL;
  memset(start, 1, bytes);
  const size_t kib = kib_in_huge_pages(start, bytes, &flags);
  printf("%s %zu %s\n", name, kib, flags);
}

static void* mapped(size_t bytes, int more, int file) {
  void* start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | more, file, 0);
  return start == MAP_FAILED ? NULL : start;
}

int main(void) {
  char* heap = malloc(BYTES);
  char* zeroed = calloc(BYTES, 1);
  char* anonymous = mapped(BYTES, MAP_ANONYMOUS, -1);
  char* small = malloc((size_t)1536 << 10);
  FILE* file = tmpfile();
  char* of_file = NULL;
  if (file != NULL && fseek(file, (8 << 20) - 1, SEEK_SET) == 0 && fputc(0, file) == 0 &&
      fflush(file) == 0) {
    of_file = mapped((size_t)8 << 20, 0, fileno(file));
  }
  if (heap == NULL || zeroed == NULL || anonymous == NULL || small == NULL || of_file == NULL) {
    return 1;
  }
  char stack[(size_t)4 << 20];
  printf("disabled %d\n", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
  show("heap", heap, BYTES);
  show("zeroed", zeroed, BYTES);
  show("anonymous", anonymous, BYTES);
  show("static", in_bss, BYTES);
  show("data", in_data, sizeof in_data);
  show("small", small, (size_t)1536 << 10);
  show("file", of_file, (size_t)8 << 20);
  show("stack", stack, sizeof stack);
  heap = realloc(heap, 2 * BYTES);
  anonymous = mremap(anonymous, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
  if (heap == NULL || anonymous == MAP_FAILED) {
    return 1;
  }
  show("grown", heap, 2 * BYTES);
  show("remapped", anonymous, 2 * BYTES);
  free(heap);
  free(zeroed);
  free(small);
  return 0;
}
