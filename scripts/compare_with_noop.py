#!/usr/bin/env python3
"""Compares the cost of Rank with that of an empty gRPC call.

  scripts/compare_with_noop.py --model_dir=models/shop --noop=PATH/noop_bench

Starts a semrank-server and sends it Rank calls of 100 and 1,000 cached titles
and of 100 new ones, with 1, 8 and 32 calls in flight. Sends the same number of
titles to a no-op server, in turn, in short rounds. Prints medians over the rounds
as a Markdown table: server CPU per call, calls per second, p50 and p99, and their
ratios to the no-op server; then the stages in which the server spent its time.

--noop is a program that starts a server whose handler only reads the titles and
returns one number per title, loads it from one thread, and prints a line with
"rps R p50 US p99 US srvcpu US". It is called with api=raw shape=Titles n=N
inflight=F secs=S. Without it only Rank is measured.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import urllib.request

CASES = [("100 cached titles", 100, False), ("1,000 cached titles", 1000, False), ("100 new titles", 100, True)]
INFLIGHT = [1, 8, 32]
NAMES = ["cpu_us", "calls_per_second", "p50_us", "p99_us"]


class Server:
    def __init__(self, binaries: pathlib.Path, model_dir: str):
        self.binaries = binaries
        self.process = subprocess.Popen(
            [binaries / "semrank-server", f"--model_dir={model_dir}", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = re.search(r"grpc=(\S+) http=(\S+)", self.process.stdout.readline())
        if not ready:
            sys.exit("semrank-server did not start")
        self.address, self.http = ready.groups()

    def cpu_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stage_seconds(self) -> dict[str, float]:
        metrics = urllib.request.urlopen(f"http://{self.http}/metrics").read().decode()
        found = re.findall(r'(?m)^semrank_stage_duration_seconds_sum\{stage="(\w+)"\} (\S+)$', metrics)
        return {stage: float(value) for stage, value in found}

    def load(self, num_titles: int, new_titles: bool, inflight: int, seconds: float) -> dict:
        command = [self.binaries / "semrank", "load", f"--address={self.address}", "--output=json", "--deadline=inf",
                   f"--inflight={inflight}", f"--num_titles={num_titles}", f"--duration={seconds}s", "--warmup=0s"]
        done = subprocess.run(command + ["--new_titles"] * new_titles, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return json.loads(done.stdout)

    def measure(self, num_titles: int, new_titles: bool, inflight: int, seconds: float) -> dict:
        self.load(num_titles, new_titles, inflight, 0.2)  # warm
        cpu, stages = self.cpu_seconds(), self.stage_seconds()
        report = self.load(num_titles, new_titles, inflight, seconds)
        cpu, after = self.cpu_seconds() - cpu, self.stage_seconds()
        if report["failed"]:
            sys.exit(f"calls failed: {report['failed']}")
        calls = report["calls"]
        return {"cpu_us": 1e6 * cpu / calls, "calls_per_second": report["calls_per_second"],
                "p50_us": 1e3 * report["latency_ms"]["p50"], "p99_us": 1e3 * report["latency_ms"]["p99"],
                "stages": {stage: 1e6 * (after[stage] - stages.get(stage, 0)) / calls for stage in after}}


def measure_noop(program: str, num_titles: int, inflight: int, seconds: float) -> dict:
    command = [program, "api=raw", "shape=Titles", f"n={num_titles}", f"inflight={inflight}", f"secs={seconds}"]
    line = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    rps, p50, p99, cpu = re.search(r"rps (\S+) p50 (\S+) p99 (\S+) srvcpu (\S+)", line).groups()
    return {"cpu_us": float(cpu), "calls_per_second": float(rps), "p50_us": float(p50), "p99_us": float(p99)}


def median(rounds: list[dict], name: str) -> float:
    return statistics.median(one[name] for one in rounds)


def row(name: str, inflight: int, rank: list[dict], noop: list[dict]) -> str:
    cells = []
    for what in NAMES:
        value = median(rank, what)
        cells.append(f"{value:,.1f}" if what == "cpu_us" else f"{value:,.0f}")
        if noop:
            floor = median(noop, what)
            cells[-1] += f" / {floor:,.1f}" if what == "cpu_us" else f" / {floor:,.0f}"
            cells[-1] += f" = {value / floor:.2f}"
    return f"| {name} | {inflight} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model_dir", required=True, help="folder of one model's versions")
    parser.add_argument("--noop", help="path of the no-op program")
    parser.add_argument("--bin", default="build/release/bin", help="folder of the built programs (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1, help="length of one measurement (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (%(default)s)")
    args = parser.parse_args()
    server = Server(pathlib.Path(args.bin), args.model_dir)
    rank, noop = {}, {}
    try:
        for number in range(args.rounds):
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
            for name, num_titles, new_titles in CASES:
                for inflight in INFLIGHT:
                    key = (name, inflight)
                    rank.setdefault(key, []).append(server.measure(num_titles, new_titles, inflight, args.seconds))
                    if args.noop:
                        noop.setdefault(key, []).append(measure_noop(args.noop, num_titles, inflight, args.seconds))
    finally:
        server.process.terminate()
        server.process.wait()
    unit = " (Rank / no-op = ratio)" if args.noop else ""
    print(f"| call | in flight | server CPU us a call{unit} | calls a second | p50 us | p99 us |\n|---|---|---|---|---|---|")
    for (name, inflight), rounds in rank.items():
        print(row(name, inflight, rounds, noop.get((name, inflight), [])))
    stages = list(next(iter(rank.values()))[0]["stages"])
    print(f"\n| wall-clock us a call in | {' | '.join(stages)} |\n|---|{'---|' * len(stages)}")
    for (name, inflight), rounds in rank.items():
        if inflight == INFLIGHT[0]:
            cells = [f"{statistics.median(one['stages'][stage] for one in rounds):.2f}" for stage in stages]
            print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
