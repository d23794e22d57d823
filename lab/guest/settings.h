// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel settings that a job requests. Applied after the snapshot, so that one snapshot serves
// every job.
#pragma once

#include "job.h"

void settings_apply(const struct job* job);
