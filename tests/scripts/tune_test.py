"""scripts/experiments/tune.py over the real semrank-train, and its choice by hand-made scores."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/experiments/tune.py"
# The program of the build that runs the test.
PROGRAM = pathlib.Path(os.environ.get("SEMRANK_BINARY_DIR", ROOT / "build" / "release" / "bin")) / "semrank-train"

FINISHED_EPOCH = re.compile(r"epoch (\d+): loss")

spec = importlib.util.spec_from_file_location("tune", SCRIPT)
tune = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tune)


class ParseGridTest(unittest.TestCase):
    def test_all_combinations_with_the_last_flag_changing_fastest(self):
        self.assertEqual(tune.parse_grid("gamma=10,20; hidden=300,300|300"),
                         [{"gamma": "10", "hidden": "300,300"}, {"gamma": "10", "hidden": "300"},
                          {"gamma": "20", "hidden": "300,300"}, {"gamma": "20", "hidden": "300"}])

    def test_wrong_grids_are_named(self):
        for grid, reason in {"gamma": "flag=value", "=1": "flag=value", "gamma=1,1": "'1' twice",
                             "gamma=1;gamma=2": "gamma twice", "seed=1,2": "seed must be the same",
                             "valid_docs=a": "must be the same",
                             "gamma=" + ",".join(map(str, range(101))): "the limit is 100"}.items():
            with self.assertRaisesRegex(tune.WrongUse, reason, msg=grid):
                tune.parse_grid(grid)


class ChooseTest(unittest.TestCase):
    RUNS = [{"setting": "a", "weights": [1, 3], "epochs": [[0.9, 0.1], [0.2, 0.5]]},
            {"setting": "b", "weights": [1, 3], "epochs": [[0.4, 0.8], [0.8, 0.6]]}]

    def test_what_is_best_on_one_half_is_measured_on_the_other(self):
        choice = tune.choose(self.RUNS)
        self.assertEqual([(c["setting"], c["epoch"]) for c in choice["chosen"]], [("a", 1), ("b", 1)])
        self.assertEqual(choice["measured"], [0.1, 0.4])
        # Half 2 has three quarters of the queries, and its result is 0.1.
        self.assertAlmostEqual(choice["cross_validated"], (0.1 * 3 + 0.4) / 4)

    def test_winner_is_best_over_all_queries(self):
        winner = tune.choose(self.RUNS)["winner"]
        self.assertEqual((winner["setting"], winner["epoch"]), ("b", 1))
        self.assertAlmostEqual(winner["both"], (0.4 + 0.8 * 3) / 4)

    def test_first_of_equal_ones_wins(self):
        runs = [{"setting": name, "weights": [1, 1], "epochs": [[0.5, 0.5]] * 2} for name in "ab"]
        winner = tune.choose(runs)["winner"]
        self.assertEqual((winner["setting"], winner["epoch"]), ("a", 1))


class TuneTest(unittest.TestCase):
    """Queries and titles share no letters, so only a model that learns ranks the clicked title first."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.model_dir = self.folder / "model"
        letters = "abcdefghijkl"
        queries = [c * 4 for c in letters]
        titles = [chr(ord(c) + 12) * 4 for c in letters]
        self.write("pairs.tsv", (f"{q}\t{t}" for q, t in zip(queries, titles)))
        self.write("queries.tsv", (f"q{i}\t{q}" for i, q in enumerate(queries)))
        self.write("docs.tsv", (f"d{i}\t{t}" for i, t in enumerate(titles)))
        self.write("qrels.txt", (f"q{i} 0 d{i} 1" for i in range(len(letters))))
        self.flags = [f"--train={self.folder}/pairs.tsv", f"--model_dir={self.model_dir}", "--epochs=20",
                      "--embedding_dim=16", "--threads=1", "--learning_rate_decay=none"]
        self.judged = [f"--valid_{kind}={self.folder}/{file}" for kind, file in
                       (("queries", "queries.tsv"), ("docs", "docs.tsv"), ("qrels", "qrels.txt"))]

    def write(self, name, lines):
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def command(self, grid, *options, flags=None):
        return [sys.executable, str(SCRIPT), f"--program={PROGRAM}", f"--grid={grid}", *options, "--",
                *self.flags, *(self.judged if flags is None else flags)]

    def run_tune(self, grid, *options, flags=None):
        return subprocess.run(self.command(grid, *options, flags=flags), capture_output=True, encoding="utf-8",
                              check=False, timeout=120)

    def assert_ok(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_chooses_what_learns_and_publishes_only_that(self):
        done = self.run_tune("learning_rate=1e-9,0.02", "--output=json")
        self.assert_ok(done)
        search, published = map(json.loads, done.stdout.splitlines())
        self.assertEqual(search["measure"], "ndcg@10")
        self.assertEqual(search["winner"]["setting"], "learning_rate=0.02")
        first, second = search["settings"]
        self.assertLess(first["both"], 0.9)
        self.assertGreater(second["both"], 0.99)
        self.assertAlmostEqual(sum(second["halves"]) / 2, second["both"])
        self.assertEqual({chosen["setting"] for chosen in search["chosen"]}, {"learning_rate=0.02"})
        self.assertGreater(search["cross_validated"], first["both"])
        self.assertEqual(published["version"], 1)
        self.assertEqual(published["best_epoch"]["learning_rate"], 0.02)
        self.assertEqual(len(list(self.model_dir.rglob("MANIFEST.json"))), 1)

    def test_winner_is_published_as_if_it_had_been_trained_alone(self):
        self.assert_ok(self.run_tune("learning_rate=1e-9,0.02"))
        alone = self.folder / "alone"
        subprocess.run([str(PROGRAM), *self.flags, *self.judged, f"--model_dir={alone}", "--learning_rate=0.02"],
                       check=True, capture_output=True, timeout=60)
        self.assertEqual((self.model_dir / "1" / "weights.safetensors").read_bytes(),
                         (alone / "1" / "weights.safetensors").read_bytes())

    @unittest.skipUnless(shutil.which("mpirun"), "Open MPI is not installed")
    def test_launcher_trains_in_several_processes(self):
        grid = ("learning_rate=1e-9,0.02", "--launcher=mpirun --allow-run-as-root --oversubscribe -n 2",
                "--output=json")
        done = self.run_tune(*grid)
        # On a busy machine mpirun takes a process that has ended for a lost one, with PID 0 (open-mpi/ompi, issue
        # 7833). The same command continues the run.
        if done.returncode != 0 and "with PID 0 on" in done.stderr:
            done = self.run_tune(*grid)
        self.assert_ok(done)
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["winner"]["setting"], "learning_rate=0.02")

    def test_table_shows_both_halves_and_the_winner(self):
        done = self.run_tune("learning_rate=1e-9,0.02")
        self.assert_ok(done)
        for text in ("half 1", "winner", "chosen on half 2: learning_rate=0.02", "cross-validated ndcg@10: 0.",
                     f"published {self.model_dir}/1"):
            self.assertIn(text, done.stdout)

    def test_finished_settings_are_not_trained_again(self):
        self.assert_ok(self.run_tune("learning_rate=1e-9,0.02"))
        logs = {path: path.read_text() for path in self.model_dir.glob("grid/*/training.jsonl")}
        self.assertEqual(len(logs), 2)
        again = self.run_tune("learning_rate=0.02,1e-9,0.01")
        self.assert_ok(again)
        self.assertEqual(again.stderr.count("finished before"), 2)
        for path, content in logs.items():
            self.assertEqual(path.read_text(), content)
        self.assertEqual(len(list(self.model_dir.glob("grid/*/training.jsonl"))), 3)
        self.assertEqual(len((self.model_dir / "grid.jsonl").read_text().splitlines()), 3)

    def test_changed_file_is_another_search(self):
        self.assert_ok(self.run_tune("learning_rate=0.02"))
        with open(self.folder / "pairs.tsv", "a", encoding="utf-8") as pairs:
            pairs.write("aaaa\tmmmm nnnn\n")
        self.assertNotIn("finished before", self.run_tune("learning_rate=0.02").stderr)

    def test_truncated_result_is_trained_again(self):
        self.assert_ok(self.run_tune("learning_rate=0.02"))
        results = self.model_dir / "grid.jsonl"
        results.write_text(results.read_text()[:30])
        done = self.run_tune("learning_rate=0.02")
        self.assert_ok(done)
        self.assertIn("grid.jsonl:1: ignored", done.stderr)
        self.assertIn("finished before", self.run_tune("learning_rate=0.02").stderr)

    def test_interrupted_search_continues_in_the_middle_of_a_setting(self):
        self.flags += ["--epochs=100000", "--patience=100000"]
        search = subprocess.Popen(self.command("learning_rate=0.02"), stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, encoding="utf-8")
        for line in search.stderr:  # until it trains
            if line.startswith("epoch 3: loss"):
                break
        search.send_signal(signal.SIGINT)
        stderr = search.stderr.read()
        search.stderr.close()
        self.assertEqual(search.wait(timeout=60), 1, stderr)
        self.assertIn("the same command continues", stderr)
        self.assertFalse((self.model_dir / "grid.jsonl").exists())
        again = subprocess.Popen(self.command("learning_rate=0.02"), stderr=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, encoding="utf-8")
        lines = []
        for line in again.stderr:
            lines.append(line)
            if FINISHED_EPOCH.match(line):
                break
        again.send_signal(signal.SIGTERM)
        again.stderr.read()
        again.stderr.close()
        again.wait(timeout=60)
        self.assertIn("checkpoint.safetensors", "".join(lines))
        self.assertGreater(int(FINISHED_EPOCH.match(lines[-1])[1]), 3)

    def test_diverged_setting_is_never_chosen(self):
        self.flags.append("--optimizer=sgd")
        done = self.run_tune("learning_rate=3e38,1", "--output=json")
        self.assert_ok(done)
        search = json.loads(done.stdout.splitlines()[0])
        self.assertEqual(search["settings"][0], {"setting": "learning_rate=3e38", "diverged": True})
        self.assertEqual(search["winner"]["setting"], "learning_rate=1")
        done = self.run_tune("learning_rate=3e38,3.1e38")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no setting of --grid keeps the loss finite", done.stderr)

    def test_loss_of_held_out_pairs_decides_without_judged_queries(self):
        done = self.run_tune("learning_rate=1e-9,0.02", "--output=json",
                             flags=[f"--valid_pairs={self.folder}/pairs.tsv"])
        self.assert_ok(done)
        search = json.loads(done.stdout.splitlines()[0])
        self.assertEqual(search["measure"], "valid_loss")
        self.assertEqual(search["winner"]["setting"], "learning_rate=0.02")
        self.assertLess(search["cross_validated"], search["settings"][0]["both"])

    def test_wrong_use_exits_with_two_before_any_training(self):
        for grid, reason in {"gamma=1,1": "'1' twice", "gamma=1,huge": "gamma=huge", "learning=1": "learning",
                             "epochs=1,2": "also given", "patience=1,2;margin=x": "margin"}.items():
            done = self.run_tune(grid)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--grid", done.stderr)
            self.assertIn(reason, done.stderr)
        done = self.run_tune("gamma=10,20", flags=[])
        self.assertEqual(done.returncode, 2)
        self.assertIn("changes what the validation loss is", done.stderr)
        self.assertFalse(self.model_dir.exists())


if __name__ == "__main__":
    unittest.main()
