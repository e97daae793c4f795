#!/usr/bin/env bash
# Tries the Debian packages on a bare Debian 12 that runs systemd: lint, install,
# first ranking, watchdog, drain, upgrade, purge. On two busy processors it took
# 66 s with a bare system that is kept and 231 s with one that is made anew.
#
#   cmake --preset package && cmake --build --preset package
#   deploy/debian/check_deb.sh build/package/packages [MODEL_DIR]
#
# MODEL_DIR is the model that the first ranking uses; tests/testdata holds the
# default. Needs root, the packages debootstrap, lintian and systemd-container,
# and Debian's mirror. SEMRANK_BARE_DEBIAN=FOLDER keeps the bare system there and
# uses it again.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=${1:?usage: deploy/debian/check_deb.sh FOLDER_OF_PACKAGES [MODEL_DIR]}
model=${2:-tests/testdata/reference_model/dssm}
server_deb=$(ls "$packages"/semrank_*.deb)
training_deb=$(ls "$packages"/semrank-train_*.deb)
bare=${SEMRANK_BARE_DEBIAN:-}

work=$(mktemp -d)
finish() {
  umount "$work/root" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

step "lintian"
# The package is not uploaded to Debian, so it closes no bug there.
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs --allow-root "$server_deb" "$training_deb"
du -h "$server_deb" "$training_deb"

step "unit"
mkdir "$work/unit"
sed 's#^ExecStart=/usr/bin/semrank-server#ExecStart=/bin/true#' deploy/debian/semrank-server.service \
  >"$work/unit/semrank-server.service"
systemd-analyze verify --man=no "$work/unit/semrank-server.service"
systemd-analyze security --offline=true --threshold=20 --no-pager "$work/unit/semrank-server.service" | tail -n 1

step "bare Debian 12"
[ -n "$bare" ] || bare=$work/bare
if [ ! -d "$bare/etc" ]; then
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,openssl bookworm "$bare" \
    http://deb.debian.org/debian >"$work/debootstrap.log" || { tail "$work/debootstrap.log"; exit 1; }
fi
mkdir "$work/upper" "$work/overlay" "$work/root"
mount -t overlay overlay -o "lowerdir=$bare,upperdir=$work/upper,workdir=$work/overlay" "$work/root"
rm -f "$work/root/etc/resolv.conf"
cp -L /etc/resolv.conf "$work/root/etc/resolv.conf"

# A newer version for the upgrade: the same files under another number.
mkdir -p "$work/root/check/newer"
cp "$server_deb" "$work/root/check/semrank.deb"
dpkg-deb -R "$server_deb" "$work/newer"
sed -i 's/^Version: .*/&+upgrade/' "$work/newer/DEBIAN/control"
dpkg-deb --root-owner-group -b "$work/newer" "$work/root/check/newer/semrank.deb" >/dev/null
cp -r "$model" "$work/root/check/model"
cp deploy/debian/check_inside.sh "$work/root/check/"
read -r grpc_port http_port < <(python3 -c 'import socket
ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(port.getsockname()[1] for port in ports))')
cat >"$work/root/etc/systemd/system/check.service" <<END
[Unit]
After=basic.target
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
Environment=GRPC_PORT=$grpc_port HTTP_PORT=$http_port
ExecStart=/bin/bash /check/check_inside.sh
StandardOutput=file:/check/log
StandardError=inherit
END
mkdir -p "$work/root/etc/systemd/system/multi-user.target.wants"
ln -s ../check.service "$work/root/etc/systemd/system/multi-user.target.wants/check.service"

step "install, rank, upgrade, purge, under its systemd"
timeout 170 systemd-nspawn --quiet --register=no --keep-unit --directory="$work/root" --boot \
  >"$work/console" 2>&1 </dev/null || true
cat "$work/root/check/log"
grep -qx 'check: all passed' "$work/root/check/log" || { tail -n 20 "$work/console"; exit 1; }
step "done"
