// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Carrying data and signals between the port and the command while it runs.
#pragma once

#include "command.h"

// Call before command_start: the end of a child must not be missed.
void relay_prepare(void);

// Returns the command's wait status when it has ended and its output has been taken by the host.
// Ends the machine if the host closes the port.
int relay_run(const struct command* command);
