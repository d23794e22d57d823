# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The runner's command line. Users call it by `nodewise lab` and `--on`."""

import argparse
import errno
import json
import os
import traceback
from pathlib import Path

from . import cache, kernel, machine
from .errors import RETRY_HINT, STATUS_LAB_FAILED, Interrupted, LabError, Reporter, reason
from .job import Settings
from .qmp import QmpError
from .run import Request, run
from .signals import SignalInbox, end_like

_DEFAULT_TIMEOUT_SECONDS = 600
_CAPABILITIES = {"sys_nice": 23}  # by the numbers of linux/capability.h


def main(arguments: list[str]) -> int:
    _open_standard_streams()
    position = arguments.index("--") if "--" in arguments else len(arguments)
    options = _parser().parse_args(arguments[:position])
    command = arguments[position + 1 :]  # everything after the first --
    reporter = Reporter(getattr(options, "quiet", False), getattr(options, "verbose", False))
    inbox = SignalInbox()
    try:
        return end_like(options.action(options, command, inbox, reporter))
    except LabError as error:
        failure = error
    except Interrupted as interruption:
        return end_like(-interruption.signal_number)
    except QmpError as error:
        failure = LabError("cannot control the virtual machine", str(error), RETRY_HINT)
    except OSError as error:
        if reporter.verbose:
            traceback.print_exc()
        failure = _failure(error)
    except Exception:  # the exit status of a bug must differ from the command's exit status 1
        traceback.print_exc()
        return STATUS_LAB_FAILED
    reporter.error(failure)
    return failure.status


def _failure(error: OSError) -> LabError:
    """The error for an unexpected refusal of the system; the hint names the variable that may help."""
    if error.errno == errno.ENOENT and error.filename is None:  # as tempfile reports it
        hint = "choose a directory that you may write to: export TMPDIR=DIR"
        return LabError("cannot create a temporary file", reason(error), hint)
    asked = f"cannot access {error.filename}" if error.filename else "cannot get a temporary file or another resource"
    names = [name for name in (error.filename, error.filename2) if isinstance(name, str)]
    if any(Path(name).is_relative_to(cache.root()) for name in names):
        return cache.failure(asked, error)
    hint = "check that the file exists, its permissions, and the free space in TMPDIR and NODEWISE_CACHE"
    return LabError(asked, reason(error), hint)


def _open_standard_streams() -> None:
    """Opens standard streams that the caller has closed, so that no later file gets their numbers."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nodewise_lab", description="Run programs on virtual NUMA machines.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    _add_run(verbs.add_parser("run", help="run a command on a virtual machine"))

    selftest = verbs.add_parser("selftest", help="check that the guest matches the machine file")
    _add_machine(selftest)
    selftest.set_defaults(action=_selftest)

    cache_verbs = verbs.add_parser("cache", help="list or remove kernels and snapshots").add_subparsers(
        required=True, metavar="VERB"
    )
    listing = cache_verbs.add_parser("list", help="list the entries of the cache")
    listing.add_argument("--json", action="store_true", help="print the list as JSON")
    listing.set_defaults(action=_cache_list)
    removing = cache_verbs.add_parser("remove", help="remove one entry, or all")
    removing.add_argument("--all", action="store_true", help="remove all entries")
    removing.add_argument("key", nargs="?", help="remove the entry with this key")
    removing.set_defaults(action=_cache_remove)

    kernel_verbs = verbs.add_parser("kernel", help="manage the kernel of the guests").add_subparsers(
        required=True, metavar="VERB"
    )
    fetching = kernel_verbs.add_parser("fetch", help="download the distribution's current kernel into the cache")
    fetching.set_defaults(action=_kernel_fetch)
    return parser


def _add_machine(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--machine", required=True, type=Path, metavar="FILE.json", help="read the machine from a normalised file")
    add("--no-snapshot", action="store_true", help="boot the machine; do not use or save a snapshot")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="print warnings and errors only")
    loudness.add_argument("--verbose", action="store_true", help="print times and the guest's console, too")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.usage = "nodewise_lab run --machine FILE.json [OPTION]... -- COMMAND [ARGUMENT]..."
    _add_machine(parser)
    add = parser.add_argument
    add(
        "--host", action="append", default=[], type=Path, metavar="FILE.json",
        help="start another host beside the machine, as a cluster; repeatable",
    )  # fmt: skip
    add("--slurm", action="store_true", help="start Slurm on all hosts first")
    add(
        "--timeout", type=float, metavar="SECONDS", default=_DEFAULT_TIMEOUT_SECONDS,
        help="end the command after SECONDS (default 600; 0: no limit)",
    )  # fmt: skip
    add(
        "--grace", type=float, metavar="SECONDS", default=0,
        help="at the time limit send SIGTERM, and give the command SECONDS more to end (default 0)",
    )  # fmt: skip
    add("--numa-balancing", type=int, choices=(0, 1, 2), default=0, help="set kernel.numa_balancing (default 0)")
    add(
        "--thp", choices=("never", "madvise", "always"), default="madvise",
        help="set the use of transparent huge pages (default madvise)",
    )  # fmt: skip
    add("--disk", type=int, metavar="BYTES", default=0, help="give each host an empty disk, mounted on /scratch")
    add(
        "--caps", choices=tuple(_CAPABILITIES), action="append", default=[],
        help="let the command keep a capability; repeatable (default: it has none)",
    )  # fmt: skip
    add("--overlay", action="store_true", help="copy the changes of the working directory back at the end")
    add("--discard", action="store_true", help="discard all changes of files")
    add("--env", action="append", default=[], metavar="NAME=VALUE", help="set a variable for the command; repeatable")
    add("--tty", action="store_true", help="give the command a terminal")
    add(
        "--count", action="append", default=[], type=Path, metavar="FILE",
        help="count memory traffic and write it to FILE (format: share/doc/nodewise/formats.md, 'counts'); "
        "in a cluster, once for each host",
    )  # fmt: skip
    add("--count-when-told", action="store_true", help="start to count when the command announces its program")
    parser.set_defaults(action=_run)


def _run(options: argparse.Namespace, command: list[str], inbox: SignalInbox, reporter: Reporter) -> int:
    if not command:
        raise LabError("cannot run a command", "none was given", "write the command after --")
    settings = Settings(
        numa_balancing=options.numa_balancing,
        transparent_hugepage=options.thp,
        overlay=options.overlay and not options.discard,
        discard=options.discard,
        disk=options.disk != 0,
        capabilities=sum(1 << number for number in {_CAPABILITIES[name] for name in options.caps}),
        tty=options.tty,
        count=("announced" if options.count_when_told else "command") if options.count else "",
        environment=_environment(options.env),
    )
    if options.count and len(options.count) != 1 + len(options.host):
        answered = f"--count is there {len(options.count)} times, for {1 + len(options.host)} hosts"
        raise LabError("cannot count the traffic of a cluster", answered, "give --count once for each host")
    wanted = machine.load(options.machine)
    others = tuple(machine.load(file) for file in options.host)
    use_snapshot = not options.no_snapshot
    request = Request(
        wanted, command, settings, options.timeout, use_snapshot, tuple(options.count), options.grace, others, options.slurm,
        options.disk,
    )
    return run(request, inbox, reporter)


def _environment(assignments: list[str]) -> dict[str, str]:
    for assignment in assignments:
        name, equals, _ = assignment.partition("=")
        if not name or not equals:
            asked = f"cannot set the variable '{assignment}' (--env)"
            raise LabError(asked, "it does not have the form NAME=VALUE", "write --env NAME=VALUE")
    return dict(assignment.split("=", 1) for assignment in assignments)


def _selftest(options: argparse.Namespace, _: list[str], inbox: SignalInbox, reporter: Reporter) -> int:
    from . import selftest  # only this verb needs it

    return selftest.run_on(machine.load(options.machine), inbox, reporter, not options.no_snapshot)


def _cache_list(options: argparse.Namespace, *_: object) -> int:
    rows = [
        {
            "kind": entry.kind,
            "key": entry.key,
            "bytes": entry.size_bytes(),
            "what": entry.about().get("machine") or entry.about().get("release", ""),
            "made": entry.about().get("made", ""),
        }
        for entry in cache.entries()
    ]
    if options.json:
        document = {"schema": "nodewise/lab-cache/1", "directory": str(cache.root()), "entries": rows}
        print(json.dumps(document, indent=1))
        return 0
    print(f"{cache.root()}: {sum(row['bytes'] for row in rows) / 2**20:.0f} MiB")
    for row in rows:
        print(f"{row['kind']:8}  {row['key']:24}  {row['bytes'] / 2**20:6.0f} MiB  {row['made']}  {row['what']}")
    return 0


def _cache_remove(options: argparse.Namespace, _: list[str], __: SignalInbox, reporter: Reporter) -> int:
    if options.all == bool(options.key):
        hint = "give a key that `nodewise lab cache list` shows, or --all"
        raise LabError("cannot remove entries from the cache", "neither or both of a key and --all were given", hint)
    chosen = [entry for entry in cache.entries() if options.all or entry.key == options.key]
    if options.key and not chosen:
        answered = f"the cache {cache.root()} has no such entry"
        raise LabError(f"cannot remove {options.key}", answered, "show the keys: nodewise lab cache list")
    freed = sum(entry.size_bytes() for entry in chosen)
    for entry in chosen:
        entry.remove()
    cache.remove_unfinished(older_than_seconds=0 if options.all else 3600)
    entries = "1 entry" if len(chosen) == 1 else f"{len(chosen)} entries"
    reporter.note(f"removed {entries}, {freed / 2**20:.0f} MiB")
    return 0


def _kernel_fetch(_: argparse.Namespace, __: list[str], ___: SignalInbox, reporter: Reporter) -> int:
    print(kernel.fetch(reporter).entry.path)
    return 0
