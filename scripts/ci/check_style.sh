#!/usr/bin/env bash
# Checks what needs no compiler: format, includes, prose, spelling, shell scripts.
#
#   scripts/ci/check_style.sh
#
# Needs the packages of `scripts/install_packages.sh check`. Runs all checks and
# exits 1 when one of them found something.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

case "${1:-}" in
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac

failed=()
check() {
  local name=$1
  shift
  if "$@"; then echo "$name: clean"; else failed+=("$name"); fi
}
# xargs rather than one command line: it runs nothing when no file is listed.
on_files() {
  local patterns=()
  while [ "$1" != -- ]; do patterns+=("$1"); shift; done
  shift
  git ls-files -z "${patterns[@]}" | xargs -0r "$@"
}

check format on_files '*.h' '*.cc' -- clang-format-14 --dry-run --Werror
check includes scripts/ci/check_includes.py
check prose scripts/ci/check_prose.py
check spelling on_files -- codespell --quiet-level=7
check "shell scripts" on_files '*.sh' .ci/run deploy/debian/{postinst,postrm,prerm} -- shellcheck
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
