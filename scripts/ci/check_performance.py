#!/usr/bin/env python3
"""The performance gate: fails when serving or training got slower than the limits below.

    cmake --preset release && cmake --build --preset release
    scripts/ci/check_performance.py
    scripts/ci/check_performance.py --before=/other/build/release

Every limit is a ratio of CPU times of two things that run in turn for a minute, so that it holds
on any machine and beside other work:

  * a Rank call of 100 and of 1,000 cached titles to the same call to noop_server, which does
    nothing else than gRPC does for it;
  * two epochs of a DSSM model on 20,480 pairs to NumPy's plain loops over a product of matrices.

--before names the build of another version, say of the last release. Its programs serve and train
in the same rounds, and each ratio of new to before has a limit too. allocation_test, which ctest
runs, bounds the allocations of a Rank. Needs wamerican's list of words and Debian's NumPy.
"""
import argparse
import collections
import contextlib
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/bench"))
import bench_serving  # noqa: E402

# Measured ratios are 1.6 and 2.0 on a Zen 3 beside compilers, and 1.9 and 2.25 of a build with -O1.
# Compilers' data displaces the server's from the caches, so medians vary by a third; the least vary
# less.
SERVING_LIMITS = {"100 cached": 2.3, "1000 cached": 2.9}
# The ratio is 12 on a busy Zen 4 and 20 to 25 on a Zen 3, which has no AVX-512 to train with.
# einsum uses loops of NumPy's own, whichever BLAS is installed.
TRAINING_LIMIT = 18.0 if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else 36.0
TRAINING_ROUNDS = 5
PRODUCT = """
import time, numpy
random = numpy.random.default_rng(1)
a, b = (random.standard_normal((rows, 300), dtype=numpy.float32) for rows in (1024, 300))
start = time.process_time()
for _ in range(20):
    numpy.einsum("ij,kj->ik", a, b)
print(time.process_time() - start)
"""
# Beside compilers, two measurements of the same program differ by up to a tenth.
BEFORE_LIMIT = 1.15


def start_servers(options, folder, stack):
    """The no-op, ours, and that of --before."""
    serving = argparse.Namespace(build=options.build, word_list=options.word_list)
    model = bench_serving.train(serving, folder, "linear")
    flags = [f"--model_dir={model}", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
             f"--cache_bytes={bench_serving.CACHE_BYTES}"]
    commands = {"no-op": [options.build / "bench/noop_server"], "server": [options.build / "bin/semrank-server", *flags]}
    if options.before:
        commands["server before"] = [options.before / "bin/semrank-server", *flags]
    servers = []
    for name, command in commands.items():
        servers.append(bench_serving.start(name, command))
        stack.callback(servers[-1].process.kill)
    return servers


def product_seconds():
    """CPU seconds of the product that training is compared with."""
    return float(subprocess.run(["/usr/bin/python3", "-c", PRODUCT], stdout=subprocess.PIPE, text=True, check=True).stdout)


def training_seconds(build, pairs, folder):
    """CPU seconds of a short training run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([build / "bin/semrank-train", f"--train={pairs}", f"--model_dir={tempfile.mkdtemp(dir=folder)}", "--tower=dssm",
                    "--epochs=2", "--threads=1", "--valid_fraction=0"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(options):
    """What -> the least CPU time of the rounds: other work can only add to it."""
    rounds = collections.defaultdict(list)
    builds = {"training": options.build} | ({"training before": options.before} if options.before else {})
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = pathlib.Path(temporary)
        servers = start_servers(options, folder, stack)
        for number in range(-1, options.rounds):
            for case in SERVING_LIMITS:
                for server in servers:
                    figures = bench_serving.load(options, server, [*bench_serving.CASES[case], "--inflight=32"], options.seconds)
                    if number >= 0:  # the first round fills the cache
                        rounds[server.name, case].append(figures["cpu_us"])
            if 0 <= number < TRAINING_ROUNDS:
                rounds["product"].append(product_seconds())
                for name, build in builds.items():
                    rounds[name].append(training_seconds(build, folder / "pairs.tsv", folder))
    return {what: min(found) for what, found in rounds.items()}


def report(options, least):
    """Prints a line for each ratio; the number of those beyond their limit."""
    beyond = 0

    def check(what, unit, one, other, limit):
        nonlocal beyond
        slow = one > limit * other
        beyond += slow
        print(f"{'SLOW' if slow else 'ok':4} {what:44} {one:9.2f} / {other:8.2f} {unit} = {one / other:5.2f}, limit {limit:.2f}")

    for case, limit in SERVING_LIMITS.items():
        check(f"Rank, {case} titles, to the no-op", "us", least["server", case], least["no-op", case], limit)
    check("training to products of matrices", "s", least["training"], least["product"], TRAINING_LIMIT)
    if options.before:
        for case in SERVING_LIMITS:
            check(f"Rank, {case} titles, to before", "us", least["server", case], least["server before", case], BEFORE_LIMIT)
        check("training to before", "s", least["training"], least["training before"], BEFORE_LIMIT)
    return beyond


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of the build (%(default)s)")
    parser.add_argument("--before", type=pathlib.Path, help="folder of another version's build")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one measurement (%(default)s)")
    parser.add_argument("--word_list", default="/usr/share/dict/words", help="a word a line (%(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the CPU times to this file")
    options = parser.parse_args()
    least = measure(options)
    if options.json:
        options.json.write_text(json.dumps({str(what): value for what, value in least.items()}, indent=1) + "\n")
    return 1 if report(options, least) else 0


if __name__ == "__main__":
    sys.exit(main())
