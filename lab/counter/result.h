// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The counts file, one record on each line; docs/formats.md lists the records.
#pragma once

// Opens the file, so that a wrong path fails before anything runs.
void result_open(const char* path);
// Writes that nothing was counted, and why.
void write_refusal(const char* why);
// Writes all counts, once the books are closed.
void write_result(void);
