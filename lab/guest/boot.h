// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Work done once, before the snapshot: nothing here may depend on the job.
#pragma once

// Mounts the first /proc, /sys and /dev, loads the modules that the initrd lists and raises the
// loopback interface. Ends the machine if that fails.
void boot_prepare(void);
