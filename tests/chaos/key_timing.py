#!/usr/bin/env python3
"""Tests whether the time of a refusal reveals anything about the keys of --api_keys_file.

    cmake --preset release && cmake --build --preset release
    tests/chaos/key_timing.py --json=key_timing.json

Wrong keys whose digest is nearly that of every listed key are compared with others over the faster
half of the samples, which the machine disturbed least: a t-test as in Reparaz et al., "Dude, is my
code constant time?" (DATE 2017), with Yuen's standard error, which is that of a trimmed mean.
Promise: |t| stays below 4.5. What depends on the key does so in every process, so a larger |t| has
to come again, with the same sign, in each of three runs. A comparison that ends at the first
difference must show |t| above 4.5, or the samples are too coarse. Exits 1 when either does not hold.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
THRESHOLD = 4.5
RUNS = 3


def trimmed_mean(samples):
    """Mean of the faster half, and the square of its standard error."""
    samples = sorted(samples)
    kept = len(samples) // 2
    winsorized = samples[:kept] + [samples[kept - 1]] * (len(samples) - kept)
    squared_error = statistics.variance(winsorized) * (len(samples) - 1) / (kept * (kept - 1))
    return statistics.fmean(samples[:kept]), squared_error


def t_statistic(a, b):
    """Yuen's t of the faster halves."""
    (mean_a, error_a), (mean_b, error_b) = trimmed_mean(a), trimmed_mean(b)
    return (mean_a - mean_b) / max(error_a + error_b, 1e-12) ** 0.5


def measure(program):
    """The figures of one run: {"check": {...}, "control": {...}}."""
    samples = {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        compared, kind, nanoseconds = line.split()
        samples.setdefault(compared, {}).setdefault(kind, []).append(int(nanoseconds))
    return {compared: {"near_ns": statistics.median(kinds["near"]), "far_ns": statistics.median(kinds["far"]),
                       "samples": len(kinds["near"]) + len(kinds["far"]),
                       "t": round(t_statistic(kinds["near"], kinds["far"]), 2)}
            for compared, kinds in samples.items()}


def all_differ(ts):
    """Whether all runs show one difference."""
    return min(ts) >= THRESHOLD or max(ts) <= -THRESHOLD


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bench/")
    parser.add_argument("--short", action="store_true", help="the same, it takes seconds")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    runs = []
    while len(runs) < RUNS and all_differ([run["check"]["t"] for run in runs] or [THRESHOLD]):
        runs.append(measure(options.build / "bench/key_timing"))
        print(json.dumps(runs[-1]))
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1) + "\n")
    if any(abs(run["control"]["t"]) < THRESHOLD for run in runs):
        print("the samples do not show a comparison that ends early", file=sys.stderr)
        return 1
    if all_differ([run["check"]["t"] for run in runs]):
        print("the time of a refusal depends on the key", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
