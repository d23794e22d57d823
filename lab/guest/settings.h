// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What init sets up in the guest's kernel.
#pragma once

#include "job.h"

// Work done once, before the snapshot, so nothing here may depend on the job: mounts the first
// /proc, /sys and /dev, loads the modules that the initrd lists and raises the loopback interface.
// Ends the machine if that fails.
void settings_prepare(void);

// The settings that a job requests. Applied after the snapshot, so that one snapshot serves every
// job.
void settings_apply(const struct job* job);
