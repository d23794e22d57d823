// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Marks the symbols that the shared library exports. Programs do not need it.
#pragma once

/// Marks a symbol that the shared library exports; all others are hidden.
#define NODEWISE_API __attribute__((visibility("default")))
