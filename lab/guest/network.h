// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The guest's place in the network of a virtual cluster.
#pragma once

// Gives the network interface the addresses of host `number` (from 1 on) and enables it. Done after
// the snapshot, which all hosts of a cluster may share. Ends the machine if it has no such
// interface.
void network_join(unsigned number);
