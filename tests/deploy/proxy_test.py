#!/usr/bin/env python3
"""deploy/proxy/haproxy.cfg before a real server: calls pass, and floods of HTTP/2
that the packaged gRPC cannot bound reach neither the server's memory nor the
calls of others. Prints what each flood did and the latencies beside it.

usage: proxy_test.py PROJECT_DIR BINARY_DIR

Exit code 77 (skipped) without haproxy.
"""
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

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(PROJECT / "tests/chaos"))
from http2_floods import FLOODS, OPENING  # noqa: E402

MODEL = PROJECT / "tests/testdata/reference_model/dssm"
FLOOD_SECONDS = 0.5
MAX_WAIT_SECONDS = 20
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
        cls.server = subprocess.Popen([BINARIES / "semrank-server", f"--model_dir={MODEL}", "--listen_address=127.0.0.1:0",
                                       "--http_address=127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.addClassCleanup(cls.stop, cls.server)
        grpc, http = re.search(r" grpc=\S+:(\d+) http=\S+:(\d+)", cls.server.stdout.readline()).groups()
        cls.port, cls.http_port = free_port(), free_port()
        text = (PROJECT / "deploy/proxy/haproxy.cfg").read_text()
        for there, here in (("0.0.0.0:50443", f"127.0.0.1:{cls.port}"), ("0.0.0.0:8443", f"127.0.0.1:{cls.http_port}"),
                            ("127.0.0.1:50051", f"127.0.0.1:{grpc}"), ("127.0.0.1:8080", f"127.0.0.1:{http}"), ("port 8080", f"port {http}"),
                            # A server on a busy machine answers late; the proxy must not take it for down.
                            ("inter 2s", "inter 60s")):
            assert there in text, there
            text = text.replace(there, here)
        (cls.folder / "haproxy.cfg").write_text(text)
        cls.proxy = subprocess.Popen(["haproxy", "-db", "-f", "haproxy.cfg"], cwd=cls.folder, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.stop, cls.proxy)
        cls.client = [BINARIES / "semrank", f"--address=localhost:{cls.port}", f"--tls_ca={cls.folder}/cert.pem"]
        limit = time.monotonic() + MAX_WAIT_SECONDS
        while subprocess.run([*cls.client, "health"], capture_output=True).returncode != 0:
            assert time.monotonic() < limit and cls.proxy.poll() is None, "haproxy does not pass calls"

    @staticmethod
    def stop(process: subprocess.Popen) -> None:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()

    def resident(self, process: subprocess.Popen) -> int:
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])

    def connect(self) -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=self.folder / "cert.pem")
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", self.port), FLOOD_SECONDS, source_address=("127.0.0.2", 0))
        try:
            connection = context.wrap_socket(plain, server_hostname="localhost")
        except OSError:
            plain.close()
            raise
        connection.sendall(OPENING)
        return connection

    def flood(self, frames, end: float, counts: dict) -> None:
        """Connects again and again until `end`, like an attacker."""
        while time.monotonic() < end:
            try:
                with self.connect() as connection:
                    for piece in frames():
                        connection.sendall(piece)
                        counts["bytes"] += len(piece)
                        if time.monotonic() >= end:
                            return
            except OSError:
                counts["closed"] += 1

    def test_floods_reach_neither_the_server_nor_the_calls_of_others(self):
        for frames in FLOODS:
            with self.subTest(frames.__name__):
                before, proxy_before = self.resident(self.server), self.resident(self.proxy)
                counts = {"bytes": 0, "closed": 0}
                flood = threading.Thread(target=self.flood, args=(frames, time.monotonic() + FLOOD_SECONDS, counts))
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
                print(f"{frames.__name__}: {counts['bytes'] / 1e6:.1f} MB sent, closed {counts['closed']} times, server +{growth >> 20} MiB, "
                      f"proxy +{proxy_growth >> 20} MiB; calls beside it: {report}", file=sys.stderr)
                self.assertLess(growth, MAX_GROWTH_BYTES)
                self.assertLess(proxy_growth, MAX_GROWTH_BYTES)
        self.assertEqual(subprocess.run([*self.client, "health"], capture_output=True).returncode, 0)

    def test_json_calls_pass_and_pages_for_operators_do_not(self):
        def curl(path: str, *arguments: str) -> str:
            return subprocess.run(["curl", "-sS", "--cacert", self.folder / "cert.pem", "-o", "/dev/null", "-w", "%{http_code}",
                                   f"https://localhost:{self.http_port}{path}", *arguments], check=True, capture_output=True, text=True).stdout
        self.assertEqual(curl("/v1/rank", "-d", '{"query": "a", "titles": ["b"]}'), "200")
        self.assertEqual(curl("/metrics"), "403")
        self.assertEqual(curl("/statusz"), "403")


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin"
    if not shutil.which("haproxy"):
        print("skipped: needs the package haproxy")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
