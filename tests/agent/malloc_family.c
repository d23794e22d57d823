/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

static const size_t sizes[] = {0,     1,         100,           4096,       large - 1,
                               large, large + 1, 3 * large - 7, 16 * large, 40 * large + 4097};
enum { size_count = sizeof sizes / sizeof *sizes };

static void allocates_and_frees(void) {
  for (size_t i = 0; i < size_count; ++i) {
    unsigned char* const p = malloc(sizes[i]);
    CHECK(p != NULL && (uintptr_t)p % 16 == 0);
    CHECK(malloc_usable_size(p) >= sizes[i]);
    fill(p, malloc_usable_size(p), 1);
    CHECK(holds(p, malloc_usable_size(p), 1));
    errno = 77;
    free(p);
    CHECK(errno == 77);
  }
  free(NULL);
  CHECK(malloc_usable_size(NULL) == 0);
}

static void calloc_is_zero(void) {
  for (size_t i = 0; i < size_count; ++i) {
    void* const dirty = seen(malloc(sizes[i]));
    memset(dirty, 0xff, sizes[i]);
    free(dirty);
    unsigned char* const p = calloc(sizes[i] / 3 + 1, 3);
    CHECK(p != NULL);
    for (size_t at = 0; at < sizes[i] / 3 * 3 + 3; ++at) {
      CHECK(p[at] == 0);
    }
    free(p);
  }
}

static void realloc_keeps_content(void) {
  for (size_t i = 0; i < size_count; ++i) {
    for (size_t j = 0; j < size_count; ++j) {
      unsigned char* p = malloc(sizes[i]);
      fill(p, sizes[i], 5);
      p = realloc(p, sizes[j]);
      if (sizes[j] == 0) {
        CHECK(p == NULL);
        continue;
      }
      CHECK(p != NULL && malloc_usable_size(p) >= sizes[j]);
      CHECK(holds(p, sizes[i] < sizes[j] ? sizes[i] : sizes[j], 5));
      fill(p, sizes[j], 6);
      CHECK(holds(p, sizes[j], 6));
      free(p);
    }
  }
  unsigned char* p = realloc(NULL, 2 * large);
  CHECK(p != NULL);
  CHECK(realloc(p, 0) == NULL);
}

static void realloc_grows_in_small_steps(void) {
  const size_t step = 5000;
  unsigned char* p = malloc(large);
  fill(p, large, 9);
  size_t bytes = large;
  for (; bytes < 24 * large; bytes += step) {
    p = realloc(p, bytes);
    CHECK(p != NULL);
    p[bytes - 1] = 1;
  }
  CHECK(holds(p, large, 9));
  for (; bytes > 4096; bytes -= bytes / 10) {
    p = realloc(p, bytes);
    CHECK(p != NULL && holds(p, bytes < large ? bytes : large, 9));
    fill(p, bytes < large ? bytes : large, 9);
  }
  free(p);
}

static void refuses_what_cannot_be(void) {
  const volatile size_t huge = PTRDIFF_MAX;
  const size_t overflowing[] = {huge, huge + 1, SIZE_MAX, SIZE_MAX - 4096};
  for (size_t i = 0; i < sizeof overflowing / sizeof *overflowing; ++i) {
    errno = 0;
    CHECK(malloc(overflowing[i]) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(overflowing[i], 2) == NULL && errno == ENOMEM);
    void* out = (void*)1;
    CHECK(posix_memalign(&out, 64, overflowing[i]) == ENOMEM && out == (void*)1);
    errno = 0;
    CHECK(pvalloc(overflowing[i]) == NULL && errno == ENOMEM);
  }
  errno = 0;
  CHECK(calloc(huge, huge) == NULL && errno == ENOMEM);
  void* const small = malloc(10);
  unsigned char* const big = malloc(4 * large);
  fill(big, 4 * large, 3);
  errno = 0;
  CHECK(reallocarray(small, huge, 4) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(realloc(big, huge) == NULL && errno == ENOMEM);
  CHECK(holds(big, 4 * large, 3));
  free(small);
  free(big);
  void* out = NULL;
  CHECK(posix_memalign(&out, 3, 2 * large) == EINVAL);
  CHECK(posix_memalign(&out, 4, 2 * large) == EINVAL);
  CHECK(posix_memalign(&out, 0, 2 * large) == EINVAL);
  CHECK(posix_memalign(&out, 24, 2 * large) == EINVAL);
}

static void aligns(void) {
  for (size_t alignment = sizeof(void*); alignment <= (size_t)64 << 20; alignment *= 2) {
    for (size_t i = 1; i < size_count; ++i) {
      void* p[4] = {NULL, aligned_alloc(alignment, sizes[i]), memalign(alignment, sizes[i]), NULL};
      CHECK(posix_memalign(&p[0], alignment, sizes[i]) == 0);
      for (int k = 0; k < 3; ++k) {
        CHECK(p[k] != NULL && (uintptr_t)p[k] % alignment == 0);
        CHECK(malloc_usable_size(p[k]) >= sizes[i]);
        ((char*)p[k])[sizes[i] - 1] = 1;
        free(p[k]);
      }
    }
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 1; i < size_count; ++i) {
    void* const v = valloc(sizes[i]);
    void* const w = pvalloc(sizes[i]);
    CHECK(v != NULL && (uintptr_t)v % page == 0);
    CHECK(w != NULL && (uintptr_t)w % page == 0 &&
          malloc_usable_size(w) >= (sizes[i] + page - 1) / page * page);
    free(v);
    free(w);
  }
}

/* Addresses on a page that are not large objects must find their way to the right free(). */
static void small_objects_on_pages(void) {
  void* p[2000];
  for (int i = 0; i < 2000; ++i) {
    CHECK(posix_memalign(&p[i], 4096, 64) == 0);
    memset(p[i], i, 64);
  }
  for (int i = 0; i < 2000; ++i) {
    p[i] = realloc(p[i], i % 2 == 0 ? 128 : 2 * large);
    CHECK(((unsigned char*)p[i])[63] == (unsigned char)i);
    free(p[i]);
  }
}

int main(void) {
  allocates_and_frees();
  calloc_is_zero();
  realloc_keeps_content();
  realloc_grows_in_small_steps();
  refuses_what_cannot_be();
  aligns();
  small_objects_on_pages();
  puts("ok");
  return 0;
}
