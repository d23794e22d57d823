# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Decisions that depend on the emulator, its version or the host, with their reasons."""

import os
import platform
import signal

from .layout import Layout

QemuVersion = tuple[int, int, int]

HOTPLUG_CPU_TYPE = "max-x86_64-cpu"
OLDEST_QEMU: QemuVersion = (6, 2, 0)  # the first version whose -smp accepts empty slots with explicit sockets

OLDEST_QEMU_WITH_NETWORK: QemuVersion = (7, 2, 0)  # the first version with -netdev dgram

# The reason and the hint for signals that end a command because of the emulation.
SIGNAL_REASONS: dict[int, tuple[str, str]] = {
    signal.SIGILL: ("the emulated processor has no AVX-512", "build for x86-64-v3: -march=x86-64-v3")
}

_BOOT_OPTIONS = (
    "console=ttyS0",
    "quiet",  # each line on an emulated serial port takes milliseconds
    "panic=-1",  # a panic reboots the guest, which ends QEMU
    "mitigations=off",
    "nokaslr",
    "no_timer_check",
    "lpj=10000000",
    # A busy host stops emulated processors for a long time, which is not an error of the guest.
    "nowatchdog",
    "rcupdate.rcu_cpu_stall_suppress=1",
    "rcupdate.rcu_expedited=1",
    "cryptomgr.notests",
    "audit=0",
    "apparmor=0",
    "random.trust_cpu=on",
    "i8042.noaux",
    "i8042.nokbd",
    "i8042.nopnp",
    # The command decides about placement; jobs turn these on.
    "numa_balancing=disable",
    "transparent_hugepage=madvise",
    # Do not add tsc=reliable: with QEMU 7.2 and thread=multi, one boot in six hung.
)


# With up to 8 processors Linux addresses interrupts by a bit mask, with more by number.
_CPUS_ADDRESSED_BY_MASK = 8


def boot_options(layout: Layout) -> tuple[str, ...]:
    """The kernel's command line."""
    options = list(_BOOT_OPTIONS)
    # QEMU 7.2 loses interrupts that a mask addresses to processors after a gap in the numbers of interrupt
    # controllers, and the boot hangs. With more possible processors Linux uses no masks.
    if layout.apic_ids_have_gaps and layout.slot_count <= _CPUS_ADDRESSED_BY_MASK:
        options.append(f"possible_cpus={_CPUS_ADDRESSED_BY_MASK + 1}")
    # Linux assumes that the TSCs of Intel processors are synchronised, and hangs as with tsc=reliable.
    if layout.threads > 1:
        options.append("tsc=unstable")
    return tuple(options)


def accelerator(guest_cpus: int, qemu: QemuVersion, counting: bool) -> str:
    """TCG with one thread for all processors, or one thread for each.

    On a host with few processors, several threads wait for one another and are slower than one. And only
    an x86 host orders memory accesses strongly enough to run x86 processors in parallel.
    """
    if counting:
        parallel = counts_in_parallel(qemu)
    else:
        host_cpus = len(os.sched_getaffinity(0))
        parallel = platform.machine() == "x86_64" and guest_cpus <= 2 * host_cpus
    return f"tcg,thread={'multi' if parallel else 'single'}"


def counts_in_parallel(qemu: QemuVersion) -> bool:
    """Whether to count with one thread for each processor.

    From QEMU 9.0 on, thread=single passes a plug-in the processor for which a block of code was translated,
    not the one that runs it. Before, both modes are right, and the counts of thread=single repeat exactly.
    """
    return qemu >= (9, 0, 0)


def plugin_api(qemu: QemuVersion) -> int:
    """The version of the plug-in interface (lab/counter/plugin_api.h)."""
    if qemu >= (9, 1, 0):
        return 3
    return 2 if qemu >= (9, 0, 0) else 1


def cpu_model(threads_per_core: int) -> str:
    # Five-level page tables (la57) lengthen every page walk, and only address spaces over 128 TiB need them.
    model = "max,la57=off"
    if threads_per_core == 1:
        return model
    # QEMU's default is an AMD processor, for which QEMU cannot describe hardware threads; for an Intel
    # processor it can. With this old model number Linux uses no feature that QEMU lacks.
    return f"{model},vendor=GenuineIntel,family=6,model=13"


def bandwidth_argument(gigabytes_per_second: float) -> str:
    """QEMU's 'M' is 2^20, but QEMU writes the number before it into the HMAT, and Linux reads it as MB/s."""
    return f"{round(gigabytes_per_second * 1000)}M"
