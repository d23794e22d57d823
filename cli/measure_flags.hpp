// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise measure` that no other verb has.
#pragma once

#include "cli/flags.hpp"

namespace nodewise::cli::flags {

inline constexpr flag full{.name = "full",
                           .group = group::selection,
                           .help = "run all experiments, up to 3 s for each figure"};
inline constexpr flag only{
    .name = "only",
    .value = "EXPERIMENT,...",
    .kind = flag_kind::list,
    .group = group::selection,
    .help = "run only these: bandwidth, latency, contention (all cores, one memory), kernels, "
            "interleave, scaling, mixes, loaded-latency, transfer, touch, migration"};
inline constexpr flag measured_kernel{
    .name = "test",
    .letter = 't',
    .value = "NAME,...",
    .kind = flag_kind::list,
    .standard = "copy,scale,add,triad",
    .group = group::selection,
    .help = "run these kernels: load, sum, store, copy, update, scale, add, triad (a=b+s*c), "
            "schoenauer (a=b+c*d), strided_load, random_load, or all; with the suffix _nt, stores "
            "bypass the caches"};
inline constexpr flag workgroup{
    .name = "workgroup",
    .letter = 'w',
    .value = "DOMAIN:SIZE[:THREADS...]",
    .kind = flag_kind::list,
    .group = group::selection,
    .help = "run only this workgroup, in likwid-bench's syntax: S0:1GB:2:1:2-0:S1,1:S1 is two "
            "threads on socket 0, with arrays 0 and 1 in socket 1 (repeatable: all run at the "
            "same time)"};
inline constexpr flag point_time{.name = "time",
                                 .value = "SECONDS",
                                 .standard = "26 for the quick set together, otherwise 3",
                                 .group = group::sampling,
                                 .help = "time for each figure; less if the interval is within 1 % "
                                         "of the median earlier"};
inline constexpr flag buffer_size{.name = "size",
                                  .value = "SIZE",
                                  .standard = "four times the last-level caches",
                                  .group = group::memory,
                                  .help = "total size of the buffers of all threads: 1G, 512MiB"};
inline constexpr flag buffer_pages{
    .name = "pages",
    .value = "KIND",
    .choices = "auto|base|huge|2M|1G",
    .standard = "auto",
    .group = group::memory,
    .help = "pages of the buffers: auto (as the system provides them), base, huge (transparent "
            "huge pages), 2M or 1G (reserved huge pages)"};
inline constexpr flag weights{
    .name = "weights",
    .value = "apply",
    .kind = flag_kind::optional_value,
    .choices = "print|apply",
    .group = group::results,
    .help = "print the kernel's interleaving weights for these bandwidths as shell commands; "
            "=apply sets them"};
inline constexpr flag no_keep{.name = "no-keep",
                              .group = group::results,
                              .help = "do not save the result for other commands"};

} // namespace nodewise::cli::flags
