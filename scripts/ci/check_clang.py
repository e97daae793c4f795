#!/usr/bin/env python3
"""Checks the sources of model, server and client with clang 14.

    scripts/ci/check_clang.py warnings          all sources: compiler warnings, thread-safety analysis
    scripts/ci/check_clang.py warnings --built=fuzz,tsan
                                                but those that these presets have compiled
    scripts/ci/check_clang.py tidy              clang-tidy on the sources that changed last
    scripts/ci/check_clang.py tidy --all        clang-tidy on all sources
    scripts/ci/check_clang.py tidy FILE.cc ...  clang-tidy on these

Sources are parsed, not compiled, and a folder is parsed as one source, which takes a quarter of
the time. clang-tidy takes up to a minute a source; without --all it therefore looks at the newest
sources that differ from origin/main (or that the last commits changed, where the branch is
origin/main itself), --max_files of them at most, each alone. Exits 1 at the first finding.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("model/", "server/", "client/")
# Commits whose sources are looked at when nothing says what they branched from.
MAX_COMMITS = 30


def configure(name, *options, targets=("generated_sources",)):
    """The build's folder and its compile commands of production sources, with generated headers made."""
    build = ROOT / "build" / name
    subprocess.run(["cmake", "--preset", "dev-clang", "-B", build, "-DSEMRANK_BUILD_TESTS=OFF", *options],
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", *targets], check=True, stdout=subprocess.DEVNULL)
    entries = json.loads((build / "compile_commands.json").read_text())
    folders = tuple(f"{top}/{folder}" for top in (ROOT, build) for folder in FOLDERS)
    return build, [entry for entry in entries if entry["file"].startswith(folders) and pathlib.Path(entry["file"]).exists()]


def configure_folders():
    """As configure, but one command for up to 20 sources of a folder, with libraries' headers parsed already."""
    return configure("dev-clang-folders", "-DCMAKE_UNITY_BUILD=ON", "-DSEMRANK_PRECOMPILE=ON",
                     targets=("generated_sources", "semrank_headers"))


def run_all(commands):
    """Runs commands, one a processor, and prints what the failed ones say. The number of those."""
    def run(command):
        return subprocess.run(command[1], cwd=command[0], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(run, commands):
            if done.returncode:
                failed += 1
                print(done.stdout, flush=True)
    return failed


def check_warnings(options):
    _, entries = configure_folders()
    # An object that is older may be that of another source.
    newest_source = max((ROOT / name).stat().st_mtime for name in git("ls-files", *FOLDERS))
    commands = []
    for entry in entries:
        command = shlex.split(entry["command"])
        output = command[command.index("-o") + 1]
        objects = [ROOT / "build" / preset / output for preset in options.built]
        if any(built.exists() and built.stat().st_mtime > newest_source for built in objects):
            continue
        command[command.index("-c")] = "-fsyntax-only"
        commands.append((entry["directory"], command))
    failed = run_all(commands)
    print(f"clang warnings: {len(commands)} translation units, {failed} with problems")
    return failed


def git(*command):
    return subprocess.run(["git", "-C", ROOT, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout.split()


def changed_files():
    """Newest first: what differs from origin/main, uncommitted changes included; on origin/main
    itself, or without it, what the last commits changed. A shallow clone shows all files in its oldest."""
    head, base = git("rev-parse", "HEAD"), git("merge-base", "origin/main", "HEAD")
    if not head:
        sys.exit("check_clang.py: this is not a git repository: name the sources, or --all")
    since = [f"{base[0]}..HEAD"] if base and base != head else [f"--max-count={MAX_COMMITS}", "HEAD"]
    uncommitted = git("diff", "--name-only", "HEAD")
    return list(dict.fromkeys(uncommitted + git("log", "--first-parent", "-m", "--name-only", "--format=", *since)))


def sources_of(files):
    """The sources among `files`, and those named after a header among them."""
    names = dict.fromkeys(str(pathlib.PurePosixPath(name).with_suffix(".cc")) for name in files
                          if name.startswith(FOLDERS) and name.endswith((".h", ".cc")))
    return [name for name in names if (ROOT / name).exists()]


def check_tidy(options):
    checks = []
    if options.all:
        # The source of a folder includes the folder's sources.
        checks = ["--checks=-bugprone-suspicious-include"]
        build, entries = configure_folders()
        files = [entry["file"] for entry in entries]
    else:
        build, entries = configure("dev-clang")
        known = {entry["file"] for entry in entries}
        named = sources_of(options.files or changed_files())
        files = [str(ROOT / name) for name in named if str(ROOT / name) in known]
        if not options.files and len(files) > options.max_files:
            print(f"clang-tidy: {len(files) - options.max_files} more changed sources are left to --all, which the hosted workflow runs")
            files = files[:options.max_files]
    failed = run_all([(ROOT, ["clang-tidy-14", "--quiet", *checks, "-p", build, name]) for name in files])
    print(f"clang-tidy: {len(files)} translation units, {failed} with problems")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["warnings", "tidy"])
    parser.add_argument("files", nargs="*", metavar="FILE", help="sources for clang-tidy; a header stands for the source of its name")
    parser.add_argument("--all", action="store_true", help="clang-tidy on all sources")
    parser.add_argument("--built", type=lambda presets: presets.split(","), default=[], metavar="PRESET,...",
                        help="presets of clang that were just built: warnings were errors there")
    parser.add_argument("--max_files", type=int, default=8, help="most sources, unless they are named (%(default)s)")
    options = parser.parse_args()
    return 1 if (check_warnings(options) if options.check == "warnings" else check_tidy(options)) else 0


if __name__ == "__main__":
    sys.exit(main())
