#!/usr/bin/env python3
"""deploy/proxy/haproxy.cfg before a real server: every sentence of deploy/SECURITY.md
about the front, for both frontends. Calls pass, and floods of HTTP/2 that the
packaged gRPC cannot bound reach neither the server's memory nor the calls of
others. Prints what each flood did and the latencies beside it.

usage: proxy_test.py PROJECT_DIR BINARY_DIR

Exit code 77 (skipped) without haproxy.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(PROJECT / "tests/chaos"))
from http2_floods import CONTINUATION, END_HEADERS, FLOODS, HEADERS, OPENING, REQUEST, SETTINGS, frame, literal  # noqa: E402

MODEL = PROJECT / "tests/testdata/reference_model/dssm"
FLOOD_SECONDS = 0.5
MAX_WAIT_SECONDS = 20
# Limits of haproxy.cfg. The test lowers the one of calls and counts them for longer: a busy machine exceeds it, too.
MAX_CONNECTIONS, MAX_STREAMS, MAX_HEADER_BYTES, MAX_CALLS = 64, 100, 16_384, 50
# With AddressSanitizer, streams that a busy server has not yet ended take several times as much memory: up to 66 MiB
# instead of 0.
HAS_ASAN = b"__asan_init" in (BINARIES / "semrank-server").read_bytes()
MAX_GROWTH_BYTES = (256 if HAS_ASAN else 64) << 20


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run(["openssl", "req", "-x509", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", cls.folder / "key.pem", "-out", cls.folder / "cert.pem"], check=True, capture_output=True)
        (cls.folder / "certificate.pem").write_text((cls.folder / "cert.pem").read_text() + (cls.folder / "key.pem").read_text())
        cls.server, cls.address_of = cls.start_server()
        cls.port, cls.http_port = free_port(), free_port()
        cls.stored = (PROJECT / "deploy/proxy/haproxy.cfg").read_text()
        cls.proxy = cls.start_proxy(cls.stored, cls.port, cls.http_port, cls.address_of)
        cls.client = cls.wait_for_calls(cls.port, cls.proxy)

    @classmethod
    def start_server(cls, *flags: str) -> tuple[subprocess.Popen, dict]:
        server = subprocess.Popen([BINARIES / "semrank-server", f"--model_dir={MODEL}", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
                                   *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.addClassCleanup(cls.stop, server)
        return server, re.search(r" grpc=\S+:(?P<grpc>\d+) http=\S+:(?P<http>\d+)", server.stdout.readline()).groupdict()

    @classmethod
    def wait_for_calls(cls, port: int, proxy: subprocess.Popen) -> list:
        """The client's command."""
        client = [BINARIES / "semrank", f"--address=localhost:{port}", f"--tls_ca={cls.folder}/cert.pem"]
        limit = time.monotonic() + MAX_WAIT_SECONDS
        while subprocess.run([*client, "health"], capture_output=True).returncode != 0:
            assert time.monotonic() < limit and proxy.poll() is None, "haproxy does not pass calls"
        return client

    @classmethod
    def start_proxy(cls, text: str, port: int, http_port: int, address_of: dict) -> subprocess.Popen:
        grpc, http = address_of["grpc"], address_of["http"]
        for there, here in (("0.0.0.0:50443", f"127.0.0.1:{port}"), ("0.0.0.0:8443", f"127.0.0.1:{http_port}"),
                            ("127.0.0.1:50051", f"127.0.0.1:{grpc}"), ("127.0.0.1:8080", f"127.0.0.1:{http}"), ("port 8080", f"port {http}"),
                            # A server on a busy machine answers late; the proxy must not take it for down.
                            ("inter 2s", "inter 60s")):
            assert there in text, there
            text = text.replace(there, here)
        name = f"haproxy{port}.cfg"
        (cls.folder / name).write_text(text)
        proxy = subprocess.Popen(["haproxy", "-db", "-f", name], cwd=cls.folder, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.stop, proxy)
        return proxy

    @staticmethod
    def stop(process: subprocess.Popen) -> None:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()

    def resident(self, process: subprocess.Popen) -> int:
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])

    def connect(self, port: int, source: str = "127.0.0.2", protocol: str = "h2") -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=self.folder / "cert.pem")
        context.set_alpn_protocols([protocol])
        with contextlib.ExitStack() as on_error:
            plain = on_error.enter_context(socket.create_connection(("127.0.0.1", port), MAX_WAIT_SECONDS, source_address=(source, 0)))
            connection = on_error.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
            connection.settimeout(FLOOD_SECONDS if source == "127.0.0.2" else MAX_WAIT_SECONDS)
            if protocol == "h2":
                connection.sendall(OPENING)
            on_error.pop_all()
        return connection

    def frontends(self):
        for name, port in (("grpc", self.port), ("http", self.http_port)):
            with self.subTest(frontend=name):
                yield port

    @staticmethod
    def frames(connection: ssl.SSLSocket):
        """The frames that come, as (kind, flags, stream, payload), until the other side ends."""
        def read(size: int) -> bytes:
            data = b""
            while len(data) < size:
                if not (piece := connection.recv(size - len(data))):
                    return b""
                data += piece
            return data
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while head := read(9):
                size = int.from_bytes(head[:3], "big")
                payload = read(size) if size else b""
                yield head[3], head[4], int.from_bytes(head[5:], "big"), payload

    def flood(self, port: int, frames, end: float, counts: dict) -> None:
        """Connects again and again until `end`, like an attacker."""
        while time.monotonic() < end:
            try:
                with self.connect(port) as connection:
                    for piece in frames():
                        connection.sendall(piece)
                        counts["bytes"] += len(piece)
                        if time.monotonic() >= end:
                            return
            except OSError:
                counts["closed"] += 1

    def test_floods_reach_neither_the_server_nor_the_calls_of_others(self):
        for frontend, frames in ((frontend, frames) for frontend in ("grpc", "http") for frames in FLOODS):
            port = self.port if frontend == "grpc" else self.http_port
            with self.subTest(frontend=frontend, flood=frames.__name__):
                before, proxy_before = self.resident(self.server), self.resident(self.proxy)
                counts = {"bytes": 0, "closed": 0}
                flood = threading.Thread(target=self.flood, args=(port, frames, time.monotonic() + FLOOD_SECONDS, counts))
                flood.start()
                load = subprocess.run([*self.client, "--output=json", "load", "--rate=50", f"--duration={FLOOD_SECONDS}s", "--num_titles=10", "--warmup=0s"],
                                      capture_output=True, text=True)
                flood.join()
                self.assertEqual(load.returncode, 0, load.stderr)
                report = json.loads(load.stdout)
                # On a busy machine a call may wait too long for a processor; no other error is allowed.
                self.assertLessEqual(set(report["failed"]), {"RESOURCE_EXHAUSTED"})
                self.assertGreater(report["calls"], 0)
                growth, proxy_growth = self.resident(self.server) - before, self.resident(self.proxy) - proxy_before
                print(f"{frontend} {frames.__name__}: {counts['bytes'] / 1e6:.1f} MB sent, closed {counts['closed']} times, server +{growth >> 20} MiB, "
                      f"proxy +{proxy_growth >> 20} MiB; calls beside it: {report}", file=sys.stderr)
                self.assertLess(growth, MAX_GROWTH_BYTES)
                self.assertLess(proxy_growth, MAX_GROWTH_BYTES)
        self.assertEqual(subprocess.run([*self.client, "health"], capture_output=True).returncode, 0)

    def curl(self, path: str, *arguments: str) -> str:
        """The HTTP code."""
        return subprocess.run(["curl", "-sS", "--cacert", self.folder / "cert.pem", "-o", "/dev/null", "-w", "%{http_code}",
                               f"https://localhost:{self.http_port}{path}", *arguments], check=True, capture_output=True, text=True).stdout

    def test_json_calls_pass_and_pages_for_operators_do_not(self):
        rank = ("/v1/rank", "-d", '{"query": "a", "titles": ["b"]}')
        for protocol in ("--http1.1", "--http2"):
            with self.subTest(protocol=protocol):
                self.assertEqual(self.curl(*rank, protocol), "200")
                for path in ("/metrics", "/statusz", "/metrics?x=1"):
                    self.assertEqual(self.curl(path, protocol), "403", path)

    def test_a_page_of_the_proxy_is_of_the_servers_origin(self):
        rank = ("/v1/rank", "-d", '{"query": "a", "titles": ["b"]}', "-H")
        self.assertEqual(self.curl(*rank, f"Origin: https://localhost:{self.http_port}"), "200")
        self.assertEqual(self.curl(*rank, f"Origin: http://localhost:{self.http_port}"), "403")
        self.assertEqual(self.curl("/v1/limits", "-d", "{}", "-H", "Host: evil.test"), "421")

    def test_both_ports_speak_tls_only(self):
        for port in self.frontends():
            with socket.create_connection(("127.0.0.1", port), MAX_WAIT_SECONDS) as plain, contextlib.suppress(ConnectionError):
                plain.sendall(OPENING + b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertNotIn(b"HTTP/1.1 200", plain.recv(1 << 16))

    def test_http2_ends_at_the_proxy_which_bounds_streams(self):
        for port in self.frontends():
            with self.connect(port, "127.0.0.4") as connection:
                _, _, _, payload = next(frame for frame in self.frames(connection) if frame[0] == SETTINGS)
            settings = {int.from_bytes(payload[i:i + 2], "big"): int.from_bytes(payload[i + 2:i + 6], "big") for i in range(0, len(payload), 6)}
            self.assertEqual(settings[3], MAX_STREAMS)

    def test_a_head_larger_than_a_buffer_is_no_request(self):
        for port in self.frontends():
            with self.connect(port, "127.0.0.4") as connection:
                junk = b"".join(literal(b"\x00\x06x-junk", b"j" * 100) for _ in range(2 * MAX_HEADER_BYTES // 100))
                with contextlib.suppress(ConnectionError, ssl.SSLError):
                    for i in range(0, len(junk), MAX_HEADER_BYTES // 2):
                        first, last = i == 0, i + MAX_HEADER_BYTES // 2 >= len(junk)
                        connection.sendall(frame(HEADERS if first else CONTINUATION, END_HEADERS if last else 0, 1,
                                                 (REQUEST if first else b"") + junk[i:i + MAX_HEADER_BYTES // 2]))
                # The proxy ends the stream or the connection, and the server has no headers for an answer.
                self.assertNotIn(HEADERS, [kind for kind, _, _, payload in self.frames(connection) if b"200" in payload or b"\x88" in payload[:1]])
        with self.connect(self.http_port, "127.0.0.4", "http/1.1") as connection, contextlib.suppress(ConnectionError, ssl.SSLError):
            connection.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Junk: " + b"j" * 2 * MAX_HEADER_BYTES + b"\r\n\r\n")
            self.assertRegex(connection.recv(100), rb"^(HTTP/1.1 4|$)")

    def test_an_address_has_a_bounded_number_of_connections(self):
        for port in self.frontends():
            with contextlib.ExitStack() as open_ones:
                opened = 0
                for _ in range(2 * MAX_CONNECTIONS):
                    with contextlib.suppress(OSError):
                        open_ones.enter_context(self.connect(port, "127.0.0.3"))
                        opened += 1
                self.assertEqual(opened, MAX_CONNECTIONS)
                # Others are not concerned.
                with self.connect(port, "127.0.0.5"):
                    pass

    def test_an_address_makes_a_bounded_number_of_calls(self):
        lowered = self.stored.replace("http_req_rate(1s)", "http_req_rate(60s)").replace("sc0_http_req_rate gt 3000", f"sc0_http_req_rate gt {MAX_CALLS}")
        ports = free_port(), free_port()
        proxy = self.start_proxy(lowered, *ports, self.address_of)
        for name, port in zip(("grpc", "http"), ports):
            with self.subTest(frontend=name):
                limit = time.monotonic() + MAX_WAIT_SECONDS
                passed = 0
                while passed <= MAX_CALLS and time.monotonic() < limit:
                    with contextlib.suppress(OSError), self.connect(port, "127.0.0.6") as connection:
                        connection.sendall(frame(HEADERS, END_HEADERS | 1, 1, REQUEST))
                        if not any(kind == HEADERS for kind, *_ in self.frames(connection)):
                            break
                        passed += 1
                self.assertEqual(passed, MAX_CALLS)
        proxy.terminate()

    def test_behind_the_proxy_a_key_is_a_caller(self):
        keys = {"batch": "0" * 32, "front": "1" * 32}
        (self.folder / "keys").write_text("".join(f"read {hashlib.sha256(key.encode()).hexdigest()}\n" for key in keys.values()))
        for name, key in keys.items():
            (self.folder / name).write_text(key)
        _, address_of = self.start_server(f"--api_keys_file={self.folder}/keys")
        port = free_port()
        proxy = self.start_proxy(self.stored, port, free_port(), address_of)
        client = self.wait_for_calls(port, proxy)
        # Beyond what the server queues; its refusals are its own.
        with subprocess.Popen([*client, f"--api_key_file={self.folder}/batch", "load", "--inflight=200", "--connections=4", "--num_titles=1000",
                               "--new_titles", "--duration=30s", "--warmup=0s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as batch:
            front = subprocess.run([*client, f"--api_key_file={self.folder}/front", "--output=json", "load", "--rate=20", "--num_titles=1000", "--new_titles",
                                    "--duration=1s", "--warmup=1s"], capture_output=True, text=True)
            self.assertIsNone(batch.poll())
            batch.terminate()
        self.assertEqual(json.loads(front.stdout)["failed"], {}, front.stderr)

    def test_a_silent_grpc_stream_stays_open(self):
        port = free_port()
        proxy = self.start_proxy(self.stored.replace("60s", "200ms"), port, free_port(), self.address_of)
        self.wait_for_calls(port, proxy)
        credentials = grpc.ssl_channel_credentials((self.folder / "cert.pem").read_bytes())
        with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
            ended = threading.Event()
            watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"")
            watch.add_callback(ended.set)
            self.assertEqual(next(watch), b"\x08\x01")  # SERVING
            self.assertFalse(ended.wait(0.6))
        timeouts = [re.findall(r"(?m)^(frontend|backend) .*grpc\n(?:  .*\n)*?  (timeout .*)$", (PROJECT / "deploy" / name).read_text())
                    for name in ("proxy/haproxy.cfg", "recipes/blue_green.cfg")]
        self.assertEqual(timeouts, 2 * [[("frontend", "timeout client 1h"), ("backend", "timeout server 1h")]])

    def test_a_slow_body_takes_no_connection_to_the_server(self):
        def connections() -> int:
            pattern = f":{int(self.address_of['http']):04X} "
            return sum(line.split()[3] == "01" and pattern in line for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:])
        self.assertEqual(self.curl("/v1/limits", "-d", "{}"), "200")
        before = connections()
        with contextlib.ExitStack() as slow:
            for _ in range(8):
                connection = slow.enter_context(self.connect(self.http_port, "127.0.0.7", "http/1.1"))
                connection.sendall(b"POST /v1/limits HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            self.assertEqual(self.curl("/v1/limits", "-d", "{}"), "200")
            self.assertLessEqual(connections(), before + 2)
            # After timeout http-request the proxy answers in place of the server.
            self.assertRegex(connection.recv(100), rb"^HTTP/1.1 408")


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin"
    if not shutil.which("haproxy"):
        print("skipped: needs the package haproxy")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
