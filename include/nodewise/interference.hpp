// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The old name of a header, kept for one release: include <nodewise/cache_aligned.hpp>.
#pragma once

#include <nodewise/cache_aligned.hpp>
