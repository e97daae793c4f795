#!/usr/bin/env bash
# Tries the Debian packages on a Debian 12 that runs systemd: lint, install, first
# ranking, watchdog, drain, upgrade, purge.
#
#   cmake --preset package && cmake --build --preset package
#   deploy/debian/check_deb.sh build/package/packages [MODEL_DIR]
#
# MODEL_DIR is the model that the first ranking uses; tests/testdata holds the
# default. The system is a bare one that debootstrap makes, which takes minutes,
# or SEMRANK_DEBIAN=FOLDER: one that is kept there and used again, or / for this
# machine, which is read through an overlay and not changed (CI does that: nothing
# is downloaded). Needs root and the packages of `install_packages.sh deploy`.
# Exits 77 where a container may not be started.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=${1:?usage: deploy/debian/check_deb.sh FOLDER_OF_PACKAGES [MODEL_DIR]}
model=${2:-tests/testdata/reference_model/dssm}
server_deb=$(ls "$packages"/semrank_*.deb)
training_deb=$(ls "$packages"/semrank-train_*.deb)
debian=${SEMRANK_DEBIAN:-}

work=$(mktemp -d)
finish() {
  umount "$work/root" "$work/changes" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
skip() {
  echo "skipped: $1"
  exit 77
}
step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

[ "$(id -u)" -eq 0 ] || skip "needs root"
mkdir "$work/changes" "$work/root"
# The upper layer needs its own file system: a layer of an overlay may not lie
# within another.
mount -t tmpfs tmpfs "$work/changes" 2>/dev/null || skip "this machine may not mount file systems"
mkdir "$work/changes/upper" "$work/changes/work"

step "lintian"
# The package is not uploaded to Debian, so it closes no bug there.
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs --allow-root "$server_deb" "$training_deb"
du -h "$server_deb" "$training_deb"

step "unit"
mkdir "$work/unit"
for service in server train import; do
  sed 's#^ExecStart=/usr/bin/semrank[a-z-]*#ExecStart=/bin/true#' "deploy/debian/semrank-$service.service" \
    >"$work/unit/semrank-$service.service"
done
cp deploy/debian/semrank-train.timer "$work/unit/"
systemd-analyze verify --man=no "$work/unit/semrank-server.service"
systemd-analyze verify --man=no "$work/unit/semrank-train.timer"
systemd-analyze security --offline=true --threshold=20 --no-pager "$work/unit/semrank-server.service" | tail -n 1

step "Debian 12"
[ -n "$debian" ] || debian=$work/bare
if [ ! -d "$debian/etc" ]; then
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,openssl bookworm "$debian" \
    http://deb.debian.org/debian >"$work/debootstrap.log" || { tail "$work/debootstrap.log"; exit 1; }
fi
mount -t overlay overlay -o "lowerdir=$debian,upperdir=$work/changes/upper,workdir=$work/changes/work" "$work/root" ||
  skip "this machine may not mount an overlay over $debian"
container=(systemd-nspawn --quiet --register=no --keep-unit --link-journal=no --directory="$work/root")
"${container[@]}" true || skip "this machine may not start a container"
rm -f "$work/root/etc/resolv.conf"
cp -L /etc/resolv.conf "$work/root/etc/resolv.conf"

# Container images forbid packages to start services with this file.
rm -f "$work/root/usr/sbin/policy-rc.d"

# The newer version for the upgrade has the same files and another number.
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
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
Environment=GRPC_PORT=$grpc_port HTTP_PORT=$http_port DEBIAN=$debian
ExecStart=/bin/bash /check/check_inside.sh
StandardOutput=file:/check/log
StandardError=inherit
END

step "install, rank, upgrade, purge, under its systemd"
# Only this unit starts, without other services that this machine may have
# enabled.
timeout 170 "${container[@]}" --boot -- --unit=check.service >"$work/console" 2>&1 </dev/null || true
[ -s "$work/root/check/log" ] || { tail -n 20 "$work/console"; skip "systemd does not start in a container of this machine"; }
cat "$work/root/check/log"
grep -qx 'check: all passed' "$work/root/check/log" || { tail -n 20 "$work/console"; exit 1; }
step "done"
