# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Parts of a virtual machine, and what guards the host from its QEMU: none is started."""

import gzip
import os
import re
import signal
import socket
import struct
import subprocess
import time
import types
import unittest
from pathlib import Path

import lab
from nodewise_lab import bzimage, cluster, counting, initrd, machine, modules, network, qemu, quirks, signals
from nodewise_lab.errors import LabError, Reporter
from nodewise_lab.layout import Slot, layout_of
from nodewise_lab.machine import Machine, Node
from nodewise_lab.modes import ModeGuard


def invented(*cpus: str, offline: tuple[int, ...] = (), threads: int = 1) -> Machine:
    nodes = tuple(
        Node(i, machine.parse_list(text), 256 << 20, i in offline) for i, text in enumerate(cpus)
    )
    distances = {(a.id, b.id): 10 if a is b else 21 for a in nodes for b in nodes}
    return Machine("invented", threads, False, nodes, distances, ())


class Board(unittest.TestCase):
    def test_one_socket_a_node(self):
        layout = layout_of(invented("0-3", "4-7"))
        self.assertEqual((layout.sockets, layout.cores, layout.threads), (2, 4, 1))
        self.assertFalse(layout.apic_ids_have_gaps)

    def test_memory_only_nodes_at_the_end_need_no_socket(self):
        self.assertEqual(layout_of(invented("0-1", "2-3", "")).socket_nodes, (0, 1))

    def test_a_missing_node_keeps_its_number_by_an_empty_socket(self):
        layout = layout_of(invented("0-1", "2-3", "", "4-5", offline=(2,)))
        self.assertEqual(layout.socket_nodes, (0, 1, 2, 3))
        self.assertEqual([slot.socket for slot in layout.present], [0, 0, 1, 1, 3, 3])
        self.assertIn("possible_cpus=9", quirks.boot_options(layout))

    def test_hardware_threads_share_a_core(self):
        self.assertEqual(layout_of(invented("0-3", threads=2)).present[1], Slot(0, 0, 1))

    def test_processors_behind_a_gap_are_plugged_in(self):
        arguments = qemu.machine_arguments(invented("0-2", "3"))
        self.assertIn("cpus=4,maxcpus=6,sockets=2,cores=3,threads=1", arguments)
        self.assertNotIn("-device", arguments)
        arguments = qemu.machine_arguments(invented("0", "1-2"))
        self.assertIn("cpus=1,maxcpus=4,sockets=2,cores=2,threads=1", arguments)
        self.assertEqual(arguments.count("-device"), 2)

    def test_costs_only_where_all_are_known(self):
        partly = machine.load(lab.MACHINES / "yuca-4x8.json")
        self.assertNotIn("hmat", " ".join(qemu.machine_arguments(partly)))
        fully = machine.load(lab.MEMORY_ONLY)
        self.assertIn(
            "data-type=access-latency,latency=250", " ".join(qemu.machine_arguments(fully))
        )


class Kernel(unittest.TestCase):
    def test_modules_in_the_order_of_their_dependencies(self):
        needs = {"virtio_pci": "virtio", "virtio_console": "virtio", "9p": "9pnet", "9pnet_virtio": "9pnet,virtio",
                 "overlay": "", "virtio": "", "9pnet": "", "virtio_net": "net_failover,virtio", "net_failover": "failover",
                 "failover": ""}  # fmt: skip
        files = {name: b"\0depends=" + text.encode() + b"\0" for name, text in needs.items()}
        order = list(modules.load_order(files.get, builtin=set()))
        for name, text in needs.items():
            for dependency in filter(None, text.split(",")):
                self.assertLess(order.index(dependency), order.index(name))

    def test_builtin_modules_are_left_out_and_missing_ones_named(self):
        files = {name: b"" for name in modules.WANTED}
        self.assertNotIn("overlay", modules.load_order(files.get, builtin={"overlay"}))
        del files["9p"]
        with self.assertRaisesRegex(KeyError, "9p"):
            modules.load_order(files.get, builtin=set())

    def test_those_for_a_disk_are_last_and_loaded_only_with_one(self):
        needs = dict.fromkeys(modules.WANTED, "") | {"virtio_net": "crc16", "ext4": "mbcache,crc16", "virtio_blk": "", "mbcache": "", "crc16": ""}
        files = {name: b"\0depends=" + text.encode() + b"\0" for name, text in needs.items()}
        order = list(modules.load_order(files.get, builtin=set()))
        self.assertEqual(order[-3:], ["virtio_blk", "mbcache", "ext4"])
        self.assertEqual(modules.without_disk(order, files.__getitem__), order[:-3])
        del files["mbcache"]
        self.assertNotIn("ext4", modules.load_order(files.get, builtin=set()))

    def test_module_names(self):
        self.assertEqual(modules.name_of("kernel/drivers/x/virtio-pci.ko.zst"), "virtio_pci")
        self.assertIsNone(modules.name_of("modules.builtin"))

    def elf(self, note_name: bytes) -> bytes:
        note = struct.pack("<III4sQ", len(note_name), 8, 18, note_name, 0)
        header = (
            b"\x7fELF".ljust(0x20, b"\0")
            + struct.pack("<Q", 64)
            + b"\0" * 14
            + struct.pack("<HH", 56, 1)
        )
        segment = struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(note), len(note), 4)
        return header.ljust(64, b"\0") + segment + note

    def image(self, payload: bytes) -> bytes:
        image = bytearray(2048)
        image[0x1F1] = 1
        image[0x202:0x206] = b"HdrS"
        struct.pack_into("<H", image, 0x206, 0x20F)
        struct.pack_into("<II", image, 0x248, 1024, len(payload))
        return bytes(image) + payload

    def test_kernel_is_unpacked(self):
        elf = self.elf(b"Xen\0")
        self.assertEqual(bzimage.vmlinux(self.image(gzip.compress(elf))), elf)

    def test_kernels_that_qemu_could_not_start_stay_packed(self):
        for payload, why in (
            (gzip.compress(self.elf(b"Etc\0")), "CONFIG_PVH"),
            (b"BZh9", "unknown"),
        ):
            with self.assertRaisesRegex(bzimage.NotExtractable, why):
                bzimage.vmlinux(self.image(payload))


class Initrd(unittest.TestCase):
    def test_it_is_a_newc_archive(self):
        member = initrd._member(1, "init", 0o100755, b"12345")
        self.assertTrue(member.startswith(b"070701" + b"00000001" + b"000081ED"))
        self.assertEqual(len(member) % 4, 0)


class Counting(unittest.TestCase):
    def test_the_counter_is_told_the_machine_of_the_file(self):
        lines = counting.describe(machine.load(lab.TWO_NODES), parallel=False).splitlines()
        self.assertEqual(lines[:3], ["parallel 0", "low_memory 2952790016", "processor 0 0 0"])
        self.assertIn("processor 7 7 1", lines)
        self.assertEqual([line for line in lines if line.startswith("memory")],
                         ["memory 0 268435456", "memory 1 268435456"])  # fmt: skip
        self.assertEqual(lines[-1], "cache 3 unified 8388608 16 node")

    def test_small_caches_are_assumed_where_the_file_names_none(self):
        lines = counting.describe(machine.load(lab.MEMORY_ONLY), parallel=True).splitlines()
        self.assertEqual(lines[0], "parallel 1")
        self.assertEqual([line.split()[1:4] for line in lines if line.startswith("cache")],
                         [["1", "data", "32768"], ["2", "unified", "262144"], ["3", "unified", "2097152"]])  # fmt: skip

    def test_the_plugin_interface_follows_the_version_of_qemu(self):
        for version, api in (((7, 2, 22), 1), ((8, 2, 2), 1), ((9, 0, 4), 2), ((10, 0, 2), 3)):
            self.assertEqual(quirks.plugin_api(version), api)

    def test_processors_take_turns_only_where_a_plugin_is_told_the_right_one(self):
        self.assertEqual(quirks.accelerator(8, (7, 2, 22), counting=True), "tcg,thread=single")
        self.assertEqual(quirks.accelerator(8, (10, 0, 2), counting=True), "tcg,thread=multi")

    def test_marks_are_the_same_numbers_on_both_sides(self):
        """The counter is under another licence and includes nothing of ours."""
        header = (lab.ROOT / "include/nodewise/marker.h").read_text()
        counter = (lab.ROOT / "lab/counter/marks.h").read_text()
        for name in ("BEGIN", "END", "OBSERVE", "EXCLUDE", "FINISH"):
            said = re.search(rf"NODEWISE_MARKER_{name} (0x\w+)", header)[1]
            heard = re.search(rf"\bMARK_{name} = (0x\w+)", counter)[1]
            self.assertEqual(said, heard, name)


class Network(unittest.TestCase):
    """The switch of a cluster, with sockets in QEMU's place."""

    def setUp(self) -> None:
        self.switch = self.enterContext(network.Switch(3))
        self.hosts = [socket.socket(fileno=os.dup(self.switch.fd_of(number))) for number in (1, 2, 3)]
        for host in self.hosts:
            self.addCleanup(host.close)
            host.settimeout(10)

    @staticmethod
    def frame(to: int, text: bytes) -> bytes:
        return bytes((0x52, 0x54, 0x00, 0x6E, 0x77, to)) + text

    def expect_nothing(self, host: int) -> None:
        self.hosts[host - 1].settimeout(0.3)
        with self.assertRaises(TimeoutError):
            self.hosts[host - 1].recv(2000)

    def test_a_frame_goes_to_its_host_alone(self):
        self.hosts[0].send(self.frame(2, b"to two"))
        self.assertEqual(self.hosts[1].recv(2000), self.frame(2, b"to two"))
        self.expect_nothing(3)
        self.expect_nothing(1)

    def test_a_broadcast_goes_to_all_others(self):
        self.hosts[1].send(b"\xff" * 6 + b"to all")
        for host in (0, 2):
            self.assertEqual(self.hosts[host].recv(2000), b"\xff" * 6 + b"to all")
        self.expect_nothing(2)

    def test_frames_to_nobody_are_lost(self):
        for number in (0, 4, 255):
            self.hosts[0].send(self.frame(number, b"lost"))
        self.hosts[0].send(b"x")
        self.hosts[0].send(self.frame(2, b"after"))
        self.assertEqual(self.hosts[1].recv(2000), b"x")
        self.assertEqual(self.hosts[1].recv(2000), self.frame(2, b"after"))

    def test_a_host_that_reads_slowly_gets_all_in_order_and_delays_no_other(self):
        count = 2000
        for number in range(count):
            self.hosts[0].send(self.frame(2, b"%d" % number))
        self.hosts[0].send(self.frame(3, b"meanwhile"))
        self.assertEqual(self.hosts[2].recv(2000), self.frame(3, b"meanwhile"))
        for number in range(count):
            self.assertEqual(self.hosts[1].recv(2000), self.frame(2, b"%d" % number))

    def test_a_cluster_needs_a_qemu_with_the_network(self):
        with self.assertRaisesRegex(LabError, "7.2.0 or later is needed"):
            qemu.require_network(qemu.Qemu("qemu", "version 6.2.0", (6, 2, 0), ()))

    def test_hosts_know_one_another(self):
        hosts = [cluster.Host(1, invented("0-3", "4-7")), cluster.Host(2, invented("0-3", threads=2))]
        files = cluster.Cluster(hosts).membership_of(hosts[1]).files
        self.assertEqual(files["/etc/hosts"], "10.0.0.1 host1\n10.0.0.2 host2\n")
        self.assertIn("host1:8\nhost2:2\n", files.values())
        self.assertIn("host1 slots=8\nhost2 slots=2\n", files.values())


class Servers(unittest.TestCase):
    """The thread of a cluster's other host, with something in the relay's place."""

    def setUp(self) -> None:
        self.commands = signals.Inbox()
        host = cluster.Host(2, invented("0-3"))
        self.server = cluster.Server(host, types.SimpleNamespace(), b"", self.commands, Reporter(quiet=True))

    def wait_for_end(self) -> None:
        while not self.server._inbox.take():
            time.sleep(0.01)

    def relay(self, run) -> None:
        self.server._relay = types.SimpleNamespace(run=run)

    def test_a_host_that_ends_when_it_is_asked_to(self):
        self.relay(lambda job: self.wait_for_end())
        with self.server:
            pass
        self.assertEqual(self.commands.take(), [])

    def test_a_host_that_fails_while_it_ends(self):
        def fail(job):
            self.wait_for_end()
            raise LabError("cannot copy back 'a'", "No space left on device", "free space")

        self.relay(fail)
        with self.assertRaisesRegex(LabError, "host2: cannot copy back 'a': No space left"), self.server:
            pass

    def test_a_host_that_fails_before_ends_the_command(self):
        for run, why in ((lambda job: None, "its service ended before the command"), (lambda job: 1 / 0, "ZeroDivisionError")):
            with self.subTest(why):
                self.setUp()
                self.relay(run)
                with self.assertRaisesRegex(LabError, f"cannot keep host2 running: .*{why}"), self.server:
                    self.server.join()
                self.assertEqual(self.commands.take(), [signal.SIGTERM])


class Modes(unittest.TestCase):
    """What QEMU of root's may not leave on the host, tried with another program in QEMU's place."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(lab.tempfile.TemporaryDirectory()))

    def guarded(self, script: str) -> ModeGuard:
        guard = ModeGuard()
        program = subprocess.Popen([lab.PYTHON, "-c", "import os, stat\n" + script], cwd=self.folder, preexec_fn=guard.install)
        guard.watch()
        self.addCleanup(guard.end)
        self.assertEqual(program.wait(), 0)
        guard.end()
        self.assertEqual(guard.missing, "")
        return guard

    def mode(self, name: str) -> int:
        return (self.folder / name).stat().st_mode & 0o7777

    def test_files_lose_their_setuid_and_setgid_bits(self):
        guard = self.guarded(
            "for name, mode in (('a', 0o4755), ('b', 0o2750), ('c', 0o6711), ('d', 0o755), ('e', 0o1644)):\n"
            "    open(name, 'w').close(); os.chmod(name, mode)\n"
            "f = open('f', 'w'); os.fchmod(f.fileno(), 0o4700)\n"
            "g = os.open('g', os.O_CREAT); os.chmod(f'/proc/self/fd/{g}', 0o4777)\n"
            "here = os.open('.', os.O_PATH); os.chmod('b', 0o6770, dir_fd=here)\n"
        )
        modes = {name: self.mode(name) for name in "abcdefg"}
        self.assertEqual(modes, {"a": 0o755, "b": 0o770, "c": 0o711, "d": 0o755, "e": 0o1644, "f": 0o700, "g": 0o777})
        self.assertEqual({Path(name).name for name in guard.stripped}, set("abcfg"))

    def test_directories_keep_their_setgid_bit(self):
        guard = self.guarded("os.mkdir('shared'); os.chmod('shared', 0o2775)")
        self.assertEqual((self.mode("shared"), guard.stripped), (0o2775, []))

    def test_no_file_is_made_with_them(self):
        self.guarded(
            "for make in (lambda: os.open('a', os.O_CREAT | os.O_WRONLY, 0o4755), lambda: os.mknod('b', 0o6755 | stat.S_IFREG)):\n"
            "    try:\n        make()\n    except PermissionError:\n        continue\n    raise SystemExit(1)\n"
        )
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_errors_are_the_systems(self):
        self.guarded("try:\n    os.chmod('missing', 0o4755)\nexcept FileNotFoundError:\n    pass\nelse:\n    raise SystemExit(1)")


if __name__ == "__main__":
    unittest.main()
