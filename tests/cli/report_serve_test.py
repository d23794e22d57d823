# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise report --serve`: the page for browsers of this computer alone, at an address that cannot be guessed."""

import contextlib
import gzip
import http.client
import os
import re
import signal
import socket
import subprocess
import unittest
from pathlib import Path

from command import COMMAND, PATIENCE, environment
from report_files import comparison
from report_page import ReportTest


class Server:
    def __init__(self, process):
        self.process = process
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)\s", line)
        if found is None:
            raise AssertionError(f"no address: {line!r} {process.communicate()}")
        self.port, self.path = int(found[1]), found[2]

    def asked(self, method="GET", path=None, **headers):
        """The status, the headers and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path or self.path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def status_of(self, *lines):
        """For a request that a well-behaved client would not send."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall("".join(f"{each}\r\n" for each in (*lines, "")).encode())
            return int(connection.makefile("rb").readline().split()[1])

    def end(self, number):
        self.process.send_signal(number)
        rest = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, rest


class Serve(ReportTest):
    def setUp(self):
        super().setUp()
        self.result = self.write(comparison())

    def start(self, *options, ignored=()):
        def ignore():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

        process = subprocess.Popen([COMMAND, "report", self.result, *(options or ("--serve",))], text=True, preexec_fn=ignore,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, env=environment())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return Server(process)

    def test_the_page_has_the_bytes_of_the_file(self):
        self.expect(0, "report", "-q", self.result, "-o", str(self.folder / "page.html"))
        page = (self.folder / "page.html").read_bytes()
        server = self.start()
        status, headers, body = server.asked()
        self.assertEqual((status, headers["Content-Type"], body), (200, "text/html; charset=utf-8", page))
        status, headers, body = server.asked("GET", **{"Accept-Encoding": "gzip"})
        self.assertEqual(gzip.decompress(body) if headers["Content-Encoding"] == "gzip" else body, page)
        status, headers, body = server.asked("HEAD")
        self.assertEqual((status, headers["Content-Length"], body), (200, str(len(page)), b""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["page.html", "result.json"], "it writes no file")

    def test_a_browser_keeps_nothing_and_passes_the_address_to_nobody(self):
        _, headers, _ = self.start().asked()
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")

    def test_there_is_nothing_at_other_addresses(self):
        server, other = self.start(), self.start()
        self.assertNotEqual(server.path, other.path)
        for path in ("/", other.path, server.path[:-1], server.path + "x", "/../.." + self.result, "/favicon.ico"):
            status, _, body = server.asked(path=path)
            self.assertEqual((status, b"html" in body), (404, False), path)

    def test_the_page_can_only_be_read(self):
        server = self.start()
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            status, headers, _ = server.asked(method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)

    def test_other_host_names_are_refused(self):
        server = self.start()
        self.assertEqual(server.asked(Host=f"localhost:{server.port}")[0], 200)
        for host in (f"evil.example:{server.port}", "127.0.0.1", "localhost:1", f"127.0.0.1:{server.port}.evil.example"):
            status, _, body = server.asked(Host=host)
            self.assertEqual((status, b"html" in body), (403, False), host)
            self.assertIn(f"ssh -L {server.port}:127.0.0.1:{server.port}", body.decode())
        request, good = f"GET {server.path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}"
        self.assertEqual(server.status_of(request, good), 200)
        self.assertEqual(server.status_of(request), 403)
        self.assertEqual(server.status_of(request, good, "Host: evil.example"), 403)

    def test_only_the_loopback_address_listens(self):
        server = self.start()
        listening = []
        for table in ("tcp", "tcp6"):
            with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
                for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                    address, port = line.split()[1].split(":")
                    if line.split()[3] == "0A" and int(port, 16) == server.port:
                        listening.append(address)
        self.assertEqual(listening, [f"{int.from_bytes(socket.inet_aton('127.0.0.1'), 'little'):08X}"])

    def test_it_prints_the_command_for_ssh(self):
        server = self.start()
        self.assertIn(f"ssh -L {server.port}:127.0.0.1:{server.port} {socket.gethostname()}\n", server.process.stdout.readline())

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = self.start()
            self.assertEqual(server.asked()[0], 200)
            # Browsers open connections in advance.
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE):
                code, (_, errors) = server.end(number)
            self.assertEqual(code, 0, errors)
            with self.assertRaises(ConnectionRefusedError):
                server.asked()

    def test_it_outlives_the_terminal_if_the_user_asks_for_it(self):
        server = self.start(ignored=(signal.SIGHUP,))
        server.process.send_signal(signal.SIGHUP)
        self.assertEqual(server.asked()[0], 200)

    def test_a_port_in_use_is_an_error_with_a_hint(self):
        server = self.start()
        with socket.create_server(("127.0.0.1", 0)) as foreign:
            for port in (server.port, foreign.getsockname()[1]):
                done = self.expect(4, "report", self.result, f"--serve={port}")
                self.assertEqual(done.stdout, "")
                self.assertIn(f"--serve={port}", done.stderr)
                self.assertIn("EADDRINUSE", done.stderr)
                self.assertIn("hint: choose another port", done.stderr)

    def test_the_port_can_be_chosen(self):
        with socket.socket() as held:  # bound and not listening, so no other program gets the port
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
            self.assertEqual(self.start(f"--serve={port}").port, port)
        for value in ("0", "65536", "-1", "x", "80 "):
            self.assertIn("from 1 to 65535", self.expect(2, "report", self.result, f"--serve={value}").stderr)

    def test_what_it_cannot_be_combined_with(self):
        for other in (["-o", str(self.folder / "page.html")], ["--figure", "arrays"], ["--open"], ["--quiet"]):
            self.assertIn("cannot be combined", self.expect(2, "report", self.result, "--serve", *other).stderr)
        self.assertIn("no.json", self.expect(3, "report", "no.json", "--serve").stderr)


if __name__ == "__main__":
    unittest.main()
