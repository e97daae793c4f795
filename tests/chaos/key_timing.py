#!/usr/bin/env python3
"""Looks for what the time of a refusal tells about the keys of --api_keys_file.

    cmake --preset release && cmake --build --preset release
    tests/chaos/key_timing.py --json=key_timing.json

Wrong keys whose digest is nearly that of every listed key are compared with others, by Welch's
t-test over the faster half of the samples, which the machine disturbed least (Reparaz et al.,
"Dude, is my code constant time?", DATE 2017). Promise: |t| stays below 4.5. A comparison that ends
at the first difference must show |t| above it, or the samples are too coarse. Exits 1 when either
does not hold.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
THRESHOLD = 4.5


def t_statistic(a, b):
    """Welch's t of the faster halves."""
    a, b = (sorted(one)[:len(one) // 2] for one in (a, b))
    error = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    return (statistics.fmean(a) - statistics.fmean(b)) / max(error, 1e-12) ** 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bench/")
    parser.add_argument("--short", action="store_true", help="the same, it takes seconds")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    samples = {}
    output = subprocess.run([options.build / "bench/key_timing"], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        program, kind, nanoseconds = line.split()
        samples.setdefault(program, {}).setdefault(kind, []).append(int(nanoseconds))
    figures = {program: {"near_ns": statistics.median(kinds["near"]), "far_ns": statistics.median(kinds["far"]),
                         "samples": len(kinds["near"]) + len(kinds["far"]), "t": round(t_statistic(kinds["near"], kinds["far"]), 2)}
               for program, kinds in samples.items()}
    print(json.dumps(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    if abs(figures["control"]["t"]) < THRESHOLD:
        print("the samples do not show a comparison that ends early", file=sys.stderr)
        return 1
    if abs(figures["check"]["t"]) >= THRESHOLD:
        print("the time of a refusal depends on the key", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
