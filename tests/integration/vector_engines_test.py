#!/usr/bin/env python3
"""Files of vectors that `semrank embed` writes, imported by real vector engines:
the exact top 10 of the engine is that of a semrank server, for each of 200
queries. What an engine needs and is not installed is skipped, and said so.

usage: vector_engines_test.py PROJECT_DIR BINARY_DIR
"""
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import numpy

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
MODULES = PROJECT / "build/node_client/node_modules"
NUM_DOCUMENTS, NUM_QUERIES, TOP = 2_000, 200, 10
# Engines add the same products in other orders, so scores are equal up to rounding of float32.
TOLERANCE = 2e-6


def sentences(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(1, 4))) for _ in range(400)]
    return [" ".join(rng.choice(words) for _ in range(rng.randint(2, 7))) for _ in range(count)]


class VectorEnginesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        titles = sentences(1, NUM_DOCUMENTS)
        (cls.folder / "docs.tsv").write_text("".join(f"d{i}\t{title}, it's 100\\% {i}\n" for i, title in enumerate(titles)))
        queries = [" ".join(title.split()[:3]) for title in titles[:NUM_QUERIES]]
        (cls.folder / "queries.tsv").write_text("".join(f"q{i}\t{query}\n" for i, query in enumerate(queries)))
        (cls.folder / "clicks.tsv").write_text("".join(f"{query}\t{title}\n" for query, title in zip(queries, titles)))
        cls.run_program("semrank-train", "--train=clicks.tsv", "--model_dir=shop", "--threads=1", "--hidden=32", "--embedding_dim=32",
                        "--epochs=1", "--valid_fraction=0.2", "--lexical=0")
        cls.embed("query", "queries.tsv", "queries.jsonl")
        cls.queries = numpy.array([json.loads(line)["vector"] for line in (cls.folder / "queries.jsonl").read_text().splitlines()], dtype="f4")
        cls.ours = cls.search()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def run_program(cls, name: str, *arguments: str) -> None:
        done = subprocess.run([BINARIES / name, *arguments], cwd=cls.folder, env=cls.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @classmethod
    def embed(cls, side: str, texts: str, output: str, *flags: str) -> pathlib.Path:
        cls.run_program("semrank", "embed", f"--side={side}", f"--texts={texts}", f"--output=./{output}", "--model_dir=shop", *flags)
        return cls.folder / output

    @classmethod
    def search(cls) -> list[list[tuple[str, float]]]:
        """Id and score of the server's best documents for each query, more than are compared."""
        server = subprocess.Popen([BINARIES / "semrank-server", "--model_dir=shop", "--listen_address=127.0.0.1:0",
                                   "--http_address=127.0.0.1:0"], cwd=cls.folder, env=cls.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = "--address=" + re.search(r" grpc=(\S+)", server.stdout.readline())[1]
            cls.run_program("semrank", address, "put", "--documents=docs.tsv")
            cls.run_program("semrank", address, "search", "--queries=queries.tsv", "--run_out=ours.run", f"--top_k={3 * TOP}", "--noname_match")
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
        best: dict[str, list[tuple[str, float]]] = {}
        for line in (cls.folder / "ours.run").read_text().splitlines():
            query, _, document, _, score, _ = line.split()
            best.setdefault(query, []).append((document, float(score)))
        return [best[f"q{i}"] for i in range(NUM_QUERIES)]

    def assert_equals_ours(self, found: list[list[str]]) -> None:
        self.assertEqual(len(found), NUM_QUERIES)
        for ids, ours in zip(found, self.ours):
            scores = dict(ours)
            self.assertEqual(len(set(ids)), TOP)
            for document, (_, score) in zip(ids, ours):
                self.assertAlmostEqual(scores.get(document, -1), score, delta=TOLERANCE, msg=f"{ids} {ours[:TOP]}")

    def node(self, engine: str, documents: pathlib.Path) -> list[list[str]]:
        printed = subprocess.run(["node", PROJECT / "tests/integration/node_client/vector_engines.mjs", engine, documents,
                                  self.folder / "queries.jsonl"], env={**self.environment, "NODE_PATH": str(MODULES)},
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        return [json.loads(line) for line in printed.splitlines()]

    def need(self, module: str) -> None:
        if not shutil.which("node") or not (MODULES / module).is_dir():
            self.skipTest(f"no {module} in {MODULES}")

    def test_faiss(self):
        import faiss
        from faiss.contrib.vecs_io import fvecs_read
        self.embed("document", "docs.tsv", "docs.npy")
        for vectors in (numpy.load(self.folder / "docs.npy"), fvecs_read(str(self.embed("document", "docs.tsv", "docs.fvecs")))):
            index = faiss.IndexFlatIP(vectors.shape[1])
            index.add(numpy.ascontiguousarray(vectors))
            ids = (self.folder / "docs.npy.ids").read_text().split()
            self.assert_equals_ours([[ids[i] for i in row] for row in index.search(self.queries, TOP)[1]])

    def test_sqlite_vec(self):
        self.need("sqlite-vec-linux-x64")
        database = sqlite3.connect(":memory:")
        database.executescript(self.embed("document", "docs.tsv", "docs.sql").read_text())
        self.assertEqual(database.execute("SELECT text FROM documents WHERE id = 'd7'").fetchone()[0],
                         (self.folder / "docs.tsv").read_text().splitlines()[7].split("\t")[1])
        database.enable_load_extension(True)
        database.load_extension(str(MODULES / "sqlite-vec-linux-x64/vec0"))
        top = f"SELECT id FROM documents ORDER BY vec_distance_cosine(vector, ?) LIMIT {TOP}"
        self.assert_equals_ours([[row[0] for row in database.execute(top, (query.tobytes(),))] for query in self.queries])
        database.close()

    def test_pgvector(self):
        self.need("@electric-sql/pglite-pgvector")
        self.assert_equals_ours(self.node("pgvector", self.embed("document", "docs.tsv", "docs.pgvector")))

    def test_lancedb(self):
        self.need("@lancedb/lancedb")
        self.assert_equals_ours(self.node("lancedb", self.embed("document", "docs.tsv", "docs.jsonl")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
