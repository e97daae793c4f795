"""What scripts/experiments/quality_table.py prints, on runs by hand."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULT = {"train": [], "evaluate": ["--ranker=tower"]}
GAMMA_10 = {"train": ["--gamma=10", "--lexical=none"], "evaluate": ["--ranker=model"]}


class LeaveOneOutTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def rows(self, gains):
        """Left-out collection -> (chosen variant, gain on it), where gamma 10 has
        `gains` over the default, plus .1 on every second query."""
        files = []
        for collection, gain in gains.items():
            files.append(self.folder / f"{collection}.jsonl")
            runs = [variant | {"seed": 1, "per_query": {
                str(q): 0.5 + (variant is GAMMA_10) * (gain + 0.1 * (-1) ** q) for q in range(20)}}
                for variant in (DEFAULT, GAMMA_10)]
            # The comparison ignores a seed that the default lacks.
            runs.append(GAMMA_10 | {"seed": 2, "per_query": {str(q): 0 for q in range(20)}})
            files[-1].write_text("".join(json.dumps(run) + "\n" for run in runs))
        printed = subprocess.run(
            [sys.executable, ROOT / "scripts/experiments/quality_table.py", "--leave_one_out", *files],
            check=True, capture_output=True, text=True).stdout
        lines = printed[printed.index("| left out"):].splitlines()[2:]
        cells = [[cell.strip() for cell in line.split("|")] for line in lines]
        return {row[1]: (row[2], row[4]) for row in cells}

    def test_the_others_choose_what_gains_on_them(self):
        rows = self.rows({"a": 0.05, "b": 0.05, "c": -0.01})
        self.assertEqual(rows["c"], ("linear, gamma 10", "-0.0100"))
        self.assertEqual(rows["a"], ("linear, gamma 10", "+0.0500"))

    def test_a_gain_on_the_left_out_collection_has_no_say(self):
        rows = self.rows({"a": 0.05, "b": -0.01, "c": -0.01})
        self.assertEqual(rows["a"][0], "linear, 256 (the default's tower)")
        self.assertEqual(rows["a"][1], "+0.0000")


class TableTest(unittest.TestCase):
    def test_a_ranker_without_seeds_is_compared_with_all_seeds(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder, "results.jsonl")
            bm25 = {"train": None, "evaluate": ["--ranker=bm25"]}
            runs = [run | {"epochs": 12 * (seed > 0), "seed": seed,
                           "metrics": {f"ndcg@{k}": value for k in (1, 3, 10)},
                           "per_query": {str(q): value for q in range(20)}}
                    for run, seed, value in ((bm25, 0, 0.2), (DEFAULT, 1, 0.6), (DEFAULT, 2, 0.5))]
            results.write_text("".join(json.dumps(run) + "\n" for run in runs))
            printed = subprocess.run(
                [sys.executable, ROOT / "scripts/experiments/quality_table.py", "--train=-", "--docs=-",
                 "--queries=-", "--qrels=-", f"--results={results}", "--seeds=2",
                 "--variants=BM25;linear, 256 (the default's tower)"],
                check=True, capture_output=True, text=True).stdout
        self.assertIn("| BM25 | .200 | .200 | .200 | .000 |", printed)
        self.assertIn("| .550 ±.050 |", printed)


if __name__ == "__main__":
    unittest.main()
