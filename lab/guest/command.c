// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodewise/marker.h"
#include "port.h"
#include "support.h"

// One of the command's output streams on its way to the host.
struct output {
  int fd; // -1: at its end
  enum frame_type type;
  size_t credit;
};

// The command's input: at most STREAM_WINDOW bytes wait here; the host keeps to this limit.
struct input {
  int fd; // -1: closed by either side
  unsigned char waiting[STREAM_WINDOW];
  size_t size;
  bool ends; // close after the waiting bytes
};

static int children_fd = -1;
static struct input input;
static struct output outputs[2] = {
    {.fd = -1, .type = FRAME_STDOUT, .credit = STREAM_WINDOW},
    {.fd = -1, .type = FRAME_STDERR, .credit = STREAM_WINDOW},
};
static pid_t command_pid;
static int terminal_fd = -1; // init's half of the command's terminal
static int wait_status;
static bool command_ended;

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

static bool keeps(const struct job* job, unsigned long capability) {
  return capability < 32 && (job->capabilities >> capability & 1U) != 0;
}

// The caller's identity without any privilege, so that the lab shows what an ordinary user may do,
// except capabilities that the job names. For uid 0 this means: access to files by ownership and
// mode bits only, as for everyone else.
static void become_caller(const struct job* job) {
  check(setgroups(job->group_count, job->groups), "cannot set the groups");
  check(setresgid(job->gid, job->gid, job->gid), "cannot set the group");
  // The bounding set limits the privileges that a program run as root, or set-uid, could regain.
  for (unsigned long capability = 0;; capability++)
    if (!keeps(job, capability) && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      break; // the kernel has no more
  check(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "cannot keep the capabilities");
  check(setresuid(job->uid, job->uid, job->uid), "cannot set the user");
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  const unsigned kept = job->capabilities;
  struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3] = {
      {.effective = kept, .permitted = kept, .inheritable = kept}};
  check((int)syscall(SYS_capset, &header, all), "cannot drop the capabilities");
  // Programs that an ordinary user starts keep only ambient ones.
  for (unsigned long capability = 0; capability < 32; capability++)
    if (keeps(job, capability))
      check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0),
            "cannot keep a capability");
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
  if (strcmp(job->count, "command") == 0)
    NODEWISE_MARKER_SAY(NODEWISE_MARKER_OBSERVE);
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

static void open_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) < 0)
    fail(errno, "report this as a bug of the lab", "cannot create a pipe");
}

static void open_pipes(int standard[3]) {
  int* const own[3] = {&input.fd, &outputs[0].fd, &outputs[1].fd};
  for (int fd = 0; fd < 3; fd++) {
    int ends[2];
    open_pipe(ends);
    const int own_end = fd == STDIN_FILENO ? 1 : 0;
    *own[fd] = ends[own_end];
    standard[fd] = ends[1 - own_end];
    fcntl(*own[fd], F_SETFL, O_NONBLOCK);
  }
}

static const char no_terminal[] = "run it without a terminal: redirect stdin or stdout";

static void open_terminal(const struct job* job, int standard[3]) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
    fail(errno, no_terminal, "cannot create a pseudo terminal");
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0)
    fail(errno, no_terminal, "cannot open the pseudo terminal");
  const struct winsize size = {.ws_row = (unsigned short)job->rows,
                               .ws_col = (unsigned short)job->columns};
  ioctl(terminal, TIOCSWINSZ, &size);
  if (fchown(terminal, job->uid, (gid_t)-1) < 0)
    fail(errno, no_terminal, "cannot change the owner of the terminal");
  terminal_fd = fcntl(master, F_DUPFD_CLOEXEC, 0);
  input.fd = terminal_fd;
  outputs[0].fd = master;
  for (int fd = 0; fd < 3; fd++)
    standard[fd] = terminal;
}

// Returns once the command's program is executed; ends the machine if it could not be.
static void start(const struct job* job) {
  int standard[3];
  int report[2];
  if (job->tty)
    open_terminal(job, standard);
  else
    open_pipes(standard);
  // A program may open /dev/stdout anew: a pipe belongs to its user, as in a shell.
  for (int fd = 0; fd < 3; fd++)
    if (!job->tty && fchown(standard[fd], job->uid, job->gid) < 0)
      note("the command cannot reopen its standard streams");
  open_pipe(report);

  command_pid = fork();
  if (command_pid < 0)
    fail(errno, "give the machine more memory (lab.memory_bytes_per_node)",
         "cannot create a process");
  if (command_pid == 0) {
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
}

void command_prepare(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  signal(SIGPIPE, SIG_IGN);
  children_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (children_fd < 0)
    fail(errno, "report this as a bug of the lab", "cannot create a signalfd");
}

static void close_input(void) {
  if (input.fd < 0)
    return;
  close(input.fd);
  input.fd = -1;
  input.size = 0;
  port_send(FRAME_STDIN_CLOSED, NULL, 0);
}

static void write_input(void) {
  while (input.fd >= 0 && input.size > 0) {
    ssize_t count = write(input.fd, input.waiting, input.size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return;
    if (count < 0) { // the command reads no more
      close_input();
      return;
    }
    input.size -= (size_t)count;
    memmove(input.waiting, input.waiting + count, input.size);
    port_send_integers(FRAME_CREDIT, (const uint32_t[]){STREAM_STDIN, (uint32_t)count}, 2);
  }
  if (input.size == 0 && input.ends)
    close_input();
}

static void take_input(const struct frame* frame) {
  if (input.fd < 0)
    return;
  if (frame->size > sizeof input.waiting - input.size)
    fail(EPROTO, "report this as a bug of the lab",
         "cannot accept more input than the credit allows");
  memcpy(input.waiting + input.size, frame->payload, frame->size);
  input.size += frame->size;
}

// Signals of a terminal (an interrupt, a quit, a hang-up) reach the whole foreground process group;
// a SIGTERM is for one process, on the host as well as here.
static void deliver_signal(int number) {
  bool from_terminal = number == SIGINT || number == SIGQUIT || number == SIGHUP;
  if (!command_ended)
    kill(from_terminal ? -command_pid : command_pid, number);
}

static void add_credit(uint32_t stream, uint32_t bytes) {
  if (stream == STREAM_STDOUT || stream == STREAM_STDERR)
    outputs[stream - STREAM_STDOUT].credit += bytes;
}

static void close_output(struct output* output) {
  if (output->fd >= 0)
    close(output->fd);
  output->fd = -1;
}

static void set_window(uint32_t rows, uint32_t columns) {
  const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
  if (terminal_fd >= 0)
    ioctl(terminal_fd, TIOCSWINSZ, &size);
}

static void handle(const struct frame* frame) {
  switch (frame->type) {
  case FRAME_STDIN:
    take_input(frame);
    break;
  case FRAME_STDIN_END:
    input.ends = true;
    break;
  case FRAME_CREDIT:
    add_credit(frame_integer(frame, 0), frame_integer(frame, 1));
    break;
  case FRAME_OUTPUT_CLOSED:
    close_output(&outputs[frame_integer(frame, 0) == STREAM_STDERR]);
    break;
  case FRAME_SIGNAL:
    deliver_signal((int)frame_integer(frame, 0));
    break;
  case FRAME_WINDOW:
    set_window(frame_integer(frame, 0), frame_integer(frame, 1));
    break;
  default:
    fail(EPROTO, "use a runner and a guest-init of the same version",
         "cannot accept a frame of type %d", (int)frame->type);
  }
}

// Reads as much output as the host accepts. After the command's end, no output means the end of the
// stream: processes that still hold it open end with the machine.
static void read_output(struct output* output) {
  static unsigned char data[FRAME_DATA_BYTES];
  while (output->fd >= 0 && output->credit > 0) {
    size_t most = output->credit < sizeof data ? output->credit : sizeof data;
    ssize_t count = read(output->fd, data, most);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN && !command_ended)
      return;
    if (count <= 0) { // EIO: the last user of a terminal has closed it
      close_output(output);
      return;
    }
    port_send(output->type, data, (size_t)count);
    output->credit -= (size_t)count;
  }
}

static void reap_children(void) {
  struct signalfd_siginfo ignored;
  while (read(children_fd, &ignored, sizeof ignored) > 0) {
  }
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != command_pid)
      continue;
    wait_status = status;
    command_ended = true;
  }
}

static void wait_for_events(void) {
  struct pollfd events[5] = {
      {.fd = port_fd, .events = (short)(POLLIN | (port_has_unsent() ? POLLOUT : 0))},
      {.fd = children_fd, .events = POLLIN},
      {.fd = input.size > 0 ? input.fd : -1, .events = POLLOUT},
      {.fd = outputs[0].credit > 0 ? outputs[0].fd : -1, .events = POLLIN},
      {.fd = outputs[1].credit > 0 ? outputs[1].fd : -1, .events = POLLIN},
  };
  poll(events, 5, -1);
}

int command_run(const struct job* job) {
  start(job);
  port_send(FRAME_STARTED, NULL, 0);
  struct frame frame;
  for (;;) {
    // Before any waiting: input may have arrived together with the job.
    if (!port_receive())
      end_machine(); // the runner is gone, and the result has no reader
    while (port_next(&frame))
      handle(&frame);
    reap_children();
    write_input();
    read_output(&outputs[0]);
    read_output(&outputs[1]);
    port_send_pending();
    if (command_ended && outputs[0].fd < 0 && outputs[1].fd < 0)
      return wait_status;
    wait_for_events();
  }
}
