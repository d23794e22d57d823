// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only report has.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli::flags {

inline constexpr flag page_figure{
    .name = "figure",
    .value = "NAME",
    .group = group::results,
    .help = "write only this picture of the page, as SVG, or as PNG into a FILE.png (needs "
            "rsvg-convert); a wrong NAME lists all"};
inline constexpr flag open_page{.name = "open",
                                .group = group::results,
                                .help = "show the page in the browser: $BROWSER, else xdg-open"};
inline constexpr flag serve_page{
    .name = "serve",
    .value = "PORT",
    .kind = flag_kind::optional_value,
    .group = group::results,
    .help = "write no file; show the page to browsers until Ctrl-C, also through ssh from another "
            "computer: prints the address and the ssh command. Only this computer reaches PORT "
            "(default: a free one)"};

} // namespace nodewise::cli::flags
