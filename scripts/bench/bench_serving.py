#!/usr/bin/env python3
"""Measures what serving costs beside a gRPC server that does nothing.

    cmake --preset release && cmake --build --preset release
    scripts/bench/bench_serving.py --json=serving.json
    scripts/bench/bench_serving.py --models linear --before=/other/build/release --cases "100 cached"

Starts semrank-server for each model and noop_server (tests/bench), sends all of them
the same Rank calls with `semrank load`, in turn, in short rounds, and prints medians
over the rounds: CPU time of the server per call, calls per second, p50, p99, and their
ratios to the no-op server. "half" is the open loop at half the rate that the closed
loop reached. The models are trained on made-up clicks unless --model_dir names one.
--before measures the programs of another build in the same rounds. Where libfaiss-dev
was found at configure time, catalog_bench's search is compared with IndexFlatIP.

CPU time per call is what to compare on a machine with other work; latencies and rates
need an idle one. Needs only the standard library and wamerican's list of words.
"""
import argparse
import collections
import contextlib
import datetime
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from compare_training_speed import write_pairs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NUM_DOCUMENTS = 20_000
# Full after the first half second of new titles. A cache that is filling costs a fifth more, for
# pages that the kernel clears; one that serves has long been full.
CACHE_BYTES = 32 << 20

# Flags of `semrank load` beside --inflight; the no-op server takes them all.
CASES = {
    "100 cached": ["--num_titles=100"],
    "1000 cached": ["--num_titles=1000"],
    "100 new": ["--num_titles=100", "--new_titles"],
    "1000 ids": ["--num_titles=1000", f"--num_ids={NUM_DOCUMENTS}"],
}
MODELS = {
    "linear": ["--tower=linear", "--embedding_dim=256", "--lexical=none"],
    "dssm": ["--tower=dssm", "--hidden=300,300", "--embedding_dim=128", "--lexical=none"],
    "lexical": ["--tower=linear", "--embedding_dim=256", "--lexical=0.25"],
}
# The addresses are those of its ready line.
Server = collections.namedtuple("Server", "name process grpc http")


def start(name, command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = dict(word.split("=", 1) for word in process.stdout.readline().split() if "=" in word)
    if not ready.keys() & {"grpc", "http"}:
        sys.exit(f"{command[0]} did not start")
    return Server(name, process, ready.get("grpc"), ready.get("http"))


def cpu_seconds(process):
    """CPU time of all threads so far; the clock id is CPUCLOCK_SCHED of clock_gettime(2)."""
    return time.clock_gettime(~process.pid << 3 | 2)


def train(bench, folder, name):
    pairs = folder / "pairs.tsv"
    if not pairs.exists():
        write_pairs(pairs, bench.word_list, 1)
    model = folder / name
    subprocess.run([bench.build / "bin" / "semrank-train", f"--train={pairs}", f"--model_dir={model}", "--epochs=1",
                    "--valid_fraction=0", *MODELS[name]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return model


def put_documents(bench, folder, server):
    documents = folder / "documents.tsv"
    if not documents.exists():
        titles = [line.split("\t")[1] for line in (folder / "pairs.tsv").read_text().splitlines()] \
            if (folder / "pairs.tsv").exists() else ["blue garden shoes for the summer"]
        documents.write_text("".join(f"{i}\t{titles[i % len(titles)]}\n" for i in range(NUM_DOCUMENTS)))
    subprocess.run([bench.build / "bin" / "semrank", "put", f"--documents={documents}", "--numeric_ids",
                    f"--address={server.grpc}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def load(bench, server, flags, seconds):
    """CPU us per call over all calls of the run, the others as semrank load measures them."""
    before = cpu_seconds(server.process)
    done = subprocess.run([bench.build / "bin" / "semrank", "load", f"--address={server.grpc}", "--output=json", "--deadline=inf",
                           f"--duration={seconds}s", "--warmup=0s", *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    cpu = cpu_seconds(server.process) - before
    report = json.loads(done.stdout)
    if report["failed"] or not report["calls"]:
        sys.exit(f"{server.name}: {report['calls']} calls answered, failed: {report['failed']}")
    return {"cpu_us": 1e6 * cpu / report["calls"], "calls_per_second": report["calls_per_second"],
            "p50_us": 1e3 * report["latency_ms"]["p50"], "p99_us": 1e3 * report["latency_ms"]["p99"]}


def run_rounds(bench, servers):
    """Medians: (server, case, in flight) -> figure -> value."""
    rounds = collections.defaultdict(list)
    for number in range(-1, bench.rounds):  # the first only warms
        print(f"round {number + 1} of {bench.rounds}", file=sys.stderr, flush=True)
        for case in bench.cases:
            for inflight in [*bench.inflight, *(["half"] if bench.half else [])]:
                for server in servers:
                    flags = [*CASES[case], f"--inflight={inflight}"]
                    if inflight == "half":
                        # The same rate for all: that of the first of our servers, in this round.
                        rate = rounds.get((servers[1].name, case, max(bench.inflight)))
                        flags[-1] = f"--rate={rate[-1]['calls_per_second'] / 2 if rate else 1000:.0f}"
                    measured = load(bench, server, flags, bench.seconds if number >= 0 else 0.5)
                    if number >= 0:
                        rounds[server.name, case, inflight].append(measured)
    return {key: {figure: statistics.median(one[figure] for one in found) for figure in found[0]} for key, found in rounds.items()}


def print_table(medians, servers):
    print("\n| server | call | in flight | CPU us a call | calls a second | p50 us | p99 us |\n|---|---|---|---|---|---|---|")
    for (name, case, inflight), figures in sorted(medians.items(), key=lambda item: str(item[0])):
        if name == servers[0].name:
            continue
        floor = medians[servers[0].name, case, inflight]
        cells = [f"{value:,.{1 if figure == 'cpu_us' else 0}f} / {floor[figure]:,.{1 if figure == 'cpu_us' else 0}f} = {value / floor[figure]:.2f}"
                 for figure, value in figures.items()]
        print(f"| {name} | {case} | {inflight} | {' | '.join(cells)} |")


def search_beside_faiss(bench):
    """CPU us a search of catalog_bench's single-threaded searches, FAISS's among them."""
    program = bench.build / "bench" / "catalog_bench"
    done = subprocess.run([program, "--benchmark_format=json", f"--benchmark_repetitions={bench.rounds}",
                           "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.3"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    times = collections.defaultdict(list)
    for one in json.loads(done.stdout)["benchmarks"]:
        if one["run_type"] == "iteration":
            times[one["run_name"]].append(one["cpu_time"] / {"ns": 1000, "us": 1, "ms": 1e-3}[one["time_unit"]])
    print("\n| search, one thread | CPU us |\n|---|---|")
    for name, found in times.items():
        print(f"| {name} | {statistics.median(found):,.0f} |")
    return {name: statistics.median(found) for name, found in times.items()}


def facts():
    """Date, processor and commit, which a figure means nothing without."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    level = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "below AVX2"
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return {"date": datetime.date.today().isoformat(), "cpu": f"{cpu.group(1) if cpu else 'unknown'}, {level}", "commit": commit}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder of the build (%(default)s)")
    parser.add_argument("--before", type=pathlib.Path, help="folder of another build, whose semrank-server is measured in turn")
    parser.add_argument("--models", nargs="+", default=["linear", "dssm"], choices=MODELS, help="(%(default)s)")
    parser.add_argument("--vector_precision", nargs="+", default=["float32"], choices=["float32", "bf16", "int8"],
                        help="one server for each model and precision (%(default)s)")
    parser.add_argument("--model_dir", type=pathlib.Path, help="folder of one model's versions, in place of --models")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES, help="(%(default)s)")
    parser.add_argument("--inflight", nargs="+", type=int, default=[1, 32], help="calls in flight (%(default)s)")
    parser.add_argument("--half", action="store_true", help="also measure latencies at half the rate")
    parser.add_argument("--search", action="store_true", help="also measure search, beside FAISS if it was found")
    parser.add_argument("--seconds", type=float, default=1, help="length of one measurement (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (%(default)s)")
    parser.add_argument("--word_list", default="/usr/share/dict/words", help="a word a line (%(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures to this file")
    return parser.parse_args()


def main():
    bench = parse_args()
    out = facts()
    print(", ".join(f"{name} {value}" for name, value in out.items()))
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = pathlib.Path(temporary)
        servers = [start("no-op", [bench.build / "bench" / "noop_server"])]
        stack.callback(servers[0].process.kill)
        models = {bench.model_dir.name: bench.model_dir} if bench.model_dir else {name: train(bench, folder, name) for name in bench.models}
        for name, model in models.items():
            builds = [(f"{name}, {precision}{when}", build, [f"--vector_precision={precision}"])
                      for precision in bench.vector_precision for when, build in [("", bench.build), (", before", bench.before)] if build]
            for label, build, flags in builds:
                server = start(label, [build / "bin" / "semrank-server", f"--model_dir={model}", "--listen_address=127.0.0.1:0",
                                       "--http_address=127.0.0.1:0", f"--cache_bytes={CACHE_BYTES}", *flags])
                stack.callback(server.process.kill)
                servers.append(server)
                if "1000 ids" in bench.cases:
                    put_documents(bench, folder, server)
        medians = run_rounds(bench, servers)
        print_table(medians, servers)
    out["rank"] = [{"server": name, "call": case, "in_flight": inflight, **figures} for (name, case, inflight), figures in medians.items()]
    if bench.search:
        out["search_cpu_us"] = search_beside_faiss(bench)
    if bench.json:
        bench.json.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
