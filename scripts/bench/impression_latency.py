#!/usr/bin/env python3
"""Measures what an impression adds to a Rank over HTTP: p50, p99, and processor time
of the thread that writes it.

  scripts/bench/impression_latency.py --model_dir=models/shop --titles=docs.tsv [BIN ...]

Each BIN is a folder of programs (default: build/release/bin), so that a build can be
compared with another. One caller sends Rank calls of 100 cached titles, best 10, one
after another on one connection, in turn with and without an impression. Prints medians
of the rounds. Beside other programs run it under `nice -n -20` or `chrt -r 10`.
"""
import argparse
import http.client
import json
import pathlib
import statistics
import sys
import tempfile
import time

from bench_serving import start


class Server:
    def __init__(self, binaries: str, model_dir: str):
        self.folder = tempfile.TemporaryDirectory()
        _, self.process, _, address = start("server", [
            pathlib.Path(binaries) / "semrank-server", f"--model_dir={model_dir}", f"--events={self.folder.name}/events",
            "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"])
        self.connection = http.client.HTTPConnection(address)
        self.rounds = []

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def call(self, body: bytes) -> float:
        begin = time.perf_counter()
        self.connection.request("POST", "/v1/rank", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"a call was answered {answer.status}")
        return 1e3 * (time.perf_counter() - begin)

    def percentiles(self, body: bytes, calls: int) -> tuple[float, float]:
        times = sorted(self.call(body) for _ in range(calls))
        return times[calls // 2], times[calls * 99 // 100]

    def thread_times(self) -> dict[str, int]:
        """Processor time in ns by thread."""
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return {thread.name: int((thread / "schedstat").read_text().split()[0]) for thread in threads}

    def measure(self, bodies: list[bytes], calls: int) -> None:
        without = self.percentiles(bodies[0], calls)
        before = self.thread_times()
        beside = self.percentiles(bodies[1], calls)
        time.sleep(0.2)  # until the last list is written
        after = self.thread_times()
        # The thread of the connection takes most, the writer follows.
        writer = sorted(after[thread] - before.get(thread, 0) for thread in after)[-2]
        self.rounds.append((*without, *beside, beside[1] / without[1], writer / calls / 1e3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs="*", default=["build/release/bin"], metavar="BIN")
    parser.add_argument("--model_dir", required=True)
    parser.add_argument("--titles", required=True, type=pathlib.Path, help="id TAB title, of which the first hundred are ranked")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--calls", type=int, default=600, help="of each half of a round (%(default)s)")
    args = parser.parse_args()
    request = {"query": "blue garden shoes", "top_k": 10,
               "titles": [line.split("\t")[1] for line in args.titles.read_text(encoding="utf-8").splitlines()[:100]]}
    bodies = [json.dumps({**request, **more}).encode() for more in ({}, {"impression": {"user": "ann", "session": "s-81"}})]
    servers = [Server(binaries, args.model_dir) for binaries in args.binaries]
    for server in servers:
        server.measure(bodies, args.calls)
        server.rounds.clear()  # the first round fills caches
    for _ in range(args.rounds):
        for server in servers:
            server.measure(bodies, args.calls)
    for binaries, server in zip(args.binaries, servers):
        medians = [statistics.median(column) for column in zip(*server.rounds)]
        print("{}: without p50 {:.3f} ms, p99 {:.2f} ms; with p50 {:.3f} ms, p99 {:.2f} ms ({:.2f} times); writer {:.1f} us a list"
              .format(binaries, *medians))
        server.stop()


if __name__ == "__main__":
    main()
