// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Starts the job's command as the caller, and carries data and signals between the port and the
// command while it runs.
#pragma once

#include "job.h"

// Call before command_run, so that the end of a child is not missed.
void command_prepare(void);

// Reports when the command's program is executed; ends the machine if it could not be. Returns the
// command's wait status once it has ended and the host has accepted its output. Ends the machine if
// the host closes the port.
int command_run(const struct job* job);
