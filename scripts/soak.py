#!/usr/bin/env python3
"""Looks for leaks of memory, files and threads in a busy server.

  scripts/soak.py --model_dir=models/shop --minutes=30

Starts a semrank-server on a copy of the model and loads it with everything at
once: Rank calls of known titles, Rank calls of new titles through a small cache,
a new version of the model every second, HTTP pages, and more connections than
--max_connections allows, which stay silent, half-close, reset or disconnect. After
a warm-up, in which caches and pools fill, and again at the end it waits until all
clients have disconnected and counts memory, open files and threads.

Prints both counts. Exits 1 when the second exceeds the first by more than the
limits (10 % and 16 MiB of memory, 8 files, 4 threads), when a call failed, or when
nothing was refused, reloaded or evicted, so that the test did not cover it.
"""
import argparse
import contextlib
import itertools
import json
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from latency_beside import Server, newest_version, prepare_version

MAX_CONNECTIONS = 64
CACHE_BYTES = 4 << 20
SLACK = {"resident KiB": 16 << 10, "files": 8, "threads": 4}
GROWTH = {"resident KiB": 1.1, "files": 1, "threads": 1}


def count(server: Server) -> dict[str, int]:
    process = pathlib.Path(f"/proc/{server.process.pid}")
    status = dict(re.findall(r"(?m)^(VmRSS|Threads):\s+(\d+)", (process / "status").read_text()))
    return {"resident KiB": int(status["VmRSS"]), "files": len(list((process / "fd").iterdir())), "threads": int(status["Threads"])}


def metric(server: Server, name: str) -> float:
    text = urllib.request.urlopen(f"http://{server.http}/metrics").read().decode()
    return sum(float(value) for value in re.findall(rf"(?m)^{name}(?:\{{.*\}})? (\S+)$", text))


def come_and_go(address: str, number: int) -> None:
    """A crowd of connections that leave in different ways."""
    host, port = address.rsplit(":", 1)
    crowd = [socket.create_connection((host, int(port))) for _ in range(2 * MAX_CONNECTIONS if number % 4 == 0 else 8)]
    for i, one in enumerate(crowd):
        with contextlib.suppress(OSError):  # a refused connection may be closed already
            if i % 3 == 1:
                one.shutdown(socket.SHUT_WR)
            if i % 3 == 2:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if number % 2:
                one.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        one.close()


def publish_next(model: pathlib.Path) -> None:
    newest = newest_version(model)
    prepare_version(model, newest + 1).rename(model / str(newest + 1))
    shutil.rmtree(model / str(newest - 1), ignore_errors=True)


@contextlib.contextmanager
def repeated(seconds: float, work):
    """Calls `work` with 0, 1, 2, ... all the while."""
    stop = threading.Event()

    def run() -> None:
        for number in itertools.count():
            if stop.wait(seconds):
                return
            work(number)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def be_busy(server: Server, model: pathlib.Path, seconds: float) -> int:
    """All of it at once; the number of calls that failed."""
    flags = [f"--duration={seconds}s", "--warmup=0s", "--deadline=30s"]
    loads = [server.load_command("--inflight=8", "--connections=4", *flags),
             server.load_command("--inflight=2", "--connections=2", "--new_titles", *flags)]
    senders = [subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for load in loads]
    with repeated(1, lambda _: publish_next(model)), repeated(0.2, lambda number: come_and_go(server.address, number)), \
            repeated(0.5, lambda _: urllib.request.urlopen(f"http://{server.http}/statusz").read()):
        reports = [json.loads(sender.communicate()[0]) for sender in senders]
    for report in reports:
        print(f"  {report['calls']} calls  p99 {report['latency_ms']['p99']:.1f} ms  failed {report['failed'] or 'none'}", flush=True)
    return sum(sum(report["failed"].values()) for report in reports)


def wait_until_all_have_gone(server: Server) -> None:
    while metric(server, "semrank_open_connections") > 0:
        time.sleep(0.2)


def run(server: Server, model: pathlib.Path, minutes: float) -> int:
    first = min(60, 60 * minutes / 3)
    failed, counts = 0, []
    for seconds in (first, 60 * minutes - first):
        failed += be_busy(server, model, seconds)
        wait_until_all_have_gone(server)
        counts.append(count(server))
        print(f"after {seconds:.0f} s more: {counts[-1]}", flush=True)
    tried = {name: metric(server, name) for name in
             ("semrank_connections_refused_total", "semrank_model_load_total", "semrank_cache_evictions_total")}
    print(" ".join(f"{name}={value:.0f}" for name, value in tried.items()))
    grown = [name for name, before in counts[0].items() if counts[1][name] > before * GROWTH[name] + SLACK[name]]
    good = not grown and failed == 0 and all(tried.values())
    print(f"{'holds' if good else 'DOES NOT HOLD'}: grown: {', '.join(grown) or 'nothing'}; {failed} failed calls")
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model_dir", required=True, help="folder of one model's versions; it is copied")
    parser.add_argument("--bin", default="build/release/bin", help="folder of the built programs (%(default)s)")
    parser.add_argument("--minutes", type=float, default=10, help="how long to run (%(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        shutil.copytree(args.model_dir, model)
        server = Server(pathlib.Path(args.bin), model, f"--max_connections={MAX_CONNECTIONS}", f"--cache_bytes={CACHE_BYTES}")
        try:
            return run(server, model, args.minutes)
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
