// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The guest's first and only process besides the command and its children.
//
// The order matters: everything up to port_send(READY) is in the snapshot. Nothing of the host's
// files may be mounted before it, since QEMU cannot save a machine with a mounted 9p file system.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "attribution.h"
#include "command.h"
#include "network.h"
#include "nodewise/marker.h"
#include "port.h"
#include "probe.h"
#include "roots.h"
#include "settings.h"
#include "support.h"

static struct job wait_for_job(void) {
  struct frame frame;
  for (;;) {
    struct pollfd wait = {.fd = port_fd, .events = POLLIN};
    poll(&wait, 1, -1);
    // While a machine is restored, the port has no host side: that is not the end yet.
    if (!port_receive()) {
      poll(NULL, 0, 10);
      continue;
    }
    if (!port_next(&frame))
      continue;
    if (frame.type == FRAME_JOB)
      return job_parse(frame.payload, frame.size);
    fail(EPROTO, "use a runner and a guest-init of the same version",
         "cannot accept a frame of type %d before the job", (int)frame.type);
  }
}

static void run_machine(void) {
  settings_prepare();
  port_open();
  command_prepare();
  port_send(FRAME_READY, NULL, 0);
  port_flush();

  struct job job = wait_for_job();
  settings_apply(&job);
  if (job.network)
    network_join(job.network);
  roots_mount(&job);
  const bool counts = *job.count != '\0';
  if (counts)
    attribution_announce();
  int status = command_run(&job);

  kill(-1, SIGKILL); // what the command left behind must end before its files are settled
  if (counts)
    NODEWISE_MARKER_SAY(NODEWISE_MARKER_FINISH); // the counter writes its result
  roots_settle(&job);
  port_send_integers(FRAME_EXIT, (const uint32_t[]){(uint32_t)status}, 1);
  port_flush();
}

int main(int count, char** arguments) {
  if (getpid() == 1) {
    run_machine();
    for (;;)
      pause(); // the host ends the machine when it has read the status
  }
  if (count == 2 && strcmp(arguments[1], "probe") == 0)
    return probe();
  const char usage[] =
      "usage: guest-init probe (otherwise guest-init runs as the first process of a "
      "Nodewise virtual machine)\n";
  write_all(STDERR_FILENO, usage, sizeof usage - 1);
  return 2;
}
