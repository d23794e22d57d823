// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Copies the changes of a layered working directory back to the host.
#pragma once

// Applies the changes to `path` in the overlay's upper directory `changes` to the directory `host`.
// Ends the machine, naming the file, if the host refuses.
void writeback(int changes, const char* path, int host);
