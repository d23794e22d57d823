// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What all programs share and what is not their point: the words they are called with. In C and in
// C++.
#ifndef NODEWISE_EXAMPLES_COMMAND_LINE_H
#define NODEWISE_EXAMPLES_COMMAND_LINE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

// Arrays begin with a page and blocks of threads end with one, so that no page has two owners.
enum { page_bytes = 4096, page_doubles = 512 };

struct command_line {
  const char* program;
  const char* usage; // the arguments, without the program
  int count;
  char** words;
};

// Says which word is wrong and how the program is called; ends it with status 2.
__attribute__((noreturn)) static inline void refuse(const struct command_line* line,
                                                    const char* word, const char* wanted) {
  fprintf(stderr, "%s: '%s' is not %s\nusage: %s %s\n", line->program, word, wanted, line->program,
          line->usage);
  exit(2);
}

// The text at a position, counted from 1, or `fallback` where there are fewer words.
static inline const char* text_at(const struct command_line* line, int position,
                                  const char* fallback) {
  return position < line->count ? line->words[position] : fallback;
}

// The number from 1 to `most` that `text` is; refuses all else.
static inline long parse_number(const struct command_line* line, const char* text, long most) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 1 || value > most) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a number from 1 to %ld", most);
    refuse(line, text, wanted);
  }
  return value;
}

static inline long number_at(const struct command_line* line, int position, long fallback,
                             long most) {
  const char* text = text_at(line, position, NULL);
  return text == NULL ? fallback : parse_number(line, text, most);
}

// MiB are given, bytes are returned.
static inline size_t bytes_at(const struct command_line* line, int position, long fallback) {
  return 1048576 * (size_t)number_at(line, position, fallback, 1L << 20);
}

static inline int sweeps_at(const struct command_line* line, int position) {
  return (int)number_at(line, position, 3, 1000000);
}

// Refuses what follows the last argument that the program knows.
static inline void end_at(const struct command_line* line, int last) {
  if (last + 1 < line->count) {
    refuse(line, line->words[last + 1], "an argument of this program");
  }
}

// The line for an array that was not given; returns the exit status.
static inline int no_memory(const struct command_line* line, size_t bytes) {
  fprintf(stderr, "%s: no memory for %zu MiB; ask for fewer\n", line->program, bytes >> 20);
  return 1;
}

#endif
