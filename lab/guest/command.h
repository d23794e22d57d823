// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Starts the job's command as the caller.
#pragma once

#include "job.h"

// init's ends of the command's connections. With a terminal, `in` and `out` are its two halves and
// `error` is -1.
struct command {
  pid_t pid;
  int in;
  int out;
  int error;
};

// Returns once the command's program is executed; ends the machine if it could not be.
struct command command_start(const struct job* job);
