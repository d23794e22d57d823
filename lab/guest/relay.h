// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Carries data and signals between the port and the command while it runs.
#pragma once

#include "command.h"

// Call before command_start, so that the end of a child is not missed.
void relay_prepare(void);

// Returns the command's wait status once it has ended and the host has accepted its output. Ends
// the machine if the host closes the port.
int relay_run(const struct command* command);
