// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise measure` that no other verb has.
#pragma once

#include "cli/flags.hpp"

namespace nodewise::cli::flags {

inline constexpr flag full{.name = "full",
                           .group = group::looking,
                           .help = "every experiment, up to three seconds for each figure"};
inline constexpr flag only{
    .name = "only",
    .kind = flag_kind::list,
    .value = "EXPERIMENT,...",
    .group = group::looking,
    .help = "bandwidth, latency, contention (all cores, one memory), kernels, interleave, scaling, "
            "mixes, loaded-latency, transfer, touch, migration"};
inline constexpr flag measured_kernel{
    .name = "test",
    .letter = 't',
    .kind = flag_kind::list,
    .value = "NAME,...",
    .standard = "copy,scale,add,triad",
    .group = group::looking,
    .help = "load, sum, store, copy, update, scale, add, triad (a=b+s*c), schoenauer (a=b+c*d), "
            "strided_load, random_load, or all; with _nt stores go past the caches"};
inline constexpr flag workgroup{
    .name = "workgroup",
    .letter = 'w',
    .kind = flag_kind::list,
    .value = "DOMAIN:SIZE[:THREADS...]",
    .group = group::looking,
    .help = "only this, as likwid-bench writes it: S0:1GB:2:1:2-0:S1,1:S1 is two threads of socket "
            "0, arrays 0 and 1 in socket 1; several run at the same time"};
inline constexpr flag point_time{.name = "time",
                                 .kind = flag_kind::value,
                                 .value = "SECONDS",
                                 .group = group::looking,
                                 .help = "for each figure, about; less where it is sure to 1 %. "
                                         "Standard: 26 for the quick set together, else 3"};
inline constexpr flag buffer_size{.name = "size",
                                  .kind = flag_kind::value,
                                  .value = "SIZE",
                                  .standard = "four times the last caches",
                                  .group = group::looking,
                                  .help = "of the buffers, all threads together: 1G, 512MiB"};
inline constexpr flag buffer_pages{.name = "pages",
                                   .kind = flag_kind::value,
                                   .value = "KIND",
                                   .choices = "auto|base|huge|2M|1G",
                                   .standard = "auto",
                                   .group = group::looking,
                                   .help = "of the buffers: what the system gives (auto), base, "
                                           "transparent huge pages (huge), or reserved ones "
                                           "(2M, 1G)"};
inline constexpr flag weights{.name = "weights",
                              .kind = flag_kind::optional_value,
                              .value = "apply",
                              .choices = "print|apply",
                              .group = group::advice,
                              .help = "the kernel's weights for interleaving by these bandwidths, "
                                      "as lines for a shell; =apply sets them"};
inline constexpr flag no_keep{.name = "no-keep",
                              .group = group::checking,
                              .help = "do not keep the result for topo and for --memory "
                                      "weighted:auto"};

} // namespace nodewise::cli::flags
