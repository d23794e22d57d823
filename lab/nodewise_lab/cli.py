# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The runner's command line. Users meet it as `nodewise lab` and `nodewise --on`."""

import argparse
import errno
import json
import os
import traceback
from pathlib import Path

from . import cache, kernel, machine
from .errors import STATUS_LAB_FAILED, Interrupted, LabError, Reporter, reason
from .job import Settings
from .qmp import QmpError
from .run import Request, run
from .signals import SignalInbox, end_like

_DEFAULT_TIMEOUT_SECONDS = 600


def main(arguments: list[str]) -> int:
    _open_standard_streams()
    own, command = _split(arguments)
    options = _parser().parse_args(own)
    reporter = Reporter(getattr(options, "quiet", False), getattr(options, "verbose", False))
    inbox = SignalInbox()
    try:
        return end_like(options.action(options, command, inbox, reporter))
    except LabError as error:
        reporter.error(error)
        return error.status
    except Interrupted as interruption:
        return end_like(-interruption.signal_number)
    except QmpError as error:
        cure = "run it again with --verbose, and with --no-snapshot if it fails again"
        reporter.error(LabError("to control the virtual machine", str(error), cure))
        return STATUS_LAB_FAILED
    except OSError as error:
        if getattr(options, "verbose", False):
            traceback.print_exc()
        reporter.error(_failure(error))
        return STATUS_LAB_FAILED
    except Exception:  # a bug of ours must not look like the command's exit status 1
        traceback.print_exc()
        return STATUS_LAB_FAILED


def _failure(error: OSError) -> LabError:
    """What the system refused somewhere, by the variable that leads there."""
    asked = f"for {error.filename}" if error.filename else "for a temporary file or another resource"
    if error.errno == errno.ENOENT and error.filename is None:  # as tempfile reports it
        return LabError(asked, reason(error), "choose a directory you may write to: export TMPDIR=DIR")
    names = [name for name in (error.filename, error.filename2) if isinstance(name, str)]
    if any(Path(name).is_relative_to(cache.root()) for name in names):
        return cache.failure(asked, error)
    cure = "check that it exists, who may use it, and the space left (TMPDIR, NODEWISE_CACHE)"
    return LabError(asked, reason(error), cure)


def _open_standard_streams() -> None:
    """A caller may have closed some. Whatever were opened next would be taken for them."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Everything after the first -- is the command's."""
    if "--" not in arguments:
        return arguments, []
    position = arguments.index("--")
    return arguments[:position], arguments[position + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nodewise_lab", description="Runs programs on virtual NUMA machines."
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    _add_run(verbs.add_parser("run", help="run a command on a machine"))

    selftest = verbs.add_parser("selftest", help="does the guest show what the machine file says?")
    _add_machine(selftest)
    selftest.set_defaults(action=_selftest)

    cache_verbs = verbs.add_parser("cache", help="kernels and snapshots").add_subparsers(
        required=True, metavar="VERB"
    )
    listing = cache_verbs.add_parser("list", help="what the cache holds")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(action=_cache_list)
    removing = cache_verbs.add_parser("remove", help="empty the cache, or remove one entry")
    removing.add_argument("--all", action="store_true")
    removing.add_argument("key", nargs="?")
    removing.set_defaults(action=_cache_remove)

    kernel_verbs = verbs.add_parser("kernel", help="the guests' kernel").add_subparsers(
        required=True, metavar="VERB"
    )
    fetching = kernel_verbs.add_parser(
        "fetch", help="get the distribution's current kernel into the cache"
    )
    fetching.set_defaults(action=_kernel_fetch)
    return parser


def _add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--machine", required=True, type=Path, metavar="FILE.json", help="normalised machine file"
    )
    parser.add_argument(
        "--no-snapshot", action="store_true", help="boot, neither using nor making a snapshot"
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="warnings and errors only")
    loudness.add_argument("--verbose", action="store_true", help="times, and the guest's console")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.usage = "nodewise_lab run --machine FILE.json [OPTION]... -- COMMAND [ARGUMENT]..."
    _add_machine(parser)
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", default=_DEFAULT_TIMEOUT_SECONDS, help="0: none; default 600"
    )
    parser.add_argument(
        "--grace", type=float, metavar="SECONDS", default=0,
        help="after the time limit send SIGTERM to the command, and wait this long for its end",
    )  # fmt: skip
    parser.add_argument("--numa-balancing", type=int, choices=(0, 1, 2), default=0)
    parser.add_argument("--thp", choices=("never", "madvise", "always"), default="madvise")
    parser.add_argument(
        "--overlay",
        action="store_true",
        help="copy changes of the working directory back at the end",
    )
    parser.add_argument(
        "--discard",
        action="store_true",
        help="keep no change of any file",
    )
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--tty", action="store_true", help="give the command a terminal")
    parser.add_argument(
        "--count", type=Path, metavar="FILE", help="count memory traffic; share/doc/nodewise/formats.md: counts"
    )
    parser.add_argument(
        "--count-when-told",
        action="store_true",
        help="count from when the command says that its program begins",
    )
    parser.set_defaults(action=_run)


def _run(
    options: argparse.Namespace, command: list[str], inbox: SignalInbox, reporter: Reporter
) -> int:
    if not command:
        raise LabError("to run a command", "none was given", "name it after --")
    settings = Settings(
        numa_balancing=options.numa_balancing,
        transparent_hugepage=options.thp,
        overlay=options.overlay and not options.discard,
        discard=options.discard,
        tty=options.tty,
        count=("told" if options.count_when_told else "command") if options.count else "",
        environment=_environment(options.env),
    )
    request = Request(
        machine.load(options.machine), command, settings, options.timeout, not options.no_snapshot,
        options.count, options.grace,
    )  # fmt: skip
    return run(request, inbox, reporter)


def _environment(assignments: list[str]) -> dict[str, str]:
    variables = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not name or not equals:
            raise LabError(
                f"for the variable '{assignment}' (--env)",
                "not of the form NAME=VALUE",
                "write --env NAME=VALUE",
            )
        variables[name] = value
    return variables


def _selftest(
    options: argparse.Namespace, _: list[str], inbox: SignalInbox, reporter: Reporter
) -> int:
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
        print(
            json.dumps(
                {"schema": "nodewise/lab-cache/1", "directory": str(cache.root()), "entries": rows},
                indent=1,
            )
        )
        return 0
    print(f"{cache.root()}: {sum(row['bytes'] for row in rows) / 2**20:.0f} MiB")
    for row in rows:
        print(
            f"{row['kind']:8}  {row['key']:24}  {row['bytes'] / 2**20:6.0f} MiB  {row['made']}  {row['what']}"
        )
    return 0


def _cache_remove(
    options: argparse.Namespace, _: list[str], __: SignalInbox, reporter: Reporter
) -> int:
    if options.all == bool(options.key):
        raise LabError(
            "to remove from the cache",
            "neither or both of --all and a key were given",
            "see: nodewise lab cache list",
        )
    chosen = [entry for entry in cache.entries() if options.all or entry.key == options.key]
    if options.key and not chosen:
        raise LabError(
            f"to remove {options.key}",
            f"the cache {cache.root()} has no such entry",
            "nodewise lab cache list",
        )
    freed = sum(entry.size_bytes() for entry in chosen)
    for entry in chosen:
        entry.remove()
    cache.remove_unfinished(older_than_seconds=0 if options.all else 3600)
    reporter.note(f"removed {len(chosen)} entries, {freed / 2**20:.0f} MiB")
    return 0


def _kernel_fetch(
    _: argparse.Namespace, __: list[str], ___: SignalInbox, reporter: Reporter
) -> int:
    print(kernel.fetch(reporter).entry.path)
    return 0
