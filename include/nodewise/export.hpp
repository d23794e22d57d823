// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what the shared library exports; everything else is hidden.
#define NODEWISE_API __attribute__((visibility("default")))
