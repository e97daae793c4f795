#!/usr/bin/env bash
# Builds the image with buildah and tries it: size, an arbitrary user, a read-only
# root, ranking and searching. For machines without docker; needs root and the
# packages buildah and debootstrap.
#
#   scripts/check_image.sh [BUILDAH_ARGUMENT...]     e.g. --target=test
#
# Where no registry can be reached, debian:bookworm-slim is made by debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."

max_mb=100
model=$PWD/tests/testdata/reference_model/dssm
work=$(mktemp -d)
finish() {
  # The first line of its log; buildah's own process passes no signal on.
  [ ! -s "$work/log" ] || kill "$(head -n 1 "$work/log")" 2>/dev/null || true
  [ -z "${container:-}" ] || buildah rm "$container" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }
build() { buildah bud --isolation=chroot --format=docker --layers=false "$@"; }

base=docker.io/library/debian:bookworm-slim
if ! buildah pull -q "$base" >/dev/null 2>&1 && ! buildah inspect --type=image "$base" >/dev/null 2>&1; then
  step "$base by debootstrap"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$work/base" http://deb.debian.org/debian \
    >"$work/debootstrap.log"
  rm -rf "$work"/base/var/cache/apt/archives/*.deb "$work"/base/var/lib/apt/lists/* \
    "$work"/base/usr/share/{doc,man,locale,info}/*
  container=$(buildah from scratch)
  buildah copy -q "$container" "$work/base" / >/dev/null
  buildah commit -q "$container" "$base" >/dev/null
  buildah rm "$container" >/dev/null
fi

step "build"
built=$SECONDS
build -t semrank "$@" . >"$work/build.log" 2>&1 || { tail -n 30 "$work/build.log"; exit 1; }
echo "built in $((SECONDS - built)) s"
[ $# -eq 0 ] || exit 0

step "size"
container=$(buildah from semrank)
root=$(buildah mount "$container")
base_container=$(buildah from "$base")
base_mb=$(du -sm "$(buildah mount "$base_container")" | cut -f1)
buildah rm "$base_container" >/dev/null
mb=$(tar -C "$root" -c . | gzip -1 | wc -c | awk '{printf "%d", $1 / 1e6}')
echo "$mb MB compressed, $(du -sm "$root" | cut -f1) MB unpacked, of which Debian $base_mb"
[ "$mb" -lt "$max_mb" ]

step "run as user 4711"
read -r grpc http < <(python3 -c 'import socket
ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*("127.0.0.1:%d" % port.getsockname()[1] for port in ports))')
run() { buildah run --isolation=chroot --user=4711:4711 -v "$model:/models/shop:ro" "$container" -- "$@"; }
run sh -c 'echo $$ >&2; exec semrank-server --model_dir=/models/shop "$@"' sh \
  --listen_address="$grpc" --http_address="$http" >"$work/ready" 2>"$work/log" &
for _ in $(seq 100); do
  grep -q '^semrank-server ready' "$work/ready" && break
  sleep 0.1
done
grep -q '^semrank-server ready' "$work/ready" || { cat "$work/log"; exit 1; }
run semrank --address="$grpc" rank --query="edit photos" "photo editor" "mail reader"
printf '1\tphoto editor\n2\tmail reader\n' | run semrank --address="$grpc" put --documents=-
run semrank --address="$grpc" search --query="photo editor" --top_k=1
run semrank --address="$grpc" health
step "done"
