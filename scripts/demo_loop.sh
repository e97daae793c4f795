#!/usr/bin/env bash
# The loop from clicks to a better model, shown with simulated users: serves a model
# that has seen no clicks, lets users click on what it finds, trains a night on these
# clicks, compares both models by interleaving, trains a second night, and refuses a
# third whose clicks are shuffled.
#
#   scripts/demo_loop.sh           in 2 minutes
#   scripts/demo_loop.sh --quick   one night, as its test does
#   scripts/demo_loop.sh --clean   removes demo/loop/ and ends
#
# Builds the programs if they are not there (--bin=DIR takes others). The documents are
# the packages that are installed on this machine. Everything lies in demo/loop/
# (--folder=DIR for another one), and is made anew in each run.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=build/release/bin
folder=demo/loop
arguments=()
for argument in "$@"; do
  case "$argument" in
    --quick) arguments+=("$argument") ;;
    --bin=*) bin=${argument#*=} ;;
    --folder=*) folder=${argument#*=} ;;
    --clean) rm -rf demo/loop; echo "removed demo/loop/"; exit 0 ;;
    -h | --help) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "demo_loop.sh: unknown argument '$argument' (see --help)" >&2; exit 2 ;;
  esac
done

if ! [ -x "$bin/semrank-server" ]; then
  scripts/install_packages.sh build
  cmake --preset release -DSEMRANK_BUILD_TESTS=OFF
  cmake --build --preset release
fi
exec python3 scripts/experiments/simulated_loop.py --bin="$bin" --folder="$folder" "${arguments[@]}"
