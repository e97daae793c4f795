#!/usr/bin/env python3
"""Sends header blocks that never end (CONTINUATION flood) to the gRPC port itself, without a proxy.

    cmake --preset release && cmake --build --preset release
    tests/chaos/header_flood.py --json=header_flood.json

One connection, then four, each opened again when the server closes it, beside 20 calls a second.
Promises: memory exceeds --max_memory_bytes only by what such peers send in a moment, and calls on
other connections succeed. Exits 1 when one is broken. What a flood took stays with the allocator for
further use.
"""
import argparse
import json
import multiprocessing
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from http2_floods import OPENING, continuation
from kill9 import ROOT, Broken, Server

MODEL = ROOT / "tests/testdata/reference_model/dssm"
MAX_MEMORY_MIB = 256
# What four peers send while a busy machine delays the watchdog: up to 1,118 MiB on a Zen 4. Without
# the watchdog memory grows as long as the flood lasts.
ALLOWANCE_MIB = 1536


def flood(address: str, end: float) -> None:
    host, port = address.rsplit(":", 1)
    while time.monotonic() < end:
        try:
            with socket.create_connection((host, int(port)), 1) as connection:
                connection.sendall(OPENING)
                for piece in continuation():
                    connection.sendall(piece)
                    if time.monotonic() >= end:
                        return
        except OSError:
            pass


class Memory:
    """Samples the resident memory of a process every 10 ms and keeps the maximum."""

    def __init__(self, pid: int):
        self.status, self.highest, self.ended = pathlib.Path(f"/proc/{pid}/status"), 0, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def mib(self) -> int:
        return int(re.search(r"VmRSS:\s+(\d+)", self.status.read_text())[1]) >> 10

    def run(self) -> None:
        while not self.ended.wait(0.01):
            self.highest = max(self.highest, self.mib())

    def end(self) -> int:
        self.ended.set()
        self.thread.join()
        return self.highest


def closed(server: Server) -> int:
    metrics = urllib.request.urlopen(f"http://{server.address}/metrics").read().decode()
    return int(float(re.search(r"(?m)^semrank_connections_closed_for_memory_total (\S+)$", metrics)[1]))


def attack(build: pathlib.Path, server: Server, connections: int, seconds: int) -> dict:
    memory, before = Memory(server.process.pid), closed(server)
    floods = [multiprocessing.Process(target=flood, args=(server.grpc_address, time.monotonic() + seconds)) for _ in range(connections)]
    for process in floods:
        process.start()
    load = subprocess.run([build / "bin/semrank", "--output=json", "load", f"--address={server.grpc_address}", "--rate=20",
                           f"--duration={seconds}s", "--num_titles=10", "--warmup=0s"], capture_output=True, text=True)
    for process in floods:
        process.join()
    highest = memory.end()
    if load.returncode != 0:
        raise Broken(f"the calls beside it failed: {load.stderr}")
    report = json.loads(load.stdout)
    if report["failed"]:
        raise Broken(f"calls beside it failed: {report['failed']}")
    if highest > MAX_MEMORY_MIB + ALLOWANCE_MIB:
        raise Broken(f"the server took {highest} MiB with a limit of {MAX_MEMORY_MIB}")
    return {"connections": connections, "seconds": seconds, "highest_mib": highest, "closed": closed(server) - before, "calls": report["calls"],
            "p99_ms": report["latency_ms"]["p99"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bin/")
    parser.add_argument("--short", action="store_true", help="3 seconds each, otherwise 30")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    try:
        with Server(options.build, MODEL, f"--max_memory_bytes={MAX_MEMORY_MIB << 20}") as server:
            figures = [attack(options.build, server, connections, 3 if options.short else 30) for connections in (1, 4)]
    except Broken as broken:
        print(broken, file=sys.stderr)
        return 1
    print(json.dumps(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
