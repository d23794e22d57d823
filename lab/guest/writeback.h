// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Bringing the changes of a layered working directory back to the host.
#pragma once

// Applies what the overlay's upper directory `changes` holds for `path` to the directory `host`.
// Ends the machine, naming the file, when the host refuses.
void writeback(int changes, const char* path, int host);
