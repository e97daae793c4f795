"""scripts/experiments/scale_curve.py over the real programs, and what rankers that need no
training make of the slices of its planted log."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("SEMRANK_BINARY_DIR", str(ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "scripts/corpus"))
sys.path.insert(0, str(ROOT / "tests/scripts"))

import make_planted_log  # noqa: E402
from corpus.planted_log_test import Oracle, table  # noqa: E402

CHANCE = {"synonym": 1 / 10, "topic": 1 / 10, "order, marked": 1 / 6, "order, bare": 1 / 6,
          "composition": 1 / 10}


class RankersOnPlantedLogTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        make_planted_log.write_log(cls.folder, 20000, seed=2)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def first_by_slice(self, ranker):
        """NDCG@1: how often the relevant title is first."""
        part = self.folder / "test"
        done = subprocess.run(
            [f"{BIN}/semrank-eval", f"--ranker={ranker}", f"--train={self.folder}/train.tsv",
             f"--docs={part}.docs.tsv", f"--queries={part}.queries.tsv", f"--qrels={part}.qrels.txt",
             f"--slices={part}.slices.tsv", "--candidates=judged", "--output=json"],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: part["metrics"]["ndcg@1"] for name, part in json.loads(done.stdout)["slices"].items()}

    def test_the_structure_alone_ranks_perfectly(self):
        oracle = Oracle(seed=2)
        slices, queries, docs = (dict(table(self.folder / f"test.{name}.tsv"))
                                 for name in ("slices", "queries", "docs"))
        run = self.folder / "oracle.run"
        with open(run, "w", encoding="ascii") as lines:
            for doc, title in docs.items():
                query = doc.rpartition("-")[0]
                score = oracle.matches(slices[query], queries[query], title)
                lines.write(f"{query} Q0 {doc} 1 {int(score)} oracle\n")
        self.assertEqual(self.first_by_slice(f"run:{run}"), dict.fromkeys(CHANCE, 1.0))

    def test_word_matching_is_at_chance_in_every_slice(self):
        for ranker in ("bm25", "word_tfidf", "letter_tfidf"):
            for part, value in self.first_by_slice(ranker).items():
                self.assertAlmostEqual(value, CHANCE[part], places=6, msg=f"{ranker}, {part}")

    def test_word_translation_finds_synonyms_and_topics_but_no_order_or_composition(self):
        first = self.first_by_slice("wtm")
        self.assertGreater(first["synonym"], 0.95)
        self.assertGreater(first["topic"], 0.95)
        self.assertAlmostEqual(first["order, marked"], 1 / 6, places=6)
        self.assertAlmostEqual(first["order, bare"], 1 / 6, places=6)
        self.assertLess(first["composition"], 0.3)


class CurveTest(unittest.TestCase):
    def test_finished_runs_are_kept_and_every_form_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)

            def curve(*flags):
                done = subprocess.run(
                    [sys.executable, str(ROOT / "scripts/experiments/scale_curve.py"), f"--bin={BIN}",
                     f"--results={folder}", "--visits=600", "--models=linear, letters", *flags],
                    capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout

            curve("--pairs=300")
            runs = folder / "runs.jsonl"
            run = json.loads(runs.read_text())
            self.assertEqual(run["epochs"], 2)
            run["slices"]["topic"]["ndcg@1"] = 0.123
            runs.write_text(json.dumps(run) + "\n")
            table = curve("--pairs=300,600")
            self.assertEqual(len(runs.read_text().splitlines()), 2)
            self.assertIn("| topic | word matching | .100 | .100 |\n| | linear, letters | .123 |", table)
            page = (folder / "table.html").read_text()
            self.assertEqual(page.count("<svg"), len(CHANCE))
            self.assertNotIn("src=", page)


if __name__ == "__main__":
    unittest.main()
