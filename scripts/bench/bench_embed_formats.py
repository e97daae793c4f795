#!/usr/bin/env python3
"""How long `semrank embed` takes to write JSON lines, compared with .npy: the
medians of alternating runs against a running server. Embed the texts once
before, so that the server's cache has their vectors and the file is what counts.

  scripts/bench/bench_embed_formats.py --texts=demo/corpus/docs.tsv --address=127.0.0.1:50051
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True, help="doc_id<TAB>title a line")
    parser.add_argument("--address", default="127.0.0.1:50051")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--semrank", default="build/release/bin/semrank", help="the program to measure")
    args = parser.parse_args()
    wall = {"npy": [], "jsonl": []}
    cpu = {"npy": [], "jsonl": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.runs):
            for form in wall:
                output = pathlib.Path(folder, f"vectors.{form}")
                output.unlink(missing_ok=True)
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                subprocess.run([args.semrank, f"--address={args.address}", "embed", "--side=document", f"--texts={args.texts}",
                                f"--output={output}"], check=True, stderr=subprocess.DEVNULL)
                wall[form].append(time.perf_counter() - start)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu[form].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, times in (("wall", wall), ("cpu", cpu)):
        npy, jsonl = (statistics.median(times[form]) for form in ("npy", "jsonl"))
        print(f"{name}: npy {npy:.3f} s, jsonl {jsonl:.3f} s, ratio {jsonl / npy:.2f}")


if __name__ == "__main__":
    main()
