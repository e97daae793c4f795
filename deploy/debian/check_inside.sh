#!/usr/bin/env bash
# check_deb.sh runs this inside the bare system, as a service of its systemd.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
address=127.0.0.1:$GRPC_PORT
failed() {
  echo "check: failed at line $1" >&2
  journalctl --no-pager -n 40 -u semrank-server >&2 || true
}
trap 'failed $LINENO' ERR
say() { echo "-- $*"; }
rank() {
  semrank --address="$address" rank --query="edit photos" --output=tsv "photo editor" "mail reader"
}
service_fact() { systemctl show --value --property="$1" semrank-server; }

files_of_semrank() {
  find /etc /usr /var /run -xdev -name '*semrank*' -not -path '/var/lib/semrank' -not -path '/var/log/*' \
    -not -path '/var/lib/apt/*' -not -path '/var/tmp/*'
}

say "from the package to the first ranking"
files_of_semrank >/check/files_before
begin=$(date +%s%N)
# This machine has its dependencies; a bare system knows no packages yet.
[ "$DEBIAN" = / ] || apt-get update -qq
apt-get install -y -qq --no-install-recommends /check/semrank.deb >/check/apt.log 2>&1 || { tail /check/apt.log; exit 1; }
installed=$(date +%s%N)
cp -r /check/model /var/lib/semrank/models/default
sed -i "s/:50051/:$GRPC_PORT/; s/:8080/:$HTTP_PORT/" /etc/semrank/server.toml
systemctl start semrank-server
rank
now=$(date +%s%N)
echo "apt $(((installed - begin) / 1000000)) ms, model, start and ranking $(((now - installed) / 1000000)) ms"
[ $((now - begin)) -lt 60000000000 ]

say "the service is hardened and known to systemd"
[ "$(service_fact Type)" = notify ]
[[ "$(service_fact StatusText)" == "ready grpc="* ]]
pid=$(service_fact MainPID)
owner=$(stat -c %u "/proc/$pid")
[ "$owner" -ge 61184 ]  # a dynamic user
grep -q '^NoNewPrivs:.*1$' "/proc/$pid/status"
grep -q '^CapEff:.*0000000000000000$' "/proc/$pid/status"
grep -q '^Seccomp:.*2$' "/proc/$pid/status"
[ -n "$(find /var/lib/private/semrank-server/store -name CURRENT)" ]
semrank --address="$address" health
semrank-server --config=/etc/semrank/server.toml --check_config | grep -q "^listen_address=$address$"

say "TLS keys of the group are read, and followed"
openssl req -x509 -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -newkey ec \
  -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /etc/semrank/server.key -out /etc/semrank/server.pem 2>/dev/null
chown root:semrank /etc/semrank/server.key /etc/semrank/server.pem
chmod 0640 /etc/semrank/server.key
sed -i 's/^# tls_/tls_/' /etc/semrank/server.toml
systemctl restart semrank-server
semrank --address="$address" --tls_ca=/etc/semrank/server.pem health
sed -i 's/^tls_/# tls_/' /etc/semrank/server.toml
systemctl restart semrank-server

say "reload looks for versions; a server that hangs is restarted"
systemctl reload semrank-server
rank >/dev/null
mkdir -p /run/systemd/system/semrank-server.service.d
printf '[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\n' >/run/systemd/system/semrank-server.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart semrank-server
sleep 3  # longer than the watchdog, which must not restart a live server
[ "$(service_fact NRestarts)" = 0 ]
kill -STOP "$(service_fact MainPID)"
for _ in $(seq 100); do
  [ "$(service_fact NRestarts)" = 1 ] && [ "$(service_fact ActiveState)" = active ] && break
  sleep 0.1
done
rank >/dev/null
rm -r /run/systemd/system/semrank-server.service.d
systemctl daemon-reload

say "an upgrade restarts the service and keeps the edited configuration"
before=$(service_fact MainPID)
apt-get install -y -qq --no-install-recommends /check/newer/semrank.deb >/check/apt.log 2>&1 || { tail /check/apt.log; exit 1; }
[ "$(service_fact MainPID)" != "$before" ]
grep -q ":$GRPC_PORT" /etc/semrank/server.toml
rank >/dev/null

say "stop drains"
systemctl stop semrank-server
[ "$(service_fact Result)" = success ]
journalctl --no-pager -u semrank-server | grep -q 'stopped; running calls ended'

say "purge leaves the models and nothing else"
systemctl start semrank-server
rm -f /etc/semrank/server.key /etc/semrank/server.pem
apt-get purge -y -qq semrank >/check/apt.log 2>&1 || { tail /check/apt.log; exit 1; }
[ "$(systemctl is-active semrank-server || true)" = inactive ]
[ -f /var/lib/semrank/models/default/1/MANIFEST.json ]
left=$(files_of_semrank | diff /check/files_before - || true)
[ -z "$left" ] || { echo "left behind: $left"; false; }

echo "check: all passed"
