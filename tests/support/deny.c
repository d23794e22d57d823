/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * deny CALL[,CALL...] ERRNO -- PROGRAM...: the program with these system calls refused, as a
 * container's seccomp filter does. Exit code 125 if that cannot be set up.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  unsigned number;
} calls[] = {
    {"mbind", SYS_mbind},
    {"set_mempolicy", SYS_set_mempolicy},
    {"get_mempolicy", SYS_get_mempolicy},
    {"move_pages", SYS_move_pages},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"perf_event_open", SYS_perf_event_open},
    {"ptrace", SYS_ptrace},
};
static const struct {
  const char* name;
  unsigned value;
} errnos[] = {{"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EINVAL", EINVAL}, {"EACCES", EACCES}};

static int fail(const char* what, const char* which) {
  fprintf(stderr, "deny: %s %s\n", what, which);
  return 125;
}

int main(int argc, char** argv) {
  enum { most = 16 };
  struct sock_filter program[2 * most + 2];
  unsigned short length = 0;
  unsigned refusal = 0;
  if (argc < 5 || strcmp(argv[3], "--") != 0) {
    return fail("usage:", "deny CALL[,CALL...] ERRNO -- PROGRAM...");
  }
  for (size_t i = 0; i < sizeof errnos / sizeof *errnos; ++i) {
    refusal = strcmp(argv[2], errnos[i].name) == 0 ? errnos[i].value : refusal;
  }
  if (refusal == 0) {
    return fail("unknown errno", argv[2]);
  }
  program[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (char* name = strtok(argv[1], ","); name != NULL; name = strtok(NULL, ",")) {
    size_t at = 0;
    while (at < sizeof calls / sizeof *calls && strcmp(name, calls[at].name) != 0) {
      ++at;
    }
    if (at == sizeof calls / sizeof *calls || length > 2 * most) {
      return fail("unknown call", name);
    }
    program[length++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[at].number, 0, 1);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refusal);
  }
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {length, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    return fail("the filter was not set:", strerror(errno));
  }
  execvp(argv[4], argv + 4);
  return fail("not started:", argv[4]);
}
