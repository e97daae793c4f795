"""scripts/experiments/paper_table.py over the real semrank-eval, and its choices by hand."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("SEMRANK_BINARY_DIR", str(ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "scripts/experiments"))

import paper_table  # noqa: E402


class CrossValidationTest(unittest.TestCase):
    def test_each_half_is_measured_with_the_setting_of_the_other(self):
        # In the order of their ids, a and c are one half, b and d the other.
        first = {"ndcg@10": {"a": 1, "b": 0, "c": 1, "d": 0}}
        second = {"ndcg@10": {"a": 0.5, "b": 0.6, "c": 0.5, "d": 0.6}}
        values, chosen = paper_table.cross_validate([first, second])
        self.assertEqual(chosen, [0, 1])
        self.assertEqual(values["ndcg@10"], {"a": 0.5, "b": 0, "c": 0.5, "d": 0})

    def test_better_means_significantly_better(self):
        here = {str(q): 0.5 + 0.01 * (q % 3) for q in range(50)}
        self.assertTrue(paper_table.is_better(here, {q: v - 0.1 * (i % 2)
                                                     for i, (q, v) in enumerate(here.items())}))
        self.assertFalse(paper_table.is_better(here, {q: v + 0.1 * (-1) ** i
                                                      for i, (q, v) in enumerate(here.items())}))
        self.assertFalse(paper_table.is_better(here, here))


class TableTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        titles = {"d1": "apple pie", "d2": "apple tart", "d3": "banana bread", "d4": "rye bread"}
        for name, lines in {
                "docs": [f"{d}\t{title}" for d, title in titles.items()],
                "queries": ["q1\tapple", "q2\tbanana", "q3\tloaf", "q4\tpie"],
                "qrels": ["q1 0 d1 1", "q2 0 d3 2", "q3 0 d4 1", "q4 0 d1 1"],
                "train": ["loaf\trye bread", "cake\tapple pie"]}.items():
            (self.folder / name).write_text("\n".join(lines) + "\n")

    def run_table(self, rows, *more):
        flags = [f"--{name}={self.folder / name}" for name in ("docs", "queries", "qrels", "train")]
        return subprocess.run(
            [sys.executable, str(ROOT / "scripts/experiments/paper_table.py"), *flags, f"--bin={BIN}",
             f"--results={self.folder / 'rows'}", f"--rows={rows}", *more], capture_output=True, text=True)

    def test_finished_rows_are_kept_and_every_form_is_written(self):
        done = self.run_table("TF-IDF;ULM")
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = self.folder / "rows" / "ulm.json"
        row = json.loads(kept.read_text())
        self.assertEqual(len(row["per_query"]["ndcg@10"]), 4)
        self.assertEqual(len(row["chosen"]), 2)
        row["per_query"]["ndcg@10"] = {q: 0.123 for q in row["per_query"]["ndcg@10"]}
        kept.write_text(json.dumps(row))
        again = self.run_table("WTM;ULM")
        self.assertIn(".123", again.stdout)
        self.assertIn("| ULM |", (self.folder / "rows" / "table.md").read_text())
        page = (self.folder / "rows" / "table.html").read_text()
        self.assertIn("<svg", page)
        self.assertNotIn("src=", page)

    def test_two_models_are_added_up_with_a_factor_of_cross_validation(self):
        done = self.run_table("SSI, (U'V)n + I with CFH")
        self.assertEqual(done.returncode, 0, done.stderr)
        row = json.loads((self.folder / "rows" / "ssi_u_v_n_i_with_cfh.json").read_text())
        self.assertEqual(len(row["per_query"]["ndcg@10"]), 4)
        self.assertIn("hybrid_weight", row["chosen"][0])

    def test_curves_are_measured_on_parts_of_the_collection(self):
        done = self.run_table("BM25;WTM", "--training_shares=0.5,1", "--query_words=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = (self.folder / "rows" / "table.md").read_text()
        self.assertIn("| share of the training pairs | 0.5 | 1 |", table)
        self.assertIn("| words of a query | 1 |", table)
        self.assertEqual((self.folder / "rows/share_1/train.tsv").read_text(),
                         (self.folder / "train").read_text())
        # All queries here have one word, so this point is the whole collection.
        whole, derived = (json.loads((self.folder / path).read_text())["per_query"]
                          for path in ("rows/wtm.json", "rows/words_1/wtm.json"))
        self.assertEqual(whole, derived)
        self.assertGreater((self.folder / "rows" / "table.html").read_text().count("<svg"), 10)

    def test_bad_points_are_named(self):
        for flag in ("--training_shares=0", "--training_shares=1.5", "--query_words=few"):
            done = self.run_table("BM25", flag)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(flag, done.stderr)

    def test_unknown_row_is_named(self):
        done = self.run_table("BM52")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("BM52", done.stderr)


if __name__ == "__main__":
    unittest.main()
