// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks a constructor that the compiler inlines even without optimisation: the line of the program
/// that makes an array is then its name in profiles and counts.
#define NODEWISE_NAMED_BY_CALLER __attribute__((always_inline))
