// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The compiled part of {fmt}, which `fmt::format` of <fmt/core.h> calls. Debian's package has it
// only as a shared library, and the launcher is static.
#define FMT_STATIC_THOUSANDS_SEPARATOR ',' // otherwise it needs std::locale
#include <fmt/format-inl.h>

// The header expects these in the compiled part.
template auto fmt::detail::thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(locale_ref) -> char;
