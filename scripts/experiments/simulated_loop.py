#!/usr/bin/env python3
"""Runs the nights of scripts/demo_loop.sh: a real server and trainer, and users
who are simulated (click_models.py)."""
import argparse
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # leave the source tree as it is
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/corpus"))

from apt_records import read_packages  # noqa: E402
from click_models import ClickModel  # noqa: E402
from corpus_builder import build_corpus  # noqa: E402

PACKAGES = pathlib.Path("/var/lib/dpkg/status")  # on every Debian and Ubuntu machine
HEAD = 20  # queries of about the same popularity
JUDGED_SHARE = 0.15  # of the queries, which no user types
DEPTH = 10  # results that a user sees
THREADS = 4
REJECTED = 4  # exit code of semrank-train
# By night, and of the comparison. With half as many, one run in some ten has a trained
# model that differs too little from the start for 12,000 comparisons to show it.
SEARCHES = 24000


def say(text):
    print(text, flush=True)


def step(text):
    say(f"\n== {text}")


class Failed(Exception):
    pass


class Collection:
    """What users look for: documents, and queries with the documents that they want."""

    def __init__(self, folder, seed):
        corpus = build_corpus(read_packages(PACKAGES.read_text(encoding="utf-8"), ""), seed, 2)
        self.documents = corpus.docs
        names = {}
        for name, title in self.documents:
            names.setdefault(title, []).append(name)
        self.wanted = {}
        for query, title in corpus.train:
            self.wanted.setdefault(query, set()).update(names[title])
        queries = sorted(self.wanted)
        random.Random(seed).shuffle(queries)
        num_judged = int(len(queries) * JUDGED_SHARE)
        self.judged, self.typed = queries[:num_judged], queries[num_judged:]
        # As in real logs a few queries are typed often, and many once (Zipf's law).
        self.popularity = list(itertools.accumulate(1 / (rank + HEAD) for rank in range(len(self.typed))))
        self.docs, self.queries, self.qrels = (folder / name for name in ("docs.tsv", "queries.tsv", "qrels.txt"))
        write_lines(self.docs, (f"{name}\t{title}" for name, title in self.documents))
        write_lines(self.queries, (f"q{i}\t{query}" for i, query in enumerate(self.judged)))
        write_lines(self.qrels, (f"q{i} 0 {name} 1" for i, query in enumerate(self.judged)
                                 for name in sorted(self.wanted[query])))


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


class Programs:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, show=True, codes=(0,)):
        """The finished process, with its exit code, standard output and standard error."""
        if show:
            say("$ " + " ".join(str(argument) for argument in arguments))
        done = subprocess.run([str(self.folder / arguments[0]), *map(str, arguments[1:])], text=True,
                              capture_output=True)
        if done.returncode not in codes:
            raise Failed(f"{arguments[0]} exited with {done.returncode}:\n{done.stderr[-3000:]}")
        return done


class Server:
    def __init__(self, programs, folder, *flags):
        self.log = (folder / "server.log").open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(programs.folder / "semrank-server"), "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
             "--model_poll_interval=1s", *map(str, flags)], stdout=subprocess.PIPE, stderr=self.log, text=True)
        ready = self.process.stdout.readline()
        if not ready.startswith("semrank-server ready"):
            raise Failed("the server did not start:\n" + (folder / "server.log").read_text(encoding="utf-8")[-2000:])
        fields = dict(field.split("=", 1) for field in ready.split() if "=" in field)
        self.grpc, self.http = fields["grpc"], fields["http"]

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Caller:
    """One HTTP connection of a search front end."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def call(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise Failed(f"POST {path} answered {answer.status}: {text.decode()[:500]}")
        return json.loads(text)


class Users:
    """Users who search and click, each in a session of its own."""

    def __init__(self, server, collection, seed):
        self.server, self.collection, self.seed = server, collection, seed
        self.model = ClickModel("position", eta=0.5)

    def search(self, night, number, **more):
        """`number` searches, spread over some connections. Returns the share of
        lists that were clicked."""
        def visit(thread):
            caller = Caller(self.server.http)
            rng = random.Random(f"{self.seed} {night} {thread}")
            return sum(self.one_search(caller, rng, f"{night}-{i}", more) for i in range(thread, number, THREADS))

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(visit, range(THREADS))) / number

    def one_search(self, caller, rng, session, more):
        query, hits, found = self.ask(caller, rng, {"impression": {"session": session}, **more})
        positions = self.clicks(query, hits, rng)
        if positions:
            caller.call("/v1/events", {"events": click_events(found["impression_id"], positions)})
        return bool(positions)

    def ask(self, caller, rng, more):
        (query,) = rng.choices(self.collection.typed, cum_weights=self.collection.popularity)
        found = caller.call("/v1/search", {"query": query, "top_k": DEPTH, "name_match": False, **more})
        return query, found.get("hits", []), found

    def clicks(self, query, hits, rng):
        return self.model.clicks([hit["document_id"] in self.collection.wanted[query] for hit in hits], rng)


class MixedUpUsers(Users):
    """Users of a front end that reports their lists under the queries of others."""

    def one_search(self, caller, rng, session, more):
        query, hits, _ = self.ask(caller, rng, {"with_titles": True})
        shown = {"impression_id": f"mixed-up-{session}", "query": rng.choice(self.collection.typed),
                 "results": [{"document": hit["document_id"], "title": hit["title"]} for hit in hits]}
        positions = self.clicks(query, hits, rng)
        caller.call("/v1/events", {"impressions": [shown],
                                   "events": click_events(shown["impression_id"], positions)})
        return bool(positions)


def click_events(impression_id, positions):
    return [{"impression_id": impression_id, "kind": "click", "position": position} for position in positions]


class Loop:
    def __init__(self, options):
        self.quick = options.quick
        self.folder = options.folder
        self.programs = Programs(options.bin)
        self.served = self.folder / "models/shop"
        self.start = self.folder / "models/start"  # its first version
        self.events = self.folder / "events"
        self.rows = []  # of the last table

    def train(self, *flags, codes=(0,)):
        done = self.programs.run("semrank-train", f"--model_dir={self.served}", *flags, codes=codes)
        for line in (done.stderr + done.stdout).splitlines():
            if line.startswith(("published", "rejected", "examination", "on ", "the served model")):
                say(f"  {line}")
        return done.returncode

    def versions(self):
        return sorted(int(path.name) for path in self.served.iterdir() if path.name.isdigit())

    def judge(self, night):
        """Adds a row for the newest version."""
        version = self.versions()[-1]
        done = self.programs.run(
            "semrank-eval", f"--docs={self.collection.docs}", f"--queries={self.collection.queries}",
            f"--qrels={self.collection.qrels}", "--candidates=all", f"--model_dir={self.served}", "--ranker=model",
            "--output=json", show=False)
        ndcg = json.loads(done.stdout)["metrics"]["ndcg@10"]
        self.rows.append((night, version, ndcg))
        say(f"NDCG@10 of {len(self.collection.judged):,} judged queries: {ndcg:.3f}")
        return ndcg

    def await_version(self, server):
        """Until the server answers with the newest version."""
        caller, newest = Caller(server.http), self.versions()[-1]
        deadline = time.monotonic() + 60
        while True:
            found = caller.call("/v1/search", {"query": "search", "top_k": 1, "name_match": False})
            if int(found["model"]["version"]) == newest:
                return
            if time.monotonic() > deadline:
                raise Failed(f"the server does not serve version {newest} after a minute")
            time.sleep(0.2)

    def night(self, number, users, server):
        step(f"Night {number}: {SEARCHES:,} searches, then training")
        say(f"{users.search(f'night{number}', SEARCHES):.0%} of the lists were clicked")
        self.train(f"--events={self.events}", f"--init_from={self.served}", f"--docs={self.collection.docs}",
                   "--position_bias=estimate")
        self.judge(f"night {number}")
        self.await_version(server)

    def compare(self, users, sessions):
        step(f"{sessions:,} searches find out by their clicks which model is better")
        users.search("compare", sessions, interleave={"a": {"name": "shop"}, "b": {"name": "start"}})
        done = self.programs.run("semrank", "events", "compare", self.events, "--format=json")
        (pair,) = json.loads(done.stdout)["pairs"]
        say("{sessions:,} sessions: {model} wins {wins}, {versus} wins {losses}, {ties} ties; {model}'s share {share:.3f} "
            "({share_low:.3f} to {share_high:.3f}), p {p:.2g}".format(**pair))
        wins = pair["wins"] if pair["model"].startswith("shop") else pair["losses"]
        if pair["p"] >= 0.01 or wins * 2 <= pair["wins"] + pair["losses"]:
            raise Failed(f"interleaving does not prefer the trained model: {pair}")

    def poisoned_night(self, number, searches):
        step(f"Night {number}: shuffled clicks, of a front end that mixes up the queries of its users")
        events = self.folder / "poisoned"
        with self.serve(events) as server:
            MixedUpUsers(server, self.collection, seed=number).search(f"night{number}", searches)
        before = self.versions()
        code = self.train(f"--events={events}", f"--init_from={self.served}", f"--docs={self.collection.docs}",
                          codes=(0, REJECTED))
        if code != REJECTED or self.versions() != before:
            raise Failed(f"the poisoned night was published as version {self.versions()[-1]}")
        self.rows.append((f"night {number}, shuffled", "rejected", math.nan))

    @contextlib.contextmanager
    def serve(self, events, *flags):
        """A server that has the documents."""
        server = Server(self.programs, self.folder, f"--model_dir=shop={self.served},start={self.start}",
                        f"--events={events}", *flags)
        try:
            self.programs.run("semrank", f"--address={server.grpc}", "put", f"--documents={self.collection.docs}",
                              show=False)
            yield server
        finally:
            server.stop()

    def run(self):
        self.folder.mkdir(parents=True)
        step("Documents and queries: the packages of this machine and sentences of their descriptions")
        self.collection = Collection(self.folder, seed=1)
        say(f"{len(self.collection.documents):,} documents; users type {len(self.collection.typed):,} queries; "
            f"{len(self.collection.judged):,} others judge the models")
        step("The start: a model of the documents, without any click")
        self.train(f"--docs={self.collection.docs}")
        shutil.copytree(self.served, self.start)
        self.judge("start")
        step("Serve it, and record what is shown and clicked")
        with self.serve(self.events, "--explore=0.3") as server:
            users = Users(server, self.collection, seed=1)
            self.night(1, users, server)
            self.compare(users, SEARCHES)
            if not self.quick:
                self.night(2, users, server)
        self.poisoned_night(2 if self.quick else 3, SEARCHES // 4)
        self.print_table()

    def print_table(self):
        step("NDCG@10 of the judged queries, by night")
        for night, version, ndcg in self.rows:
            say(f"{night:20} {'version ' + str(version) if version != 'rejected' else version:12} "
                f"{'' if math.isnan(ndcg) else f'{ndcg:.3f}'}".rstrip())
        ndcgs = [ndcg for _, _, ndcg in self.rows if not math.isnan(ndcg)]
        if ndcgs[-1] <= ndcgs[0]:
            raise Failed("the last model is no better than the start")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the programs")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="folder to make anew")
    parser.add_argument("--quick", action="store_true", help="one night")
    options = parser.parse_args()
    started = time.monotonic()
    if options.folder.exists():
        shutil.rmtree(options.folder)
    try:
        Loop(options).run()
    except (Failed, OSError, http.client.HTTPException) as error:
        sys.exit(f"demo_loop.sh: {error}")
    say(f"\nDone in {time.monotonic() - started:.0f} s. Everything is in {options.folder}/; deploy/LEARNING.md explains "
        "each step.")


if __name__ == "__main__":
    main()
