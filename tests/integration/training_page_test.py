#!/usr/bin/env python3
"""Opens the report of a real training run in headless Chromium, and types the
commands that it shows. The screenshots go to SCREENSHOTS=FOLDER of the
environment, or to a temporary folder. What needs Node and its modules
(scripts/install_node_modules.sh) is skipped without them.

usage: training_page_test.py BINARY_DIR
"""
import html
import html.parser
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARIES = pathlib.Path(sys.argv[1]).resolve()
MODULES = pathlib.Path(__file__).resolve().parents[2] / "build/node_client/node_modules"
PROGRAM = pathlib.Path(__file__).resolve().parent / "node_client/training_page.js"
EPOCHS = 3
# The test appends this to the model's folder name, which the page shows.
HOSTILE = "<img src=x onerror=document.title='owned'>"


class Page(html.parser.HTMLParser):
    """The contents of the page once the browser has built it."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_data(self, data):
        self.text += data


def write_shop(folder: pathlib.Path) -> None:
    products = ["running shoes", "rain jacket", "coffee grinder", "desk lamp", "garden hose", "chess set",
                "wool socks", "bread knife", "tea pot", "wall clock", "hand saw", "bike pump"]
    pairs = [f"{word} {product}\t{product} for home\n" for product in products[:6] for word in ("cheap", "best", "new")]
    (folder / "clicks.tsv").write_text("".join(pairs))
    (folder / "docs.tsv").write_text("".join(f"d{i}\t{product} for home\n" for i, product in enumerate(products)))
    (folder / "queries.tsv").write_text("".join(f"q{i}\t{product}\n" for i, product in enumerate(products)))
    (folder / "qrels.txt").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(len(products))))


class ReportTest(unittest.TestCase):
    """A run with more judged queries than the page has examples."""
    NAME = f"shop {HOSTILE}"
    FLAGS = ["--valid_queries=queries.tsv", "--valid_docs=docs.tsv", "--valid_qrels=qrels.txt"]

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        write_shop(folder)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        environment["SEMRANK_THREADS"] = "1"
        done = subprocess.run(
            [BINARIES / "semrank-train", "--output=json", "--train=clicks.tsv", f"--model_dir={cls.NAME}", f"--epochs={EPOCHS}", "--patience=0",
             "--hidden=8", "--embedding_dim=8", *cls.FLAGS],
            cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        cls.summary = json.loads(done.stdout)
        cls.folder, cls.environment = folder, environment
        report = folder / cls.NAME / "report.html"
        cls.source = report.read_text(encoding="utf-8")
        # Chromium needs a name without special characters of URLs.
        (folder / "report.html").write_text(cls.source, encoding="utf-8")
        browser = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}/profile",
             "--enable-logging=stderr", f"--screenshot={folder}/report.png", "--window-size=1100,1600", "--dump-dom",
             (folder / "report.html").as_uri()],
            cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        cls.console = [line for line in browser.stderr.splitlines() if "CONSOLE" in line]
        cls.page = Page(browser.stdout)
        cls.screenshot = folder / "report.png"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_each_epoch_is_a_point_of_each_curve(self):
        # The curves are training loss, NDCG@1, @3 and @10, and BM25's NDCG@10.
        self.assertEqual(self.page.tags.count("polyline"), 5)
        self.assertEqual(self.page.tags.count("circle"), 5 * EPOCHS)

    def test_queries_and_titles_have_their_lengths_drawn(self):
        self.assertIn("queries, words (30 or more in the last) 3: 100", self.page.text)
        self.assertIn("titles, words (30 or more in the last) 4: 100", self.page.text)

    def test_names_from_outside_are_text(self):
        self.assertNotIn("img", self.page.tags)
        self.assertIn(HOSTILE, self.page.text)
        self.assertNotIn("script", self.page.tags)

    def test_nothing_is_loaded_and_nothing_complains(self):
        loading = [entry for entry in self.page.attributes if entry[1] in ("src", "href", "srcset", "data")]
        self.assertEqual(loading, [("link", "href", "data:,")])
        self.assertEqual(self.console, [])

    def test_the_browser_draws_it(self):
        self.assertGreater(self.screenshot.stat().st_size, 20_000)

    def test_it_fits_desk_and_phone_breaks_no_number_and_is_accessible(self):
        if not shutil.which("node") or not (MODULES / "playwright-core").is_dir():
            self.skipTest(f"no node, or no playwright-core in {MODULES} (scripts/install_node_modules.sh)")
        pictures = pathlib.Path(os.environ.get("SCREENSHOTS", self.folder), type(self).__name__)
        pictures.mkdir(parents=True, exist_ok=True)
        looked = subprocess.run(
            ["node", PROGRAM, self.folder / "report.html", pictures],
            env={**os.environ, "NODE_PATH": str(MODULES)}, capture_output=True, text=True, timeout=120)
        self.assertEqual(looked.returncode, 0, looked.stderr)
        self.assertEqual(sorted(picture.name for picture in pictures.glob("*.png")),
                         ["desk-dark.png", "desk.png", "phone-dark.png", "phone.png"])

    def test_the_model_and_bm25_stand_beside_each_other(self):
        comparison = self.summary["comparison"]
        for ranker, name in (("model", "this model"), ("letter_tfidf", "letter TF-IDF"), ("bm25", "BM25")):
            errors = comparison["standard_errors"][ranker]
            values = "".join(f'<td class="number">{value:.4f} ± {errors[metric]:.4f}</td>'
                             for metric, value in comparison[ranker].items())
            self.assertIn(f'<th scope="row">{name}</th>{values}', self.source)

    def test_examples_are_the_best_titles_of_some_queries(self):
        examples = self.summary["examples"]
        self.assertGreater(len(examples), 0)
        self.assertLessEqual(len(examples), 10)
        self.assertEqual(self.page.tags.count("h3"), len(examples))
        for example in examples:
            self.assertIn(f"<h3>{example['query']}</h3>", self.source)
            self.assertEqual(len(example["titles"]), 3)
            self.assertTrue(any(title["relevant"] for title in example["titles"]))
            scores = [title["score"] for title in example["titles"]]
            self.assertEqual(scores, sorted(scores, reverse=True))

    def test_columns_without_a_value_are_left_out(self):
        headings = re.findall(r'<th scope="col">(.*?)</th>', self.source)
        self.assertNotIn("gradient norm", headings)
        self.assertEqual("NDCG@10" in headings, "ndcg@10" in self.summary["best_epoch"])
        self.assertEqual("validation loss" in headings, "valid_loss" in self.summary["best_epoch"])

    def test_the_next_commands_serve_the_model_and_rank_an_example(self):
        commands = html.unescape(re.search(r"<code>(.*?)</code>", self.source, re.DOTALL)[1]).splitlines()
        # The server would read a path with "=" as NAME=PATH.
        (self.folder / "plain").symlink_to(self.NAME)
        self.assertEqual(shlex.split(commands[0]), ["semrank-server", f"--model_dir={self.NAME}"])
        serve = [BINARIES / "semrank-server", "--model_dir=plain"]
        rank = [BINARIES / "semrank", *shlex.split(commands[1])[1:]]
        with subprocess.Popen([*serve, "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"], cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                address = re.search(r"grpc=(\S+)", server.stdout.readline())[1]
                ranked = subprocess.run([*rank, f"--address={address}", "--output=json"], cwd=self.folder,
                                        env=self.environment, check=True, capture_output=True, text=True)
            finally:
                server.terminate()
        self.assertIn(self.summary["examples"][0]["titles"][0]["title"], ranked.stdout)


class PresetReportTest(ReportTest):
    """A run with a preset, and held-out pairs instead of judged queries."""
    NAME = f"preset {HOSTILE}"
    FLAGS = ["--preset", "dssm2013", "--gamma=5", "--valid_fraction=0.3"]

    def test_each_epoch_is_a_point_of_each_curve(self):
        # The curves are training and validation loss.
        self.assertEqual(self.page.tags.count("polyline"), 2)
        self.assertEqual(self.page.tags.count("circle"), 2 * EPOCHS)
        self.assertIn(f"validation, epoch {EPOCHS}:", self.page.text)

    def test_the_best_epoch_is_marked_in_chart_and_table(self):
        self.assertIn(("line", "class", "mark"), self.page.attributes)
        self.assertRegex(self.page.text, r"best: [1-3]\b")
        self.assertIn(("tr", "class", "best"), self.page.attributes)

    def test_the_settings_are_those_of_the_run(self):
        for name, value in (("training.learning_rate", "0.5"), ("training.optimizer", "sgd"), ("gamma", "5"),
                            ("training.negatives", "4"), ("training.batch_size", "1024"), ("training.seed", "")):
            self.assertIn(f">{name}</dt><dd>{value}", self.source)

    def test_only_flags_that_were_set_are_shown_with_their_source(self):
        for shown in ("--preset</dt><dd>dssm2013 (command line)", "--gamma</dt><dd>5 (command line)", "--threads</dt><dd>1 (environment)"):
            self.assertIn(shown, self.source)
        for default in ("--learning_rate<", "--optimizer<", "--batch_size<", "--negatives<"):
            self.assertNotIn(default, self.source)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
