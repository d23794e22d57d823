// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The state of the kernel that a job asks for. Set after the snapshot, so that one snapshot serves
// every job.
#pragma once

#include "job.h"

void settings_apply(const struct job* job);
