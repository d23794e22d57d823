// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The counts file, one record a line; docs/formats.md lists the records.
#pragma once

// Opens the file, so that a wrong path is known before anything runs.
void result_open(const char* path);
// Nothing was counted, and why.
void write_refusal(const char* why);
// Everything in the books, once they are closed.
void write_result(void);
