#!/usr/bin/env python3
"""Looks for leaks, wrong answers and lost documents in a busy server.

  scripts/ci/soak.py --minutes=35
  scripts/ci/soak.py --minutes=20 --model_dir=models/shop --json=soak.json

Starts a semrank-server on a copy of the model (a linear or a DSSM model; the default is a tiny one
of tests/testdata) with a Redis as its store, and loads it with everything at once: Rank calls of known
titles, Rank calls of new titles through a small cache, puts, deletes and searches of the catalog, a new
version of the model every second, HTTP pages, a Redis that stands still for a second every 20 s, and
more connections than --max_connections allows, which stay silent, half-close, reset or disconnect.
Every tenth ranking, search and document that one caller reads is compared with a plain
reference (tests/chaos/plain_model.py, and a dictionary of what was acknowledged).

A warm-up (a third, at most 10 minutes) fills caches and pools. In it the server stands still for a
second every 10 s, so that as many calls pile up as on a busy machine later. Compares the part after it
(a sixth, at most 5 minutes) with the last part: the median of the resident memory, read each second,
and, after all clients have disconnected, open files and threads. Prints the counts and the p99 of the
parts. Exits 1 when the last count exceeds the first by more than the limits (2 % of memory, 8 files, 4
threads), when a call failed or an answer was wrong, or when nothing was refused, reloaded, evicted or
stored, so that the test did not cover it.
"""
import argparse
import collections
import contextlib
import itertools
import json
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "scripts/bench"), str(ROOT / "tests/chaos")]
from kill9 import GONE, Caller  # noqa: E402
from latency_beside import Server, newest_version, prepare_version  # noqa: E402
from plain_model import PlainModel  # noqa: E402

MAX_CONNECTIONS = 64
CACHE_BYTES = 16 << 10
SLACK = {"resident KiB": 0, "files": 8, "threads": 4}
GROWTH = {"resident KiB": 1.02, "files": 1, "threads": 1}
WORDS = "good cat dog car price abc photo editor network viewer desktop library manager strasse mail".split()
NUM_KEYS = 2_000
CHECK_EVERY = 10
# A version differs from the first in low bits of a weight.
TOLERANCE = 1e-3


def status(server: Server, name: str) -> int:
    return int(re.search(rf"(?m)^{name}:\s+(\d+)", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1])


def count(server: Server, resident: list[int]) -> dict[str, float]:
    files = list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir())
    return {"resident KiB": statistics.median(resident), "files": len(files), "threads": status(server, "Threads")}


def read_page(server: Server, page: str) -> str:
    return urllib.request.urlopen(f"http://{server.http}/{page}").read().decode()


def metric(server: Server, name: str) -> float:
    text = read_page(server, "metrics")
    return sum(float(value) for value in re.findall(rf"(?m)^{name}(?:\{{.*\}})? (\S+)$", text))


class CheckedCaller:
    """Ranks, puts, deletes, searches; compares every tenth answer."""

    def __init__(self, server: Server, model: PlainModel, seed: int = 1):
        self.caller, self.model, self.random = Caller(server.http), model, random.Random(seed)
        self.known, self.counts, self.wrong = {}, collections.Counter(), []

    def call(self, path: str, body: dict) -> dict:
        """Again while the machine is too busy for it, and writes also while Redis stands still."""
        retried = (" 429 ", " 503 ") if path in ("/v1/put", "/v1/delete") else (" 429 ",)
        while True:
            try:
                return self.caller(path, body)
            except OSError as error:
                if not any(code in str(error) for code in retried):
                    raise
                self.counts["repeated"] += 1
                time.sleep(0.05)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=3))

    def step(self, _: int) -> None:
        for work in (self.write, self.rank, self.search, self.get):
            self.counts[work.__name__] += 1
            work(check=self.counts[work.__name__] % CHECK_EVERY == 0)

    def expect(self, what: str, good: bool, found) -> None:
        self.counts["checked"] += 1
        if not good:
            self.wrong.append(f"{what}: {found}")

    def write(self, check: bool) -> None:
        keys = [f"k{self.random.randrange(NUM_KEYS)}" for _ in range(4)]
        titles = {} if check else {key: f"{key} {self.text()}" for key in keys}
        if titles:
            self.call("/v1/put", {"documents": [{"document_id": key, "title": title} for key, title in titles.items()]})
        else:
            self.call("/v1/delete", {"document_ids": sorted(set(keys))})
        for key in keys:
            self.known.pop(key, None)
        self.known.update(titles)

    def rank(self, check: bool) -> None:
        query, titles = self.text(), [self.text() for _ in range(10)]
        answer = self.call("/v1/rank", {"query": query, "titles": titles})
        if check:
            expected = self.model.scores(query, titles)
            good = sorted(answer["indices"]) == list(range(10)) and answer["scores"] == sorted(answer["scores"], reverse=True) and all(
                abs(expected[i] - score) < TOLERANCE for i, score in zip(answer["indices"], answer["scores"]))
            self.expect("rank", good, answer)

    def search(self, check: bool) -> None:
        query = self.text()
        answer = self.call("/v1/search", {"query": query, "top_k": 10})
        if check and self.known:
            hits = {hit["document_id"]: hit.get("score", 0) for hit in answer.get("hits", [])}
            scores = dict(zip(self.known, self.model.scores(query, list(self.known.values()))))
            tenth = sorted(scores.values(), reverse=True)[:10][-1]
            good = len(hits) == min(10, len(scores)) and all(
                key in scores and abs(scores[key] - score) < TOLERANCE and score > tenth - TOLERANCE for key, score in hits.items())
            self.expect("search", good, answer)

    def get(self, check: bool) -> None:
        keys = sorted({f"k{self.random.randrange(NUM_KEYS)}" for _ in range(10)})
        answer = self.call("/v1/get", {"document_ids": keys})
        if check:
            found = {document["document_id"]: document["title"] for document in answer.get("documents", [])}
            self.expect("get", found == {key: self.known[key] for key in keys if key in self.known}, answer)


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


def stand_still(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def repeated(seconds: float, work, failures: list):
    """Calls `work` with 0, 1, 2, ... all the while; an exception ends it and is kept."""
    stop = threading.Event()

    def run() -> None:
        try:
            for number in itertools.count():
                if stop.wait(seconds):
                    return
                work(number)
        except (*GONE, KeyError) as error:
            failures.append(f"{work}: {type(error).__name__} {error}")

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def be_busy(server: Server, model: pathlib.Path, redis: subprocess.Popen, caller: CheckedCaller, seconds: float, rate: float,
            resident: list[int]) -> dict:
    """All of it at once. Adds to `resident` the memory of each second."""
    flags = [f"--duration={seconds}s", "--warmup=0s", "--deadline=30s"]
    loads = [server.load_command(f"--rate={rate}", "--connections=4", *flags),
             server.load_command(f"--rate={rate / 10}", "--connections=2", "--new_titles", *flags)]
    senders = [subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for load in loads]
    # The crowd takes every connection that is left. A client that comes after it is refused, and gRPC then fails its calls for a second.
    while metric(server, "semrank_open_connections") < 6 and all(sender.poll() is None for sender in senders):
        time.sleep(0.05)
    failures = []
    with repeated(1, lambda _: publish_next(model), failures), repeated(0.2, lambda number: come_and_go(server.address, number), failures), \
            repeated(0.5, lambda number: read_page(server, ("statusz", "metrics")[number % 2]), failures), \
            repeated(20, lambda _: stand_still(redis), failures), repeated(0.02, caller.step, failures), \
            repeated(1, lambda _: resident.append(status(server, "VmRSS")), failures):
        reports = [json.loads(sender.communicate()[0]) for sender in senders]
    # On a busy machine a few may be refused, which is a promise as well.
    refused = sum(report["failed"].pop("RESOURCE_EXHAUSTED", 0) for report in reports)
    result = {"seconds": seconds, "refused": refused, "p99_ms": [report["latency_ms"]["p99"] for report in reports], "calls": sum(report["calls"] for report in reports),
              "failed": dict(collections.Counter(code for report in reports for code, calls in report["failed"].items() for _ in range(calls))),
              "broken": failures}
    print(json.dumps(result), flush=True)
    return result


def wait_until_all_have_gone(server: Server) -> None:
    while metric(server, "semrank_open_connections") > 0:
        time.sleep(0.2)


def run(server: Server, model: pathlib.Path, redis: subprocess.Popen, options) -> dict:
    total = 60 * options.minutes
    warm_up, part = min(600, total / 3), min(300, total / 6)
    caller = CheckedCaller(server, PlainModel(model / str(newest_version(model))))
    parts, counts = [], []

    def run_part(seconds: float) -> None:
        resident = []
        parts.append(be_busy(server, model, redis, caller, seconds, options.rate, resident))
        wait_until_all_have_gone(server)
        counts.append(count(server, resident))
        print(f"after {seconds:.0f} s more: {counts[-1]}", flush=True)

    with repeated(10, lambda _: stand_still(server.process), []):
        run_part(warm_up)
    for seconds in (part, total - warm_up - 2 * part, part):
        run_part(seconds)
    covered = {name: metric(server, name) for name in
               ("semrank_connections_refused_total", "semrank_model_load_total", "semrank_cache_evictions_total", "semrank_store_calls_total")}
    grown = [name for name, before in counts[1].items() if counts[-1][name] > before * GROWTH[name] + SLACK[name]]
    good = not grown and not caller.wrong and all(covered.values()) and caller.counts["checked"] > 0 and not any(
        part["failed"] or part["broken"] for part in parts)
    return {"holds": good, "grown": grown, "counts": counts, "parts": parts, "answers": caller.counts, "wrong": caller.wrong[:10], "covered": covered}


def start_redis(folder: pathlib.Path) -> tuple[subprocess.Popen, int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    redis = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--maxmemory", "256mb",
                              "--maxmemory-policy", "volatile-lru"], stdout=subprocess.DEVNULL)
    while redis.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return redis, port
        time.sleep(0.05)
    sys.exit("redis-server did not start")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model_dir", default=ROOT / "tests/testdata/reference_model/dssm", help="folder of one model's versions; it is copied")
    parser.add_argument("--bin", default=ROOT / "build/release/bin", help="folder of the built programs (%(default)s)")
    parser.add_argument("--minutes", type=float, default=10, help="how long to run (%(default)s)")
    parser.add_argument("--rate", type=float, default=200, help="Rank calls of known titles a second (%(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        shutil.copytree(options.model_dir, model, ignore=shutil.ignore_patterns("*.json.tmp", "vectors.json"))
        redis, port = start_redis(pathlib.Path(folder))
        try:
            server = Server(pathlib.Path(options.bin), model, f"--max_connections={MAX_CONNECTIONS}", f"--cache_bytes={CACHE_BYTES}",
                            f"--store=redis://127.0.0.1:{port}")
            try:
                figures = run(server, model, redis, options)
            finally:
                server.stop()
        finally:
            redis.send_signal(signal.SIGCONT)
            redis.terminate()
            redis.wait()
    text = json.dumps(figures, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")
    return 0 if figures["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
