// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `report`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/report/flags.hpp"

namespace nodewise::cli {

inline constexpr auto report_flags =
    join(std::array<flag_list, 6>{&flags::output, &flags::page_figure, &flags::picture,
                                  &flags::open_page, &flags::serve_page, &flags::quiet},
         every_verb);
inline constexpr std::array<excluded_pair, 8> report_excludes = {
    {{&flags::serve_page, &flags::output}, // a server writes no file
     {&flags::serve_page, &flags::page_figure},
     {&flags::serve_page, &flags::open_page}, // no file to open, and often no browser here
     {&flags::serve_page, &flags::quiet},     // the address cannot be guessed
     {&flags::serve_page, &flags::picture},
     {&flags::page_figure, &flags::open_page},
     {&flags::picture, &flags::open_page},
     {&flags::picture, &flags::output}}};
inline constexpr std::array report_examples = {
    example{"nodewise report before.json", "write a saved profile as a page, report.html"},
    example{"nodewise report before.json --open", "write the page and show it in the browser"},
    example{"nodewise report before.json --serve",
            "show the page to the browser of another computer, through ssh"},
    example{"nodewise report before.json node.json -o ticket.html",
            "one page of a profile and of what `nodewise measure -o node.json` measured"},
    example{"nodewise report before.json after.json -o change.html",
            "compare two profiles, measurements or files of counted traffic"},
    example{"nodewise report before.json --figure arrays -o arrays.svg",
            "write the picture of the arrays alone"},
    example{"nodewise report before.json --figure arrays --picture",
            "draw it in the terminal (Kitty, iTerm2, Sixel)"},
};
inline constexpr std::array<verb_flag_text, 2> report_texts = {
    {{&flags::picture,
      "with --figure, draw that picture in the terminal, by the PROTOCOL kitty, iterm2 or sixel "
      "(default: that of the terminal); needs rsvg-convert, and img2sixel for sixel"},
     {&flags::output,
      "write the page to FILE; in the name, %r is the local MPI rank, %h the host, %p the process "
      "ID, %% a percent sign",
      "report.html; with --figure, standard output"}}};
inline constexpr std::array<verb_exit, 2> report_codes = {
    {{exit_code::bad_input}, {exit_code::refused}}};

inline constexpr verb report_verb{
    .name = "report",
    .summary = "write results as one page for a browser",
    .usage = "[options] FILE.json...",
    .description =
        "Reads results that other verbs saved as JSON: profiles, machines, measurements, counted "
        "traffic, predictions, comparisons of settings (tune), pages of processes, jobs "
        "(survey), and what doctor found. Writes one HTML file with pictures, tables and the lines "
        "to type. It loads nothing from the network, so it can be sent by mail and opened from the "
        "disk.",
    .flags = report_flags,
    .flag_texts = report_texts,
    .excludes = report_excludes,
    .takes = operands::names,
    .examples = report_examples,
    .exit_codes = report_codes};

} // namespace nodewise::cli
