#!/usr/bin/env bash
# Installs the Debian 12 (or Ubuntu 24.04) packages that semrank needs.
#
#   scripts/install_packages.sh build          to compile
#   scripts/install_packages.sh build test     to compile and to run the tests
#   scripts/install_packages.sh integration    for the tests of the chart, the proxy and the recipes
#   scripts/install_packages.sh node           for the tests in Node
#   scripts/install_packages.sh build demo     for the quickstart
#   scripts/install_packages.sh check          clang and the linters of CI
#   scripts/install_packages.sh build deploy   to make Debian packages and try them
#   scripts/install_packages.sh build peers    to measure against PyTorch, FAISS and hnswlib
#   scripts/install_packages.sh baselines      for the papers' baselines in Python
#   scripts/install_packages.sh arm64          to try the kernels of arm64 on another machine
#
# Says what it installs; installs nothing that is there already. Uses sudo
# when not root.
# shellcheck disable=SC2034  # Groups are read by their names.
set -euo pipefail

build=(g++ cmake ninja-build ccache pkg-config
  libgrpc++-dev libgrpc-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libabsl-dev libeigen3-dev libhwy-dev libxxhash-dev libutf8proc-dev
  prometheus-cpp-dev libboost-dev libspdlog-dev
  libssl-dev libc-ares-dev libre2-dev nlohmann-json3-dev libsimdjson-dev libcli11-dev zlib1g-dev libzstd-dev
  libmimalloc-dev libopenmpi-dev librocksdb-dev libhiredis-dev librdkafka-dev libsystemd-dev)
demo=(python3 curl)
test=(libgtest-dev libgmock-dev libbenchmark-dev python3 python3-grpcio python3-protobuf
  python3-numpy python3-faiss python3-build python3-pip python3-setuptools python3-venv python3-wheel
  python3-yaml bash-completion groff-base zsh wamerican curl gzip openssl prometheus redis-server zstd chromium
  unicode-data bzip2)
# Debian's npm cannot stand beside a Node from elsewhere, which is as good.
node=()
command -v node >/dev/null && command -v npm >/dev/null || node=(nodejs npm)
# The tests of the chart need Go, those of the proxy HAProxy, and a recipe a client of PostgreSQL.
integration=(golang-go haproxy python3-psycopg2)
check=(clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev git shellcheck codespell)
deploy=(dpkg-dev file python3 lintian debootstrap systemd-container)
peers=(python3 python3-numpy python3-faiss python3-hnswlib python3-torch libopenblas0-pthread wamerican libfaiss-dev liblapack-dev)
# Without OpenBLAS Debian's torch and numpy multiply matrices ten times slower.
baselines=(python3 python3-numpy python3-scipy python3-torch libopenblas0-pthread)
arm64=(g++-aarch64-linux-gnu protobuf-compiler qemu-user)

usage() { sed -n '2,16s/^# \{0,1\}//p' "$0"; }

wanted=()
for group in "$@"; do
  case "$group" in
    build | demo | test | integration | node | check | deploy | peers | baselines | arm64)
      declare -n packages=$group
      wanted+=("${packages[@]}")
      ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install_packages.sh: unknown group '$group'" >&2; usage >&2; exit 2 ;;
  esac
done
if [ $# -eq 0 ]; then usage >&2; exit 2; fi
if ! command -v apt-get >/dev/null; then
  echo "install_packages.sh: no apt-get here; semrank builds on Debian 12 or Ubuntu 24.04" >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all ${#wanted[@]} are installed"
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_packages.sh: not root and no sudo; please install: ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi
echo "packages: installing with apt-get: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Unattended upgrades and cloud-init hold apt's locks for minutes: wait for them.
lock_seconds=${SEMRANK_APT_LOCK_SECONDS:-600}
run() {
  local end=$((SECONDS + lock_seconds)) announced=""
  while ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -q -o DPkg::Lock::Timeout=5 "$@" >"$log" 2>&1; do
    if ! grep -qE 'Could not get lock|Unable to (acquire|lock)' "$log" || [ "$SECONDS" -ge "$end" ]; then
      tail -n 20 "$log" >&2
      echo "install_packages.sh: failed: apt-get $*" >&2
      exit 1
    fi
    [ -n "$announced" ] || echo "packages: another program is installing packages; waiting up to $lock_seconds s"
    announced=yes
    sleep 2
  done
}
run update
run install -y --no-install-recommends "${missing[@]}"
echo "packages: done"
