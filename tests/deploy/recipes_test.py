#!/usr/bin/env python3
"""Runs each recipe of deploy/recipes beside real servers: a search engine and a collector that answer in the forms that
they document, SQLite, PostgreSQL with pgvector (PGlite), and HAProxy.

usage: recipes_test.py PROJECT_DIR BINARY_DIR

A recipe whose program or package is missing is skipped, and said so.
"""
import concurrent.futures
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
RECIPES = PROJECT / "deploy/recipes"
MODULES = PROJECT / "build/node_client/node_modules"
MAX_WAIT_SECONDS = 60
PRODUCTS = ["running shoes", "rain jacket", "coffee grinder", "desk lamp", "garden hose", "chess set", "wool socks", "bread knife", "bike bell", "tea pot"]
KINDS = ["red", "blue", "small", "large", "light", "heavy", "cheap", "fine", "old", "new"]
TITLES = [f"{product}, {kind}, for home and travel" for kind in KINDS for product in PRODUCTS]
QUERY = "best running shoes"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def post(url: str, body: dict, headers: dict = {}) -> dict:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=MAX_WAIT_SECONDS) as response:
        return json.load(response)


def wait_for(condition) -> None:
    limit = time.monotonic() + MAX_WAIT_SECONDS
    while not condition():
        assert time.monotonic() < limit, "timeout"


class Peer(http.server.ThreadingHTTPServer):
    """An HTTP server that keeps what it is sent and gives one answer."""

    def __init__(self, answer: dict):
        self.calls: list[tuple[str, dict]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                self.calls.append((handler.path, json.loads(body)))
                content = json.dumps(answer).encode()
                handler.send_response(200)
                handler.send_header("Content-Length", str(len(content)))
                handler.end_headers()
                handler.wfile.write(content)

            def log_message(handler, *arguments):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class RecipesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        (cls.folder / "docs.tsv").write_text("\n" + "".join(f"d{i}\t{title}\n" for i, title in enumerate(TITLES)))
        (cls.folder / "clicks.tsv").write_text("".join(f"best {product}\t{title}\n" for product in PRODUCTS for title in TITLES
                                                       if title.startswith(product)))
        for _ in range(2):  # versions 1 and 2
            cls.check(BINARIES / "semrank-train", "--train=clicks.tsv", "--model_dir=shop", "--threads=1", "--hidden=16",
                      "--embedding_dim=16", "--epochs=2", "--lexical=0.6")
        _, cls.grpc, cls.http = cls.serve(1)
        cls.url = f"http://127.0.0.1:{cls.http}"

    @classmethod
    def check(cls, *command) -> str:
        done = subprocess.run(command, cwd=cls.folder, env=cls.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @classmethod
    def start(cls, *command, **options) -> subprocess.Popen:
        process = subprocess.Popen(command, cwd=cls.folder, **{"env": cls.environment, "stderr": subprocess.DEVNULL, "text": True, **options})
        cls.addClassCleanup(cls.stop, process)
        return process

    @staticmethod
    def stop(process: subprocess.Popen) -> None:
        process.terminate()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()

    @classmethod
    def serve(cls, version: int) -> tuple[subprocess.Popen, str, str]:
        """A new server and its ports, gRPC and HTTP."""
        server = cls.start(BINARIES / "semrank-server", "--model_dir=shop", f"--model_version={version}", "--listen_address=127.0.0.1:0",
                           "--http_address=127.0.0.1:0", stdout=subprocess.PIPE)
        return server, *re.search(r" grpc=\S+:(\d+) http=\S+:(\d+)", server.stdout.readline()).groups()

    @staticmethod
    def command(name: str) -> list:
        """The Python of the test sees Debian's packages."""
        return [sys.executable, "-B", RECIPES / name]

    def recipe(self, name: str, *arguments: str) -> list[list[str]]:
        """The columns of each line that it prints."""
        return [line.split("\t") for line in self.check(*self.command(name), *arguments).splitlines()]

    def best(self, titles: list[str], top: int) -> list[str]:
        ranking = post(f"{self.url}/v1/rank", {"query": QUERY, "titles": titles, "top_k": top})
        return [titles[index] for index in ranking["indices"]]

    def engine(self, titles: list[str]) -> Peer:
        """What Elasticsearch 8 and OpenSearch 2 answer; they differ in no member that is read."""
        hits = [{"_index": "products", "_id": f"p{i}", "_score": 9 - i / 100, "_source": {"title": title}} for i, title in enumerate(titles)]
        peer = Peer({"took": 3, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
                     "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 9.0 if hits else None, "hits": hits}})
        self.addCleanup(peer.close)
        return peer

    def test_elasticsearch_hits_are_reranked(self):
        titles = TITLES[::-1]
        engine = self.engine(titles)
        found = self.recipe("rerank_elasticsearch.py", QUERY, f"--engine={engine.url}/products", f"--semrank={self.url}", "--top=5")
        self.assertEqual([title for _, title in found], self.best(titles, 5))
        self.assertEqual([titles[int(identity[1:])] for identity, _ in found], [title for _, title in found])
        self.assertIn("running shoes", found[0][1])
        self.assertEqual(engine.calls, [("/products/_search", {"query": {"match": {"title": QUERY}}, "size": 100, "_source": ["title"]})])

    def test_elasticsearch_hits_that_cannot_be_ranked_follow(self):
        titles = ["long " * 1_000, *TITLES[:3]]
        found = self.recipe("rerank_elasticsearch.py", QUERY, f"--engine={self.engine(titles).url}/products", f"--semrank={self.url}")
        self.assertEqual([title for _, title in found], [*self.best(titles[1:], 3), titles[0]])

    def test_elasticsearch_order_stays_when_the_reranker_is_down(self):
        engine = self.engine(TITLES)
        found = self.recipe("rerank_elasticsearch.py", QUERY, f"--engine={engine.url}/products", f"--semrank=http://127.0.0.1:{free_port()}")
        self.assertEqual([title for _, title in found], TITLES[:10])

    def test_elasticsearch_without_hits_prints_nothing(self):
        self.assertEqual(self.recipe("rerank_elasticsearch.py", QUERY, f"--engine={self.engine([]).url}/products", f"--semrank={self.url}"), [])

    def test_sqlite_hits_are_reranked(self):
        found = self.recipe("rerank_sqlite.py", "docs.db", QUERY, "--index=docs.tsv", f"--semrank={self.url}")
        matching = [title for title in TITLES if "running shoes" in title]
        self.assertEqual({title for _, _, title in found}, set(self.best(matching, 10)))
        scores = [float(score) for score, _, _ in found]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual([TITLES[int(identity[1:])] for _, identity, _ in found], [title for _, _, title in found])

    def test_sqlite_takes_any_query(self):
        self.recipe("rerank_sqlite.py", "any.db", "--index=docs.tsv", f"--semrank={self.url}")
        for query in ('the "best', "shoes OR", "NEAR(", "", "zzqqxx", "title:shoes*"):
            with self.subTest(query):
                self.recipe("rerank_sqlite.py", "any.db", query, f"--semrank={self.url}")

    def database(self) -> str:
        """The URL of a new PostgreSQL with pgvector."""
        if importlib.util.find_spec("psycopg2") is None:
            self.skipTest("no python3-psycopg2")
        if not shutil.which("node") or not (MODULES / "@electric-sql/pglite-socket").is_dir():
            self.skipTest(f"no @electric-sql/pglite-socket in {MODULES}")
        server = self.start("node", PROJECT / "tests/integration/node_client/pglite_server.mjs", stdout=subprocess.PIPE,
                            env={**self.environment, "NODE_PATH": str(MODULES)})
        return f"postgresql://postgres@127.0.0.1:{server.stdout.readline().strip()}/postgres"

    def test_pgvector_finds_the_best_and_replaces_what_changed(self):
        search = (f"--database={self.database()}", f"--semrank={self.url}")
        self.recipe("search_pgvector.py", "--put=docs.tsv", *search)
        (self.folder / "changed.tsv").write_text("d7\tmy best running shoes: it's 100%\nnew\tgarden gnome\n")
        self.recipe("search_pgvector.py", "--put=changed.tsv", *search)
        titles = [*TITLES, "garden gnome"]
        titles[7] = "my best running shoes: it's 100%"
        found = self.recipe("search_pgvector.py", QUERY, *search)
        scores = post(f"{self.url}/v1/rank", {"query": QUERY, "titles": titles, "parts": "PARTS_SEMANTIC"})
        ours = {titles[index]: score for index, score in zip(scores["indices"], scores["scores"])}
        self.assertEqual(len({identity for _, identity, _ in found}), 10)
        for (score, _, title), best in zip(found, scores["scores"]):
            self.assertAlmostEqual(float(score), ours[title], delta=1e-4)
            self.assertAlmostEqual(float(score), best, delta=1e-4)

    def proxy(self) -> tuple[str, str]:
        """The gRPC address and the URL of HAProxy before blue, which serves version 1, and green, which serves 2."""
        if not shutil.which("haproxy"):
            self.skipTest("needs the package haproxy")
        text = (RECIPES / "blue_green.cfg").read_text()
        self.green, green_grpc, green_http = self.serve(2)
        grpc, http = free_port(), free_port()
        ports = {"50051": grpc, "8080": http, "50061": self.grpc, "8081": self.http, "50062": green_grpc, "8082": green_http}
        self.assertLessEqual(ports.keys(), set(re.findall(r"\d+", text)))
        text = re.sub(r"(?<=127\.0\.0\.1:)\d+|(?<=port )\d+", lambda match: str(ports[match[0]]), text)
        text = text.replace("/run/haproxy/admin.sock", str(self.folder / "admin.sock"))
        (self.folder / "blue_green.cfg").write_text(text)
        self.start("haproxy", "-db", "-f", "blue_green.cfg")
        address, url = f"--address=127.0.0.1:{grpc}", f"http://127.0.0.1:{http}"
        wait_for(lambda: subprocess.run([BINARIES / "semrank", address, "health", "--deadline=1s"], capture_output=True).returncode == 0)
        wait_for(lambda: "UP" in self.status("semrank_http,green") and "UP" in self.status("semrank_grpc,green"))
        return address, url

    def status(self, server: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.folder / "admin.sock"))
            connection.sendall(b"show stat\n")
            lines = b"".join(iter(lambda: connection.recv(65536), b"")).decode().splitlines()
        return next(line for line in lines if line.startswith(server))

    def shift(self, percent: int) -> subprocess.CompletedProcess:
        return subprocess.run([*self.command("shift_traffic.py"), str(percent), f"--socket={self.folder}/admin.sock"], capture_output=True, text=True)

    def versions(self, url: str, count: int, headers: dict = {}) -> list[int]:
        """The versions that answered `count` calls, sorted."""
        answers = [post(f"{url}/v1/rank", {"query": "a", "titles": ["b"]}, headers) for _ in range(count)]
        return sorted(int(answer["model"]["version"]) for answer in answers)

    def test_traffic_moves_from_blue_to_green_without_a_failed_call(self):
        address, url = self.proxy()
        self.assertEqual(self.versions(url, 10), [1] * 10)
        self.assertEqual(self.versions(url, 3, {"x-semrank-server": "green"}), [2] * 3)
        command = [BINARIES / "semrank", address, "--output=json", "load", "--rate=200", "--duration=2s", "--num_titles=5", "--warmup=0s"]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            load = pool.submit(subprocess.run, command, capture_output=True, text=True)
            self.assertEqual(self.shift(10).stdout, "green answers 10 % of the calls\n")
            self.assertAlmostEqual(self.versions(url, 100).count(2), 10, delta=1)
            self.assertEqual(self.shift(100).returncode, 0)
            self.assertEqual(self.versions(url, 10), [2] * 10)
            self.assertEqual(self.shift(0).returncode, 0)  # back at once
            self.assertEqual(self.versions(url, 10), [1] * 10)
        report = json.loads(load.result().stdout)
        self.assertEqual(report["failed"], {})
        self.assertGreater(report["calls"], 0)
        self.assertEqual(self.shift(101).returncode, 2)
        self.green.terminate()
        wait_for(lambda: "DOWN" in self.status("semrank_http,green"))
        refused = self.shift(10)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("nothing was changed", refused.stderr)
        self.assertEqual(self.versions(url, 10), [1] * 10)

    def test_spans_of_sampled_calls_reach_the_collector(self):
        collector = Peer({})
        self.addCleanup(collector.close)
        sender = self.start(*self.command("trace_access_log.py"), f"--collector={collector.url}", "--service=shop", stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
        server = self.start(BINARIES / "semrank-server", "--model_dir=shop", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
                            "--log_format=json", "--access_log=1", stdout=subprocess.PIPE, stderr=sender.stdin)
        http = re.search(r" http=\S+:(\d+)", server.stdout.readline())[1]
        trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        before = time.time_ns()
        for flags in ("01", "00"):  # the second is not sampled
            post(f"http://127.0.0.1:{http}/v1/rank", {"query": "a", "titles": ["b"]}, {"traceparent": f"00-{trace}-{parent}-{flags}", "x-request-id": "r1"})
        with self.assertRaises(urllib.error.HTTPError):
            post(f"http://127.0.0.1:{http}/v1/rank", {"query": "", "titles": []}, {"traceparent": f"00-{trace}-{parent}-01"})
        server.terminate()
        server.wait()
        sender.stdin.close()
        self.assertIn('"message":"request"', sender.stdout.read().replace(" ", ""))  # the log is passed on
        self.assertEqual(sender.wait(), 0)
        spans = [span for path, body in collector.calls for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]]
        self.assertEqual({path for path, _ in collector.calls}, {"/v1/traces"})
        self.assertEqual([span["status"]["code"] for span in spans], [1, 2])
        first = spans[0]
        self.assertEqual((first["traceId"], first["parentSpanId"], first["name"], first["kind"]), (trace, parent, "POST /v1/rank", 2))
        self.assertRegex(first["spanId"], "^[0-9a-f]{16}$")
        self.assertIn({"key": "semrank.request_id", "value": {"stringValue": "r1"}}, first["attributes"])
        # The log has milliseconds.
        self.assertLess(before - 2_000_000, int(first["startTimeUnixNano"]))
        self.assertLessEqual(int(first["startTimeUnixNano"]), int(first["endTimeUnixNano"]))


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/sbin"
    unittest.main(argv=sys.argv[:1], verbosity=2)
