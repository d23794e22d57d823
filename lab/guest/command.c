// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attribution.h"
#include "port.h"
#include "support.h"

// The failed step of the child ("cannot ..." or "exec"), sent through a pipe that a successful exec
// closes.
struct start_failure {
  int error;
  char step[60];
};

static int report_fd = -1;

_Noreturn static void give_up(const char* step) {
  struct start_failure failure = {.error = errno};
  snprintf(failure.step, sizeof failure.step, "%s", step);
  write_all(report_fd, &failure, sizeof failure);
  _exit(STATUS_LAB_FAILED);
}

static void check(int result, const char* step) {
  if (result < 0)
    give_up(step);
}

// The caller's limit may exceed this kernel's maximum (fs.nr_open): uses the maximum then.
static void set_limit(struct resource_limit limit) {
  if (setrlimit((__rlimit_resource_t)limit.resource, &limit.value) == 0)
    return;
  if (limit.resource != RLIMIT_NOFILE)
    give_up("cannot set a resource limit");
  const rlim_t most = 1048576; // the kernel's default of fs.nr_open
  if (limit.value.rlim_cur > most)
    limit.value.rlim_cur = most;
  if (limit.value.rlim_max > most)
    limit.value.rlim_max = most;
  check(setrlimit(RLIMIT_NOFILE, &limit.value), "cannot limit the number of open files");
}

// The caller's identity without any privilege, so that the lab shows what an ordinary user may do.
// For uid 0 this means: access to files by ownership and mode bits only, as for everyone else.
static void become_caller(const struct job* job) {
  check(setgroups(job->group_count, job->groups), "cannot set the groups");
  check(setresgid(job->gid, job->gid, job->gid), "cannot set the group");
  // The bounding set limits the privileges that a program run as root, or set-uid, could regain.
  for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;)
    capability++;
  check(setresuid(job->uid, job->uid, job->uid), "cannot set the user");
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  check((int)syscall(SYS_capset, &header, none), "cannot drop the capabilities");
}

_Noreturn static void execute(const struct job* job, const int standard[3]) {
  check(setsid(), "cannot open a session");
  if (job->tty)
    check(ioctl(standard[0], TIOCSCTTY, 0), "cannot control the terminal");
  for (int fd = 0; fd < 3; fd++)
    check(dup2(standard[fd], fd), "cannot connect the standard streams");
  for (size_t i = 0; i < job->limit_count; i++)
    set_limit(job->limits[i]);
  umask(job->umask);
  // Before privileges are dropped: the caller's directory is inherited, not opened anew.
  check(chdir(job->working_directory), "cannot enter the working directory");
  become_caller(job);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);         // init ignores it, and programs inherit what is ignored
  environ = job->environment.items; // execvp searches the PATH of the job, not of init
  if (job->count && !job->count_when_announced)
    attribution_begin();
  execvp(job->arguments.items[0], job->arguments.items);
  give_up("exec");
}

_Noreturn static void report_start_failure(const struct job* job,
                                           const struct start_failure* failure) {
  const char* name = job->arguments.items[0];
  if (strcmp(failure->step, "exec") != 0) {
    char* asked = format_text("%s for '%s'", failure->step, name);
    fail_with(STATUS_LAB_FAILED, failure->error, "check that you may do this on the host, too",
              asked);
  }
  char* asked = format_text("cannot run '%s'", name);
  if (failure->error == ENOENT)
    fail_with(STATUS_NOT_FOUND, ENOENT, "check the name and PATH: the guest sees the host's files",
              asked);
  fail_with(STATUS_NOT_EXECUTABLE, failure->error,
            "check its permissions and format with ls -l and file", asked);
}

static void open_pipe(int ends[2], int own_end) {
  if (pipe2(ends, O_CLOEXEC) < 0)
    fail(errno, "report this as a bug of the lab", "cannot create a pipe");
  fcntl(ends[own_end], F_SETFL, O_NONBLOCK);
}

static void open_pipes(struct command* command, int standard[3]) {
  int in[2];
  int out[2];
  int error[2];
  open_pipe(in, 1);
  open_pipe(out, 0);
  open_pipe(error, 0);
  *command = (struct command){.in = in[1], .out = out[0], .error = error[0]};
  standard[0] = in[0];
  standard[1] = out[1];
  standard[2] = error[1];
}

static const char no_terminal[] = "run it without a terminal: redirect stdin or stdout";

static void open_terminal(const struct job* job, struct command* command, int standard[3]) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
    fail(errno, no_terminal, "cannot create a pseudo terminal");
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0)
    fail(errno, no_terminal, "cannot open the pseudo terminal");
  const struct winsize size = {.ws_row = job->rows, .ws_col = job->columns};
  ioctl(terminal, TIOCSWINSZ, &size);
  if (fchown(terminal, job->uid, (gid_t)-1) < 0)
    fail(errno, no_terminal, "cannot change the owner of the terminal");
  *command = (struct command){.in = fcntl(master, F_DUPFD_CLOEXEC, 0), .out = master, .error = -1};
  for (int fd = 0; fd < 3; fd++)
    standard[fd] = terminal;
}

struct command command_start(const struct job* job) {
  struct command command;
  int standard[3];
  int report[2];
  if (job->tty)
    open_terminal(job, &command, standard);
  else
    open_pipes(&command, standard);
  // A program may open /dev/stdout anew: a pipe belongs to its user, as in a shell.
  for (int fd = 0; fd < 3; fd++)
    if (!job->tty && fchown(standard[fd], job->uid, job->gid) < 0)
      note("the command cannot reopen its standard streams");
  if (pipe2(report, O_CLOEXEC) < 0)
    fail(errno, "report this as a bug of the lab", "cannot create a pipe");

  command.pid = fork();
  if (command.pid < 0)
    fail(errno, "give the machine more memory (lab.memory_bytes_per_node)",
         "cannot create a process");
  if (command.pid == 0) {
    report_fd = report[1];
    execute(job, standard);
  }
  close(report[1]);
  for (int fd = 0; fd < (job->tty ? 1 : 3); fd++)
    close(standard[fd]);
  struct start_failure failure;
  ssize_t count = read(report[0], &failure, sizeof failure);
  close(report[0]);
  if (count == (ssize_t)sizeof failure)
    report_start_failure(job, &failure);
  return command;
}
