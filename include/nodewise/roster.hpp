// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The old name of a header, kept for one release: include <nodewise/thread_map.hpp>.
#pragma once

#include <nodewise/thread_map.hpp>
