# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Everything that depends on the emulator, its version or the host: decisions, with their reasons."""

import os
import platform
import signal

from .layout import Layout

QemuVersion = tuple[int, int, int]

OLDEST_QEMU: QemuVersion = (6, 2, 0)  # the first whose -smp takes empty slots with explicit sockets

# Without AVX-512 in QEMU's emulation, binaries built for it die so. Said when it happens.
SIGNAL_HINTS: dict[int, str] = {
    signal.SIGILL: "the emulated processor has no AVX-512: build for x86-64-v3 at most (-march=x86-64-v3)",
}

_BOOT_OPTIONS = (
    "console=ttyS0",
    "quiet",  # every line on an emulated serial port costs milliseconds
    "panic=-1",  # a panic reboots, which ends QEMU, which the runner sees
    "mitigations=off",
    "nokaslr",
    "no_timer_check",
    "lpj=10000000",
    # Emulated processors are stopped for long by a busy host; that is no fault of theirs.
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
    # Placement must be the command's own doing; jobs turn these on.
    "numa_balancing=disable",
    "transparent_hugepage=madvise",
    # Never here: tsc=reliable. With it, QEMU 7.2 and thread=multi, one boot in six hung.
)


# Up to this many processors Linux addresses interrupts by a bit mask, beyond it by number.
_CPUS_ADDRESSED_BY_MASK = 8


def boot_options(layout: Layout) -> tuple[str, ...]:
    """The kernel's command line."""
    options = list(_BOOT_OPTIONS)
    # QEMU (7.2) loses interrupts that are addressed by mask to processors behind a gap in the numbers
    # of interrupt controllers, and the boot hangs. With more possible processors there are no masks.
    if layout.apic_ids_have_gaps and layout.slot_count <= _CPUS_ADDRESSED_BY_MASK:
        options.append(f"possible_cpus={_CPUS_ADDRESSED_BY_MASK + 1}")
    # Linux takes the TSCs of Intel processors for synchronised: the case that hung, by another way.
    if layout.threads > 1:
        options.append("tsc=unstable")
    return tuple(options)


def host_cpus() -> int:
    return len(os.sched_getaffinity(0))


def accelerator(guest_cpus: int, qemu: QemuVersion, counting: bool) -> str:
    """TCG with one thread for all processors, or one for each.

    Threads that wait for one another on few host processors cost more than they bring. And only an
    x86 host orders memory accesses strongly enough to run x86 processors side by side.
    """
    if counting:
        parallel = counts_in_parallel(qemu)
    else:
        parallel = platform.machine() == "x86_64" and guest_cpus <= 2 * host_cpus()
    return f"tcg,thread={'multi' if parallel else 'single'}"


def counts_in_parallel(qemu: QemuVersion) -> bool:
    """From QEMU 9.0 on, thread=single tells a plug-in the processor for which a block of code was
    translated, not the one that runs it. Before, either is right, and single counts repeat exactly."""
    return qemu >= (9, 0, 0)


def plugin_api(qemu: QemuVersion) -> int:
    """The version of the plug-in interface (lab/counter/plugin_api.h)."""
    if qemu >= (9, 1, 0):
        return 3
    return 2 if qemu >= (9, 0, 0) else 1


def cpu_model(threads_per_core: int) -> str:
    # Five-level page tables (la57) make every walk of the emulated MMU longer and serve 128 PiB.
    model = "max,la57=off"
    if threads_per_core == 1:
        return model
    # QEMU's own is an AMD processor, of which it cannot describe hardware threads. An Intel one it can;
    # the model number is an old one, which makes Linux use no feature that QEMU lacks.
    return f"{model},vendor=GenuineIntel,family=6,model=13"


def hotplug_cpu_type() -> str:
    return "max-x86_64-cpu"


def bandwidth_argument(gigabytes_per_second: float) -> str:
    """QEMU's 'M' is 2^20, but what it writes into the HMAT is the number of them, which Linux reads as MB/s."""
    return f"{round(gigabytes_per_second * 1000)}M"
