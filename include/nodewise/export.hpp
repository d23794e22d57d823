// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Attributes of declarations: which symbols the shared library exports, and what is inlined.
// Programs do not need it.
#pragma once

/// Marks a symbol that the shared library exports; all others are hidden.
#define NODEWISE_API __attribute__((visibility("default")))

/// Marks a constructor that the compiler inlines even without optimisation: the line of the program
/// that makes an array is then its name in profiles and counts.
#define NODEWISE_NAMED_BY_CALLER __attribute__((always_inline))
