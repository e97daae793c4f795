#!/usr/bin/env bash
# Attacks the built programs with every script of tests/chaos.
#
#   scripts/ci/chaos.sh            all of it, for the night: under 40 minutes
#   scripts/ci/chaos.sh --short    under 2 minutes in total
#
# Each script writes its figures to build/chaos/NAME.json. Exits 1 when a promise of
# tests/ATTACKS.md did not hold. Needs the release preset, and a machine without other work.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

case "${1:-}" in
  -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
  "" | --short) ;;
  *) echo "$0: unknown argument $1" >&2; exit 2 ;;
esac

mkdir -p build/chaos
failed=()
for script in tests/chaos/*.py; do
  [ -x "$script" ] || continue # a part of others
  name=$(basename "$script" .py)
  echo "== $name"
  PYTHONDONTWRITEBYTECODE=1 "$script" "$@" --json="build/chaos/$name.json" || failed+=("$name")
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
