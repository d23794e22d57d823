// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How much other work ran on the machine during a measurement.
#pragma once

#include <nodewise/topology.hpp>

#include "sys/kernel.hpp"

namespace nodewise::measure {

/// Processor time since the system started, in ticks of the kernel, of some processors.
struct processor_ticks {
  double all = 0;
  double busy = 0;   ///< of all processes: user, nice, system, interrupts
  double stolen = 0; ///< by other virtual machines, as far as the hypervisor reports it
};
/// From /proc/stat; nullopt if it lacks them.
[[nodiscard]] std::optional<processor_ticks> parse_ticks(std::string_view proc_stat,
                                                         const cpu_set& of);
/// Processor time of this process, in the same ticks; from /proc/self/stat.
[[nodiscard]] std::optional<double> parse_own_ticks(std::string_view proc_self_stat);

/// Shares of processors' time, 0..1.
struct disturbance {
  double stolen = 0;    ///< by other virtual machines, of the processors that measure
  double others = 0;    ///< by other processes, on these and on the hardware threads beside them
  double elsewhere = 0; ///< how busy all other processors were: they use the same memory

  /// More than a twentieth: the measured figures will be too low.
  [[nodiscard]] bool is_much() const noexcept { return stolen + others > 0.05; }
  [[nodiscard]] bool is_much_elsewhere() const noexcept { return elsewhere > 0.05; }
};

/// Observed processor time, in ticks of the kernel. Shares are computed over all visits: ticks are
/// coarse, and rounding errors of single visits cancel out.
struct watched_time {
  double all = 0;
  double stolen = 0;
  double others = 0;
  double all_elsewhere = 0;
  double busy_elsewhere = 0;

  watched_time& operator+=(const watched_time& more) noexcept;
  /// nullopt if no tick has passed, or the kernel does not report them.
  [[nodiscard]] std::optional<disturbance> shares() const noexcept;
};

/// The current frequency of this processor, MHz (cpufreq); virtual machines seldom report it. Call
/// it from a thread that works there: an idle processor is slow.
[[nodiscard]] std::optional<double> frequency_mhz(sys::kernel& from, cpu_id cpu);

/// Records the disturbance from its construction to each call of `so_far`.
class watch {
 public:
  /// While the watch lives, this process must run on `cpus` only.
  watch(sys::kernel& from, const topology& on, cpu_set cpus);
  /// All 0 if the kernel does not report processor time.
  [[nodiscard]] watched_time so_far() const;

 private:
  /// Since the system started; nullopt if the kernel does not report it.
  [[nodiscard]] std::optional<watched_time> now() const;

  sys::kernel* from_;
  cpu_set used_;
  cpu_set beside_;    ///< other hardware threads of the same cores
  cpu_set elsewhere_; ///< all the rest
  std::optional<watched_time> start_;
};

} // namespace nodewise::measure
