# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A virtual cluster: what makes several guests the hosts of one, and what launchers of MPI find in them.

The command runs on the first host. On each other host a service starts what a launcher sends there.
"""

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import initrd, network, slurm
from .errors import LabError, Reporter
from .job import Membership
from .machine import Machine
from .relay import Relay
from .signals import Inbox
from .vm import VirtualMachine

_HOSTS_OF_OPEN_MPI = "/run/nodewise-hosts-openmpi"
_HOSTS_OF_HYDRA = "/run/nodewise-hosts-hydra"


def remote_program() -> Path:
    """What launchers start in place of ssh, built beside guest-init."""
    return initrd.guest_init().parent / "guest-remote"


@dataclass(frozen=True)
class Host:
    number: int  # from 1 on
    machine: Machine

    @property
    def name(self) -> str:
        return f"host{self.number}"


def hosts_of(machines: Sequence[Machine]) -> list[Host]:
    if len(machines) > network.MOST_HOSTS:
        asked = f"cannot start a cluster of {len(machines)} hosts"
        raise LabError(asked, f"a cluster has at most {network.MOST_HOSTS}", "leave some out")
    if not os.access(remote_program(), os.X_OK):
        hint = "build it: make build"
        raise LabError(f"cannot start {remote_program()} in the guests", "it is not an executable file", hint)
    return [Host(number, machine) for number, machine in enumerate(machines, 1)]


@dataclass(frozen=True)
class Cluster:
    hosts: list[Host]
    daemons: slurm.Daemons | None = None

    def command_of(self, host: Host, command: list[str] | None = None) -> list[str]:
        """What the host runs: the command, or the service for the launchers of other hosts."""
        wanted = command or [str(remote_program()), "serve"]
        return (
            slurm.beginning_with(self.daemons, host.name, host.number == 1, wanted) if self.daemons else wanted
        )

    def membership_of(self, host: Host) -> Membership:
        """What the host's guest gets of the cluster."""
        files, environment = _files(self.hosts), _environment()
        if self.daemons:
            files |= slurm.files([(each.name, network.address(each.number), each.machine) for each in self.hosts])
            environment |= slurm.ENVIRONMENT
        return Membership(host.name, host.number, environment, files)


def _files(of: Sequence[Host]) -> dict[str, str]:
    sizes = [(each.name, each.machine.cpu_count // each.machine.threads_per_core) for each in of]
    return {
        "/etc/hosts": "".join(f"{network.address(each.number)} {each.name}\n" for each in of),
        _HOSTS_OF_OPEN_MPI: "".join(f"{name} slots={cores}\n" for name, cores in sizes),
        _HOSTS_OF_HYDRA: "".join(f"{name}:{cores}\n" for name, cores in sizes),
    }


def _environment() -> dict[str, str]:
    """Launchers find the hosts without options, start there what they need, and their ranks do not spin."""
    remote = str(remote_program())
    return {
        "OMPI_MCA_plm_rsh_agent": remote,
        "OMPI_MCA_orte_default_hostfile": _HOSTS_OF_OPEN_MPI,
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": remote,
        "HYDRA_HOST_FILE": _HOSTS_OF_HYDRA,
    }


class Server(threading.Thread):
    """Runs the service on a host other than the first, from the start of the context to its end.

    If the host fails meanwhile, the command gets SIGTERM, and the end of the context raises the failure.
    """

    def __init__(self, host: Host, guest: VirtualMachine, job: bytes, commands: Inbox, reporter: Reporter):
        super().__init__(name=host.name, daemon=True)
        self._host, self._guest, self._job, self._commands = host, guest, job, commands
        self._inbox = Inbox()
        self._nothing = os.open(os.devnull, os.O_RDWR)
        self._relay = Relay(guest, self._inbox, reporter, None, (self._nothing, 2, 2))
        self._ending = False
        self._failure: LabError | None = None

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ending = True
        if kind is None:
            self._inbox.put(signal.SIGTERM)  # the guest writes its files back, then ends
        else:
            self._guest.process.kill()
        self.join()
        os.close(self._nothing)
        if kind is None and self._failure:
            raise self._failure

    def run(self) -> None:
        asked = f"cannot keep {self._host.name} running"
        try:
            self._relay.run(self._job)
            if self._ending:
                return
            self._failure = LabError(asked, "its service ended before the command", "run it again with --verbose")
        except LabError as error:  # also while it writes its files back
            self._failure = LabError(f"{self._host.name}: {error.asked}", error.answered, error.hint, error.status)
        except Exception as error:  # otherwise the command would wait for this host without end
            self._failure = LabError(asked, repr(error), "report this as a bug of the lab")
        if not self._ending:
            self._commands.put(signal.SIGTERM)
