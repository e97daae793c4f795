#!/usr/bin/env bash
# Builds the image with buildah and tries it: size, an arbitrary user, a read-only
# root, ranking and searching. For machines without docker; needs root and the
# packages buildah and debootstrap.
#
#   scripts/ci/check_image.sh [BUILDAH_ARGUMENT...]     e.g. --target=test
#
# Where no registry can be reached, debian:bookworm-slim is made by debootstrap.
set -euo pipefail
cd "$(dirname "$0")/../.."

max_mb=100
model=$PWD/tests/testdata/reference_model/dssm
work=$(mktemp -d)
finish() {
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
  wait
  ! mountpoint -q "$work/root" || umount -R "$work/root"
  [ -z "${container:-}" ] || buildah rm "$container" >/dev/null 2>&1 || true
  rm -rf --one-file-system "$work"
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

step "configuration"
config() { buildah inspect --format "{{range .OCIv1.Config.$1}}{{println .}}{{end}}" "$container"; }
[ "$(buildah inspect --format '{{.OCIv1.Config.User}}' "$container")" = 10001 ]
[ "$(config Entrypoint | xargs)" = semrank-server ]
config Env

step "run as user 4711 with a read-only root"
# buildah's own `run` always has a writable root.
mkdir "$work/root" "$root/models"
mount --bind "$root" "$work/root"
mount -o remount,bind,ro "$work/root"
mount --bind "$model" "$work/root/models"
for folder in proc dev; do mount --rbind --make-rslave "/$folder" "$work/root/$folder"; done
mapfile -t environment < <(config Env | grep .)
in_image=(chroot --userspec=4711:4711 "$work/root" env -i "${environment[@]}")
if "${in_image[@]}" touch /tmp/file 2>/dev/null; then
  echo "the root file system is writable" >&2
  exit 1
fi
read -r grpc http < <(python3 -c 'import socket
ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*("127.0.0.1:%d" % port.getsockname()[1] for port in ports))')
"${in_image[@]}" semrank-server --model_dir=/models --listen_address="$grpc" --http_address="$http" \
  >"$work/ready" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
  grep -q '^semrank-server ready' "$work/ready" && break
  sleep 0.1
done
grep -q '^semrank-server ready' "$work/ready" || { cat "$work/log"; exit 1; }
client=("${in_image[@]}" semrank --address="$grpc")
"${client[@]}" rank --query="edit photos" "photo editor" "mail reader"
printf '1\tphoto editor\n2\tmail reader\n' | "${client[@]}" put --documents=-
"${client[@]}" search --query="photo editor" --top_k=1
"${client[@]}" health
kill "$server"
wait "$server"
step "done"
