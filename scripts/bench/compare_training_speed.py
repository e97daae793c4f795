#!/usr/bin/env python3
"""Compares the speed of semrank-train and PyTorch on the same pairs.

    scripts/install_packages.sh build peers
    cmake --preset release && cmake --build --preset release
    scripts/bench/compare_training_speed.py --rounds=5

Every round runs each configuration once, semrank-train and PyTorch in turn, so
that other load on the machine affects both. Prints medians over all epochs but
the first of each run. Both programs read the same file, prepare their bags of
letter trigrams before the clock starts, and take the same steps: separate
towers, mini-batches of 1,024, SGD. This script needs only the standard library;
those in scripts/bench/peers need python3-torch.
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / "scripts/bench/peers"
NUM_PAIRS = 20 * 1024

# Pairs and flags that both sides understand.
Case = collections.namedtuple("Case", "name ours peer flags")
CASES = [
    Case("DSSM, 4 others of the batch", ["--tower=dssm"], "pytorch_dssm.py",
         ["--negatives=4"]),
    Case("DSSM, all of the batch", ["--tower=dssm"], "pytorch_dssm.py",
         ["--negatives=0"]),
    Case("DSSM, 4 uniform", ["--tower=dssm"], "pytorch_dssm.py",
         ["--negatives=4", "--negative_sampling=uniform"]),
    Case("CLSM, 4 others of the batch", ["--tower=clsm"], "pytorch_clsm.py",
         ["--negatives=4", "--window=3"]),
]
# The environment that keeps each side to AVX2.
OUR_AVX2 = {"SEMRANK_SIMD": "v3"}
PEER_AVX2 = {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2",
             "DNNL_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
COMMON_FLAGS = ["--batch_size=1024", "--gamma=10", "--learning_rate=0.05"]


def write_pairs(path, word_list, seed):
    """Titles of 6 to 10 words, queries of 2 to 4, half of them the title's;
    the n-th most frequent of 30,000 words has a share of 1 / (n + 50)."""
    rng = random.Random(seed)
    with open(word_list, encoding="utf-8") as lines:
        words = sorted({line.strip().lower() for line in lines})
    words = [w for w in words if len(w) > 2 and w.isascii() and w.isalpha()]
    rng.shuffle(words)
    words = words[:30000]
    shares = list(itertools.accumulate(1 / (n + 50) for n in range(len(words))))

    def draw(count):
        return rng.choices(words, cum_weights=shares, k=count)

    with open(path, "w", encoding="utf-8") as pairs:
        for _ in range(NUM_PAIRS):
            title = draw(rng.randint(6, 10))
            query = rng.sample(title, rng.randint(1, 2)) + draw(rng.randint(1, 2))
            pairs.write(" ".join(query) + "\t" + " ".join(title) + "\n")


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.pairs = str(folder / "pairs.tsv")
        self.rates = collections.defaultdict(list)

    def ours(self, case, threads):
        model = tempfile.mkdtemp(dir=self.folder)
        subprocess.run(
            [self.options.trainer, f"--train={self.pairs}",
             f"--model_dir={model}", "--noshared_towers", "--optimizer=sgd",
             "--valid_fraction=0", f"--threads={threads}",
             f"--epochs={self.options.epochs}", *case.ours, *case.flags,
             *COMMON_FLAGS],
            env=dict(os.environ, **(OUR_AVX2 if self.options.avx2 else {})),
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = pathlib.Path(model, "training.jsonl").read_text()
        self.record(case, f"ours, {threads} thread" + "s" * (threads > 1), [log])

    def theirs(self, case, name, processes=1, flags=()):
        """Independent processes exchange nothing: the best two cores can do."""
        environment = dict(
            os.environ, OMP_NUM_THREADS="1", **self.peer_level())
        running = [subprocess.Popen(
            [self.options.python, str(PEERS / case.peer), self.pairs,
             f"--epochs={self.options.peer_epochs}", *case.flags, *flags,
             *COMMON_FLAGS],
            env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)]
        outputs = [process.communicate()[0] for process in running]
        if any(process.returncode for process in running):
            sys.exit(f"{case.peer} failed")
        self.record(case, name, outputs)

    def peer_level(self):
        if self.options.avx2:
            return PEER_AVX2
        # Debian's OpenBLAS does not know new processors and falls back to AVX2;
        # this is its code for AVX-512.
        return {"OPENBLAS_CORETYPE": "SkylakeX"} if has_avx512() else {}

    def record(self, case, name, logs):
        """The sum over processes of their rates, epoch by epoch."""
        epochs = [[json.loads(line)["pairs_per_second"]
                   for line in log.splitlines()][1:] for log in logs]
        self.rates[case.name, name] += [sum(rates) for rates in zip(*epochs)]

    def run_round(self, case):
        self.ours(case, 1)
        self.theirs(case, "PyTorch, 1 process")
        self.ours(case, 2)
        self.theirs(case, "PyTorch, 2 processes", processes=2)
        if self.options.small_vocabulary:
            self.theirs(case, "PyTorch, 1 process, few features",
                        flags=["--data_vocabulary", "--dense_gradients"])

    def report(self, case):
        rates = {name: statistics.median(values)
                 for (of, name), values in self.rates.items() if of == case.name}
        print(f"\n{case.name}")
        for name, rate in rates.items():
            print(f"  {name:34}{rate:9,.0f} pairs/s")
        one, two = rates["ours, 1 thread"], rates["ours, 2 threads"]
        print(f"  one thread to one thread          {one / rates['PyTorch, 1 process']:9.2f}"
              f"\n  our two threads to our one        {two / one:9.2f}"
              f"\n  our two threads to two processes  {two / rates['PyTorch, 2 processes']:9.2f}",
              flush=True)


def has_avx512():
    try:
        return "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=9,
                        help="epochs of each run of semrank-train (default: 9)")
    parser.add_argument("--peer_epochs", type=int, default=3,
                        help="epochs of each run of PyTorch (default: 3)")
    parser.add_argument("--cases", default="DSSM",
                        help="those whose names begin so (default: DSSM; "
                        "'' is all): " + "; ".join(c.name for c in CASES))
    parser.add_argument("--small_vocabulary", action="store_true",
                        help="also PyTorch's best case: rows only for the few "
                        "features that occur, and dense gradients of them")
    parser.add_argument("--avx2", action="store_true",
                        help="keep both sides to AVX2")
    parser.add_argument("--words", default="/usr/share/dict/words")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trainer",
                        default=str(ROOT / "build/release/bin/semrank-train"))
    parser.add_argument("--python", default="/usr/bin/python3",
                        help="a Python that has torch")
    return parser.parse_args()


def main():
    options = parse_arguments()
    cases = [case for case in CASES if case.name.startswith(options.cases)]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        write_pairs(bench.pairs, options.words, options.seed)
        for case in cases:
            for _ in range(options.rounds):
                bench.run_round(case)
            bench.report(case)


if __name__ == "__main__":
    main()
