// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The compiled part of {fmt}, which `fmt::format` of <fmt/core.h> calls. Debian's package has it
// only as a shared library, and the launcher is static.
#define FMT_STATIC_THOUSANDS_SEPARATOR ',' // otherwise it needs std::locale
#include <fmt/format-inl.h>
