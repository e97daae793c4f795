#!/usr/bin/env python3
"""Runs the commands and the program that README.md shows, as it shows them.

A block is marked in the README by an HTML comment before it, `<!-- run: NAME -->`
or `<!-- file: NAME -->`. Only ports are changed, to free ones, by replacing
addresses. (The two commands at the top of the README are run by .ci/run.)

usage: readme_test.py PROJECT_DIR BINARY_DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
BLOCK = re.compile(r"^<!-- (?:run|file): (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PRODUCTS = ["running shoes", "rain jacket", "coffee grinder", "desk lamp", "garden hose", "chess set", "wool socks", "bread knife"]


def blocks() -> dict[str, str]:
    return dict(BLOCK.findall((PROJECT / "README.md").read_text(encoding="utf-8")))


def write_shop(folder: pathlib.Path) -> None:
    """A click log, titles and judgements of a shop with eight products."""
    clicks = [f"{word} {product}\t{product} for home and travel" for product in PRODUCTS for word in ("cheap", "best", "new")]
    (folder / "clicks.tsv").write_text("\n".join(clicks) + "\n")
    titles = [f"{product} for home and travel" for product in PRODUCTS]
    (folder / "titles.txt").write_text("\n".join(titles) + "\n")
    (folder / "docs.tsv").write_text("".join(f"d{i}\t{title}\n" for i, title in enumerate(titles)))
    (folder / "queries.tsv").write_text("".join(f"q{i}\t{product}\n" for i, product in enumerate(PRODUCTS)))
    (folder / "qrels.txt").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(len(PRODUCTS))))
    for name in ("client/python", "proto"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    shutil.copy(PROJECT / "CMakeLists.txt", folder)


class ReadmeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.blocks = blocks()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        write_shop(cls.folder)
        # Flags that the caller's environment sets would reach the programs.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SEMRANK_")}
        cls.environment = {**inherited, "PATH": f"{BINARIES}:/usr/bin:{os.environ['PATH']}"}
        train, serve, cls.rank = cls.blocks["clicks"].strip().splitlines()
        cls.run_command(train)
        cls.start_server(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", serve))

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.exit_code = cls.server.wait(timeout=60)
        cls.server.stdout.close()
        cls.temporary.cleanup()
        if cls.exit_code != 0:
            raise AssertionError(f"semrank-server ended with {cls.exit_code} after SIGTERM")

    @classmethod
    def run_command(cls, command: str) -> str:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=cls.folder, env=cls.environment,
                              capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            raise AssertionError(f"{command}\nexit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    @classmethod
    def start_server(cls, command: str) -> None:
        cls.server = subprocess.Popen(command.split(), cwd=cls.folder, env=cls.environment, stdout=subprocess.PIPE, text=True)
        ready = re.match(r"semrank-server ready grpc=(\S+) http=(\S+)$", cls.server.stdout.readline())
        if not ready:
            raise AssertionError("semrank-server did not say that it is ready")
        cls.environment["SEMRANK_ADDRESS"] = cls.address = ready[1]

    def test_rank_command_puts_the_product_that_was_asked_for_first(self):
        first = self.run_command(self.rank).splitlines()[0]
        self.assertIn("running shoes for home and travel", first)

    def test_explain_command_has_a_row_for_each_word(self):
        table = self.run_command(self.blocks["explain"])
        for word in ("query  running", "query  shoes", "title  travel"):
            self.assertRegex(table, rf"(?m)^{word} +[-+]")

    def test_catalog_commands_find_the_product_that_was_asked_for(self):
        lines = self.run_command(self.blocks["catalog"]).splitlines()
        self.assertEqual(lines[0], "8 new, 0 replaced, 0 refused, of 8 documents")
        self.assertEqual(len(lines), 4)
        self.assertIn("running shoes for home and travel", lines[1])

    def test_evaluate_command_prints_a_row_for_each_ranker(self):
        table = self.run_command(self.blocks["evaluate"])
        for ranker in ("bm25", "letter_tfidf", "model"):
            self.assertRegex(table, rf"(?m)^\s*{ranker}\b")

    def test_python_program_ranks_its_three_titles(self):
        (self.folder / "rank.py").write_text(self.blocks["rank.py"])
        # Debian's grpcio belongs to Debian's Python.
        commands = self.blocks["python"].replace("127.0.0.1:50051", self.address).replace("python3 -m", "/usr/bin/python3 -W ignore -m")
        printed = self.run_command(commands)
        lines = printed.strip().splitlines()[-3:]
        scores = [float(line.split()[0]) for line in lines]
        self.assertEqual(scores, sorted(scores, reverse=True))
        sample = re.search(r"^```python\n(.*?)^```$", (PROJECT / "client/python/README.md").read_text(), re.MULTILINE | re.DOTALL)
        (self.folder / "sample.py").write_text(sample[1].replace("127.0.0.1:50051", self.address))
        self.assertIn("gimp photo editor", self.run_command("venv/bin/python sample.py"))

    def test_every_linked_file_exists(self):
        text = (PROJECT / "README.md").read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            if "://" not in target:
                self.assertTrue((PROJECT / target).exists(), target)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
