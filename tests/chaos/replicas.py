#!/usr/bin/env python3
"""Servers that share a Redis while it and they are killed; a catalog whose model is replaced and rolled back.

    cmake --preset release && cmake --build --preset release
    tests/chaos/replicas.py --json=replicas.json
    tests/chaos/replicas.py --only=swap --documents=500000
    tests/chaos/replicas.py --only=convergence,throughput --before=OTHER_BUILD

convergence   from the answer to a put on one of three servers until both others find the document
throughput    documents put a second, and processor time of the server and Redis for each, one at a time and
              in bulk; beside --before, a build without the log
kills         three writers on three servers; a server or Redis (appendfsync always) is killed, or Redis' log
              of changes is trimmed to nothing, again and again
swap          a model over --documents is replaced and rolled back, while two connections search

Promises: a put is found everywhere within a second; after a kill all servers have the same documents, which
are those of the last acknowledged writes; no search fails or mixes two models, a rollback takes less than a
second. Exits 1 when one is broken.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import kill9
from kill9 import GONE, ROOT, WORDS, Broken, Caller, Server, Writer, publish, titles_of

SERVERS = 3
LONGEST_CONVERGENCE = 1.0  # seconds
# After a kill of a server or its Redis, the server may need time to notice it and to read all documents.
LONGEST_AFTER_KILL = 10.0
LONGEST_ROLLBACK = 1.0
QUERIES = ["fix auto", "photo editor", "travel agency ticket"]


class Redis:
    """A redis-server that writes each change to disk; `kill` it and `start` it again."""

    def __init__(self, folder: pathlib.Path, durable: bool = True):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", folder,
                        *(["--appendonly", "yes", "--appendfsync", "always"] if durable else [])]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        for _ in range(1_000):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(64).startswith(b"+PONG"):
                    return
            time.sleep(0.01)
        raise Broken("redis-server does not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def call(self, line: str) -> None:
        with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
            connection.sendall(line.encode() + b"\r\n")
            if not connection.recv(64).startswith((b"+", b":")):
                raise Broken(f"Redis refuses {line}")

    @property
    def flag(self) -> str:
        return f"--store=redis://127.0.0.1:{self.port}"


class StoppableWriter(Writer):
    """A Writer that can be stopped. A refusal by a server without its Redis counts as an unanswered write."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.stopping = threading.Event()

    def run(self) -> None:
        with contextlib.suppress(*GONE):
            call = Caller(self.address)
            while not self.stopping.is_set():
                self.write_once(call)


def title_words(number: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=4)) + f" {number}"


def cpu_seconds(pids: list[int]) -> float:
    """CPU time that these processes have used so far."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def percentile(values: list, share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Attacks:
    def __init__(self, options, folder: pathlib.Path):
        self.options, self.folder, self.random = options, folder, random.Random(options.seed)
        self.models = folder / "models"
        self.models.mkdir()
        self.publish(1)

    def publish(self, version: int) -> None:
        if not self.options.models:
            publish(self.models, version)
            return
        source = self.options.models.split(",")[version % 2]
        shutil.copytree(source, self.models / f"{version}.tmp-1")
        (self.models / f"{version}.tmp-1").rename(self.models / str(version))

    def server(self, *flags: str, build: pathlib.Path | None = None) -> Server:
        return Server(build or self.options.build, self.models, *flags)

    def put_file(self, server: Server, documents: int) -> float:
        """Runs `semrank put`; returns its seconds."""
        file = self.folder / "documents.tsv"
        if not file.exists():
            file.write_text("".join(f"{i}\t{title_words(i)}\n" for i in range(documents)))
        start = time.monotonic()
        subprocess.run([self.options.build / "bin/semrank", f"--address={server.grpc_address}", "put", f"--documents={file}"],
                       check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - start

    def convergence(self) -> dict:
        redis = Redis(self.folder)
        with contextlib.ExitStack() as stack:
            stack.callback(redis.kill)
            callers = [Caller(stack.enter_context(self.server(redis.flag)).address) for _ in range(SERVERS)]
            seconds = []
            for i in range(self.options.puts):
                key, writer = f"key{i}", i % SERVERS
                callers[writer]("/v1/put", {"documents": [{"document_id": key, "title": title_words(i)}]})
                start = time.monotonic()
                for reader in (callers[(writer + 1) % SERVERS], callers[(writer + 2) % SERVERS]):
                    while not any(hit.get("document_id") == key
                                  for hit in reader("/v1/search", {"query": key, "top_k": 1}).get("hits", [])):
                        if time.monotonic() - start > 10 * LONGEST_CONVERGENCE:
                            raise Broken(f"{key} is not found after {10 * LONGEST_CONVERGENCE} s")
                seconds.append(time.monotonic() - start)
        figures = {"puts": len(seconds), "servers": SERVERS, "median_ms": round(1e3 * statistics.median(seconds), 2),
                   "p99_ms": round(1e3 * percentile(seconds, 0.99), 2), "longest_ms": round(1e3 * max(seconds), 2)}
        if max(seconds) > LONGEST_CONVERGENCE:
            raise Broken(str(figures))
        return figures

    def single_puts(self, server: Server) -> int:
        """Counts the documents that four connections put in --seconds, one a call."""
        stop, counts = time.monotonic() + self.options.seconds, []

        def put(number: int) -> None:
            call, count = Caller(server.address), 0
            while time.monotonic() < stop:
                call("/v1/put", {"documents": [{"document_id": f"{number}-{count % 1000}", "title": title_words(count % 1000)}]})
                count += 1
            counts.append(count)

        threads = [threading.Thread(target=put, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts)

    def throughput(self) -> dict:
        builds = {"now": self.options.build, **({"before": self.options.before} if self.options.before else {})}
        kinds = ("single_per_s", "bulk_per_s", "single_cpu_us", "bulk_cpu_us")
        runs = {(name, servers): {kind: [] for kind in kinds} for name in builds for servers in (1, SERVERS)}
        for _ in range(3):
            for (name, servers), figures in runs.items():
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                redis = Redis(folder, durable=False)
                with contextlib.ExitStack() as stack:
                    stack.callback(redis.kill)
                    started = [stack.enter_context(self.server(redis.flag, build=builds[name])) for _ in range(servers)]
                    pids = [redis.process.pid, started[0].process.pid]
                    before = cpu_seconds(pids)
                    documents = self.single_puts(started[0])
                    figures["single_per_s"].append(documents / self.options.seconds)
                    figures["single_cpu_us"].append(1e6 * (cpu_seconds(pids) - before) / documents)
                    documents, before = min(self.options.documents, 100_000), cpu_seconds(pids)
                    figures["bulk_per_s"].append(documents / self.put_file(started[0], documents))
                    figures["bulk_cpu_us"].append(1e6 * (cpu_seconds(pids) - before) / documents)
        medians = {f"{name}_{servers}_servers": {kind: round(statistics.median(values), 1) for kind, values in figures.items()}
                   for (name, servers), figures in runs.items()}
        if self.options.before:
            for servers in (1, SERVERS):
                now, before = medians[f"now_{servers}_servers"], medians[f"before_{servers}_servers"]
                medians[f"ratio_{servers}_servers"] = {kind: round(now[kind] / before[kind], 2) for kind in now}
        return medians

    def kills(self) -> dict:
        redis, known = Redis(self.folder), {}
        figures = {"rounds": 0, "acknowledged": 0, "made_without_answer": 0}
        seconds = []
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: redis.kill())
            servers = [self.server(redis.flag) for _ in range(SERVERS)]
            stack.callback(lambda: [server.__exit__() for server in servers])
            for _ in range(self.options.rounds):
                writers = [StoppableWriter(number, known, 0.3, self.random.random()) for number in range(SERVERS)]
                for writer, server in zip(writers, servers):
                    writer.serve(server.address)
                time.sleep(self.random.random() * 0.4)
                victim = self.random.randrange(SERVERS + 2)
                if victim > SERVERS:
                    redis.call("XTRIM semrank:changes MAXLEN 0")
                elif victim == SERVERS:
                    redis.kill()
                    redis.start()
                else:
                    servers[victim].__exit__()
                    servers[victim] = self.server(redis.flag)
                for writer in writers:
                    writer.stopping.set()
                for writer in writers:
                    writer.join()
                pending = {key: title for writer in writers for key, title in writer.pending.items()}
                seconds.append(self.wait_until_equal([Caller(server.address) for server in servers], sorted({*known, *pending})))
                figures["made_without_answer"] += kill9.check_documents(Caller(servers[0].address), known, pending)
                figures["rounds"] += 1
                figures["acknowledged"] += sum(writer.acknowledged for writer in writers)
        return {**figures, "median_s": round(statistics.median(seconds), 2), "longest_s": round(max(seconds), 2)}

    def wait_until_equal(self, callers: list, keys: list) -> float:
        """Waits until each server has what its neighbour puts now, and so all earlier writes; returns the seconds."""
        start = time.monotonic()

        def retry(step) -> None:
            while True:
                with contextlib.suppress(*GONE):
                    if step():
                        return
                if time.monotonic() - start > LONGEST_AFTER_KILL:
                    raise Broken(f"the servers do not follow each other after {LONGEST_AFTER_KILL} s")

        fence = f"fence {self.random.random()}"
        for i, call in enumerate(callers):
            retry(lambda: call("/v1/put", {"documents": [{"document_id": f"fence{i}", "title": fence}]}))
        for i, call in enumerate(callers):
            retry(lambda: fence in titles_of(call, [f"fence{(i + 1) % SERVERS}"]).values())
        seconds = time.monotonic() - start
        first, *others = (titles_of(call, keys) for call in callers)
        for key in keys:
            if any(other[key] != first[key] for other in others):
                raise Broken(f"document {key} is {first[key]!r} on one server and {[other[key] for other in others]} on others")
        return seconds

    def swap(self) -> dict:
        # A long queue wait: this case must not fail because other work of the machine delays searches.
        with self.server("--max_queue_wait=60s") as server:
            self.put_file(server, self.options.documents)
            call = Caller(server.address)

            def search(query: str, caller: Caller = call) -> tuple[int, list]:
                answer = caller("/v1/search", {"query": query, "top_k": 10})
                return int(answer["model"]["version"]), [[hit["id"], hit["score"]] if "id" in hit else [hit["document_id"], hit["score"]]
                                                         for hit in answer["hits"]]

            expected, stop, counts, problems = {}, threading.Event(), [], []

            def answers() -> dict:
                return {query: search(query)[1] for query in QUERIES}

            def serve(version: int, body: dict) -> tuple[float, float]:
                """Seconds until the catalog answers with that version, and seconds until Rank does."""
                start = time.monotonic()
                call("/v1/reload", body)
                loaded = time.monotonic()
                while search(QUERIES[0])[0] != version:
                    pass
                return time.monotonic() - start, loaded - start

            def search_on() -> None:
                caller, count, longest = Caller(server.address), 0, 0.0
                try:
                    while not stop.is_set():
                        query, start = QUERIES[count % len(QUERIES)], time.monotonic()
                        version, hits = search(query, caller)
                        longest = max(longest, time.monotonic() - start)
                        if version in expected and hits != expected[version][query]:
                            problems.append(f"version {version} answers {hits}")
                        count += 1
                except GONE as error:
                    problems.append(str(error))
                counts.append((count, longest))

            expected[1] = answers()
            threads = [threading.Thread(target=search_on) for _ in range(2)]
            for thread in threads:
                thread.start()
            self.publish(2)
            figures = {"documents": self.options.documents, "swap_s": round(serve(2, {})[0], 2)}
            expected[2] = answers()
            rollbacks, loads = zip(*(serve(version, {"model": {"version": version}}) for version in (1, 2) * 3))
            memory = re.search(r"\nsemrank_catalog_bytes (\S+)", self.metrics(server))
            stop.set()
            for thread in threads:
                thread.join()
            figures |= {"rollback_median_s": round(statistics.median(rollbacks), 3), "rollback_longest_s": round(max(rollbacks), 3),
                        "of_that_loading_s": round(statistics.median(loads), 3),
                        "searches": sum(count for count, _ in counts), "failed_or_mixed": len(problems),
                        "longest_search_s": round(max(longest for _, longest in counts), 3),
                        "catalog_mib_with_both_models": round(float(memory[1]) / 2**20)}
            if problems or (max(rollbacks) > LONGEST_ROLLBACK and not self.options.no_bar):
                raise Broken(f"{figures} {problems[:1]}")
            return figures

    @staticmethod
    def metrics(server: Server) -> str:
        connection = Caller(server.address).connection
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()


ATTACKS = {name: getattr(Attacks, name) for name in ("convergence", "throughput", "kills", "swap")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bin/")
    parser.add_argument("--before", type=pathlib.Path, help="folder with bin/ of another version, to compare throughput with")
    parser.add_argument("--models", help="two version folders of models to alternate, with a comma; default: small ones")
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--puts", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=60, help="kills")
    parser.add_argument("--seconds", type=float, default=3, help="of single puts in a run")
    parser.add_argument("--no_bar", action="store_true", help="swap: measure a version that embeds again")
    parser.add_argument("--short", action="store_true", help="under 30 s")
    parser.add_argument("--only", default=",".join(ATTACKS), help="kinds, with commas between them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    if options.short:
        options.documents, options.puts, options.rounds, options.seconds = 20_000, 60, 4, 0.5
    figures, broken = {}, False
    for name in options.only.split(","):
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures[name] = ATTACKS[name](Attacks(options, pathlib.Path(folder)))
            except Broken as error:
                figures[name], broken = {"broken": str(error)}, True
        figures[name]["wall_s"] = round(time.monotonic() - start, 1)
        print(json.dumps({name: figures[name]}), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
