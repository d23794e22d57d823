// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the shared library exports. Programs have no use for it.
#pragma once

/// Marks what the shared library exports; everything else is hidden.
#define NODEWISE_API __attribute__((visibility("default")))
