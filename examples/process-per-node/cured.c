// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// process-per-node, cured: the same program as it is, started once for each node, bound to that
// node's processors and with its own part of the array. Its main thread still fills the part alone,
// and all of the process is on the node.
//
// Remote share of the use phase: 0.
// Source: Hager and Wellein, section 8.1.2. numactl or an MPI launcher with a process for each NUMA
// domain do the same.
//
// This launcher is without OpenMP: a runtime binds the main thread before main() and would hide
// which processors the caller permits.
//
// usage: process-per-node-cured [MiB] [sweeps]
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../shared/command_line.h"
#include "../shared/nodes.h"

static int fail(const char* what, const char* of) {
  fprintf(stderr, "process-per-node-cured: %s %s: %s\n", what, of, strerror(errno));
  return 1;
}

// The path of the program, which is in the same folder as this one.
static int find_program(char* path, size_t bytes) {
  const ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
  if (length < 0) {
    return fail("cannot read", "/proc/self/exe");
  }
  path[length] = '\0';
  char* name = strrchr(path, '/') + 1;
  snprintf(name, bytes - (size_t)(name - path), "process-per-node");
  return 0;
}

// In the new process: binds itself to a node, with a thread for each processor, and becomes the
// program.
static void become_part(const struct command_line* line, const char* path, int part, int parts,
                        const cpu_set_t* processors, int output) {
  char part_text[16];
  char parts_text[16];
  snprintf(part_text, sizeof part_text, "%d", part + 1);
  snprintf(parts_text, sizeof parts_text, "%d", parts);
  if (sched_setaffinity(0, sizeof *processors, processors) != 0 ||
      dup2(output, STDOUT_FILENO) < 0) {
    _exit(fail("cannot bind", path));
  }
  unsetenv("OMP_NUM_THREADS");
  execl(path, "process-per-node", text_at(line, 1, "16"), text_at(line, 2, "3"), part_text,
        parts_text, (char*)NULL);
  _exit(fail("cannot start", path));
}

// The permitted processors of each node that has any; returns how many nodes these are. A kernel
// without NUMA names no node: all is one then. 0 is an error, in errno.
static int permitted_nodes(cpu_set_t* sets) {
  cpu_set_t permitted;
  if (sched_getaffinity(0, sizeof permitted, &permitted) != 0) {
    return 0;
  }
  int nodes = 0;
  for (int node = 0; node < most_nodes; ++node) {
    cpu_set_t processors;
    processors_of(node, &processors);
    CPU_AND(&sets[nodes], &processors, &permitted);
    nodes += CPU_COUNT(&sets[nodes]) > 0;
  }
  if (nodes == 0) {
    sets[nodes++] = permitted;
  }
  return nodes;
}

// Adds up what the parts print; the sum of the checksums goes into the same line of result.
static int sum_of_parts(FILE* lines, int parts) {
  double sum = 0;
  int seen = 0;
  char text[256];
  while (fgets(text, sizeof text, lines) != NULL) {
    double part = 0;
    if (sscanf(text, "process-per-node: checksum %lf;", &part) == 1) {
      sum += part;
      ++seen;
    }
  }
  int failed = seen != parts;
  for (int status = 0; wait(&status) > 0;) {
    failed |= status != 0;
  }
  if (failed) {
    fprintf(stderr, "process-per-node-cured: %d of %d processes gave a result\n", seen, parts);
    return 1;
  }
  printf("process-per-node-cured: checksum %.0f; %d processes\n", sum, parts);
  return 0;
}

int main(int argc, char** argv) {
  const struct command_line line = {"process-per-node-cured", "[MiB] [sweeps]", argc, argv};
  static cpu_set_t sets[most_nodes + 1];
  bytes_at(&line, 1, 16);
  sweeps_at(&line, 2);
  end_at(&line, 2);
  char path[PATH_MAX];
  int pipe_ends[2];
  if (find_program(path, sizeof path) != 0 || pipe(pipe_ends) != 0) {
    return fail("cannot start", "process-per-node");
  }

  const int nodes = permitted_nodes(sets);
  if (nodes == 0) {
    return fail("cannot ask for", "its processors");
  }
  for (int node = 0; node < nodes; ++node) {
    const pid_t child = fork();
    if (child == 0) {
      become_part(&line, path, node, nodes, &sets[node], pipe_ends[1]);
    }
    if (child < 0) {
      return fail("cannot start", path);
    }
  }
  close(pipe_ends[1]);
  return sum_of_parts(fdopen(pipe_ends[0], "r"), nodes);
}
