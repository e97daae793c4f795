#!/usr/bin/env python3
"""Kills programs with SIGKILL at random moments, again and again, and checks that nothing is lost.

    cmake --preset release && cmake --build --preset release
    tests/chaos/kill9.py --json=kill9.json
    tests/chaos/kill9.py --rounds=5 --only=puts,trainer

puts, deletes     a server with RocksDB, while three connections put, replace and delete documents
redis             the same over Redis; every other round the victim is Redis itself (appendfsync always)
reload            a server, while versions are published and reloaded
swap              the same with a catalog, whose vectors the new model must replace
trainer           semrank-train, then --resume until it ends

Promises: each start after a kill works; a document is what the last acknowledged write made it,
or what a write without an answer would have made it; a server that starts again ranks and searches
as one that was never killed; a resumed model has the bytes of one that was not. Exits 1 when one is
broken. Moments come from --seed. A kind ends after --rounds kills or its share of --minutes.
"""
import argparse
import contextlib
import hashlib
import http.client
import json
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = [ROOT / "tests/testdata/v0.1.0/models/linear/1", ROOT / "tests/testdata/v0.1.0/models/dssm/1"]
WORDS = "car mechanic photo editor airline booking garage image program travel agency ticket".split()
WRITERS = 3
KEYS_PER_WRITER = 400
SHORT_ROUNDS = 4
LONGEST_ROUND = 0.4  # seconds until the kill


class Broken(Exception):
    """A promise was not kept."""


class Server:
    """Leaving the context kills the server; `prefix` is a program that runs it."""

    def __init__(self, build: pathlib.Path, models: pathlib.Path, *flags: str, prefix: tuple = ()):
        self.process = subprocess.Popen([*prefix, build / "bin/semrank-server", f"--model_dir={models}", "--listen_address=127.0.0.1:0",
                                         "--http_address=127.0.0.1:0", "--enable_admin_rpcs", *flags],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = re.search(r" grpc=(\S+) http=(\S+)", self.process.stdout.readline())
        if not ready:
            raise Broken(f"a start failed: {self.process.communicate()[1]}")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.grpc_address, self.address = ready[1], ready[2]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.process.stdout.close()


class Caller:
    """JSON calls over one connection; ConnectionError or HTTPException when the server is gone."""

    def __init__(self, address: str):
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def __call__(self, path: str, body: dict) -> dict:
        self.connection.request("POST", path, json.dumps(body))
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200:
            raise OSError(f"{path}: {response.status} {answer}")
        return answer


GONE = (OSError, http.client.HTTPException, ValueError)


class Writer(threading.Thread):
    """Puts, replaces and deletes documents of its own keys until the server is gone."""

    def __init__(self, number: int, known: dict, deletes: float, seed: int):
        super().__init__()
        self.number, self.known, self.deletes, self.random = number, known, deletes, random.Random(seed)
        self.acknowledged, self.pending = 0, {}

    def serve(self, address: str) -> None:
        self.address = address
        self.start()

    def run(self) -> None:
        with contextlib.suppress(*GONE):
            call = Caller(self.address)
            while True:
                self.write_once(call)

    def write_once(self, call: Caller) -> None:
        keys = [f"w{self.number}-{self.random.randrange(KEYS_PER_WRITER)}" for _ in range(self.random.randint(1, 4))]
        if self.random.random() < self.deletes:
            self.pending = dict.fromkeys(keys)
            call("/v1/delete", {"document_ids": list(self.pending)})
        else:
            self.pending = {key: " ".join(self.random.choices(WORDS, k=3)) + f" {self.random.randrange(10**6)}" for key in keys}
            call("/v1/put", {"documents": [{"document_id": key, "title": title} for key, title in self.pending.items()]})
        self.known.update(self.pending)
        self.acknowledged += len(self.pending)
        self.pending = {}


def titles_of(call: Caller, keys: list[str]) -> dict[str, str | None]:
    """Maps keys to titles; None means that there is no such document."""
    documents = call("/v1/get", {"document_ids": keys}).get("documents", []) if keys else []
    return {**dict.fromkeys(keys), **{document["document_id"]: document["title"] for document in documents}}


def check_documents(call: Caller, known: dict, pending: dict) -> int:
    """Returns how many unanswered writes took effect; updates `known` to the documents that exist."""
    present, made = titles_of(call, sorted({*known, *pending})), 0
    for key, title in present.items():
        allowed = {known.get(key)} | ({pending[key]} if key in pending else set())
        if title not in allowed:
            raise Broken(f"document {key} is {title!r}, not one of {allowed}")
        made += key in pending and title == pending[key] and title != known.get(key)
        known[key] = title
    return made


def publish(models: pathlib.Path, version: int) -> None:
    """Publishes like semrank-train: copies to another name, then renames."""
    shutil.copytree(MODELS[version % len(MODELS)], models / f"{version}.tmp-1")
    (models / f"{version}.tmp-1").rename(models / str(version))


class Harness:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path, rounds: int, seconds: float, seed: int):
        self.build, self.folder, self.rounds, self.random = build, folder, rounds, random.Random(seed)
        self.end = time.monotonic() + seconds
        self.models = folder / "models"
        self.models.mkdir()
        publish(self.models, 2)

    def is_enough(self, rounds: int) -> bool:
        return rounds >= self.rounds or (rounds > 0 and time.monotonic() >= self.end)

    def pause(self, longest: float = LONGEST_ROUND) -> None:
        time.sleep(self.random.random() * longest)

    def write_rounds(self, start, deletes: float, kill=None) -> dict:
        """`start` makes a Server; `kill`, if given, chooses the victim of a round."""
        known, figures = {}, {"rounds": 0, "acknowledged": 0, "lost": 0, "made_without_answer": 0}
        pending = {}
        while True:
            with start() as server:
                figures["made_without_answer"] += check_documents(Caller(server.address), known, pending)
                if self.is_enough(figures["rounds"]):
                    return figures
                writers = [Writer(number, known, deletes, self.random.random()) for number in range(WRITERS)]
                for writer in writers:
                    writer.serve(server.address)
                self.pause()
                (kill or Server.kill)(server)
            for writer in writers:
                writer.join()
            figures["rounds"] += 1
            figures["acknowledged"] += sum(writer.acknowledged for writer in writers)
            pending = {key: title for writer in writers for key, title in writer.pending.items()}

    def puts(self) -> dict:
        return self.write_rounds(lambda: Server(self.build, self.models, f"--store=rocksdb:{self.folder}/puts"), deletes=0)

    def deletes(self) -> dict:
        return self.write_rounds(lambda: Server(self.build, self.models, f"--store=rocksdb:{self.folder}/deletes"), deletes=0.5)

    def redis(self) -> dict:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        (self.folder / "redis").mkdir()
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes",
                   "--appendfsync", "always", "--dir", self.folder / "redis", "--maxmemory-policy", "noeviction"]
        running = []

        def start_redis() -> None:
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            for _ in range(1_000):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
                    connection.sendall(b"PING\r\n")
                    if connection.recv(64).startswith(b"+PONG"):
                        return
                time.sleep(0.01)
            raise Broken("redis-server does not start")

        def stop_redis() -> None:
            process = running.pop()
            process.kill()
            process.wait()

        def kill_one_of_two(server: Server) -> None:
            if self.random.random() < 0.5:
                stop_redis()
                start_redis()
            server.kill()

        start_redis()
        try:
            return self.write_rounds(lambda: Server(self.build, self.models, f"--store=redis://127.0.0.1:{port}"), 0.3, kill_one_of_two)
        finally:
            stop_redis()

    def answers(self, call: Caller, with_catalog: bool) -> list:
        answers = []
        for query in ("fix auto", "photo editor", "travel"):
            answer = call("/v1/rank", {"query": query, "titles": WORDS})
            answers.append([answer["indices"], answer["scores"]])
            if with_catalog:
                hits = call("/v1/search", {"query": query, "top_k": 5}).get("hits", [])
                answers.append([[hit.get("document_id"), hit.get("score")] for hit in hits])
        return answers

    def version(self, call: Caller) -> int:
        return int(call("/v1/rank", {"query": "q", "titles": ["t"]})["model"]["version"])

    def reload_rounds(self, name: str, num_documents: int) -> dict:
        """Versions alternate between two models; the expected answers are those of servers that are not killed."""
        models, expected = self.folder / name, {}
        flags = [f"--store=rocksdb:{self.folder}/{name}_store"] if num_documents else []
        documents = [{"document_id": f"d{i}", "title": " ".join(random.Random(i).choices(WORDS, k=3))} for i in range(num_documents)]
        for version in (2, 3):
            only = self.folder / f"{name}_{version}"
            only.mkdir()
            publish(only, version)
            with Server(self.build, only, *(f"{flag}{version}" for flag in flags)) as server:
                call = Caller(server.address)
                if documents:
                    call("/v1/put", {"documents": documents})
                expected[version % 2] = self.answers(call, bool(documents))
        models.mkdir()
        publish(models, 2)
        figures = {"rounds": 0, "versions_published": 0, "starts_with_wrong_answers": 0, "documents": num_documents}
        with Server(self.build, models, *flags) as server:
            if documents:
                Caller(server.address)("/v1/put", {"documents": documents})
        newest = 2
        while True:
            with Server(self.build, models, *flags) as server:
                call = Caller(server.address)
                if self.version(call) != newest:
                    raise Broken(f"version {self.version(call)} is served, not {newest}")
                if (present := self.answers(call, bool(documents))) != expected[newest % 2]:
                    raise Broken(f"version {newest} answers {present}, not {expected[newest % 2]}")
                if self.is_enough(figures["rounds"]):
                    return figures
                newest += 1
                publish(models, newest)
                reloading = threading.Thread(target=self.reload, args=(server.address,))
                reloading.start()
                self.pause(0.1)
            reloading.join()
            shutil.rmtree(models / str(newest - 1))
            figures["rounds"] += 1
            figures["versions_published"] += 1

    @staticmethod
    def reload(address: str) -> None:
        with contextlib.suppress(*GONE):
            Caller(address)("/v1/reload", {})

    def reload_attack(self) -> dict:
        return self.reload_rounds("reload", 0)

    def swap(self) -> dict:
        return self.reload_rounds("swap", 5_000)

    def train(self, name: str, *flags: str, kill_after: float | None = None) -> int:
        with subprocess.Popen([self.build / "bin/semrank-train", f"--train={self.folder}/clicks.tsv", f"--model_dir={self.folder}/{name}",
                               "--embedding_dim=16", "--tower=dssm", "--hidden=32", "--epochs=6", "--batch_size=128", "--threads=1",
                               "--checkpoint_batches=8", *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                return process.wait(kill_after)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()

    def weights(self, name: str) -> str:
        return hashlib.sha256((self.folder / name / "1/weights.safetensors").read_bytes()).hexdigest()

    def trainer(self) -> dict:
        words = random.Random(1)
        (self.folder / "clicks.tsv").write_text("".join(
            f"{' '.join(words.choices(WORDS, k=3))} {words.randrange(500)}\t{' '.join(words.choices(WORDS, k=4))} {words.randrange(500)}\n"
            for _ in range(4_000)))
        start = time.monotonic()
        if self.train("never_killed") != 0:
            raise Broken("semrank-train fails")
        longest, figures = time.monotonic() - start, {"rounds": 0, "models": 0, "other_weights": 0}
        while not self.is_enough(figures["rounds"]):
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            while (code := self.train("killed", "--resume", kill_after=self.random.random() * longest)) == -signal.SIGKILL:
                figures["rounds"] += 1
            if code != 0:
                raise Broken(f"--resume after a kill exits {code}")
            figures["models"] += 1
            if self.weights("killed") != self.weights("never_killed"):
                raise Broken("a model after --resume has other weights")
        return figures


ATTACKS = {"puts": Harness.puts, "deletes": Harness.deletes, "redis": Harness.redis, "reload": Harness.reload_attack,
           "swap": Harness.swap, "trainer": Harness.trainer}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bin/")
    parser.add_argument("--rounds", type=int, default=200, help="kills of each kind")
    parser.add_argument("--minutes", type=float, default=24, help="for all kinds together (%(default)s)")
    parser.add_argument("--short", action="store_true", help="4 kills of each kind, under 20 s")
    parser.add_argument("--only", default=",".join(ATTACKS), help="kinds, with commas between them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    if options.short:
        options.rounds = SHORT_ROUNDS
    figures, broken = {}, False
    names = options.only.split(",")
    for name in names:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures[name] = ATTACKS[name](Harness(options.build, pathlib.Path(folder), options.rounds,
                                                       60 * options.minutes / len(names), options.seed))
            except Broken as error:
                figures[name], broken = {"broken": str(error)}, True
        figures[name]["seconds"] = round(time.monotonic() - start, 1)
        print(json.dumps({name: figures[name]}), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
