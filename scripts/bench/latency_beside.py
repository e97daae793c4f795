#!/usr/bin/env python3
"""Measures how other work of the server affects the latency of small calls.

  scripts/bench/latency_beside.py batch  --model_dir=models/shop
  scripts/bench/latency_beside.py reload --model_dir=models/shop

batch: the other work is Rank calls of 10,000 new titles, one after another. The
median latency must stay within 3 times that without it. reload: a new version of
the model, with other weights, is published every second, so that every vector is
computed again. p99 must stay within 2 times that without it, and no call may
fail.

Starts a semrank-server on a copy of the model and sends it Rank calls of 10 titles
at a fixed rate with `semrank load`, in turn with and without the other work.
Prints the medians of the rounds; exits 1 when a limit is exceeded. Needs an idle
machine. Real-time priority does not replace one: under it, threads of the server
do not share a processor.
"""
import argparse
import contextlib
import hashlib
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request

from bench_serving import start

BATCH_TEXTS = 9_999  # and the query


class Server:
    def __init__(self, binaries: pathlib.Path, model_dir: pathlib.Path, *flags: str):
        self.semrank = binaries / "semrank"
        _, self.process, self.address, self.http = start("server", [
            binaries / "semrank-server", f"--model_dir={model_dir}", "--model_poll_interval=100ms",
            "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0", *flags])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def load_command(self, *flags: str) -> list[str]:
        return [self.semrank, "load", f"--address={self.address}", "--output=json", *flags]

    def num_reloads(self) -> int:
        metrics = urllib.request.urlopen(f"http://{self.http}/metrics").read().decode()
        return sum(float(value) for value in re.findall(r'(?m)^semrank_model_load_total\{.*result="ok".*\} (\S+)$', metrics))


@contextlib.contextmanager
def batches(server: Server, seconds: float, _):
    sender = subprocess.Popen(
        server.load_command("--inflight=1", f"--num_titles={BATCH_TEXTS}", "--new_titles", f"--duration={seconds + 60}s", "--warmup=0s"),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    yield
    sender.terminate()  # it prints what it measured
    sent = json.loads(sender.communicate()[0])
    print(f"  {sent['calls']} batches, {sent['latency_ms']['mean']:.1f} ms each; failed: {sent['failed'] or 'none'}")


def prepare_version(model: pathlib.Path, version: int) -> pathlib.Path:
    """A copy of the newest version beside it, with one bit of a weight changed, to be renamed."""
    newest = model / str(newest_version(model))
    ready = model / f"{version}.ready"
    shutil.copytree(newest, ready)
    weights, manifest = ready / "weights.safetensors", ready / "MANIFEST.json"
    content = bytearray(weights.read_bytes())
    old_hash = hashlib.sha256(content).hexdigest()
    content[-4] ^= 1 << version % 8  # a low bit of the last float32: never as the version before
    weights.write_bytes(content)
    manifest.write_text(manifest.read_text().replace(old_hash, hashlib.sha256(content).hexdigest()))
    return ready


def newest_version(model: pathlib.Path) -> int:
    return max(int(path.name) for path in model.iterdir() if path.name.isdigit())


@contextlib.contextmanager
def reloads(server: Server, seconds: float, model: pathlib.Path):
    # The versions are written before the clock starts, because copying would take a processor from the server.
    newest = newest_version(model)
    ready = [prepare_version(model, newest + 1 + i) for i in range(math.ceil(seconds))]
    stop = threading.Event()

    def publish_every_second() -> None:
        for version in ready:
            if stop.wait(1):
                return
            version.rename(version.with_suffix(""))

    before = server.num_reloads()
    thread = threading.Thread(target=publish_every_second)
    thread.start()
    yield
    stop.set()
    thread.join()
    print(f"  {server.num_reloads() - before:.0f} reloads")
    for old in [*model.glob("*.ready"), *(model / str(v) for v in range(newest, newest_version(model)))]:
        shutil.rmtree(old)


def measure(server: Server, args) -> dict:
    flags = [f"--rate={args.rate}", f"--num_titles={args.num_titles}", f"--duration={args.seconds}s"]
    done = subprocess.run(server.load_command(*flags), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    report = json.loads(done.stdout)
    p50, p99 = report["latency_ms"]["p50"], report["latency_ms"]["p99"]
    print(f"  {report['calls']} calls  p50 {p50:.3f} ms  p99 {p99:.3f} ms  late {report['late_sends']}  "
          f"failed {report['failed'] or 'none'}", flush=True)
    return {"p50": p50, "p99": p99, "failed": sum(report["failed"].values())}


def run(server: Server, model: pathlib.Path, args) -> int:
    other_work, bounded, bound = (batches, "p50", 3) if args.case == "batch" else (reloads, "p99", 2)
    alone, beside = [], []
    for _ in range(args.rounds):
        alone.append(measure(server, args))
        with other_work(server, args.seconds, model):
            beside.append(measure(server, args))
    ratios = {}
    for name in ("p50", "p99"):
        medians = [statistics.median(round_[name] for round_ in rounds) for rounds in (alone, beside)]
        ratios[name] = medians[1] / medians[0]
        print(f"{name}: alone {medians[0]:.3f} ms, beside {medians[1]:.3f} ms, {ratios[name]:.2f} times")
    failed = sum(round_["failed"] for round_ in alone + beside)
    good = ratios[bounded] <= bound and failed == 0
    print(f"{'holds' if good else 'DOES NOT HOLD'}: {bounded} at most {bound} times, {failed} failed calls")
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=["batch", "reload"])
    parser.add_argument("--model_dir", required=True, help="folder of one model's versions; it is copied")
    parser.add_argument("--bin", default="build/release/bin", help="folder of the built programs (%(default)s)")
    parser.add_argument("--rate", type=float, default=200, help="calls per second (%(default)s)")
    parser.add_argument("--num_titles", type=int, default=10, help="titles per call (%(default)s)")
    parser.add_argument("--seconds", type=float, default=5, help="length of each part of a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds (%(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        shutil.copytree(args.model_dir, model)
        server = Server(pathlib.Path(args.bin), model)
        try:
            return run(server, model, args)
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
