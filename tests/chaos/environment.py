#!/usr/bin/env python3
"""Takes away what programs stand on: room on the disk, the right to write, file descriptors, memory,
certificates, a steady clock.

    cmake --preset release && cmake --build --preset release
    tests/chaos/environment.py --json=environment.json
    tests/chaos/environment.py --only=disk_full,certificates

disk_full       a store on a full file system (mounts a tmpfs: root only)
trainer_full    a training whose checkpoints and model do not fit onto the disk (root only)
read_only       a store and a model folder on a file system that turns read-only (root only)
open_files      `ulimit -n`, with more connections than it allows
memory          RLIMIT_AS, with requests as large as the limits allow; the server may end, not hang
certificates    certificate, key and API keys replaced by invalid ones
clock           clock jumps of a day in both directions (package libfaketime)

Promises: the server continues to rank, or refuses to start with the reason; what was acknowledged is
there afterwards; it says what is wrong; it works again when the cause is gone. Exits 1 when one is
broken. A case that needs what the machine does not have is "skipped".
"""
import argparse
import concurrent.futures
import contextlib
import glob
import hashlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import kill9
from kill9 import GONE, ROOT, Broken, Caller, Server

PATIENCE = 30  # seconds until the server must have recovered, or have read a file again
DISK_BYTES = 16 << 20
LIBFAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), os.environ.get("LIBFAKETIME", ""))


class Skipped(Exception):
    """The machine lacks something that the case needs."""


@contextlib.contextmanager
def file_system(folder: pathlib.Path):
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder], capture_output=True).returncode:
        raise Skipped("cannot mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def until(what: str, done) -> float:
    """Waits until `done` is true; returns the seconds that it took."""
    start = time.monotonic()
    while not done():
        if time.monotonic() - start > PATIENCE:
            raise Broken(f"after {PATIENCE} s: not {what}")
        time.sleep(0.1)
    return round(time.monotonic() - start, 1)


def works(call, path: str, body: dict) -> bool:
    try:
        call(path, body)
        return True
    except GONE:
        return False


def last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1][:160]


RANK = ("/v1/rank", {"query": "photo", "titles": kill9.WORDS})


class Case:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path):
        self.build, self.folder, self.models = build, folder, folder / "models"
        self.models.mkdir()
        kill9.publish(self.models, 2)

    def server(self, *flags: str, prefix: tuple = ()) -> Server:
        return Server(self.build, self.models, *flags, prefix=prefix)

    def put(self, call, number: int) -> dict:
        """Puts documents with payloads that fill a disk; returns the acknowledged ones."""
        titles = {f"d{number}-{i}": f"photo editor {number} {i}" for i in range(20)}
        payload = "A" * 4_000
        call("/v1/put", {"documents": [{"document_id": key, "title": title, "payload": payload} for key, title in titles.items()]})
        return titles

    def put_until_refused(self, call, known: dict) -> str:
        for number in range(2_000):
            try:
                known.update(self.put(call, number))
            except OSError as error:
                return str(error)
        raise Broken("no put was refused")

    def check_known(self, call, known: dict) -> None:
        keys = sorted(known)
        for begin in range(0, len(keys), 5_000):
            present = kill9.titles_of(call, keys[begin:begin + 5_000])
            lost = [key for key in present if present[key] != known[key]]
            if lost:
                raise Broken(f"{len(lost)} acknowledged documents are lost, such as {lost[0]}")

    def disk_full(self) -> dict:
        with file_system(self.folder / "disk") as disk:
            known, flag = {}, f"--store=rocksdb:{disk}/store"
            with self.server(flag) as server:
                call = Caller(server.address)
                self.put(call, 10_000)
                free = shutil.disk_usage(disk).free
                with open(disk / "filler", "wb") as filler:
                    filler.write(bytes(max(0, free - (2 << 20))))
                refusal = self.put_until_refused(call, known)
                if not works(call, *RANK):
                    raise Broken("no ranking on a full disk")
                self.check_known(call, known)
                (disk / "filler").unlink()
                seconds = until("put again when there is room", lambda: works(lambda *_: known.update(self.put(call, 20_000)), "", {}))
                self.check_known(call, known)
            with self.server(flag) as server:
                self.check_known(Caller(server.address), known)
        return {"acknowledged": len(known), "lost": 0, "refusal": refusal[:160], "seconds_until_room_is_used": seconds}

    def trainer_full(self) -> dict:
        """The model does not fit onto the disk; once there is room, the run resumes and publishes what it would have."""
        with file_system(self.folder / "disk") as disk:
            (self.folder / "clicks.tsv").write_text("".join(f"fix {a}\t{a} {b} shop\n" for a in kill9.WORDS for b in kill9.WORDS))

            def train(models: pathlib.Path, *flags: str) -> subprocess.CompletedProcess:
                return subprocess.run([self.build / "bin/semrank-train", f"--train={self.folder}/clicks.tsv", f"--model_dir={models}", "--tower=linear",
                                       "--embedding_dim=256", "--epochs=2", "--checkpoint_batches=1", "--threads=1", *flags],
                                      capture_output=True, text=True, timeout=60)

            def published(models: pathlib.Path) -> list:
                return [(path.name, path.read_bytes()) for path in models.glob("*/weights.safetensors")]
            if train(self.folder / "roomy").returncode != 0:
                raise Broken("semrank-train fails")
            with open(disk / "filler", "wb") as filler:
                filler.write(bytes(shutil.disk_usage(disk).free - (64 << 10)))
            full = train(disk / "models")
            if full.returncode != 1 or "No space left on device" not in full.stderr or published(disk / "models"):
                raise Broken(f"training onto a full disk: exit {full.returncode}, {full.stderr}")
            (disk / "filler").unlink()
            resumed = train(disk / "models", "--resume")
            if resumed.returncode != 0 or published(disk / "models") != published(self.folder / "roomy"):
                raise Broken(f"training once there is room: exit {resumed.returncode}, {resumed.stderr}")
        return {"refusal": full.stderr.strip().splitlines()[-1][:160], "other_weights": 0}

    def read_only(self) -> dict:
        with file_system(self.folder / "disk") as disk:
            known, flag = {}, f"--store=rocksdb:{disk}/store"
            with self.server(flag) as server:
                known.update(self.put(Caller(server.address), 0))
                server.process.terminate()
                server.process.wait()
            models = disk / "models"
            shutil.copytree(self.models, models)
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            try:
                start = subprocess.run([self.build / "bin/semrank-server", f"--model_dir={self.models}", flag, "--listen_address=127.0.0.1:0",
                                        "--http_address=127.0.0.1:0"], capture_output=True, text=True, timeout=60)
                if start.returncode != 1 or "Read-only" not in start.stderr:
                    raise Broken(f"start on a read-only store: exit {start.returncode}, {start.stderr}")
                with Server(self.build, models) as server:
                    if not works(Caller(server.address), *RANK):
                        raise Broken("no ranking from a read-only model folder")
                (self.folder / "clicks.tsv").write_text("fix auto\tcar mechanic\n")
                train = subprocess.run([self.build / "bin/semrank-train", f"--train={self.folder}/clicks.tsv", f"--model_dir={models}"],
                                       capture_output=True, text=True, timeout=60)
                if train.returncode != 1 or str(models) not in train.stderr:
                    raise Broken(f"training into a read-only folder: exit {train.returncode}, {train.stderr}")
            finally:
                subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
            with self.server(flag) as server:
                self.check_known(Caller(server.address), known)
        return {"start": start.stderr.strip().splitlines()[-1][:160], "train": train.stderr.strip().splitlines()[-1][:160], "lost": 0}

    def open_files(self) -> dict:
        figures = {}
        for limit in (16, 32, 64, 256):
            try:
                server = self.server(prefix=("prlimit", f"--nofile={limit}:{limit}"))
            except Broken as refusal:
                figures[limit] = last_line(refusal)
                continue
            with server:
                host, port = server.address.split(":")
                crowd = [socket.create_connection((host, int(port)), 5) for _ in range(2 * limit)]
                for one in crowd:
                    one.close()
                seconds = until("ranking after the crowd left", lambda: works(Caller(server.address), *RANK))
                figures[limit] = f"{2 * limit} connections, ranking {seconds} s after"
        return figures

    def memory(self) -> dict:
        figures = {}
        body = {"query": "photo", "titles": [f"photo editor number {i} " + "x" * 300 for i in range(10_000)]}
        for mebibytes in (64, 512, 1_500, 4_000):
            try:
                server = self.server(prefix=("prlimit", f"--as={mebibytes << 20}"))
            except Broken as refusal:
                figures[mebibytes] = last_line(refusal)
                continue
            with server, concurrent.futures.ThreadPoolExecutor(8) as pool:
                done = sum(pool.map(lambda _: works(Caller(server.address), "/v1/rank", body), range(24)))
                alive = server.process.poll() is None
                figures[mebibytes] = f"{done} of 24 large requests answered, " + ("serving" if alive and works(Caller(server.address), *RANK) else
                                                                                  f"ended with {server.process.poll()}")
        return figures

    def certificates(self) -> dict:
        for name in ("server", "invalid"):
            subprocess.run(["openssl", "req", "-x509", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-newkey",
                            "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.folder / f"{name}.key", "-out",
                            self.folder / f"{name}.pem"], check=True, capture_output=True)
        cert, key, keys = (self.folder / name for name in ("server.pem", "server.key", "keys"))
        keys.write_text(f"read {hashlib.sha256(b'right').hexdigest()}\n")
        kept = {path: path.read_bytes() for path in (cert, key, keys)}
        log = open(self.folder / "log", "w+")
        process = subprocess.Popen([self.build / "bin/semrank-server", f"--model_dir={self.models}", "--listen_address=127.0.0.1:0",
                                    "--http_address=127.0.0.1:0", f"--tls_cert={cert}", f"--tls_key={key}", f"--api_keys_file={keys}"],
                                   stdout=subprocess.PIPE, stderr=log, text=True)
        host, port = process.stdout.readline().rpartition("http=")[2].strip().split(":")

        def ranks() -> bool:
            """Whether a call with a new handshake, the first certificate and the first key succeeds."""
            context = ssl.create_default_context(cadata=kept[cert].decode())
            connection = kill9.http.client.HTTPSConnection(host, int(port), timeout=10, context=context)
            with contextlib.closing(connection):
                connection.request("POST", RANK[0], json.dumps(RANK[1]), {"Authorization": "Bearer right"})
                return connection.getresponse().status == 200

        invalid = {"empty": b"", "random": os.urandom(5_000), "cut": None, "half": None}
        figures = {}
        with log:
            try:
                for path in (cert, key, keys):
                    for kind, content in invalid.items():
                        if content is None:
                            content = kept[path][:len(kept[path]) // 2] if kind == "cut" else kept[path] + b"invalid\n-----BEGIN CERTIFICATE-----\n"
                        logged = (self.folder / "log").stat().st_size
                        path.write_bytes(content)
                        new = lambda: (self.folder / "log").read_text()[logged:]
                        if kind != "half" or path == keys:
                            figures[f"{path.name} {kind}"] = f"said after {until(f'said that {path.name} is {kind}', lambda: str(path) in new())} s"
                        if not ranks():
                            raise Broken(f"the old {path.name} is not kept when it is {kind}")
                    path.write_bytes(kept[path])
                if not ranks():
                    raise Broken("the files that came back are not taken")
            finally:
                process.terminate()
                process.wait()
                process.stdout.close()
        return figures

    def clock(self) -> dict:
        if not LIBFAKETIME:
            raise Skipped("no libfaketime")
        offset = self.folder / "offset"
        offset.write_text("+0")
        server = self.server(f"--store=rocksdb:{self.folder}/store", prefix=(
            "env", f"LD_PRELOAD={LIBFAKETIME}", f"FAKETIME_TIMESTAMP_FILE={offset}", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"))
        known, calls = {}, 0
        with server:
            call = Caller(server.address)
            for number, jump in enumerate(("+1d", "+0", "-1d", "+400d", "-400d", "+0")):
                offset.write_text(jump)
                end = time.monotonic() + 2
                while time.monotonic() < end:
                    call(*RANK)
                    calls += 1
                known.update(self.put(call, number))
                kill9.publish(self.models, number + 3)
                until(f"version {number + 3} served after a jump of {jump}", lambda: self.version(call) == number + 3)
            self.check_known(call, known)
        return {"calls": calls, "failed": 0, "jumps": 6, "versions_published": 6}

    @staticmethod
    def version(call) -> int:
        return int(call(*RANK)["model"]["version"])


CASES = ("disk_full", "trainer_full", "read_only", "open_files", "memory", "certificates", "clock")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bin/")
    parser.add_argument("--only", default=",".join(CASES), help="cases, with commas between them")
    parser.add_argument("--short", action="store_true", help="without certificates and clock, under 30 s")
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    figures, broken = {}, False
    for name in options.only.split(","):
        if options.short and name in ("certificates", "clock"):
            continue
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures[name] = getattr(Case(options.build, pathlib.Path(folder)), name)()
            except Skipped as reason:
                figures[name] = {"skipped": str(reason)}
            except (Broken, *GONE) as error:
                figures[name], broken = {"broken": f"{type(error).__name__} {error}"}, True
        figures[name]["seconds"] = round(time.monotonic() - start, 1)
        print(json.dumps({name: figures[name]}), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
