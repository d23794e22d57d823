// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/child.hpp"

namespace nodewise::launch {

using sys::child_end;
using sys::end_as;
using sys::run_child;

} // namespace nodewise::launch
