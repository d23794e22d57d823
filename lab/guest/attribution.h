// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Describes the processors and the memory of each node to the traffic counter before it counts.
// Init runs on each processor, touches each memory and announces what Linux says; the counter
// compares this with what it sees and refuses to count if they differ.
#pragma once

// Runs on every processor and touches pages of every node. After it, init is not counted.
void attribution_announce(void);
