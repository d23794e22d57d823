// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// schedules: an array is touched by one schedule and used by another. Threads then work on pages of
// other nodes, although everything was touched in parallel. The cure is one schedule for both.
//
// Remote share of the use phase, with T threads on n nodes and C doubles a chunk (512 fill a page):
//
//   first touch  loop         remote    what happens
//   blocked      static       0         the usual cure, one block a thread, both times
//   blocked      static,C     (n-1)/n   every thread's chunks are all over the array
//   blocked      dynamic,C    ~(n-1)/n  who gets a chunk is chance
//   blocked      guided,C     ~(n-1)/n
//   pages        static,512   0         cured: a page a chunk, both times
//   pages        static,C     ~(n-1)/n  for C < 512 (threads share pages) and C > 512 (they skip)
//   pages        static       (n-1)/n
//   pages        dynamic,C    ~(n-1)/n  but all controllers serve alike: the best there is for it
//
// The exact shares hold where T divides the number of chunks and of pages, as in the default size,
// and ~ stands for a chance, or for a sum that depends on C and T. Huge pages would make `pages`
// owners of 2 MiB each: leave transparent huge pages on `madvise`.
//
// Source: Hager and Wellein, section 8.3.1 and figure 8.7 (chunk sizes and round-robin pages).
//
// usage: schedules blocked|pages static|dynamic|guided[,chunk] [MiB] [sweeps]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

// The loops' schedule(runtime) from here on: KIND or KIND,CHUNK.
static void set_schedule(const struct command_line* line, const char* text) {
  static const struct {
    const char* name;
    omp_sched_t kind;
  } kinds[] = {
      {"static", omp_sched_static}, {"dynamic", omp_sched_dynamic}, {"guided", omp_sched_guided}};
  const size_t length = strcspn(text, ",");
  const long chunk = text[length] == ',' ? parse_number(line, text + length + 1, 1L << 30) : 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0) {
      omp_set_schedule(kinds[i].kind, (int)chunk);
      return;
    }
  }
  refuse(line, text, "static, dynamic or guided, with or without a comma and a chunk of doubles");
}

static void touch_blocked(double* data, size_t n) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    data[i] = 1.0;
  }
}

static void touch_pages(double* data, size_t n) {
#pragma omp parallel for schedule(static, page_doubles)
  for (size_t i = 0; i < n; ++i) {
    data[i] = 1.0;
  }
}

int main(int argc, char** argv) {
  const struct command_line line = {
      "schedules", "blocked|pages static|dynamic|guided[,chunk] [MiB] [sweeps]", argc, argv};
  const char* touch = text_at(&line, 1, "");
  const int by_pages = strcmp(touch, "pages") == 0;
  if (!by_pages && strcmp(touch, "blocked") != 0) {
    refuse(&line, touch, "blocked or pages");
  }
  set_schedule(&line, text_at(&line, 2, ""));
  const size_t bytes = bytes_at(&line, 3, 8);
  const int sweeps = sweeps_at(&line, 4);
  end_at(&line, 4);
  const size_t n = bytes / sizeof(double);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

  (by_pages ? touch_pages : touch_blocked)(data, n);

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      data[i] += 1.0; // use
      sum += data[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
