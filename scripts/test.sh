#!/usr/bin/env bash
# Installs what the tests need, builds the release preset and runs every test.
#
#   scripts/test.sh               all tests
#   scripts/test.sh -R rank       only tests whose name matches (ctest options)
#
# Another preset: PRESET=asan scripts/test.sh
# The test of a client in Node is skipped unless its modules are installed:
#   scripts/install_packages.sh node && scripts/install_node_modules.sh
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac

preset=${PRESET:-release}
scripts/install_packages.sh build test
cmake --preset "$preset" -DSEMRANK_BUILD_TESTS=ON
cmake --build --preset "$preset"
ctest --preset "$preset" "$@"
