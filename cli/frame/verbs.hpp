// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs: each takes its command line and returns the exit code. Each has its own file in
// verbs/.
#pragma once

#include "cli/frame/invocation.hpp"

namespace nodewise::cli::verbs {

int topo(const invocation& given);
int run(const invocation& given);
int doctor(const invocation& given);
int lab(const invocation& given);
int lab_check(const invocation& given);
int pages(const invocation& given);
int profile(const invocation& given);
int report(const invocation& given);
int tune(const invocation& given);
int survey(const invocation& given);
int drop_cache(const invocation& given);
int warm(const invocation& given);
int measure(const invocation& given);
int model(const invocation& given);
int help(const invocation& given);
int internal(const invocation& given);

/// Runs any verb with --on: the same command line without it, inside a virtual machine. Returns
/// only if the machine could not be started.
int on_lab(const invocation& given);

} // namespace nodewise::cli::verbs
