#!/usr/bin/env python3
"""Attacks a server as one caller, and counts what is left for the others.

    cmake --preset release && cmake --build --preset release
    tests/chaos/fairness.py --json=fairness.json
    tests/chaos/fairness.py --only=unread,bodies

unread    two connections over gRPC call for large responses and never read them; with keys, and
          again as callers of one address. The p99 of others is compared with that beside two
          connections that make as many calls a second and read the responses
bodies    60 and 280 connections send a JSON body at a byte a second
hog       one key keeps 400 calls of new titles in flight, beside 20 calls a second of another key
writes    one key puts batches of 1,000 documents over 16 connections, beside puts, searches and
          rankings of another key

Promises: others keep 98 % of their calls beside unread responses, a hog and writes, and 95 % of
their JSON calls beside slow bodies; beside unread responses their p99 is at most 3 times that
beside read ones (not with --short). Exits 1 when one is broken. The server has few permits, so that
a few megabytes of unread responses are too many, and a core of its own where there are two.
"""
import argparse
import contextlib
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from http2_floods import END_HEADERS, HEADERS, PING, RST_STREAM, SETTINGS, frame, literal
from kill9 import ROOT, Broken, Server

MODEL = ROOT / "tests/testdata/reference_model/dssm"
DATA, WINDOW_UPDATE, GOAWAY, ACK, END_STREAM = 0, 8, 7, 1, 1
TITLES, TITLE_BYTES = 60, 1_000  # a request of 60 kB; the response repeats the titles
MAX_INFLIGHT_TEXTS = 10_001  # 41 MB of unread responses
CALLS_IN_FLIGHT = 400  # of an attacker: 51 MB
CALLS_A_SECOND = 300  # of an attacker
MAX_P99_RATIO = 3
QUERY, TITLE, WITH_TITLES = 1, 2, 9  # fields of RankRequest
KEYS = {"attacker": "write", "other": "write"}
BATCH, BATCH_CONNECTIONS = 1_000, 16
SERVER_CORE, *CALLER_CORES = sorted(os.sched_getaffinity(0))
MAX_WINDOW = (1 << 31) - 1


def call_headers(path: bytes, key: str) -> bytes:
    block = b"\x83\x86" + literal(b"\x04", path) + literal(b"\x01", b"localhost") + literal(b"\x0f\x10", b"application/grpc")
    return block + literal(b"\x00\x02te", b"trailers") + literal(b"\x0f\x08", b"Bearer " + key.encode())


def string_field(number: int, value: bytes) -> bytes:
    size = len(value)
    return bytes([number << 3 | 2]) + (bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])) + value


def rank_request() -> bytes:
    """A RankRequest with_titles, so that each of its bytes is in memory twice."""
    titles = (b"%d " % i + b"x" * (TITLE_BYTES - 4) for i in range(TITLES))
    message = string_field(QUERY, b"photo") + b"".join(string_field(TITLE, title) for title in titles) + bytes([WITH_TITLES << 3, 1])
    return b"\x00" + struct.pack(">I", len(message)) + message


def data_frames(stream: int, body: bytes) -> bytes:
    """A frame has at most 16,384 bytes."""
    pieces = [body[i:i + 16_384] for i in range(0, len(body), 16_384)]
    return b"".join(frame(DATA, END_STREAM if piece is pieces[-1] else 0, stream, piece) for piece in pieces)


class LargeCaller(threading.Thread):
    """One connection for CALLS_A_SECOND calls, at most CALLS_IN_FLIGHT of them open; unless it reads, its window for
    responses is closed."""

    def __init__(self, address: str, key: str, reads: bool, end: float):
        super().__init__(daemon=True)
        self.address, self.key, self.reads, self.end = address, key, reads, end
        self.calls = self.refused = self.connections = 0

    def run(self) -> None:
        while time.monotonic() < self.end:
            with contextlib.suppress(OSError):
                self.attack()

    def attack(self) -> None:
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), 5) as connection:
            self.connections += 1
            # SETTINGS_INITIAL_WINDOW_SIZE.
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                               frame(SETTINGS, 0, 0, b"\0\x04" + struct.pack(">I", MAX_WINDOW if self.reads else 0)))
            window, open_calls, stream, buffer, unread = 65_535, 0, 1, b"", 0
            body, begin, calls = rank_request(), time.monotonic(), 0
            while time.monotonic() < self.end:
                while open_calls < CALLS_IN_FLIGHT and window >= len(body) and calls < CALLS_A_SECOND * (time.monotonic() - begin):
                    connection.sendall(frame(HEADERS, END_HEADERS, stream, call_headers(b"/semrank.v1.RankingService/Rank", self.key)) +
                                       data_frames(stream, body))
                    window, open_calls, stream = window - len(body), open_calls + 1, stream + 2
                    self.calls, calls = self.calls + 1, calls + 1
                if select.select([connection], [], [], 0.002)[0]:
                    piece = connection.recv(1 << 16)
                    if not piece:
                        return
                    buffer += piece
                while len(buffer) >= 9 and len(buffer) >= 9 + int.from_bytes(buffer[:3], "big"):
                    size, kind, flags, of = int.from_bytes(buffer[:3], "big"), buffer[3], buffer[4], int.from_bytes(buffer[5:9], "big")
                    payload, buffer = buffer[9:9 + size], buffer[9 + size:]
                    if kind == WINDOW_UPDATE and of == 0:
                        window += int.from_bytes(payload, "big")
                    elif kind == DATA:
                        unread += size
                        if unread > 30_000:
                            connection.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", unread)))
                            unread = 0
                    elif kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
                        open_calls, self.refused = max(open_calls - 1, 0), self.refused + (kind == RST_STREAM)
                    elif kind == PING and not flags & ACK:
                        connection.sendall(frame(PING, ACK, 0, payload))
                    elif kind == SETTINGS and not flags & ACK:
                        connection.sendall(frame(SETTINGS, ACK, 0))
                    elif kind == GOAWAY:
                        return


class SlowBody(threading.Thread):
    """Connections that each send a byte of a body every second, and come back when they are closed."""

    def __init__(self, address: str, count: int, end: float):
        super().__init__(daemon=True)
        self.address, self.count, self.end, self.connections = address, count, end, 0

    def run(self) -> None:
        host, port = self.address.rsplit(":", 1)
        clients = [None] * self.count
        while time.monotonic() < self.end:
            for i, client in enumerate(clients):
                try:
                    if client is None:
                        client = clients[i] = socket.create_connection((host, int(port)), 5)
                        client.sendall(b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n")
                        self.connections += 1
                    client.sendall(b"{")
                except OSError:
                    clients[i] = None
            time.sleep(1)


def post(connection: http.client.HTTPConnection, path: str, key: str, body: dict) -> int:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Authorization": f"Bearer {key}"})
    response = connection.getresponse()
    response.read()
    return response.status


class BatchWriter(threading.Thread):
    """Puts batches of new titles, one after another."""

    def __init__(self, address: str, key: str, number: int, end: float):
        super().__init__(daemon=True)
        self.address, self.key, self.number, self.end, self.documents, self.refused = address, key, number, end, 0, 0

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        for batch in itertools.count():
            if time.monotonic() > self.end:
                return
            status = post(connection, "/v1/put", self.key, {"documents": [
                {"document_id": f"batch-{self.number}-{i}", "title": f"photo editor {batch} of {self.number} number {i}"} for i in range(BATCH)]})
            self.documents += BATCH * (status == 200)
            self.refused += status != 200


class Others:
    """Some calls of each kind a second, one after another, each timed from when it was due."""

    RATE = 20

    def __init__(self, address: str, key: str):
        self.address, self.key = address, key
        self.bodies = {"/v1/put": {"documents": [{"document_id": "other", "title": "photo editor"}]},
                       "/v1/search": {"query": "photo editor"}, "/v1/rank": {"query": "photo", "titles": ["photo editor", "image viewer"]}}

    def run(self, seconds: int) -> dict:
        reports, threads = {}, []
        for path in self.bodies:
            threads.append(threading.Thread(target=lambda path=path: reports.update({path: self.run_one(path, seconds)})))
            threads[-1].start()
        for thread in threads:
            thread.join()
        return reports

    def run_one(self, path: str, seconds: int) -> dict:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        codes, times, begin = [], [], time.monotonic()
        for i in range(seconds * self.RATE):
            due = begin + i / self.RATE
            time.sleep(max(due - time.monotonic(), 0))
            codes.append(post(connection, path, self.key, self.bodies[path]))
            times.append(time.monotonic() - due)
        return {"calls": len(codes), "failed": sum(code != 200 for code in codes), "reasons": sorted({code for code in codes if code != 200}),
                "p99_ms": round(1e3 * sorted(times)[int(0.99 * len(times))], 1)}


def load(build: pathlib.Path, server: Server, seconds: int, *flags: str) -> dict:
    """The report of `semrank load`, whose failures do not end this program."""
    run = subprocess.run([build / "bin/semrank", "--output=json", "load", f"--address={server.grpc_address}", f"--duration={seconds}s",
                          "--warmup=0s", *flags], capture_output=True, text=True)
    if not run.stdout:
        raise Broken(f"semrank load failed: {run.stderr}")
    report = json.loads(run.stdout)
    failed = sum(report["failed"].values())
    return {"calls": report["calls"] + failed, "failed": failed, "p99_ms": report["latency_ms"]["p99"], "reasons": report["failed"]}


def metric(server: Server, series: str) -> float:
    page = urllib.request.urlopen(f"http://{server.address}/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(series + " "))


def check(what: str, report: dict, least: float) -> None:
    if report["failed"] > (1 - least) * report["calls"]:
        raise Broken(f"{what}: {report['failed']} of {report['calls']} calls of others failed: {report['reasons']}")


class Case:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path, short: bool):
        self.build, self.folder, self.short, self.seconds = build, folder, short, 3 if short else 30
        (folder / "keys").write_text("".join(f"{role} {hashlib.sha256(key.encode()).hexdigest()}\n" for key, role in KEYS.items()))
        for key in KEYS:
            (folder / key).write_text(key)

    def server(self, *flags: str) -> Server:
        """On a core of its own, if there is another one for its callers."""
        return Server(self.build, MODEL, *flags, prefix=("taskset", "-c", str(SERVER_CORE)) if CALLER_CORES else ())

    def key_flags(self, key: str, keys: bool) -> list:
        return [f"--api_key_file={self.folder}/{key}"] if keys else []

    def unread(self) -> dict:
        figures = {}
        for keys in (True, False):
            name = "by key" if keys else "of one address"
            report = self.beside_large_calls(keys, reads=False)
            read = self.beside_large_calls(keys, reads=True)
            figures[name] = report | {"read_p99_ms": read["p99_ms"], "read_failed": read["failed"], "read_calls": read["attacker_calls"]}
            if not report["attacker_calls"]:
                raise Broken("the attackers made no call")
            check(f"unread responses, callers {name}", report, 0.98)
            if not self.short and report["p99_ms"] > MAX_P99_RATIO * read["p99_ms"]:
                raise Broken(f"unread responses, callers {name}: p99 {report['p99_ms']} ms, {read['p99_ms']} ms beside read ones")
        return figures

    def beside_large_calls(self, keys: bool, reads: bool) -> dict:
        with self.server(f"--max_inflight_texts={MAX_INFLIGHT_TEXTS}", "--max_texts_per_request=10000",
                         *([f"--api_keys_file={self.folder}/keys"] if keys else [])) as server:
            flags = ("--rate=50", "--num_titles=10", *self.key_flags("other", keys))
            quiet = load(self.build, server, 2, *flags)
            attackers = [LargeCaller(server.grpc_address, "attacker", reads, time.monotonic() + self.seconds + 2) for _ in range(2)]
            for attacker in attackers:
                attacker.start()
            time.sleep(1)
            report = load(self.build, server, self.seconds, *flags)
            report |= {"quiet_p99_ms": quiet["p99_ms"], "attacker_calls": sum(a.calls for a in attackers),
                       "unread_mb": round(metric(server, "semrank_unread_response_bytes") / 1e6, 1),
                       "ended": metric(server, "semrank_unread_responses_ended_total")}
        for attacker in attackers:
            attacker.join()
        return report

    def bodies(self) -> dict:
        figures = {}
        body = json.dumps({"query": "photo", "titles": ["photo editor", "image viewer"]})
        for count in (60, 280):
            with self.server() as server:
                slow = SlowBody(server.address, count, time.monotonic() + self.seconds + 1)
                slow.start()
                time.sleep(1)
                codes, times, end = [], [], time.monotonic() + self.seconds
                while time.monotonic() < end:
                    begin = time.monotonic()
                    try:
                        with contextlib.closing(http.client.HTTPConnection(server.address, timeout=5)) as connection:
                            connection.request("POST", "/v1/rank", body, {"Content-Type": "application/json"})
                            codes.append(connection.getresponse().status)
                    except (OSError, http.client.HTTPException) as error:
                        codes.append(type(error).__name__)
                    times.append(time.monotonic() - begin)
                    time.sleep(0.02)
                slow.join()
            failed = sum(code != 200 for code in codes)
            figures[count] = {"calls": len(codes), "failed": failed, "reasons": sorted({str(code) for code in codes if code != 200}),
                              "p99_ms": round(1e3 * sorted(times)[int(0.99 * len(times))], 1), "slow_connections": slow.connections}
            check(f"{count} slow bodies", figures[count], 0.95)
        return figures

    def hog(self) -> dict:
        with self.server(f"--api_keys_file={self.folder}/keys") as server:
            front = ("--rate=20", "--num_titles=300", "--new_titles", *self.key_flags("other", True))
            quiet = load(self.build, server, 2, *front)
            hog = threading.Thread(target=lambda: figures.update(hog=load(
                self.build, server, self.seconds + 2, "--inflight=400", "--connections=8", "--num_titles=300", "--new_titles",
                *self.key_flags("attacker", True))))
            figures = {}
            hog.start()
            time.sleep(1)
            figures["front"] = load(self.build, server, self.seconds, *front)
            hog.join()
            figures["front"]["quiet_p99_ms"] = quiet["p99_ms"]
            figures["refused"] = {reason: metric(server, f'semrank_requests_rejected_total{{reason="{reason}"}}')
                                  for reason in ("OVERLOADED", "CALLER_SHARE")}
        check("a hog", figures["front"], 0.98)
        return figures


    def writes(self) -> dict:
        with self.server(f"--api_keys_file={self.folder}/keys", f"--store=rocksdb:{self.folder}/store") as server:
            others = Others(server.address, "other")
            quiet = others.run(2)
            end = time.monotonic() + self.seconds + 2
            batches = [BatchWriter(server.address, "attacker", i, end) for i in range(BATCH_CONNECTIONS)]
            for batch in batches:
                batch.start()
            time.sleep(1)
            figures = {path: report | {"quiet_p99_ms": quiet[path]["p99_ms"]} for path, report in others.run(self.seconds).items()}
            for batch in batches:
                batch.join()
            figures["batch"] = {"documents": sum(batch.documents for batch in batches), "refused": sum(batch.refused for batch in batches)}
        for path in others.bodies:
            check(f"a batch of writes, {path}", figures[path], 0.98)
        return figures


CASES = ("unread", "bodies", "hog", "writes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bin/")
    parser.add_argument("--only", default=",".join(CASES), help="cases, with commas between them")
    parser.add_argument("--short", action="store_true", help="3 seconds each, otherwise 30")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    if CALLER_CORES:
        os.sched_setaffinity(0, CALLER_CORES)
    figures = {}
    broken = 0
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures[name] = getattr(Case(options.build, pathlib.Path(folder), options.short), name)()
            except Broken as error:
                print(error, file=sys.stderr)
                broken = 1
    print(json.dumps(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return broken


if __name__ == "__main__":
    sys.exit(main())
