// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the traffic counter must know before it counts: which processor is which, and where memory
// of each node is. Init lives through it and says it; the counter compares and refuses if it sees
// something else.
#pragma once

// Runs on every processor and touches pages of every node. From its end on init is not counted.
void attribution_announce(void);

// The command begins: what this process does from here on is counted.
void attribution_begin(void);

// Everything has ended: the counter writes its result before this returns.
void attribution_end(void);
