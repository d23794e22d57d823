// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise measure` that no other verb has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"
#include "measure/experiments.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag full{.name = "full",
                           .group = group::selection,
                           .help = "run all experiments, up to 3 s for each figure"};
/// The quick experiments are first. Ends with a zero; a longer text than this does not compile.
inline constexpr auto only_help = [] {
  using namespace std::string_view_literals;
  std::array<char, 900> text{};
  char* end = text.data();
  std::string_view before = "run only these experiments: ";
  for (const bool is_quick : {true, false}) {
    for (const measure::description& each : measure::all_experiments) {
      if (each.is_quick == is_quick) {
        for (const std::string_view part : {before, each.name, " ("sv, each.explains, ")"sv}) {
          end = std::ranges::copy(part, end).out;
        }
        before = ", ";
      }
    }
    before = "; not among the default ones: ";
  }
  return text;
}();
inline constexpr flag only{.name = "only",
                           .value = "EXPERIMENT,...",
                           .kind = flag_kind::list,
                           .group = group::selection,
                           .help = only_help.data()};
inline constexpr flag measured_kernel{
    .name = "test",
    .letter = 't',
    .value = "NAME,...",
    .kind = flag_kind::list,
    .standard = "copy,scale,add,triad",
    .group = group::selection,
    .help = "measure only these kernels (loops): load, sum, store, copy, update, scale, add, triad "
            "(a=b+s*c), schoenauer (a=b+c*d), strided_load, random_load, or all; with the suffix "
            "_nt, stores bypass the caches; with --full or --only kernels, they replace STREAM's "
            "four"};
inline constexpr flag workgroup{
    .name = "workgroup",
    .letter = 'w',
    .value = "DOMAIN:SIZE[:THREADS...]",
    .kind = flag_kind::list,
    .group = group::selection,
    .help = "run only this workgroup, in likwid-bench's syntax: DOMAIN:SIZE[:THREADS[:CHUNK:"
            "STRIDE]]. DOMAIN is N (the machine), S0 (socket 0), M0 (node 0) and so on; 1GB is "
            "10^9 bytes; CHUNK hardware threads of every STRIDE are used. -ARRAY:DOMAIN,... at the "
            "end puts arrays, numbered from 0, elsewhere: S0:1GB:2:1:2-0:S1,1:S1 is two threads on "
            "socket 0, with arrays 0 and 1 in the memory of socket 1. If -w is repeated, all "
            "workgroups run at the same time"};
inline constexpr flag point_time{.name = "time",
                                 .value = "SECONDS",
                                 .standard = "3; without --full, --only, -t and -w, 26 s for "
                                             "all figures",
                                 .group = group::sampling,
                                 .help = "measure each figure for about SECONDS; stop earlier if "
                                         "its 95 % interval is within 1 % of its median"};
inline constexpr flag buffer_size{
    .name = "size",
    .value = "SIZE",
    .standard = "four times all last-level caches together; at least 64 MiB, at most a quarter of "
                "the memory available on the fullest node",
    .group = group::memory,
    .help = "total size of the buffers of all threads: 1G, 512MiB"};
inline constexpr flag buffer_pages{
    .name = "pages",
    .value = "KIND",
    .choices = "auto|base|huge|2M|1G",
    .standard = "auto",
    .group = group::memory,
    .help = "pages of the buffers: auto (transparent huge pages where the kernel gives them), "
            "base (4 KiB on x86-64), huge (transparent huge pages), 2M or 1G (reserved huge "
            "pages)"};
inline constexpr flag weights{
    .name = "weights",
    .value = "apply",
    .kind = flag_kind::optional_value,
    .choices = "print|apply",
    .group = group::results,
    .help = "print shell commands that set the kernel's interleaving weights by the measured "
            "bandwidths; =apply sets them (needs root, Linux 6.9)"};
inline constexpr flag no_keep{
    .name = "no-keep", .group = group::results, .help = "do not save the result for other verbs"};

} // namespace flags

struct reported_measurement; // in view.hpp
/// `nodewise/measurement/1`: the machine, with the measured figures among its parameters.
[[nodiscard]] std::string reported_measurement_json(const reported_measurement& what);

/// The machine and the matrices of its figures, as a picture.
[[nodiscard]] std::string reported_measurement_svg(const reported_measurement& what);

/// One row for each figure.
[[nodiscard]] std::string reported_measurement_csv(const reported_measurement& what);

inline constexpr std::array measure_forms = {
    form<reported_measurement>{&flags::json, reported_measurement_json},
    form<reported_measurement>{&flags::csv, reported_measurement_csv},
    form<reported_measurement>{&flags::svg, reported_measurement_svg},
    form<reported_measurement>{&flags::picture, reported_measurement_svg}};

} // namespace nodewise::cli
