#!/usr/bin/env python3
"""Checks that the catalog is linearizable: each operation takes effect at one moment between its call and its answer.

    cmake --preset release && cmake --build --preset release
    tests/chaos/linearizability.py --json=linearizability.json
    tests/chaos/linearizability.py --only=rocksdb --operations=100000 --seed=7

memory, rocksdb   one server; put, delete and get of a document, and searches
redis             two servers on one Redis, each for half of the documents: what a server reads of its own changes
                  must not undo newer ones, and in the end both have all documents
restarts          RocksDB, and the server is killed again and again

A put says whether the document was new, a delete whether there was one, a get what its title is. A search is a
read of all documents: each hit has a title that the document had at that moment, scores are those of /v1/rank, and
a document that is not a hit was absent or ranks outside the page, by brute force. So are pages with an offset.
After the run the catalog is what the last writes made it. Operations whose answer a kill cut off may or may not
have taken effect. Exits 1 when some document has no order of operations that explains all answers.
"""
import argparse
import contextlib
import itertools
import json
import pathlib
import random
import sys
import tempfile
import threading
import time

from kill9 import GONE, ROOT, WORDS, Broken, Caller, Server, publish, titles_of
from replicas import Redis

THREADS = 6
KEYS = [f"key{i}" for i in range(24)]
TITLES = [" ".join(words) for words in itertools.combinations(WORDS, 2)][:40]
QUERIES = ["fix auto", "photo editor", "travel agency ticket"]
ABSENT = None  # the title of a document that does not exist
PAGE = 8
TOLERANCE = 1e-5  # of scores: the last digits of float32
PATIENCE = 10  # seconds until two servers must have each other's changes
SECONDS_TO_CHECK = 60  # for one document; far more than any history of a run takes


class Operation:
    """One operation on one document: when it ran and what its answer says.

    `new` is the title afterwards, of a write. `allows` says which titles the answer allows at that moment. An operation
    without an answer has no `end`.
    """
    __slots__ = ("start", "end", "writes", "new", "allows", "text")

    def __init__(self, start, end, allows, text, writes=False, new=ABSENT):
        self.start, self.end, self.allows, self.text, self.writes, self.new = start, end, allows, text, writes, new


def check(history: list[Operation]) -> str:
    """The operation whose answer no order explains, or "". Keeps all states that the answers so far allow: the title, and
    which of the operations in flight have taken effect."""
    events = sorted([(op.start, 0, i) for i, op in enumerate(history)] + [(op.end, 1, i) for i, op in enumerate(history) if op.end is not None])
    states, open_ones, give_up = {(ABSENT, frozenset())}, set(), time.monotonic() + SECONDS_TO_CHECK
    for _, ends, i in events:
        if not ends:
            open_ones.add(i)
            continue
        # All states that the operations in flight can lead to; those in which this one has taken effect remain.
        reached, fresh = set(states), list(states)
        while fresh:
            title, done = fresh.pop()
            for j in open_ones - done:
                op = history[j]
                if op.allows(title):
                    state = (op.new if op.writes else title, done | {j})
                    if state not in reached:
                        reached.add(state)
                        fresh.append(state)
        states = {(title, done - {i}) for title, done in reached if i in done}
        open_ones.discard(i)
        if not states:
            return history[i].text
        if time.monotonic() > give_up:
            raise Broken(f"more than {SECONDS_TO_CHECK} s to check one document")
    return ""


class Client(threading.Thread):
    """Makes operations on random documents and records them, until there are enough or the server is gone."""

    def __init__(self, run, addresses: list[str], operations: int, seed: float):
        super().__init__()
        self.run_, self.addresses, self.left, self.random, self.failure = run, addresses, operations, random.Random(seed), None

    def run(self) -> None:
        calls = [Caller(address) for address in self.addresses]
        kinds = [self.put] * 4 + [self.delete] * 2 + [self.get] * 3 + [self.search]
        try:
            while self.left > 0:
                server = self.random.randrange(len(calls))
                self.random.choice(kinds)(calls[server], KEYS[server::len(calls)])
                self.left -= 1
        except (Broken, *GONE) as error:
            self.failure = error

    def record(self, key: str, start: float, end, allows, text: str, **write) -> None:
        self.run_.histories[key].append(Operation(start, end, allows, f"{key}: {text}", **write))

    def write(self, call, path: str, body: dict, key: str, new, count: str) -> None:
        """`count` names the field of the answer that says that there was a document."""
        start = time.monotonic()
        try:
            answer = call(path, body)
        except GONE:
            self.record(key, start, None, lambda title: True, f"{path} without an answer", writes=True, new=new)
            raise
        end, existed = time.monotonic(), answer.get(count, 0) == 1
        self.record(key, start, end, lambda title: (title is not ABSENT) == existed, f"{path} says {answer}", writes=True, new=new)

    def put(self, call, keys: list[str]) -> None:
        key, title = self.random.choice(keys), self.random.choice(TITLES)
        self.write(call, "/v1/put", {"documents": [{"document_id": key, "title": title}]}, key, title, "num_replaced")

    def delete(self, call, keys: list[str]) -> None:
        key = self.random.choice(keys)
        self.write(call, "/v1/delete", {"document_ids": [key]}, key, ABSENT, "num_deleted")

    def get(self, call, keys: list[str]) -> None:
        key, start = self.random.choice(keys), time.monotonic()
        documents = call("/v1/get", {"document_ids": [key]}).get("documents", [])
        seen = documents[0]["title"] if documents else ABSENT
        self.record(key, start, time.monotonic(), lambda title: title == seen, f"get says {seen!r}")

    def search(self, call, keys: list[str]) -> None:
        query, offset = self.random.choice(QUERIES), self.random.choice((0, 0, PAGE))
        start = time.monotonic()
        hits = call("/v1/search", {"query": query, "top_k": PAGE, "offset": offset, "with_titles": True, "name_match": False}).get("hits", [])
        end, score = time.monotonic(), self.run_.scores[query]
        found = {hit["document_id"]: hit["title"] for hit in hits}
        scores = [hit.get("score", 0.0) for hit in hits]
        if len(found) != len(hits) or scores != sorted(scores, reverse=True):
            raise Broken(f"search {query!r} at {offset}: {hits}")
        for hit, value in zip(hits, scores):
            if abs(value - score[hit["title"]]) > TOLERANCE:
                raise Broken(f"{hit} of {query!r} scores {score[hit['title']]} by /v1/rank")
        lowest = scores[-1] if len(hits) == PAGE else float("-inf")
        # Documents before the page score at least as the first hit; without hits, all may be before it.
        highest = (scores[0] if hits else float("-inf")) if offset else float("inf")
        for key in keys:
            seen = found.get(key, ABSENT)
            if key in found:
                allows = lambda title, seen=seen: title == seen
            else:
                allows = lambda title: (title is ABSENT or score[title] <= lowest + TOLERANCE or score[title] >= highest - TOLERANCE)
            self.record(key, start, end, allows, f"search {query!r} at {offset} has {seen!r}, scores {lowest} to {highest}")


class Run:
    def __init__(self, options, folder: pathlib.Path):
        self.options, self.folder, self.random = options, folder, random.Random(options.seed)
        self.models = folder / "models"
        self.models.mkdir()
        publish(self.models, 2)
        self.histories = {key: [] for key in KEYS}

    def server(self, *flags: str) -> Server:
        # A long queue wait: no operation is refused because of other work of the machine.
        return Server(self.options.build, self.models, "--max_queue_wait=60s", *flags)

    def prepare(self, server: Server) -> None:
        call = Caller(server.address)
        self.scores = {}
        for query in QUERIES:
            answer = call("/v1/rank", {"query": query, "titles": TITLES})
            self.scores[query] = {TITLES[i]: s for i, s in zip(answer["indices"], answer["scores"])}

    def clients(self, addresses: list[str], operations: int) -> list[Client]:
        clients = [Client(self, addresses, operations // THREADS, self.random.random()) for _ in range(THREADS)]
        for client in clients:
            client.start()
        return clients

    def operate(self, addresses: list[str]) -> None:
        for client in (clients := self.clients(addresses, self.options.operations)):
            client.join()
        for client in clients:
            if client.failure:
                raise Broken(str(client.failure))

    def figures(self, **more) -> dict:
        for key, history in self.histories.items():
            if problem := check(history):
                raise Broken(f"no order of {len(history)} operations explains an answer: {problem}")
        return {"operations_on_documents": sum(map(len, self.histories.values())), "explained": "all", **more}

    def read_all(self, server: Server) -> None:
        """The last reads, which the histories must explain as well."""
        reader = Client(self, [], 0, 0)
        start = time.monotonic()
        for key, seen in titles_of(Caller(server.address), KEYS).items():
            reader.record(key, start, time.monotonic(), lambda title, seen=seen: title == seen, f"the last get says {seen!r}")

    def memory(self) -> dict:
        with self.server() as server:
            self.prepare(server)
            self.operate([server.address])
            self.read_all(server)
        return self.figures()

    def rocksdb(self) -> dict:
        flag = f"--store=rocksdb:{self.folder}/store"
        with self.server(flag) as server:
            self.prepare(server)
            self.operate([server.address])
        with self.server(flag) as server:
            self.read_all(server)
        return self.figures()

    def redis(self) -> dict:
        redis = Redis(self.folder)
        with contextlib.ExitStack() as stack:
            stack.callback(redis.kill)
            servers = [stack.enter_context(self.server(redis.flag)) for _ in range(2)]
            self.prepare(servers[0])
            self.operate([server.address for server in servers])
            # A server follows the other one within a second (replicas.py); a document that it has not seen is the fence.
            for number, server in enumerate(servers):
                Caller(server.address)("/v1/put", {"documents": [{"document_id": f"fence{number}", "title": TITLES[0]}]})
            for number, server in enumerate(servers):
                call, limit = Caller(server.address), time.monotonic() + PATIENCE
                while None in titles_of(call, [f"fence{1 - number}"]).values():
                    if time.monotonic() > limit:
                        raise Broken(f"no server follows the other one within {PATIENCE} s")
                self.read_all(server)
        return self.figures()

    def restarts(self) -> dict:
        flag, kills = f"--store=rocksdb:{self.folder}/store", 0
        while kills < self.options.kills:
            with self.server(flag) as server:
                self.prepare(server)
                clients = self.clients([server.address], self.options.operations)
                time.sleep(self.random.uniform(0.1, 0.4))
                server.kill()
                kills += 1
                for client in clients:
                    client.join()
                    if isinstance(client.failure, Broken):
                        raise client.failure
        with self.server(flag) as server:
            self.read_all(server)
        return self.figures(kills=kills)


KINDS = ("memory", "rocksdb", "redis", "restarts")


def self_test() -> None:
    """The checker itself: a read of a value that was replaced before it began has no explanation."""
    def put(start, end, title):
        return Operation(start, end, lambda _: True, "put", writes=True, new=title)

    def get(start, end, seen):
        return Operation(start, end, lambda title: title == seen, "get")

    assert check([put(0, 1, "a"), put(2, 3, "b"), get(4, 5, "b")]) == ""
    assert check([put(0, 1, "a"), put(2, 3, "b"), get(4, 5, "a")]) == "get"
    assert check([put(0, 1, "a"), put(2, 5, "b"), get(3, 4, "a"), get(3, 4, "b")]) == ""
    assert check([put(0, 1, "a"), put(2, 9, "b"), get(3, 4, "b"), get(5, 6, "a")]) == "get"
    assert check([put(0, None, "a"), get(1, 2, ABSENT), get(3, 4, "a")]) == ""
    assert check([put(0, None, "a"), get(1, 2, "a"), get(3, 4, ABSENT)]) == "get"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with bin/")
    parser.add_argument("--operations", type=int, default=20_000, help="of each kind")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--short", action="store_true", help="10,000 operations, 3 kills, seconds")
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, with commas between them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures; they are printed as well")
    options = parser.parse_args()
    if options.short:
        options.operations, options.kills = 10_000 // len(KINDS), 3
    self_test()
    figures, broken = {}, False
    for name in options.only.split(","):
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures[name] = getattr(Run(options, pathlib.Path(folder)), name)()
            except (Broken, *GONE) as error:
                figures[name], broken = {"broken": str(error)[:2_000]}, True
        figures[name]["seconds"] = round(time.monotonic() - start, 1)
        print(json.dumps({name: figures[name]}), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
