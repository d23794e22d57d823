// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

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
static struct output outputs[2];
static pid_t command_pid;
static int terminal_fd = -1;
static int wait_status;
static bool command_ended;

void relay_prepare(void) {
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
  if (stream == STREAM_STDOUT)
    outputs[0].credit += bytes;
  if (stream == STREAM_STDERR)
    outputs[1].credit += bytes;
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

static void receive_frames(void) {
  struct frame frame;
  if (!port_receive())
    end_machine(); // the runner is gone, and the result has no reader
  while (port_next(&frame))
    handle(&frame);
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
      {.fd = port_fd(), .events = (short)(POLLIN | (port_has_unsent() ? POLLOUT : 0))},
      {.fd = children_fd, .events = POLLIN},
      {.fd = input.size > 0 ? input.fd : -1, .events = POLLOUT},
      {.fd = outputs[0].credit > 0 ? outputs[0].fd : -1, .events = POLLIN},
      {.fd = outputs[1].credit > 0 ? outputs[1].fd : -1, .events = POLLIN},
  };
  poll(events, 5, -1);
}

int relay_run(const struct command* command) {
  command_pid = command->pid;
  input.fd = command->in;
  outputs[0] = (struct output){.fd = command->out, .type = FRAME_STDOUT, .credit = STREAM_WINDOW};
  outputs[1] = (struct output){.fd = command->error, .type = FRAME_STDERR, .credit = STREAM_WINDOW};
  terminal_fd = command->error < 0 ? command->in : -1;
  for (;;) {
    receive_frames(); // before any waiting: input may have arrived together with the job
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
