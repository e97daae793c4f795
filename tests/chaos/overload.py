#!/usr/bin/env python3
"""Floods a server and measures the goodput that is left.

    cmake --preset release && cmake --build --preset release
    tests/chaos/overload.py --json=overload.json
    tests/chaos/overload.py --titles=300 --kinds=new --forms=unary --multiples=1,4,10
    tests/chaos/overload.py --titles=300 --kinds=new --forms=unary,json --multiples=2,4 --beside=2

Pins semrank-server to one core and the generator to another. For each case it measures the
unloaded latency, the peak (closed loop), then an open loop at multiples of the peak: goodput
(OK within the deadline, which starts when the call is due), how fast calls were refused, the
p99 of accepted calls, and how late the generator was. After the last flood it measures a light
load from 1 s to 2 s after its end.

What refusing costs bounds the goodput: with CPU time s a call served and r a call not served, at
most `attainable` = (1 - k r / s) / (1 - r / s) of the peak can be answered at k times the peak,
in whatever order it refuses. `served_cpu_us` (closed loop) and `unserved_cpu_us` (flood; with the
work on calls that came too late) are these two.

--beside=2 runs a busy loop on each of the two cores, at the priority of the server and the
generator, or lower by --beside_nice. The peak is measured beside them, too; the floor is then 0.8.

A cell whose `offered` stays below the requested rate shows nothing about higher rates: the generator's
core was the limit. Exits 1 when a goodput is below --floor of the peak at multiples that the
generator could offer, or when the server does not recover. Needs two idle cores; --short judges
more mildly, and a case that fails twice, for machines that do other work as well.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/bench"))
import bench_serving  # noqa: E402
import http_flood  # noqa: E402

SERVER_CORE, GENERATOR_CORE = 0, 1
# Where the system permits it, other work of the machine gets less CPU time.
NICENESS = -20 if os.geteuid() == 0 else 0
FLOOR = 0.9
BESIDE_FLOOR = 0.8  # beside busy loops
SHORT_FLOOR = 0.4  # a server that runs every call keeps a third
# An offered rate that is this close to what was asked for counts as reached.
REACHED = 0.9


@contextlib.contextmanager
def busy_loops(count, nice):
    """`count` processes, on the two cores in turn."""
    loops = [subprocess.Popen(["nice", "-n", str(nice), "taskset", "-c", str((SERVER_CORE, GENERATOR_CORE)[i % 2]), sys.executable, "-c",
                               "while True: pass"]) for i in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextlib.contextmanager
def running_server(build, model, flags):
    command = ["taskset", "-c", str(SERVER_CORE), build / "bin" / "semrank-server", f"--model_dir={model}",
               "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0", *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        ready = re.search(r"grpc=(\S+) http=(\S+)", process.stdout.readline())
        if not ready:
            sys.exit("semrank-server did not start")
        yield process, {"unary": ready.group(1), "stream": ready.group(1), "json": ready.group(2)}
    finally:
        process.terminate()
        process.wait()


class Case:
    """One kind of request and the way it is sent."""

    def __init__(self, options, server, addresses, form, kind, titles):
        self.options, self.server, self.address = options, server, addresses[form]
        self.form, self.kind, self.titles = form, kind, titles

    def run(self, seconds, warmup=0.5, rate=0.0, inflight=0):
        """The report, with the server's CPU time in the measurement."""
        before = bench_serving.cpu_seconds(self.server)
        report = self.load(seconds, warmup, rate, inflight)
        cpu = bench_serving.cpu_seconds(self.server) - before
        return {**report, "cpu_seconds": cpu * seconds / (seconds + warmup)}

    def load(self, seconds, warmup, rate, inflight):
        deadline = self.options.deadline_ms
        if self.form == "json":
            return http_flood.run_pinned(GENERATOR_CORE, self.address, self.titles, self.kind == "new", deadline / 1e3,
                                         rate=rate, connections=inflight, seconds=seconds, warmup=warmup)
        flags = [f"--num_titles={self.titles}", f"--deadline={deadline}ms", f"--duration={seconds}s", f"--warmup={warmup}s",
                 f"--connections={self.options.connections}"]
        flags += [f"--rate={rate:.1f}"] if rate else [f"--inflight={inflight}"]
        flags += ["--new_titles"] if self.kind == "new" else []
        flags += ["--stream"] if self.form == "stream" else []
        done = subprocess.run(["taskset", "-c", str(GENERATOR_CORE), self.options.build / "bin" / "semrank", "load",
                               f"--address={self.address}", "--output=json", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not done.stdout:
            sys.exit(f"semrank load failed: {done.stderr}")
        return json.loads(done.stdout)

    def measure(self):
        seconds = self.options.seconds
        unloaded = self.run(seconds / 2, inflight=1)
        best = max((self.run(seconds / 2, inflight=inflight) for inflight in self.options.inflight),
                   key=lambda report: report["goodput_per_second"])
        peak, served = best["goodput_per_second"], best["cpu_seconds"] / best["calls"]
        cells = [self.flood(peak, served, unloaded, multiple) for multiple in self.options.multiples]
        after = self.run(1, warmup=1, rate=max(peak / 10, 1))
        recovered = after["in_time"] >= 0.99 * (after["calls"] + sum(after["failed"].values()) + after["unsent"])
        return {"form": self.form, "titles": self.titles, "kind": self.kind, "peak_per_second": round(peak, 1),
                "served_cpu_us": round(1e6 * served, 1), "unloaded_p99_ms": unloaded["latency_ms"]["p99"], "cells": cells,
                "recovered": recovered, "p99_ms_after": after["latency_ms"]["p99"]}

    def flood(self, peak, served, unloaded, multiple):
        report = self.run(self.options.seconds, rate=max(peak * multiple, 1))
        failed = sum(report["failed"].values())
        offered = (report["calls"] + failed) / report["seconds"] / peak
        unserved = max(report["cpu_seconds"] - served * report["calls"], 0) / failed if failed else 0
        ratio = unserved / served
        attainable = max(min(offered, (1 - offered * ratio) / (1 - ratio), 1), 0) if ratio < 1 else 0
        return {"multiple": multiple, "offered": round(offered, 2), "unserved_cpu_us": round(1e6 * unserved, 1),
                "attainable": round(attainable, 3), "goodput": round(report["goodput_per_second"] / peak, 3),
                "accepted_p99_ms": report["latency_ms"]["p99"],
                "accepted_p99_ratio": round(report["latency_ms"]["p99"] / max(unloaded["latency_ms"]["p99"], 1e-3), 1),
                "refused": report["refused"]["calls"], "refused_p50_ms": report["refused"]["p50_ms"],
                "refused_p99_ms": report["refused"]["p99_ms"], "failed": report["failed"], "unsent": report["unsent"],
                "lateness_p99_ms": report["lateness_ms"]["p99"]}


def failures(result, floor):
    name = f"{result['form']}, {result['titles']} {result['kind']} titles"
    for cell in result["cells"]:
        if cell["offered"] >= REACHED * cell["multiple"] and cell["goodput"] < floor * min(cell["multiple"], 1):
            yield f"{name}: goodput {cell['goodput']} of the peak at {cell['multiple']} times"
    if not result["recovered"]:
        yield f"{name}: not back to normal 2 s after the flood"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [float(one) if "." in one else int(one) for one in text.split(",")]  # noqa: E731
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; default: standard output")
    parser.add_argument("--short", action="store_true", help="two cases, under 40 s")
    parser.add_argument("--titles", type=numbers, default=[10, 300, 2000])
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["cached", "new"])
    parser.add_argument("--forms", type=lambda text: text.split(","), default=["unary", "stream", "json"])
    parser.add_argument("--multiples", type=numbers, default=[1, 4, 10])
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--deadline_ms", type=int, default=500)
    parser.add_argument("--inflight", type=numbers, default=[2, 8], help="of the closed loops that find the peak; small calls need more, of large ones more would be refused")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--model", choices=bench_serving.MODELS, default="dssm")
    parser.add_argument("--beside", type=int, default=0, help="number of busy loops")
    parser.add_argument("--beside_nice", type=int, default=0, help="how much lower the priority of the loops is")
    parser.add_argument("--floor", type=float, help=f"default: {FLOOR}, {BESIDE_FLOOR} with --beside, {SHORT_FLOOR} with --short")
    parser.add_argument("--server_flags", type=str.split, default=[])
    parser.add_argument("--word_list", default="/usr/share/dict/words")
    options = parser.parse_args()
    if options.floor is None:
        options.floor = SHORT_FLOOR if options.short else BESIDE_FLOOR if options.beside else FLOOR
    if options.short:
        options.titles, options.kinds, options.forms, options.multiples, options.seconds = [300], ["new"], ["unary", "json"], [4], 3
    return options


def main():
    options = parse_options()
    os.nice(0 if options.beside else NICENESS)
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("two cores are needed, one for the server and one for the generator")
    results, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        model = bench_serving.train(options, pathlib.Path(folder), options.model)
        with running_server(options.build, model, options.server_flags) as (server, addresses), busy_loops(options.beside, options.beside_nice):
            for form in options.forms:
                for kind in options.kinds:
                    for titles in options.titles:
                        case = Case(options, server, addresses, form, kind, titles)
                        for _ in range(2 if options.short else 1):
                            result = case.measure()
                            print(json.dumps(result), file=sys.stderr, flush=True)
                            failed = list(failures(result, options.floor))
                            if not failed:
                                break
                        results.append(result)
                        wrong += failed
    figures = json.dumps({**bench_serving.facts(), "deadline_ms": options.deadline_ms, "model": options.model,
                          "results": results, "failures": wrong}, indent=1)
    if options.json:
        options.json.write_text(figures + "\n")
    else:
        print(figures)
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
