// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

void write_start(bool foreign_malloc) noexcept;
/// With `ask` it asks the kernel where the object's pages are, which is slow.
void write_object(const object& what, bool ask) noexcept;

} // namespace nodewise::agent
