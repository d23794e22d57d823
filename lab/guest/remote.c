// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a launcher of MPI starts in place of ssh: runs a command on another host of the virtual
// cluster.
//
//   guest-remote [OPTION]... HOST WORD...
//       The words, joined by spaces, are a line for the shell there.
//
//   guest-remote serve
//       Accepts such lines until SIGTERM.
//
// Differences from ssh: no other user, no keys, and the line gets the environment and the working
// directory of `serve`, which are those of the command that the lab runs.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "remote_frames.h"
#include "support.h"

enum { PORT = 5514, STATUS_FAILED = 255, PATIENCE_SECONDS = 60, RETRY_MILLISECONDS = 50 };

_Noreturn static void die(const char* asked, const char* what, const char* answered) {
  fprintf(stderr, "guest-remote: %s %s: %s\n", asked, what, answered);
  exit(STATUS_FAILED);
}

// Hosts of a cluster start one after the other: waits for those that do not listen yet.
static int connect_to(const char* host) {
  char port[8];
  snprintf(port, sizeof port, "%d", PORT);
  const struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  int failed = getaddrinfo(host, port, &wanted, &found);
  if (failed != 0)
    die("cannot find the host", host, gai_strerror(failed));
  for (time_t end = time(NULL) + PATIENCE_SECONDS; time(NULL) < end;) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection >= 0 && connect(connection, found->ai_addr, found->ai_addrlen) == 0) {
      freeaddrinfo(found);
      const int yes = 1;
      setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      return connection;
    }
    if (errno != ECONNREFUSED && errno != EHOSTUNREACH && errno != ETIMEDOUT)
      break;
    close(connection);
    poll(NULL, 0, RETRY_MILLISECONDS);
  }
  die("cannot connect to", host, strerror(errno));
}

static char* joined(char** words, int count) {
  size_t size = 1;
  for (int i = 0; i < count; i++)
    size += strlen(words[i]) + 1;
  char* line = calloc(size, 1);
  if (!line)
    die("cannot send", "the command", strerror(errno));
  for (int i = 0; i < count; i++) {
    strcat(line, words[i]);
    strcat(line, i + 1 < count ? " " : "");
  }
  return line;
}

static void write_out(int fd, const struct remote_frame* frame) {
  if (write_all(fd, frame->payload, frame->size) != 0)
    exit(STATUS_FAILED); // as ssh: the reader has gone
}

// Reads one frame of the other host. Ends this process with the status, if it is that.
static void take_frame(int connection, const char* host) {
  struct remote_frame frame;
  if (!remote_receive(connection, &frame))
    die("lost the connection to", host, "the command or the host has ended");
  if (frame.type == REMOTE_STATUS && frame.size == 1)
    exit(frame.payload[0]);
  if (frame.type == REMOTE_OUTPUT)
    write_out(STDOUT_FILENO, &frame);
  if (frame.type == REMOTE_ERROR)
    write_out(STDERR_FILENO, &frame);
  free(frame.payload);
}

_Noreturn static void run_there(const char* host, char** words, int count) {
  char* line = joined(words, count);
  char own[65] = "";
  gethostname(own, sizeof own - 1);
  if (strcmp(host, own) == 0) {
    execl("/bin/sh", "sh", "-c", line, (char*)NULL);
    die("cannot start", "/bin/sh", strerror(errno));
  }
  int connection = connect_to(host);
  remote_send(connection, REMOTE_COMMAND, line, strlen(line));
  struct pollfd from[] = {{.fd = connection, .events = POLLIN},
                          {.fd = STDIN_FILENO, .events = POLLIN}};
  for (;;) {
    if (poll(from, 2, -1) < 0)
      continue;
    if (from[0].revents)
      take_frame(connection, host);
    if (from[1].revents) {
      static unsigned char data[REMOTE_DATA_BYTES];
      ssize_t got = read(STDIN_FILENO, data, sizeof data);
      remote_send(connection, REMOTE_INPUT, data, got > 0 ? (size_t)got : 0);
      if (got <= 0)
        from[1].fd = -1;
    }
  }
}

// A command that runs here for another host.
struct session {
  int connection;
  pid_t child; // also the number of its process group
  int input;   // its standard input; -1: closed
  int output;
  int error;
  unsigned char*
      unwritten; // input that it has not read. Without limit: a full pipe must not delay its output
  size_t unwritten_bytes;
  int input_ended;
};

static void start(struct session* session, const char* line) {
  int in[2];
  int out[2];
  int err[2];
  if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
    die("cannot start", line, strerror(errno));
  session->child = fork();
  if (session->child < 0)
    die("cannot start", line, strerror(errno));
  if (session->child == 0) {
    setsid();
    signal(SIGPIPE, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", line, (char*)NULL);
    die("cannot start", "/bin/sh", strerror(errno));
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  session->input = in[1];
  session->output = out[0];
  session->error = err[0];
}

_Noreturn static void abandon(const struct session* session) {
  kill(-session->child, SIGHUP);
  exit(STATUS_FAILED);
}

static void keep_input(struct session* session) {
  struct remote_frame frame;
  if (!remote_receive(session->connection, &frame))
    abandon(session);
  if (frame.type == REMOTE_INPUT && frame.size == 0)
    session->input_ended = 1;
  if (frame.type == REMOTE_INPUT && session->input >= 0) {
    unsigned char* more = realloc(session->unwritten, session->unwritten_bytes + frame.size + 1);
    if (!more)
      abandon(session);
    memcpy(more + session->unwritten_bytes, frame.payload, frame.size);
    session->unwritten = more;
    session->unwritten_bytes += frame.size;
  }
  free(frame.payload);
}

static void write_input(struct session* session) {
  ssize_t written = write(session->input, session->unwritten, session->unwritten_bytes);
  if (written < 0 && errno != EAGAIN && errno != EINTR) { // it reads no more
    session->unwritten_bytes = 0;
    session->input_ended = 1;
  } else if (written > 0) {
    session->unwritten_bytes -= (size_t)written;
    memmove(session->unwritten, session->unwritten + written, session->unwritten_bytes);
  }
}

static void send_output(const struct session* session, int* from, enum remote_type type) {
  static unsigned char data[REMOTE_DATA_BYTES];
  ssize_t got = read(*from, data, sizeof data);
  if (got < 0 && errno == EINTR)
    return;
  if (got <= 0) {
    close(*from);
    *from = -1;
  } else if (!remote_send(session->connection, type, data, (size_t)got)) {
    abandon(session);
  }
}

static void step(struct session* session) {
  if (session->input >= 0 && session->input_ended && session->unwritten_bytes == 0) {
    close(session->input);
    session->input = -1;
  }
  struct pollfd on[] = {
      {.fd = session->connection, .events = POLLIN},
      {.fd = session->unwritten_bytes ? session->input : -1, .events = POLLOUT},
      {.fd = session->output, .events = POLLIN},
      {.fd = session->error, .events = POLLIN},
  };
  if (poll(on, 4, -1) < 0)
    return;
  if (on[0].revents)
    keep_input(session);
  if (on[1].revents)
    write_input(session);
  if (on[2].revents)
    send_output(session, &session->output, REMOTE_OUTPUT);
  if (on[3].revents)
    send_output(session, &session->error, REMOTE_ERROR);
}

// As with ssh, the session lasts until the command and all that write to its output have ended.
_Noreturn static void serve_one(int connection) {
  struct session session = {.connection = connection};
  struct remote_frame frame;
  if (!remote_receive(connection, &frame) || frame.type != REMOTE_COMMAND)
    exit(STATUS_FAILED);
  start(&session, (const char*)frame.payload);
  while (session.output >= 0 || session.error >= 0)
    step(&session);
  int status = 0;
  while (waitpid(session.child, &status, 0) < 0 && errno == EINTR) {
  }
  const unsigned char code =
      (unsigned char)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  remote_send(connection, REMOTE_STATUS, &code, 1);
  exit(0);
}

static void end_service(int number) {
  (void)number;
  _exit(0);
}

_Noreturn static void serve(void) {
  const struct sockaddr_in everywhere = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  struct sockaddr address;
  memcpy(&address, &everywhere, sizeof address);
  const int yes = 1;
  int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (listening < 0 || bind(listening, &address, sizeof address) < 0 ||
      listen(listening, SOMAXCONN) < 0)
    die("cannot listen for", "other hosts", strerror(errno));
  signal(SIGCHLD, SIG_IGN); // no zombies: nothing here asks how a session ended
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, end_service);
  for (;;) {
    int connection = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0)
      continue;
    if (fork() == 0) {
      signal(SIGCHLD, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      close(listening);
      setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      serve_one(connection);
    }
    close(connection);
  }
}

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "serve") == 0)
    serve();
  int host = 1;
  while (host < count && words[host][0] == '-') // ssh's -x and the like have no meaning here
    host++;
  if (host + 1 >= count) {
    fprintf(stderr, "usage: guest-remote HOST COMMAND...\n       guest-remote serve\n");
    return STATUS_FAILED;
  }
  run_there(words[host], words + host + 1, count - host - 1);
}
