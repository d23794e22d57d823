# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Slurm on the hosts of a virtual cluster: its daemons run as the caller, without systemd and munge."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import LabError
from .machine import Machine

_DIRECTORY = "/run/user/{uid}/slurm"
_CONFIGURATION = "/run/slurm.conf"
_CGROUPS = "/run/cgroup.conf"  # Slurm looks for it beside slurm.conf
_PATH = "/usr/sbin:/usr/local/sbin:/sbin"  # Ordinary users may not have them in PATH
_INSTALL = "install Slurm: sudo apt-get install slurmctld slurmd slurm-client"

ENVIRONMENT = {"SLURM_CONF": _CONFIGURATION}

# auth/none and cred/none: the guests have no user but the caller. Plug-ins of cgroups, accounting and process
# tracking that need root are replaced. Emulated hosts answer slowly.
_SETTINGS = """\
ClusterName=lab
SlurmctldHost={first}
AuthType=auth/none
CredType=cred/none
SlurmUser={uid}
SlurmdUser={uid}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
MessageTimeout=100
ReturnToService=2
"""

# Version 2 asks systemd for a scope, which no guest has.
_CGROUP_SETTINGS = "CgroupPlugin=cgroup/v1\n"


@dataclass(frozen=True)
class Daemons:
    """The daemons' paths."""

    controller: str
    of_host: str


def find() -> Daemons:
    """Throws if Slurm cannot be started here."""
    if os.geteuid() == 0:
        problem = "its daemons refuse to run as root without privileges, and the guest's root has none"
        raise LabError("cannot start Slurm in the guests (--on-slurm)", problem, "run it as an ordinary user")
    path = f"{os.environ.get('PATH', os.defpath)}:{_PATH}"
    found = [shutil.which(name, path=path) for name in ("slurmctld", "slurmd", "srun")]
    if None in found:
        problem = "slurmctld, slurmd or srun is not installed"
        raise LabError("cannot start Slurm in the guests (--on-slurm)", problem, _INSTALL)
    return Daemons(found[0], found[1])


def files(hosts: Sequence[tuple[str, str, Machine]]) -> dict[str, str]:
    """The configuration files, for hosts by name, address and machine."""
    uid = os.geteuid()
    text = _SETTINGS.format(first=hosts[0][0], uid=uid, directory=_DIRECTORY.format(uid=uid))
    text += "".join(f"NodeName={name} NodeAddr={address} {_shape(machine)}\n" for name, address, machine in hosts)
    text += "PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    return {_CONFIGURATION: text, _CGROUPS: _CGROUP_SETTINGS}


def _shape(machine: Machine) -> str:
    """What slurmd sees of the machine: a socket is a node with processors."""
    sizes = {len(node.cpus) for node in machine.online_nodes if node.cpus}
    if len(sizes) != 1:
        return f"CPUs={machine.cpu_count}"
    sockets = sum(1 for node in machine.online_nodes if node.cpus)
    cores = sizes.pop() // machine.threads_per_core
    return f"Sockets={sockets} CoresPerSocket={cores} ThreadsPerCore={machine.threads_per_core}"


def beginning_with(daemons: Daemons, host_name: str, is_first: bool, command: list[str]) -> list[str]:
    """The command, which first starts the daemons of its host; prints their logs if that fails."""
    directory = _DIRECTORY.format(uid=os.geteuid())
    start = f"{daemons.of_host} -N {host_name}"
    if is_first:
        start = f"{daemons.controller} && {start}"
    script = (
        f"mkdir -p {directory}/state {directory}/spool && {start} || "
        f'{{ cat {directory}/*.log >&2; echo "cannot start Slurm on {host_name}" >&2; exit 125; }}; exec "$@"'
    )
    return ["sh", "-c", script, command[0], *command]
