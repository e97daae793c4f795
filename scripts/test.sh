#!/usr/bin/env bash
# Installs what the tests need, builds the release preset and runs every test.
#
#   scripts/test.sh               all tests
#   scripts/test.sh -R rank       only tests whose name matches (ctest options)
#   scripts/test.sh --quick       installs less: tests that need Node, Go, HAProxy or
#                                 PyTorch are skipped where these are not installed
#
# Another preset: PRESET=asan scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac

preset=${PRESET:-release}
if [ "${1:-}" = --quick ]; then
  shift
  scripts/install_packages.sh build test
else
  scripts/install_packages.sh build test integration node baselines
  scripts/install_node_modules.sh
fi
cmake --preset "$preset" -DSEMRANK_BUILD_TESTS=ON
cmake --build --preset "$preset"
ctest --preset "$preset" "$@"
