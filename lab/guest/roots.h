// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The file tree of the command: the host's root, read-only, under a layer in the guest's memory
// that takes every change; and the working directory, which is the host's own.
#pragma once

#include "job.h"

// Mounts everything and makes it init's root.
void roots_mount(const struct job* job);

// Writes cached data to the host; with an overlay, copies the changes back.
void roots_settle(const struct job* job);
