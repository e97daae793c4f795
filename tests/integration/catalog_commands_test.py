#!/usr/bin/env python3
"""`semrank put`, `get`, `delete`, `explain --document_id` and `search --run_out`
against a real server that serves a model of a small shop.

usage: catalog_commands_test.py PROJECT_DIR BINARY_DIR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BINARIES = pathlib.Path(sys.argv[2]).resolve()
PRODUCTS = ["running shoes", "rain jacket", "coffee grinder", "desk lamp", "garden hose", "chess set", "wool socks", "bread knife"]
TITLES = [f"{product} for home and travel" for product in PRODUCTS] + [f"{product} on sale" for product in PRODUCTS]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}


def run_program(name: str, *arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run([BINARIES / name, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=60, **options)


class CatalogCommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.write("clicks.tsv", *(f"{word} {product}\t{title}" for word in ("cheap", "best") for product, title in zip(PRODUCTS, TITLES)))
        cls.write("docs.tsv", *(f"d{i}\t{title}" for i, title in enumerate(TITLES)))
        cls.write("queries.tsv", *(f"q{i}\t{product.split()[0]} travel" for i, product in enumerate(PRODUCTS)), f"q8\t{TITLES[8]}")
        cls.write("qrels.txt", *(f"q{i} 0 d{i} 1" for i in range(9)), *(f"q{i} 0 d{i + 8} 2" for i in range(8)))
        train = run_program("semrank-train", "--train=clicks.tsv", "--model_dir=shop", "--threads=1", "--hidden=16", "--epochs=2",
                            "--valid_fraction=0.2", "--lexical=0.3", cwd=cls.folder)
        assert train.returncode == 0, train.stderr
        cls.server = subprocess.Popen([BINARIES / "semrank-server", "--model_dir=shop", "--listen_address=127.0.0.1:0",
                                       "--http_address=127.0.0.1:0"], cwd=cls.folder, env=ENVIRONMENT,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.address = re.search(r" grpc=(\S+)", cls.server.stdout.readline())[1]

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()
        cls.temporary.cleanup()

    @classmethod
    def write(cls, name: str, *lines: str) -> None:
        (cls.folder / name).write_text("".join(f"{line}\n" for line in lines))

    def semrank(self, *arguments: str, exit_code: int = 0, **options) -> subprocess.CompletedProcess:
        done = run_program("semrank", f"--address={self.address}", *arguments, cwd=self.folder, **options)
        self.assertEqual(done.returncode, exit_code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def tearDown(self):
        ids = "\n".join([f"d{i}" for i in range(len(TITLES))] + ["a", "b", "c"])
        self.semrank("delete", "--ids=-", input=ids)
        self.semrank("delete", "--numeric_ids", "7", "8")

    def test_json_lines_that_get_prints_can_be_put_again(self):
        self.write("docs.jsonl",
                   json.dumps({"document_id": "a", "title": "ä, \"quoted\"", "payload": "eyJzIjoxfQ==", "tags": ["x", "y"]}),
                   json.dumps({"id": "7", "title": "numbered"}), "", '{"titel": "misspelt"}', "not json")
        put = self.semrank("put", "--documents=docs.jsonl")
        self.assertEqual(put.stdout, "2 new, 0 replaced, 0 refused, of 2 documents; 2 lines skipped\n")
        self.assertRegex(put.stderr, r"docs.jsonl:4: no document as JSON: .*titel")
        self.assertRegex(put.stderr, r"docs.jsonl:5: no document as JSON")
        printed = self.semrank("get", "a", "--output=json").stdout
        self.assertEqual(json.loads(printed), {"document_id": "a", "title": "ä, \"quoted\"", "payload": "eyJzIjoxfQ==", "tags": ["x", "y"]})
        (self.folder / "again.jsonl").write_text(printed)
        self.assertIn("0 new, 1 replaced", self.semrank("put", "--documents=again.jsonl").stdout)
        self.assertEqual(self.semrank("get", "--numeric_ids", "7").stdout, "7\tnumbered\t\n")

    def test_search_says_that_no_title_scores_enough(self):
        self.semrank("put", "--documents=docs.tsv")
        found = self.semrank("search", "--query=shoes travel", "--min_score=1.5")
        self.assertEqual(found.stdout, "")
        self.assertIn("no hits: 16 documents searched; no title scores at least 1.5\n", found.stderr)

    def test_csv_has_columns_quotes_and_line_breaks(self):
        self.write("docs.csv", "title,tags,id,payload", '"say ""hi"", please","x,y",a,', '"two\nlines",,b,bytes', 'too,few', 'a "b",,c,')
        put = self.semrank("put", "--documents=docs.csv")
        self.assertIn("2 new", put.stdout)
        self.assertIn("docs.csv:5: 2 fields for 4 columns", put.stderr)
        self.assertIn("docs.csv:6: a quote in an unquoted field", put.stderr)
        documents = [json.loads(line) for line in self.semrank("get", "a", "b", "--output=json").stdout.splitlines()]
        self.assertEqual(documents, [{"document_id": "a", "title": 'say "hi", please', "tags": ["x", "y"]},
                                     {"document_id": "b", "title": "two\nlines", "payload": "Ynl0ZXM="}])
        self.write("numbers.csv", "id,title", "8,eight")
        self.semrank("put", "--documents=numbers.csv", "--numeric_ids")
        self.assertEqual(self.semrank("get", "--numeric_ids", "8").stdout, "8\teight\t\n")
        for first, complaint in (("id,name", "column 'name': the first line must name columns out of id, document_id, title"),
                                 ("id,tags", "want one column id")):
            self.write("bad.csv", first, "a,b")
            self.assertIn(f"bad.csv:1: {complaint}", self.semrank("put", "--documents=bad.csv", exit_code=1).stderr)

    def test_an_interrupted_put_is_continued_by_its_state_file(self):
        self.write("long.tsv", *(f"a\ttitle {i}" for i in range(20_000)), "a\tNUL \0")
        put = ["put", "--documents=long.tsv", "--state=put.state", "--max_bad_lines=0"]
        self.assertIn("long.tsv:20001", self.semrank(*put, exit_code=1).stderr)
        self.assertEqual(json.loads((self.folder / "put.state").read_text())["progress"]["lines"], 20_000)
        self.assertIn("put.state: continuing after line 20,000, 20,000 documents", self.semrank(*put, exit_code=1).stderr)
        self.assertIn("put.state: started with numeric_ids off, which is on now; remove put.state to start over",
                      self.semrank(*put, "--numeric_ids", exit_code=1).stderr)
        self.write("long.tsv", "a\tother")
        self.assertIn("put.state: started with documents ", self.semrank(*put, exit_code=1).stderr)
        (self.folder / "put.state").unlink()
        self.assertIn("0 new, 1 replaced", self.semrank(*put).stdout)
        self.assertFalse((self.folder / "put.state").exists())
        self.assertIn("cannot be continued", self.semrank("put", "--documents=-", "--state=s", exit_code=2, input="").stderr)

    def test_documents_that_are_not_there_are_named(self):
        self.semrank("put", "--documents=docs.tsv")
        got = self.semrank("get", "d1", "none", exit_code=1)
        self.assertEqual(got.stdout, f"d1\t{TITLES[1]}\t\n")
        self.assertIn("not printed: none:", got.stderr)
        self.assertEqual(self.semrank("delete", "d1", "none").stdout, "1 deleted, 1 not found\n")
        self.assertIn("--ids=empty: contains no ids", self.semrank("delete", "--ids=empty", exit_code=1, input=self.write("empty")).stderr)
        self.assertIn('"x" is not a number', self.semrank("get", "--numeric_ids", "x", exit_code=2).stderr)

    def test_more_ids_than_fit_in_a_message(self):
        self.write("many.tsv", *(f"{i}\ttitle {i}" for i in range(2_500)))
        self.semrank("put", "--documents=many.tsv")
        self.write("ids.txt", *map(str, range(2_501)))
        got = self.semrank("get", "--ids=ids.txt", exit_code=1)
        self.assertEqual(got.stdout, "".join(f"{i}\ttitle {i}\t\n" for i in range(2_500)))
        self.assertIn("not printed: 2500:", got.stderr)
        self.assertEqual(self.semrank("delete", "--ids=ids.txt").stdout, "2,500 deleted, 1 not found\n")

    def test_explain_takes_a_document_of_the_catalog(self):
        self.semrank("put", "--documents=docs.tsv")
        by_id = json.loads(self.semrank("explain", "--query=shoes", "--document_id=d0", "--output=json").stdout)
        by_title = json.loads(self.semrank("explain", "--query=shoes", TITLES[0], "--output=json").stdout)
        self.assertEqual(by_id["score"], by_title["score"])
        self.semrank("explain", "--query=shoes", "--document_id=d0", "--title=a", exit_code=2)
        self.assertIn("no such document", self.semrank("explain", "--query=shoes", "--document_id=d99", exit_code=1).stderr)

    def evaluate(self, ranker: str) -> dict:
        done = run_program("semrank-eval", f"--ranker={ranker}", "--model_dir=shop", "--docs=docs.tsv", "--queries=queries.tsv",
                           "--qrels=qrels.txt", "--candidates=all", "--output=json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["metrics"]

    def test_a_run_of_the_live_server_measures_as_the_model_itself(self):
        self.semrank("put", "--documents=docs.tsv")
        for ranker, flag in (("model", "--noname_match"), ("model+name_match", "--name_match")):
            search = self.semrank("search", "--queries=queries.tsv", "--run_out=live.run", f"--top_k={len(TITLES)}", flag)
            self.assertEqual(search.stdout, f"9 queries, {9 * len(TITLES)} documents\n")
            self.assertRegex((self.folder / "live.run").read_text(), r"^q0 Q0 d\d+ 1 \S+ shop\n")
            run, model = self.evaluate("run:live.run"), self.evaluate(ranker)
            for metric in model:
                self.assertAlmostEqual(run[metric], model[metric], places=6, msg=f"{ranker} {metric}")
        self.semrank("search", "--queries=queries.tsv", exit_code=2)
        self.semrank("search", "--query=q", "--queries=queries.tsv", "--run_out=r", exit_code=2)
        self.write("untitled.tsv", "no id")
        self.assertIn('query "no id" has no id', self.semrank("search", "--queries=untitled.tsv", "--run_out=r", exit_code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
