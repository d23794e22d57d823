// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Places a mapping of a file. The kernel ignores policies of such mappings: a page is on the node
// of the processor that read it first. So pages that are cached are moved, and stay there for later
// readers, too.
#pragma once

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// Moves the object's cached pages to where `what.where` asks for them. With the setting
/// `read-files` it also reads what is not cached, under a policy of the calling thread. Fills in
/// `granule_bytes`, `flags` and `refused_errno`, the first reason why a page stayed: EACCES if
/// another process has mapped it, or if the kernel hides which pages are cached. Every two
/// seconds it says how far it is.
void place_file(object& what) noexcept;

} // namespace nodewise::agent
